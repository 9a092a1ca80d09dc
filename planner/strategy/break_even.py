"""Break-even: where two choices cost the same, by how much the machines are used, by rental price, and when.

Every cost comes from the kernel, so all lines count: what doesn't depend on the work in full, what does by the hour.
Choices are kept as they are, machines and routing alike; only what a break-even is asked in moves.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import brentq

from planner.cost.course import Array
from planner.strategy.compare import cash_at_start_usd, payback_month
from planner.strategy.fleet import machines_there, powered_h_by_month
from planner.strategy.kernel import Choice, Evaluation, kernel
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from planner.strategy.sessions import busy_h_by_month
from planner.units import HALF_CENT_USD, Numeric

MOST_PRICE_FACTOR = 100.0  # rental prices beyond a hundred times those planned aren't looked at
CURVE_POINTS = 25
_STEPS_BETWEEN = 4  # looked at between two points of the curve, for what crosses and comes back
_NOISE = 1e-12  # of the larger cost: differences below are none

Reason = Literal[
    "owning_never",  # renting costs less, whatever the value
    "renting_never",  # owning costs less, whatever the value
    "same_cost",
    "no_machines",  # neither choice owns machines
    "no_work",  # the owned machines have none
    "no_rental",  # neither choice rents
    "no_higher_purchase",  # the machines don't take more cash at the start
    "not_in_time",  # not before the last payment
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """Where two choices cost the same, as a factor on what is planned; or why nowhere."""

    factor: float | None  # of several the one nearest to the plan
    further: tuple[float, ...] = ()
    reason: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Both sides' cost over a factor on what is planned, undiscounted and as present values. [USD]"""

    factor: Array
    owning_usd: Array
    renting_usd: Array
    owning_present_value_usd: Array
    renting_present_value_usd: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """Everything that turns the order of two choices. Pairs are undiscounted, then in present values."""

    owning: str  # the choice that puts more into machines
    renting: str
    busy_h: float  # machine-hours of work on the machines of `owning` over the horizon, as planned
    utilisation: float | None  # of their powered hours; None without machines
    most_factor: float | None  # on all runs, up to which the machines of both suffice
    use: tuple[Crossing, Crossing]  # factor on the runs of all jobs
    curve: Curve | None  # over that factor, from none to `most_factor`
    rental_price: tuple[Crossing, Crossing]  # factor on the price of everything rented
    prices_usd_per_h: Mapping[str, float]  # of the offers in use, as planned
    payback: tuple[int | None, int | None]  # month
    payback_reasons: tuple[Reason | None, Reason | None]


def break_evens(problem: PlanProblem, theta: Theta, choices: Mapping[str, Choice]) -> tuple[BreakEven, ...]:
    """Break-even of every pair of choices, in their order."""
    pairs = itertools.combinations(choices.items(), 2)
    return tuple(break_even(problem, theta, dict(pair)) for pair in pairs)


def break_even(problem: PlanProblem, theta: Theta, choices: Mapping[str, Choice]) -> BreakEven:
    """Break-even of two choices in use, rental price and month.

    Parameters
    ----------
    problem, theta : PlanProblem, array of one row
        The resolved question and its parameter values.
    choices : mapping
        Two choices by name, each of one row, kept as they are.

    Returns
    -------
    BreakEven
        The choice with the higher `capex_usd`, or where that is equal the one with more machine-hours, is `owning`.
    """
    named = sorted(choices.items(), key=lambda item: _put_into_machines(problem, theta, item[1]), reverse=True)
    (owning, own), (renting, rent) = named
    mine = kernel(problem, theta, own)
    busy_h, utilisation, most = _use_planned(problem, theta, own, rent)
    if most is None:
        none = Crossing(factor=None, reason="no_machines" if utilisation is None else "no_work")
        use, curve = (none, none), None
    else:
        use, curve = _by_use(problem, theta, own, rent, most)
    columns = _rental_columns(problem, own, rent)
    other = kernel(problem, theta, rent)
    months, reasons = paybacks(mine, other)
    return BreakEven(
        owning=owning,
        renting=renting,
        busy_h=busy_h,
        utilisation=utilisation,
        most_factor=most,
        use=use,
        curve=curve,
        rental_price=_by_rental_price(problem, theta, own, rent, list(columns.values())),
        prices_usd_per_h={id: float(theta[0, column]) for id, column in columns.items()},
        payback=months,
        payback_reasons=reasons,
    )


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


_Costs = tuple[tuple[Array, Array], tuple[Array, Array]]
"""Of both choices by row: undiscounted totals, then present values."""


def _costs(problem: PlanProblem, table: Theta, one: Choice, other: Choice) -> _Costs:
    first, second = kernel(problem, table, one), kernel(problem, table, other)
    return (first.tco_usd, second.tco_usd), (first.present_value_usd, second.present_value_usd)


def _put_into_machines(problem: PlanProblem, theta: Theta, choice: Choice) -> tuple[float, float]:
    capex_usd = float(kernel(problem, theta, choice).capex_usd[0])
    return capex_usd, float(_powered_h(problem, theta, choice).mean(axis=1).sum())


def _powered_h(problem: PlanProblem, theta: Theta, choice: Choice) -> Array:
    """Hours of the machines there, by type and month. [machines, months or 1]"""
    return np.asarray(powered_h_by_month(problem, theta, machines_there(problem, choice.machine_count))[0])


def _busy_h(problem: PlanProblem, theta: Theta, choice: Choice) -> Array:
    """Hours of work on them, by type and month. [machines, months or 1]"""
    return np.asarray(busy_h_by_month(problem, theta, choice.routing, choice.by_month)[0])


def _use_planned(
    problem: PlanProblem, theta: Theta, own: Choice, rent: Choice
) -> tuple[float, float | None, float | None]:
    """Busy hours and utilisation of the owner's machines, and the factor at which machines of either side are full."""
    room = []
    for choice in (own, rent):
        powered, worked = np.broadcast_arrays(_powered_h(problem, theta, choice), _busy_h(problem, theta, choice))
        room += (powered[worked > 0] / worked[worked > 0]).tolist()
    busy = float(_busy_h(problem, theta, own).mean(axis=1).sum())
    there = float(_powered_h(problem, theta, own).mean(axis=1).sum())
    most = min(room) if busy > 0 and there > 0 else None
    return busy * problem.horizon_months, busy / there if there > 0 else None, most


def _by_use(
    problem: PlanProblem, theta: Theta, own: Choice, rent: Choice, most: float
) -> tuple[tuple[Crossing, Crossing], Curve]:
    columns = sorted({job.runs_per_month_at for job in problem.jobs})
    grid = np.linspace(0.0, most, (CURVE_POINTS - 1) * _STEPS_BETWEEN + 1)
    crossings, found = _crossings(problem, theta, own, rent, columns, grid)
    (owning, renting), (owning_value, renting_value) = found
    shown = slice(None, None, _STEPS_BETWEEN)
    curve = Curve(
        factor=grid[shown],
        owning_usd=owning[shown],
        renting_usd=renting[shown],
        owning_present_value_usd=owning_value[shown],
        renting_present_value_usd=renting_value[shown],
    )
    return crossings, curve


def _rental_columns(problem: PlanProblem, own: Choice, rent: Choice) -> dict[str, int]:
    """Columns of the prices of everything that either side rents, by offer."""
    columns: dict[str, int] = {}
    for index, pair in enumerate(problem.pairs):
        if pair.offer is None or not (own.routing[0, index] > 0 or rent.routing[0, index] > 0):
            continue
        offer = problem.offers[pair.offer]
        columns[offer.id] = offer.price_at
        if offer.commitment is not None:
            overflow = problem.offers[offer.commitment.overflow]
            columns[overflow.id] = overflow.price_at
    return columns


def _by_rental_price(
    problem: PlanProblem, theta: Theta, own: Choice, rent: Choice, columns: list[int]
) -> tuple[Crossing, Crossing]:
    if not columns:
        none = Crossing(factor=None, reason="no_rental")
        return none, none
    return _crossings(problem, theta, own, rent, columns, np.array([0.0, 1.0, MOST_PRICE_FACTOR]))[0]


def _crossings(
    problem: PlanProblem, theta: Theta, own: Choice, rent: Choice, columns: list[int], grid: Array
) -> tuple[tuple[Crossing, Crossing], _Costs]:
    """Factors on some columns at which both sides cost the same, and the costs over the grid."""

    def rows(factors: Array) -> Theta:
        table = np.repeat(theta, len(factors), axis=0)
        table[:, columns] *= factors[:, None]
        return table

    def difference(which: int) -> Callable[[float], float]:
        def at(factor: float) -> float:
            first, second = _costs(problem, rows(np.array([factor])), own, rent)[which]
            return float(first[0] - second[0])

        return at

    found = _costs(problem, rows(grid), own, rent)
    totals, values = (
        _crossing(grid, owning - renting, np.maximum(np.abs(owning), np.abs(renting)), difference(which))
        for which, (owning, renting) in enumerate(found)
    )
    return (totals, values), found


def _crossing(grid: Array, differences: Array, scale: Array, difference: Callable[[float], float]) -> Crossing:
    """Roots between points of a grid whose differences have opposite signs; a zero at its start is none."""
    told_apart = np.flatnonzero(np.abs(differences) > _NOISE * scale)
    if np.all(np.abs(differences) < HALF_CENT_USD) or not len(told_apart):
        return Crossing(factor=None, reason="same_cost")
    roots = [
        float(brentq(difference, grid[here], grid[there], xtol=1e-12, rtol=1e-12))
        for here, there in itertools.pairwise(told_apart.tolist())
        if differences[here] * differences[there] < 0
    ]
    if not roots:
        dearer = differences[told_apart[0]] > 0
        return Crossing(factor=None, reason="owning_never" if dearer else "renting_never")
    nearest = min(roots, key=lambda root: abs(np.log(root)))
    return Crossing(factor=nearest, further=tuple(root for root in roots if root != nearest))


def paybacks(
    mine: Evaluation, other: Evaluation
) -> tuple[tuple[int | None, int | None], tuple[Reason | None, Reason | None]]:
    """Month in which a higher purchase is made up for, undiscounted and in present values, or why in none."""
    if cash_at_start_usd(mine) <= cash_at_start_usd(other):
        return (None, None), ("no_higher_purchase", "no_higher_purchase")
    months = (payback_month(mine, other), payback_month(mine, other, discounted=True))
    reasons: list[Reason | None] = [None if month is not None else "not_in_time" for month in months]
    return months, (reasons[0], reasons[1])
