"""Why a bill differs from the plan: runs, attempts, hours of an attempt, other use, and prices, which add up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from planner.actual.planned import PlannedLine, PlannedRuns
from planner.actual.rows import Hours


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """Parts of a difference, actual less planned; their sum is the difference. [USD]"""

    runs_usd: float = 0.0  # more or fewer successful runs
    attempts_usd: float = 0.0  # more or fewer attempts for each
    speed_usd: float = 0.0  # longer or shorter attempts
    quantity_usd: float = 0.0  # more billed than these hours explain
    price_usd: float = 0.0  # another price of what is billed
    unplanned_usd: float = 0.0  # what the plan doesn't have
    undivided_usd: float = 0.0  # not to be told apart with what is known

    @property
    def total_usd(self) -> float:
        """The whole difference."""
        return float(sum(getattr(self, field.name) for field in fields(self)))


def added(effects: Iterable[Effects]) -> Effects:
    """Sum of each part."""
    found = list(effects)
    return Effects(**{field.name: sum(getattr(each, field.name) for each in found) for field in fields(Effects)})


@dataclass(frozen=True, slots=True, kw_only=True)
class HourEffects:
    """GPU-hours of a job on a resource in a month: what runs, attempts and their length add to the plan. [h]"""

    runs_gpu_h: float
    attempts_gpu_h: float
    speed_gpu_h: float


def hour_effects(planned: PlannedRuns, actual: Hours) -> HourEffects:
    """Why a job held more or fewer GPU-hours in a month than planned.

    With runs R, attempts A and hours H, planned attempts a of a run and planned hours h of an attempt:
    (R - R_planned) a h, then (A - R a) h, then H - A h, which add up to H - R_planned a h. Where attempts aren't
    reported, A is taken to be R a: both then stand as hours of an attempt.

    Parameters
    ----------
    planned : PlannedRuns
        The plan.
    actual : Hours
        What was reported of one month.
    """
    hours_each = planned.attempts_per_run * planned.gpu_h_per_attempt
    attempts = actual.runs * planned.attempts_per_run if actual.attempts is None else actual.attempts
    return HourEffects(
        runs_gpu_h=(actual.runs - planned.runs[actual.month - 1]) * hours_each,
        attempts_gpu_h=attempts * planned.gpu_h_per_attempt - actual.runs * hours_each,
        speed_gpu_h=actual.gpu_hours - attempts * planned.gpu_h_per_attempt,
    )


def bill_effects(
    lines: tuple[PlannedLine, ...],
    month: int,
    amount_usd: float,
    quantity: float | None,
    hours: Mapping[tuple[str, str], HourEffects],
) -> Effects:
    """Why what was paid in a month for some lines differs from the plan.

    Hours that a line follows are valued at what one more of them costs in the plan. What of the billed quantity they
    don't explain is valued at the planned price, and the rest is the price: in this order, so that the parts add up to
    the difference whatever is known.

    Parameters
    ----------
    lines : tuple of PlannedLine
        What the plan has for it.
    month : int
        Of the plan, from 1.
    amount_usd : float
        What was paid.
    quantity : float or None
        How much of the lines' unit was billed, where that is known.
    hours : mapping
        By job and resource, where hours were reported for this month.
    """
    planned_usd = sum(amount_in(line, month) for line in lines)
    difference = amount_usd - planned_usd
    if not lines:
        return Effects(unplanned_usd=difference)
    followed = [(hours.get(driver), line.usd_per_gpu_h(month)) for line in lines for driver in line.drivers]
    known = [(effect, price) for effect, price in followed if effect is not None]
    explained = len(known) == len(followed)
    if not explained:
        known = []
    parts = {
        name: sum(getattr(effect, f"{name}_gpu_h") * price for effect, price in known)
        for name in ("runs", "attempts", "speed")
    }
    by_hours = sum(parts.values())
    more_usd, rest = 0.0, difference - by_hours
    priced = explained and all(line.drivers for line in lines)
    if quantity is not None and (price := _mean_price(lines, month)) is not None:
        planned = sum(quantity_in(line, month) for line in lines)
        more_usd = (quantity - planned) * price - by_hours
        rest -= more_usd
        priced = True
    return Effects(
        runs_usd=parts["runs"],
        attempts_usd=parts["attempts"],
        speed_usd=parts["speed"],
        quantity_usd=more_usd,
        price_usd=rest if priced else 0.0,
        undivided_usd=0.0 if priced else rest,
    )


def _mean_price(lines: tuple[PlannedLine, ...], month: int) -> float | None:
    """Planned price of a unit over lines that count in the same one; None where they don't. [USD]"""
    if len({line.unit for line in lines}) != 1:
        return None
    quantity = sum(quantity_in(line, month) for line in lines)
    if quantity:
        return sum(amount_in(line, month) for line in lines) / quantity
    prices = {line.prices_usd[month - 1] for line in lines}
    return prices.pop() if len(prices) == 1 else None


def amount_in(line: PlannedLine, month: int) -> float:
    """Planned amount of a line in a month from 1. [USD]"""
    return line.amount_usd[month - 1]


def quantity_in(line: PlannedLine, month: int) -> float:
    """Planned quantity of a line in a month from 1."""
    return line.quantity[month - 1]
