"""What a few rows measured in one software on one GPU say of other runs there: a log offset, or nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from planner.performance.step_inputs import Vector

FEWEST_ROWS = 3
"""Rows of different configurations from which they say anything of others. [-]"""
CLEARLY = 0.8
"""Share of the error without them that predictions with the other rows must stay below. [-]"""
SPREAD = 0.15
"""Of unseen software around the formulas, on the log. [-]"""
ROW_SPREAD = 0.08
"""Of rows of one software around its offset, on the log. [-]"""
_ROWS_OF_THE_USUAL = 5  # for which the width of a prediction counts that knows none of them
_COVERED = 0.8

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
    offset: float  # log by which predictions are moved; 0 where the rows don't help each other
    cold_error: float  # mean size of the log error of the rows, predicted without any of them
    own_error: float  # the same, each predicted with the others
    covering: float  # what four of five of the errors stay within, of the latter where predictions are moved

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
        share = self.rows / (self.rows + _ROWS_OF_THE_USUAL)
        return max(floor, share * self.covering + (1 - share) * cold)


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


def covering(errors: Vector) -> float:
    """What four of five errors stay within: the larger rank where it falls between two. [-]"""
    return float(np.quantile(errors, _COVERED, method="higher"))


def _shrunk(log_ratios: Vector) -> float:
    middle = float(np.median(log_ratios))
    apart = float(np.mean((log_ratios - middle) ** 2)) + ROW_SPREAD**2
    return SPREAD**2 / (SPREAD**2 + apart / len(log_ratios)) * middle
