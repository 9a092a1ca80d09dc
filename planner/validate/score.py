"""How far predictions are from measurements: errors in percent, by row, in all and by group."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from planner.measurements.prediction import Basis
from planner.measurements.rows import Unit

By = Literal["source", "gpu", "model", "task"]

BYS: tuple[By, ...] = ("source", "gpu", "model", "task")
UNKNOWN = "unknown"
"""Key of the group of rows that don't say."""
PERCENT = 100.0
_SOURCE_END = re.compile(r"[@\s]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRow:
    """One row of a table with its prediction. `skipped` says why it isn't scored; a flagged one isn't either."""

    id: str
    line: int
    measured: float | None
    predicted: float | None
    low: float | None
    high: float | None
    unit: Unit
    basis: Basis | None
    novelty: str
    skipped: str | None
    flagged: bool
    source: str
    gpu: str
    model: str
    task: str
    choices: tuple[str, ...]
    sources: tuple[str, ...] = ()

    @property
    def error(self) -> float | None:
        """Predicted over measured, less one; positive when too high. [%]"""
        if self.predicted is None or self.measured is None:
            return None
        return PERCENT * (self.predicted / self.measured - 1.0)

    @property
    def ape(self) -> float | None:
        """Size of the error. [%]"""
        return None if self.error is None else abs(self.error)

    @property
    def counts(self) -> bool:
        """Whether the row is in summaries: measured, predicted, and nobody doubts it."""
        return self.skipped is None and not self.flagged


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """All rows that count, together. `n` + `skipped` + `flagged` are all rows; None where no row counts."""

    n: int
    skipped: int
    flagged: int
    median_ape: float | None  # [%]
    p90_ape: float | None  # [%]
    coverage_80: float | None  # share of the measured values within low and high [-]
    median_half_width: float | None  # half of high less low, over the prediction [%]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The rows of one source, GPU, model or task. `bias` is the median error with its sign."""

    by: By
    key: str
    n: int
    median_ape: float | None  # [%]
    p90_ape: float | None  # [%]
    bias: float | None  # [%]


def source_key(source: str | None) -> str:
    """What rows of one repository or publication have in common: the text before the first @ or space."""
    return _SOURCE_END.split((source or "").strip(), maxsplit=1)[0].rstrip(":;,") or UNKNOWN


def summarise(rows: Sequence[ScoredRow]) -> Summary:
    """Errors of all rows that count.

    Parameters
    ----------
    rows : sequence of ScoredRow
        Rows of a table, also those that don't count.

    Returns
    -------
    Summary
        Percentiles interpolate linearly between ranks. Coverage and width are over the rows with an interval.
    """
    counted = [row for row in rows if row.counts]
    errors = _errors(counted)
    bounded = [
        (row.low, row.high, row.measured, row.predicted)
        for row in counted
        if row.low is not None and row.high is not None
    ]
    coverage = half_width = None
    if bounded:
        low, high, measured, predicted = np.array(bounded, dtype=np.float64).T
        coverage = float(np.mean((low <= measured) & (measured <= high)))
        half_width = float(np.median(PERCENT * (high - low) / 2.0 / predicted))
    return Summary(
        n=len(counted),
        skipped=sum(row.skipped is not None and not row.flagged for row in rows),
        flagged=sum(row.flagged for row in rows),
        median_ape=_percentile(np.abs(errors), 50.0),
        p90_ape=_percentile(np.abs(errors), 90.0),
        coverage_80=coverage,
        median_half_width=half_width,
    )


def group_rows(rows: Sequence[ScoredRow]) -> tuple[Group, ...]:
    """Errors by source, GPU, model and task, the worst first; groups without a row that counts come last."""
    groups: list[Group] = []
    for by in BYS:
        members: dict[str, list[ScoredRow]] = {}
        for row in rows:
            members.setdefault(getattr(row, by), []).append(row)
        found = [_group(by, key, [row for row in group if row.counts]) for key, group in members.items()]
        groups += sorted(found, key=lambda group: (group.n == 0, -(group.median_ape or 0.0), group.key))
    return tuple(groups)


def _group(by: By, key: str, counted: Sequence[ScoredRow]) -> Group:
    errors = _errors(counted)
    return Group(
        by=by,
        key=key,
        n=len(counted),
        median_ape=_percentile(np.abs(errors), 50.0),
        p90_ape=_percentile(np.abs(errors), 90.0),
        bias=_percentile(errors, 50.0),
    )


def _errors(counted: Sequence[ScoredRow]) -> npt.NDArray[np.float64]:
    return np.array([row.error for row in counted], dtype=np.float64)


def _percentile(values: npt.NDArray[np.float64], percent: float) -> float | None:
    return float(np.percentile(values, percent)) if values.size else None
