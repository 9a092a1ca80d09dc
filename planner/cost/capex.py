"""Owned machines over time: when units are bought, replaced and sold, and what resale brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.errors import InputError
from planner.units import Numeric


@dataclass(frozen=True, slots=True, kw_only=True)
class Sale:
    """One unit sold at the end of `month`, aged `sold_age` months then and `bought_age` when the plan got it."""

    month: int
    bought_age: int
    sold_age: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """What happens to one unit over the horizon: purchases at the end of these months (0: the start), and sales."""

    purchase_months: tuple[int, ...]
    sales: tuple[Sale, ...]
    paid: int = 0  # of the purchases, the first ones: before the plan began, in months of 0 and below


def unit_schedule(
    *,
    horizon_months: int,
    useful_life_months: int,
    first_age: int,
    replacement_age: int,
    owned: bool,
    replaced_age: int | None = None,
    ordered_month: int = 0,
    delivery_months: int = 0,
    comes_after: int = 0,
    replacement_after: int | None = None,
    goes_after: int | None = None,
) -> Schedule:
    """Purchases and sales of one unit: sold and bought again at the end of its life, sold after the last month.

    A life that ends with the horizon triggers no replacement. Ages count from the first sale of the unit, not while
    it is on its way. Replacements are ordered so early that they come when the unit before goes; where that would
    have been before the plan begins, it stays until they come.

    Parameters
    ----------
    horizon_months, useful_life_months : int
        Horizon, and age at which a unit is replaced. [months]
    first_age, replacement_age : int
        Age of the first unit at the start of the plan and of its replacements when bought. [months]
    owned : bool
        The first unit is there already, so its purchase isn't part of the plan.
    replaced_age : int or None
        Age at which units of the plan go, where that is before the end of their life: under a lease. [months]
    ordered_month, delivery_months : int
        End of the month in which the first unit is bought (0: the start), and how long a unit takes to come. [months]
    comes_after : int
        End of the month in which a unit comes that is paid already. [months]
    replacement_after : int or None
        The same of a replacement of it: until then it stays, however old. [months]
    goes_after : int or None
        End of the month in which the first unit goes back, at the end of a lease that runs already. [months]

    Returns
    -------
    Schedule
        Months of purchases and sales.

    Raises
    ------
    InputError
        When a unit is at the end of its life before it is used.
    """
    for field, age in (("owned.age_months" if owned else "age_months", first_age), ("age_months", replacement_age)):
        if age >= useful_life_months and not (replacement_after is not None and field == "owned.age_months"):
            raise InputError("past_useful_life", field=field, value=age, useful_life_months=useful_life_months)
    purchases: list[int] = [] if owned else [ordered_month]
    sales: list[Sale] = []
    start, age = comes_after if owned else ordered_month + delivery_months, first_age
    until = replaced_age if replaced_age is not None and not owned else useful_life_months
    if goes_after is not None:
        until = first_age + goes_after - start
    end = replacement_after
    while True:
        if end is None:
            end = max(start + until - age, delivery_months)  # a replacement ordered at the start comes then
        if end >= horizon_months:
            sales.append(Sale(month=horizon_months, bought_age=age, sold_age=age + horizon_months - start))
            paid = 0 if replacement_after is None else min(len(purchases), 1)
            return Schedule(purchase_months=tuple(purchases), sales=tuple(sales), paid=paid)
        sales.append(Sale(month=end, bought_age=age, sold_age=age + end - start))
        purchases.append(end - delivery_months)
        start, age, until, end = end, replacement_age, replaced_age or useful_life_months, None


def residual_ratio(ratio_sold: Numeric, ratio_bought: Numeric) -> Numeric:
    """Resale price over price paid: the ratio at the age when sold over that when bought, at most 1. [-]"""
    return np.minimum(ratio_sold / ratio_bought, 1.0)


def interpolate_ratio(ratios: Mapping[int, float], age_months: int) -> float:
    """Residual ratio at an age, linear between the ages given; a new unit is worth its price. [-]

    Raises
    ------
    InputError
        Beyond the last age given, where any value would be a guess.
    """
    known = {0: 1.0, **ratios}
    ages: Sequence[int] = sorted(known)
    if age_months > ages[-1]:
        raise InputError("residual_missing", age_months=age_months, last_age_months=ages[-1])
    return float(np.interp(age_months, ages, [known[age] for age in ages]))
