"""What a few rows measured in one software on one GPU say of other runs there: a log offset, or nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from planner.performance.percent_errors import COVERED, blended
from planner.performance.step_inputs import Vector

FEWEST_ROWS = 3
"""Rows of different configurations from which they say anything of others. [-]"""
CLEARLY = 0.8
"""Share of the error without them that predictions with the other rows must stay below. A statistical judgement, as are
both spreads below. [-]"""
SPREAD = 0.15
"""Of unseen software around the formulas, on the log. [-]"""
ROW_SPREAD = 0.08
"""Of rows of one software around its offset, on the log. [-]"""
MOST_FACTOR = 3.0
"""Factor beyond which rows say that their unit, card or batch is another, and move nothing. [-]"""
MOST_CONFIGURATIONS = 200
"""Configurations of one software on one GPU that are looked at: each is predicted. [-]"""
MOST_SOURCES = 20
"""Own rows that are named of those that moved a prediction. [-]"""
_ROWS_OF_THE_USUAL = 5  # for which the width of a prediction counts that knows none of them

Kind = Literal["transformer", "vision"]
"""Models whose speeds are computed alike, so that errors of one kind say nothing of the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnOffset:
    """What the user's own rows of one kind of model, in one software on one GPU, change of predictions there."""

    gpu: str
    kind: Kind
    software: str
    files: tuple[str, ...]
    ids: tuple[str, ...]
    models: frozenset[str]  # those measured
    rows: int  # of different configurations
    offset: float  # log by which predictions are moved; 0 where the rows don't help each other, or lie too far off
    far: float  # factor between measured and predicted, where it is beyond what is believed; else 1
    cold_error: float  # mean size of the log error of the rows, predicted without any of them
    own_error: float  # the same, each predicted with the others
    covering: float  # what four of five of the errors stay within, of the latter where predictions are moved

    def words(self, gpu: str) -> tuple[str, dict[str, Any]]:
        """Code and parameters of the sentence that says so, of a GPU of that name."""
        factor = math.exp(self.offset)
        moved = "own_rows_faster" if factor > 1 else "own_rows_slower"
        code = "own_rows_far" if self.far > 1 else moved if self.used else "own_rows_no_help"
        return code, {
            "files": ", ".join(self.files), "gpu": gpu, "rows": self.rows, "software": self.software,
            "change": abs(factor - 1), "factor": self.far, "error": self.own_error, "error_without": self.cold_error,
        }  # fmt: skip

    @property
    def used(self) -> bool:
        """Whether predictions are moved."""
        return self.offset != 0.0

    def half_width(self, cold: float, floor: float) -> float:
        """Half-width of a prediction's interval, on the log: what the rows showed, blended with what was assumed.

        Parameters
        ----------
        cold : float
            Half-width without own rows; it counts as five of them. [-]
        floor : float
            Of rows of a measured software on a measured GPU: a few rows never say more. [-]
        """
        return max(floor, blended(self.covering, cold, self.rows, _ROWS_OF_THE_USUAL))


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnEntry:
    """Own rows of one configuration."""

    model: str
    ids: tuple[str, ...]
    files: tuple[str, ...]
    log_ratio: float  # of the speed predicted without own rows over the median of those measured


def own_offset(gpu: str, kind: Kind, software: str, entries: Sequence[OwnEntry]) -> OwnOffset | None:
    """What own rows of different configurations say together; None where they are too few."""
    if len(entries) < FEWEST_ROWS:
        return None
    log_ratios = np.array([entry.log_ratio for entry in entries], dtype=np.float64)
    offset, alone, left_out = own_rows_offset(log_ratios), np.abs(log_ratios), leave_one_out(log_ratios)
    factor = math.exp(abs(float(np.median(log_ratios))))
    far = factor if factor > MOST_FACTOR else 1.0
    if far > 1:
        offset = 0.0
    return OwnOffset(
        gpu=gpu,
        kind=kind,
        software=software,
        files=tuple(dict.fromkeys(file for entry in entries for file in entry.files)),
        ids=tuple(id for entry in entries for id in entry.ids),
        models=frozenset(entry.model for entry in entries),
        rows=len(entries),
        offset=-offset,
        far=far,
        cold_error=float(np.mean(alone)),
        own_error=float(np.mean(left_out)),
        covering=_covering(left_out if offset else alone),
    )


def evenly(count: int) -> list[int]:
    """Indices of so many configurations, spread evenly over them where they are very many. [-]"""
    return [int(at) for at in np.unique(np.linspace(0, count - 1, MOST_CONFIGURATIONS).astype(int))]


def software_key(framework: str | None) -> str:
    """Name of a software without its version and remarks: PyTorch 2.9.0+cu128 and PyTorch 2.8 are one."""
    return re.split(r"[(,;\d]", (framework or "").casefold(), maxsplit=1)[0].strip() or "own software"


def own_rows_offset(log_ratios: Vector) -> float:
    """What a few rows of a software say of all of it: 0 unless they are predicted clearly better with each other.

    Of three rows each has to be, of more all together. Then their median, shrunk by how few they are and how far they
    lie apart: rows lie around the software's offset with a spread of their own, software around the formulas with
    `SPREAD`.

    Parameters
    ----------
    log_ratios : Vector
        Log of predicted over measured of each row. [-]

    Returns
    -------
    float
        What is to be taken off the log of other predictions. [-]
    """
    if len(log_ratios) < 2:
        return 0.0
    alone, others = np.abs(log_ratios), leave_one_out(log_ratios)
    if others.sum() >= CLEARLY * alone.sum():
        return 0.0
    if len(log_ratios) <= FEWEST_ROWS and (np.any(others >= alone) or others.max() >= CLEARLY * alone.max()):
        return 0.0
    return _shrunk(log_ratios)


def leave_one_out(log_ratios: Vector) -> Vector:
    """Size of each row's log error when the others alone have moved its prediction. [-]"""
    errors = [abs(float(ratio) - _shrunk(np.delete(log_ratios, at))) for at, ratio in enumerate(log_ratios)]
    return np.array(errors, dtype=np.float64)


def _covering(errors: Vector) -> float:
    """What four of five errors stay within: the larger rank where it falls between two. [-]"""
    return float(np.quantile(errors, COVERED, method="higher"))


def _shrunk(log_ratios: Vector) -> float:
    middle = float(np.median(log_ratios))
    apart = float(np.mean((log_ratios - middle) ** 2)) + ROW_SPREAD**2
    return SPREAD**2 / (SPREAD**2 + apart / len(log_ratios)) * middle
