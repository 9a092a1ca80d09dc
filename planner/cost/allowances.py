"""Allowances that are used up over time: credits, free hours."""

from __future__ import annotations

import numpy as np

from planner.cost.course import Array


def within_total(wanted: Array, total: Array) -> Array:
    """What an allowance gives at each time, until it is used up.

    Parameters
    ----------
    wanted : array, shape [rows, times]
        What could be taken at each time, at least 0.
    total : array, shape [rows]
        The allowance over all times, in the same unit.

    Returns
    -------
    array, shape [rows, times]
        Never more than wanted, and never more than the total together.

    Examples
    --------
    >>> within_total(np.array([[40.0, 40.0, 40.0]]), np.array([100.0])).tolist()
    [[40.0, 40.0, 20.0]]
    """
    so_far = np.cumsum(wanted, axis=1)
    return np.where(so_far <= total[:, None], wanted, np.clip(total[:, None] - (so_far - wanted), 0.0, wanted))


def share(part: Array, whole: Array) -> Array:
    """Part over whole, 0 where there is nothing. [-]"""
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)
