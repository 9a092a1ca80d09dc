"""The search turned round: the most work that a budget pays for, all limits kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.strategy.kernel import kernel
from planner.strategy.limits import limits_of
from planner.strategy.optimise.coefficients import coefficients
from planner.strategy.optimise.options import undominated, usable
from planner.strategy.optimise.rounds import begin, in_rounds
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from planner.units import HALF_CENT_USD

MOST_FACTOR: Final = 1e6
"""Of the work as written: where that much is paid for too, the budget doesn't limit it."""
LEAST_FACTOR: Final = 1e-4
TOLERANCE: Final = 1e-3
"""Between the most work with a plan and the next that was tried without. [-]"""
_GAP: Final = 1e-3
_TIME_LIMIT_S: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MostWork:
    """How many times the work as written a plan within the limits does."""

    factor: float  # 0: not even a ten-thousandth of it
    beyond: float | None  # the least factor tried at which there is no plan; None: there is one at the largest tried
    tried: int


def most_work(problem: PlanProblem, theta: Theta, jobs: Sequence[int]) -> MostWork:
    """The largest factor on the runs of some jobs at which a plan within all limits is found.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question, with a limit on its total.
    theta : array, shape [1, parameters]
        Parameter values.
    jobs : sequence of int
        Indices of the jobs that grow; the runs of others stay.

    Raises
    ------
    ValueError
        Without a limit on the total.

    Notes
    -----
    From the work as written, by interpolating the least total and by halving; each factor is a search of its own, waits
    simulated. More work is taken to cost more, so that beyond a factor without a plan none is looked for. Commitments
    that only pay for much work could be an exception.
    """
    columns = [problem.jobs[job].runs_per_month_at for job in jobs]
    most_usd = problem.limits.total_usd
    if most_usd is None:
        raise ValueError("without a limit on the total")
    open_ended = replace(problem, limits=replace(problem.limits, total_usd=None))
    found: dict[float, float] = {}

    def over_usd(factor: float) -> float:
        """Of the least total over the budget; infinite where another limit can't be kept."""
        if factor not in found:
            values = theta.copy()
            values[:, columns] *= factor
            least_usd = _least_total_usd(open_ended, values)
            found[factor] = least_usd - most_usd
        return found[factor]

    low, high = _bracket(lambda factor: over_usd(factor) <= HALF_CENT_USD)
    step = 0
    while low > 0 and high is not None and high / low > 1 + TOLERANCE:
        middle = _between(low, high, over_usd(low), over_usd(high), step)
        low, high = (middle, high) if over_usd(middle) <= HALF_CENT_USD else (low, middle)
        step += 1
    return MostWork(factor=low, beyond=high, tried=len(found))


def _between(low: float, high: float, under_usd: float, over_usd: float, step: int) -> float:
    """The next factor to try: by the one at which a straight line meets the budget, every third time the middle."""
    middle = math.sqrt(low * high)
    if step % 3 == 2 or not (np.isfinite(under_usd) and np.isfinite(over_usd)):
        return middle
    guess = low - under_usd * (high - low) / (over_usd - under_usd)
    guess *= 1 - TOLERANCE / 3 if step % 3 == 0 else 1 + TOLERANCE / 3
    return guess if low * (1 + TOLERANCE / 4) < guess < high * (1 - TOLERANCE / 4) else middle


def _bracket(planned: Callable[[float], bool]) -> tuple[float, float | None]:
    """A factor with a plan, or 0, and one without, or None."""
    if planned(1.0):
        low, high = 1.0, 2.0
        while planned(high):
            low, high = high, high * 4.0
            if low >= MOST_FACTOR:
                return low, None
        return low, high
    high, low = 1.0, 0.5
    while not planned(low):
        high, low = low, low / 4.0
        if high <= LEAST_FACTOR:
            return 0.0, high
    return low, high


def _least_total_usd(problem: PlanProblem, theta: Theta) -> float:
    """Undiscounted, of any plan that keeps all limits; infinite where there is none.

    A programme that has to stay below a total is much harder than one that looks for the lowest.
    """
    able = usable(problem, theta)
    if {problem.pairs[index].job for index in able} != set(range(len(problem.jobs))):
        return np.inf
    every = coefficients(problem, theta, able)
    undiscounted = replace(every, discount=np.ones_like(every.discount))
    kept = undominated(problem, every)
    limits = limits_of(problem, ceiling=True)
    search = begin(problem, theta, undiscounted, kept, limits=limits, gap=_GAP, time_limit_s=_TIME_LIMIT_S)
    best, _, _ = in_rounds(search)
    return np.inf if best is None else float(kernel(problem, theta, best[0]).tco_usd[0])
