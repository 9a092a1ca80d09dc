"""Large programmes: what is had throughout the plan is decided first, then each period by itself.

The yes-or-no parts of single periods (a disk here, people for renting there) make a programme of many periods slow, and
tell little about its cost. Without them it is soon solved, and is never dearer: a bound. With what is had throughout
the plan kept from it, its periods have nothing to do with each other, and each is a small programme.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from planner.cost.course import Array
from planner.strategy.optimise.programme import Arrays, Programme, Solved

FEW: Final = 60
"""Yes-or-no parts of single periods up to which a programme is solved as it is."""
GOOD_GAP: Final = 0.01
"""Gap at which a programme with more of them is left: a smaller one takes minutes. [-]"""
_SHARE_OF_GAP: Final = 0.1  # to which the parts are solved


def solve_by_periods(programme: Programme, *, gap: float, time_limit_s: float, few: int = FEW) -> Solved:
    """The least total cost: by periods where that is within the gap of the bound, else as a whole.

    Parameters
    ----------
    programme : Programme
        Variables say their period.
    gap : float
        Share of the cost by which the answer may miss the best one; of a large programme `GOOD_GAP`, if that is
        more. [-]
    time_limit_s : float
        For all steps together. [s]
    few : int
        Yes-or-no parts of single periods that a programme may have and still be solved as it is.
    """
    start = time.perf_counter()
    every = programme.arrays()
    single = every.whole & (every.period >= 0)
    if single.sum() <= few:
        return every.solve(gap=gap, time_limit_s=time_limit_s)
    gap = max(gap, GOOD_GAP)

    def left_s() -> float:
        return time_limit_s - (time.perf_counter() - start)

    relaxed = replace(every, whole=every.whole & ~single).solve(gap=_SHARE_OF_GAP * gap, time_limit_s=left_s())
    bound = relaxed.bound
    values = None if relaxed.values is None else _completed(every, relaxed.values, gap, left_s)
    if values is not None and _missed(every, values, bound) <= gap:
        return Solved(values=values, bound=bound, timed_out=False)
    if left_s() <= 0:
        return Solved(values=values, bound=bound, timed_out=True)
    whole = every.solve(gap=gap, time_limit_s=left_s())
    if values is None or (whole.values is not None and every.cost @ whole.values <= every.cost @ values):
        values = whole.values
    bound = max(bound, whole.bound)
    timed_out = whole.timed_out and (values is None or _missed(every, values, bound) > gap)
    return Solved(values=values, bound=bound, timed_out=timed_out)


def _missed(every: Arrays, values: Array, bound: float) -> float:
    cost = float(every.cost @ values)
    return (cost - bound) / max(abs(cost), 1.0)


def _completed(every: Arrays, values: Array, gap: float, left_s: Callable[[], float]) -> Array | None:
    """Values of all variables, those of the whole plan as given; None where some period has none."""
    shared = every.period < 0
    fixed = np.where(every.whole, np.round(values), values)
    kept = replace(every, least=np.where(shared, fixed, every.least), most=np.where(shared, fixed, every.most))
    owner = _owners(every)
    if owner is None:  # rows over several periods: credits, hours or limits of the whole plan
        return kept.solve(gap=_SHARE_OF_GAP * gap, time_limit_s=left_s()).values
    result = np.where(shared, fixed, 0.0)
    for period in np.unique(every.period[~shared]):
        mine = np.flatnonzero(every.period == period)
        rows = np.flatnonzero(owner == period)
        part = every.matrix[rows]
        rest = np.asarray(part @ np.where(shared, fixed, 0.0))
        solved = Arrays(
            cost=every.cost[mine],
            least=every.least[mine],
            most=every.most[mine],
            whole=every.whole[mine],
            matrix=part[:, mine],
            low=every.low[rows] - rest,
            high=every.high[rows] - rest,
            period=every.period[mine],
        ).solve(gap=_SHARE_OF_GAP * gap, time_limit_s=left_s())
        if solved.values is None:
            return None
        result[mine] = solved.values
    return result


def _owners(every: Arrays) -> Array | None:
    """The period of each row, -1 of those over the whole plan alone; None where one has variables of several."""
    entries = every.matrix.tocoo()
    periods = every.period[entries.col]
    rows, periods = entries.row[periods >= 0], periods[periods >= 0]
    first = np.full(len(every.low), -1)
    first[rows] = periods
    return None if np.any(first[rows] != periods) else first
