"""Sizes of errors: their median and 90th percentile in percent, and half-widths that cover four of five of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

COVERED: Final = 0.8
_HIGHEST_LEVEL = 0.95
_PERCENT = 100.0


def errors_of(log_errors: Sequence[float] | Array) -> tuple[float, float, float]:
    """Median and 90th percentile of the absolute error and the median error, in percent of what was measured.

    Parameters
    ----------
    log_errors : sequence of float
        Logs of predicted over measured.
    """
    errors = _PERCENT * np.expm1(np.asarray(log_errors, dtype=np.float64))
    sizes = np.abs(errors)
    return float(np.median(sizes)), float(np.quantile(sizes, 0.9)), float(np.median(errors))


def median_and_p90(log_errors: Sequence[float] | Array) -> tuple[float, float]:
    """Median and 90th percentile of the absolute error, in percent of what was measured."""
    median, p90, _ = errors_of(log_errors)
    return median, p90


def covering(sizes: Sequence[float] | Array, groups: int | None = None) -> float:
    """What covers four of five errors; of few groups left out in turn rather more, as the next may be unlike them.

    References
    ----------
    .. [1] A. Angelopoulos and S. Bates, "A Gentle Introduction to Conformal Prediction," 2021, sec. 1,
       arXiv:2107.07511: the level that `groups` errors need for one more to be covered.
    """
    level = COVERED if groups is None else min(COVERED * (1 + 1 / groups), _HIGHEST_LEVEL)
    return float(np.quantile(sizes, level))


def blended(own: float, usual: float, count: int, of_usual: int) -> float:
    """A width of `count` errors and what is usual, which counts as `of_usual` of them."""
    share = count / (count + of_usual)
    return share * own + (1 - share) * usual


def shrunk(sizes: Sequence[float] | Array, usual: float, of_usual: int) -> float:
    """What covers four of five errors, the nearer to what is usual the fewer there are."""
    return blended(covering(sizes), usual, len(sizes), of_usual) if len(sizes) else usual
