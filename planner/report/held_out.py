"""Errors on rows that the constants never saw, as they were computed last: `data/accuracy.yaml`."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError

from planner.catalog.fields import Strict, Text
from planner.errors import CatalogError
from planner.performance.data_file import parse_versioned, read_content
from planner.strict_yaml import describe
from planner.validation import explain

ACCURACY_FILE = Path(__file__).resolve().parents[2] / "data" / "accuracy.yaml"

Area = Literal["language", "vision", "scaling", "memory", "time_to_target"]

_Percent = Annotated[float, Field(ge=0, le=1e6)]


class _ErrorsIn(Strict):
    """Median and 90th percentile of the size of the error. [%]"""

    median_ape: _Percent
    p90_ape: _Percent


class _BaselineIn(_ErrorsIn):
    name: Text


class _SplitIn(_ErrorsIn):
    """An entry of `splits`."""

    id: Text
    area: Area
    name: Text
    rows: Annotated[int, Field(ge=1)]
    coverage_80: Annotated[float, Field(ge=0, le=1)] | None = None
    median_half_width: _Percent | None = None
    limit: _ErrorsIn | None = None
    best_baseline: _BaselineIn | None = None
    computed: dt.date


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """Size of the error, median and 90th percentile. [%]"""

    median_ape: float
    p90_ape: float


CLEARLY_NEARER: Final = 2.0
"""Points of the median by which a baseline must be nearer to count as better. [%]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The best of what is easily computed instead, by its median."""

    name: str
    errors: Errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Whole groups left out in turn, all constants refitted without them, and their rows predicted.

    `limit` is the most that is allowed, set beforehand; None where there is none.
    """

    id: str
    area: Area
    name: str
    rows: int
    errors: Errors
    coverage_80: float | None  # share of the measured values within the predicted 80 % interval [-]
    median_half_width: float | None  # of these intervals, over the prediction [%]
    limit: Errors | None
    best_baseline: Baseline | None
    computed: dt.date

    @property
    def met(self) -> bool | None:
        """Whether the limit was kept; None where there is none."""
        if self.limit is None:
            return None
        return self.errors.median_ape <= self.limit.median_ape and self.errors.p90_ape <= self.limit.p90_ape

    @property
    def behind(self) -> bool:
        """Whether the best baseline is clearly nearer: by over 2 points at the median, or at the 90th percentile."""
        if self.best_baseline is None:
            return False
        best = self.best_baseline.errors
        return self.errors.median_ape > best.median_ape + CLEARLY_NEARER or self.errors.p90_ape > best.p90_ape


def load_held_out(path: Path = ACCURACY_FILE) -> tuple[Split, ...]:
    """The splits of a file (by default that shipped) in its order, parsed once for each content.

    Raises
    ------
    CatalogError
        The file is missing or has entries that can't be read: all of them.
    """
    return _parse(read_content(path))


@lru_cache(maxsize=4)
def _parse(content: bytes) -> tuple[Split, ...]:
    parsed, problems = parse_versioned(content, file=ACCURACY_FILE.name)
    entries = parsed.data.get("splits")
    problems += [
        parsed.problem((key,), "an unknown key", "schema_version and splits")
        for key in parsed.data
        if key not in ("schema_version", "splits")
    ]
    if not isinstance(entries, list):
        problems.append(parsed.problem(("splits",), describe(entries), "a list"))
        entries = []
    found: dict[str, Split] = {}
    for at, entry in enumerate(entries):
        try:
            split = _split(_SplitIn.model_validate(entry))
        except ValidationError as error:
            problems += explain(error, parsed=parsed, path=("splits", at), model=_SplitIn)
            continue
        if split.id in found:
            problems.append(parsed.problem(("splits", at, "id"), describe(split.id), "each entry once"))
        found[split.id] = split
    if problems:
        raise CatalogError("catalog_invalid", problems)
    return tuple(found.values())


def _split(entry: _SplitIn) -> Split:
    best = entry.best_baseline
    return Split(
        id=entry.id,
        area=entry.area,
        name=entry.name,
        rows=entry.rows,
        errors=_errors(entry),
        coverage_80=entry.coverage_80,
        median_half_width=entry.median_half_width,
        limit=None if entry.limit is None else _errors(entry.limit),
        best_baseline=None if best is None else Baseline(name=best.name, errors=_errors(best)),
        computed=entry.computed,
    )


def _errors(entry: _ErrorsIn) -> Errors:
    return Errors(median_ape=entry.median_ape, p90_ape=entry.p90_ape)
