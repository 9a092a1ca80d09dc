"""Comparing strategies: ranking with its reason, break-even, payback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import brentq

from planner.errors import InputError
from planner.strategy.kernel import Choice, Evaluation, kernel
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from planner.units import Numeric

NEAR_TIE_SHARE = 0.02  # below this difference a plan says "about the same"
_SAME_USD = 0.005


class Ranked(Protocol):
    """What ranking needs to know of a strategy."""

    @property
    def id(self) -> str: ...
    @property
    def feasible(self) -> bool: ...
    @property
    def present_value_usd(self) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """The strategy to choose and why, as a code with parameters; `strategy` is None when none is feasible."""

    strategy: str | None
    runner_up: str | None
    reason_code: str
    reason_params: Mapping[str, object]


def recommend(strategies: Sequence[Ranked]) -> Recommendation:
    """The feasible strategy with the lowest present value; of equal ones the first, which is the simpler.

    Reasons: `none_feasible`, `only_feasible`, `same_as` (another strategy is the same plan), `near_tie` (within 2 %),
    `cheapest`.
    """
    feasible = sorted((s for s in strategies if s.feasible), key=lambda s: s.present_value_usd)
    if not feasible:
        return Recommendation(strategy=None, runner_up=None, reason_code="none_feasible", reason_params={})
    best = feasible[0]
    cost = {"strategy": best.id, "present_value_usd": best.present_value_usd}
    if len(feasible) == 1:
        others = [s.id for s in strategies if s.id != best.id]
        params = {**cost, "others": others}
        return Recommendation(strategy=best.id, runner_up=None, reason_code="only_feasible", reason_params=params)
    same = [s for s in feasible if s.present_value_usd - best.present_value_usd < _SAME_USD]
    best = next(s for s in strategies if s in same)
    others_left = [s for s in feasible if s not in same]
    cost["strategy"] = best.id
    if not others_left:
        twin = next(s.id for s in same if s is not best)
        return Recommendation(
            strategy=best.id, runner_up=twin, reason_code="same_as", reason_params={**cost, "runner_up": twin}
        )
    second = others_left[0]
    saving = second.present_value_usd - best.present_value_usd
    params = {
        **cost,
        "runner_up": second.id,
        "saving_usd": saving,
        "saving_share": saving / second.present_value_usd if second.present_value_usd > 0 else 0.0,
    }
    near = saving < NEAR_TIE_SHARE * abs(second.present_value_usd)
    code = "near_tie" if near else "cheapest"
    return Recommendation(strategy=best.id, runner_up=second.id, reason_code=code, reason_params=params)


def simple_break_even_h(capex_usd: Numeric, own_usd_per_h: Numeric, rent_usd_per_h: Numeric) -> Numeric:
    """Busy hours after which owning is cheaper, without fixed lines, resale or discounting.

    Parameters
    ----------
    capex_usd : numeric
        Purchase. [USD]
    own_usd_per_h, rent_usd_per_h : numeric
        Running cost of the owned machine and rental of its like, per hour of use. [USD/h]

    Returns
    -------
    numeric
        Hours; infinite where renting isn't dearer per hour. [h]

    References
    ----------
    .. [1] Lenovo Press LP2225: 833,806 USD, 0.87 and 98.32 USD/h give 8,556 h.

    Examples
    --------
    >>> round(float(simple_break_even_h(833_806.0, 0.87, 98.32)))
    8556
    """
    margin = np.asarray(rent_usd_per_h, dtype=float) - own_usd_per_h
    return np.where(
        margin > 0, np.divide(capex_usd, margin, out=np.full_like(margin, np.inf), where=margin > 0), np.inf
    )


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
    """Value of a parameter at which two choices cost the same, all else fixed and all lines counted.

    Parameters
    ----------
    problem, theta : PlanProblem, array of one row
        The resolved question and its parameter values.
    one, other : Choice
        The two choices, kept as they are.
    parameter : str
        Id of the parameter, e.g. `offers.<id>.price_usd_per_h`.
    low, high : float
        Interval searched, in the parameter's unit.
    discounted : bool
        Compare present values; otherwise undiscounted totals.

    Returns
    -------
    float or None
        None where one choice is cheaper over the whole interval.

    Raises
    ------
    InputError
        When the plan has no such parameter.
    """
    try:
        column = problem.column(parameter)
    except KeyError:
        raise InputError("unknown_parameter", field=parameter, value=parameter) from None

    def difference(value: float) -> float:
        row = theta.copy()
        row[:, column] = value
        costs = [kernel(problem, row, choice) for choice in (one, other)]
        first, second = (cost.present_value_usd[0] if discounted else cost.tco_usd[0] for cost in costs)
        return float(first - second)

    at_low, at_high = difference(low), difference(high)
    if at_low == 0.0:
        return low
    if np.sign(at_low) == np.sign(at_high):
        return None
    return float(brentq(difference, low, high, xtol=1e-12, rtol=1e-12))


def cumulative_usd(evaluation: Evaluation, *, with_resale: bool = True, cash_only: bool = False) -> np.ndarray:
    """Undiscounted money spent up to each time, shape [rows, H + 1]; column 0 is the start of the plan. [USD]"""
    lines = [
        line
        for line in evaluation.lines
        if (with_resale or line.group != "residual") and not (cash_only and line.id.startswith("opportunity"))
    ]
    if not lines:
        return np.zeros_like(evaluation.discount)
    return np.asarray(np.cumsum(np.sum([line.amount for line in lines], axis=0), axis=1))


def payback_month(dearer_purchase: Evaluation, other: Evaluation) -> int | None:
    """First month at whose end the cash of the dearer purchase, resale not counted, is at most the other's.

    Returns
    -------
    int or None
        None when that doesn't happen within the horizon.
    """
    mine = cumulative_usd(dearer_purchase, with_resale=False, cash_only=True)[0]
    theirs = cumulative_usd(other, with_resale=False, cash_only=True)[0]
    last = max(len(mine), len(theirs))  # commitments of one may be paid for longer
    mine, theirs = (np.pad(sums, (0, last - len(sums)), mode="edge") for sums in (mine, theirs))
    months = np.flatnonzero(mine[1:] <= theirs[1:])
    return int(months[0]) + 1 if len(months) else None
