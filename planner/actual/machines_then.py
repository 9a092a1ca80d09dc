"""Machines that are owned when a later month of a plan begins: how many, how old, and what they would bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from planner.actual.drift import Comparison
from planner.actual.later_money import hardware_factor
from planner.cost.capex import residual_ratio
from planner.scenario.machines import MachineInput
from planner.scenario.schema import Scenario
from planner.strategy.fleet import cohort_units
from planner.strategy.machines import Cohort, Machine
from planner.strategy.resolve.cohorts import residual_at
from planner.strategy.resolve.figures import Figures

_DIGITS = 4  # of amounts that are written into a scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """Machines of one type at the start of a month."""

    count: int
    age_months: int  # since they were first sold; the mean where ages differ
    resale_gpu_usd: float  # of one card and one host, by the plan's own prices
    resale_host_usd: float
    billed: bool  # counted by what was billed, not by the plan
    mixed: bool  # of several ages


@dataclass(frozen=True, slots=True, kw_only=True)
class _Units:
    """Machines of one age."""

    count: int
    age_months: int
    bought_age: int
    host_older: int  # months by which hosts are older than their cards
    gpu_usd: float  # price of one when the plan got it, without tax that is inside
    host_usd: float


def machines_then(comparison: Comparison, scenario: Scenario, month: int) -> list[Stock | None]:
    """Machines of each type that are owned at the start of a month; None where there are none.

    Purchases are those billed, where bills for cards say how many; else those of the plan, replacements included.

    Parameters
    ----------
    comparison : Comparison
        The way that is followed, and what was paid.
    scenario : Scenario
        For the resale curves.
    month : int
        Of the plan, from 2.
    """
    problem = comparison.way.problem
    return [
        _stock(comparison, scenario.machines[machine.id], index, month - 1)
        for index, machine in enumerate(problem.machines)
    ]


def _stock(comparison: Comparison, entry: MachineInput, index: int, past: int) -> Stock | None:
    way = comparison.way
    machine = way.problem.machines[index]
    billed = _billed(comparison, entry, machine, past)
    counts = cohort_units(machine, way.choice.machine_count[:, index])
    cohorts = [(cohort, int(count[0])) for cohort, count in zip(machine.cohorts, counts, strict=True)]
    kept = [(cohort, count) for cohort, count in cohorts if cohort.owned or billed is None]
    older = 0 if entry.owned is None else entry.owned.age_months - (entry.age_months or 0)
    units = [
        found
        for cohort, count in kept
        if (found := _planned(comparison, index, cohort, count, past, older if cohort.new_cards else 0)) is not None
    ]
    units += billed or []
    count = sum(each.count for each in units)
    if not count:
        return None
    figures, gpu = Figures(way.catalog), way.catalog.gpus[machine.gpu]

    def then_usd(each: _Units, part: Literal["gpu", "host"]) -> float:
        older = each.host_older if part == "host" else 0
        ages = (each.age_months + older, each.bought_age + older)
        now, bought = (residual_at(entry, gpu, figures, part, age) for age in ages)
        return (each.gpu_usd if part == "gpu" else each.host_usd) * float(residual_ratio(now, bought))

    return Stock(
        count=count,
        age_months=round(sum(each.count * each.age_months for each in units) / count),
        resale_gpu_usd=round(sum(each.count * then_usd(each, "gpu") for each in units) / count, _DIGITS),
        resale_host_usd=round(sum(each.count * then_usd(each, "host") for each in units) / count, _DIGITS),
        billed=billed is not None,
        mixed=len({each.age_months for each in units}) > 1,
    )


def _planned(
    comparison: Comparison, index: int, cohort: Cohort, count: int, past: int, host_older: int
) -> _Units | None:
    """Machines with one history, as the plan has them; with new cards, their first hosts are older."""
    way = comparison.way
    machine = way.problem.machines[index]
    for position, columns in enumerate(cohort.sales):
        sale = columns.sale
        start = sale.month - (sale.sold_age - sale.bought_age)
        if count and start <= past < sale.month:
            was_owned = cohort.owned and position == 0
            bought = 0 if was_owned else cohort.purchase_months[position - cohort.owned]
            gpu_usd, host_usd = _prices(comparison, machine, bought, was_owned=was_owned)
            return _Units(
                count=count,
                age_months=sale.bought_age + past - start,
                bought_age=sale.bought_age,
                host_older=host_older if position == 0 else 0,
                gpu_usd=gpu_usd,
                host_usd=host_usd,
            )
    return None


def _prices(comparison: Comparison, machine: Machine, bought: int, *, was_owned: bool) -> tuple[float, float]:
    """Price of a card and a host when the plan got them: what they would have brought, or what was paid for them."""
    problem, theta = comparison.way.problem, comparison.way.theta
    tax = 1.0 + float(theta[0, problem.tax_rate_at])
    factor = hardware_factor(problem, theta, bought)

    def price(today_at: int | None, price_at: int, includes_tax: bool) -> float:
        if was_owned and today_at is not None:  # new cards in old hosts were bought
            return float(theta[0, today_at])
        return factor * float(theta[0, price_at]) / (tax if includes_tax else 1.0)

    return (
        price(machine.resale_gpu_today_at, machine.gpu_price_at, machine.gpu_includes_tax),
        price(machine.resale_host_today_at, machine.host_price_at, machine.host_includes_tax),
    )


def _billed(comparison: Comparison, entry: MachineInput, machine: Machine, past: int) -> list[_Units] | None:
    """Machines by the cards that were billed; None where no bill says how many, or the plan replaces some meanwhile."""
    bills = [
        bill
        for bill in comparison.bills
        if bill.resource == machine.id and (bill.kind or "").partition(".")[0] == "gpu" and bill.month <= past
    ]
    replaced = any(
        month <= past and (month > 0 or cohort.owned) for cohort in machine.cohorts for month in cohort.purchase_months
    )
    if not bills or replaced or machine.upgraded or any(bill.quantity is None for bill in bills):
        return None
    prices = [_prices(comparison, machine, bill.month - 1, was_owned=False) for bill in bills]
    age = entry.age_months or 0
    return [
        _Units(
            count=int((bill.quantity or 0.0) // machine.gpus),
            age_months=age + past - (bill.month - 1) - entry.delivery_months,
            bought_age=age,
            host_older=0,
            gpu_usd=gpu_usd,
            host_usd=host_usd,
        )
        for bill, (gpu_usd, host_usd) in zip(bills, prices, strict=True)
        if bill.month - 1 + entry.delivery_months <= past  # what is on its way isn't there
    ]
