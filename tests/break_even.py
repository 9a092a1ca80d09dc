"""Break-even of two choices in any figure of a plan, found by bisection: the other road to what a plan says."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from planner.strategy.kernel import Choice, kernel
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem


def break_even_value(
    problem: PlanProblem,
    theta: Theta,
    one: Choice,
    other: Choice,
    parameter: str,
    *,
    low: float,
    high: float,
    discounted: bool = True,
) -> float | None:
    """Value of a parameter at which two choices cost the same, all else fixed; None where one is cheaper throughout."""

    def difference(value: float) -> float:
        row = theta.copy()
        row[:, problem.column(parameter)] = value
        found = (kernel(problem, row, choice) for choice in (one, other))
        first, second = (each.present_value_usd if discounted else each.tco_usd for each in found)
        return float(first[0] - second[0])

    at_low, at_high = difference(low), difference(high)
    if at_low == 0.0:
        return low
    if np.sign(at_low) == np.sign(at_high):
        return None
    return float(brentq(difference, low, high, xtol=1e-12, rtol=1e-12))
