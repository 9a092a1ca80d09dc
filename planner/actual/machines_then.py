"""Machines that are paid for when a later month of a plan begins: how many, how old, and what they would bring."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from planner.actual.drift import Comparison
from planner.actual.later_money import hardware_factor
from planner.cost.capex import residual_ratio
from planner.cost.finance import real_share
from planner.scenario.machines import MachineInput
from planner.scenario.schema import Scenario
from planner.strategy.financing import Lease
from planner.strategy.fleet import cohort_units
from planner.strategy.machines import Cohort, Machine
from planner.strategy.resolve.cohorts import residual_at
from planner.strategy.resolve.figures import Figures

_DIGITS = 4  # of amounts that are written into a scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Machines of one type with one history, paid for when the new plan begins."""

    count: int
    age_months: int  # of the cards, since they were first sold: then, or when they come
    host_older: int  # months
    resale_gpu_usd: float  # of one card and one host, by the plan's own prices
    resale_host_usd: float
    comes_after: int  # months of the new plan; 0: they are there
    replacement_after: int | None  # the same of a replacement that is paid
    value_counts: bool  # what they would bring, and their resale
    lease_ends_after: int | None  # months of the new plan; None: they aren't under a lease
    nominal_buyout_usd: float | None  # of one machine then; None: they go back

    def entry(self, *, owned_value_counts: bool) -> dict[str, Any]:
        """As a scenario writes it that says so of all machines."""
        found = {
            "count": self.count,
            "age_months": self.age_months,
            "host_age_months": self.age_months + self.host_older if self.host_older else None,
            "resale_gpu_usd": self.resale_gpu_usd,
            "resale_host_usd": self.resale_host_usd,
            "comes_after_months": self.comes_after or None,
            "replacement_after_months": self.replacement_after,
            "value_counts": None if self.value_counts == owned_value_counts else self.value_counts,
            "lease_ends_after_months": self.lease_ends_after,
            "nominal_buyout_usd": self.nominal_buyout_usd,
        }
        return {key: value for key, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """Machines of one type that are paid for at the start of a month."""

    batches: tuple[Batch, ...]  # the largest first
    billed: bool  # counted by what was billed, not by the plan
    unsaid: int  # replacements that are paid, beyond the next one of each machine: a scenario has no words for them

    @property
    def count(self) -> int:
        """All of them."""
        return sum(batch.count for batch in self.batches)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Units:
    """Machines of one age."""

    count: int
    age_months: int
    bought_age: int
    host_older: int  # months by which hosts are older than their cards
    gpu_usd: float  # price of one when the plan got it, without tax that is inside
    host_usd: float
    comes_after: int = 0
    replacement_after: int | None = None
    unsaid: int = 0
    value_counts: bool = True
    lease: tuple[int, float | None] | None = None  # months until it ends, and what buys one machine then


def machines_then(comparison: Comparison, scenario: Scenario, month: int) -> list[Stock | None]:
    """Machines of each type that are paid for at the start of a month; None where there are none.

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
    units = [
        found
        for cohort, count in kept
        if count and (found := _planned(comparison, index, cohort, count, past, _host_older(entry, cohort))) is not None
    ]
    units += billed or []
    figures, gpu = Figures(way.catalog), way.catalog.gpus[machine.gpu]

    def then_usd(each: _Units, part: Literal["gpu", "host"]) -> float:
        older = each.host_older if part == "host" else 0
        ages = (each.age_months + older, each.bought_age + older)
        now, bought = (residual_at(entry, gpu, figures, part, age) for age in ages)
        return round((each.gpu_usd if part == "gpu" else each.host_usd) * float(residual_ratio(now, bought)), _DIGITS)

    alike: dict[Batch, int] = {}
    for each in units:
        batch = Batch(
            count=0,
            age_months=each.age_months,
            host_older=each.host_older,
            resale_gpu_usd=then_usd(each, "gpu"),
            resale_host_usd=then_usd(each, "host"),
            comes_after=each.comes_after,
            replacement_after=each.replacement_after,
            value_counts=each.value_counts,
            lease_ends_after=None if each.lease is None else each.lease[0],
            nominal_buyout_usd=None if each.lease is None else each.lease[1],
        )
        alike[batch] = alike.get(batch, 0) + each.count
    batches = sorted((replace(batch, count=count) for batch, count in alike.items() if count), key=lambda b: -b.count)
    unsaid = sum(each.unsaid for each in units)
    return Stock(batches=tuple(batches), billed=billed is not None, unsaid=unsaid) if batches else None


def _host_older(entry: MachineInput, cohort: Cohort) -> int:
    """Months by which the first hosts of a cohort are older than its cards."""
    if not cohort.owned or entry.owned is None:
        return 0
    if cohort.new_cards:
        return entry.owned.age_months - (entry.age_months or 0)
    return entry.owned.batches[cohort.name.removeprefix("owned").removeprefix(".")].host_older


def _planned(
    comparison: Comparison, index: int, cohort: Cohort, count: int, past: int, host_older: int
) -> _Units | None:
    """Machines with one history, as the plan has them; with new cards, their first hosts are older."""
    way = comparison.way
    machine = way.problem.machines[index]
    for position, sale in enumerate(cohort.lives):
        start = sale.month - (sale.sold_age - sale.bought_age)
        was_owned = cohort.owned and position == 0
        bought = 0 if was_owned else cohort.purchase_months[position - cohort.owned]
        if not (start <= past or was_owned or (position == 0 and bought <= past)) or past >= sale.month:
            continue
        gpu_usd, host_usd = _prices(comparison, machine, cohort, bought, was_owned=was_owned)
        coming = sum(month <= past for month in cohort.purchase_months[position + 1 - cohort.owned :])
        said = int(start <= past)  # of one that comes itself no replacement can be named
        return _Units(
            count=count,
            age_months=sale.bought_age + max(past - start, 0),
            bought_age=sale.bought_age,
            host_older=host_older if position == 0 else 0,
            gpu_usd=gpu_usd,
            host_usd=host_usd,
            comes_after=max(start - past, 0),
            replacement_after=sale.month - past if coming and said else None,
            unsaid=count * max(coming - said, 0),
            value_counts=cohort.value_counts if was_owned else True,
            lease=_lease(comparison, machine, cohort, start, past, was_owned=was_owned),
        )
    return None


def _lease(
    comparison: Comparison, machine: Machine, cohort: Cohort, start: int, past: int, *, was_owned: bool
) -> tuple[int, float | None] | None:
    """Months until the lease of units that came at some time ends, and what buys one then, for the new plan."""
    theta = comparison.way.theta
    if was_owned:
        ends, begun, buyout_at, inflation_at = cohort.leased_until, 0, cohort.buyout_at, cohort.inflation_at
    elif isinstance(machine.finance, Lease):
        lease = machine.finance
        ends, begun, buyout_at, inflation_at = start + lease.term_months, start, lease.buyout_at, lease.inflation_at
    else:
        return None
    if ends is None or ends <= past:
        return None
    if buyout_at is None or inflation_at is None:
        return ends - past, None
    return ends - past, float(theta[0, buyout_at] * real_share(theta[0, inflation_at], past - begun))


def _prices(
    comparison: Comparison, machine: Machine, cohort: Cohort | None, bought: int, *, was_owned: bool
) -> tuple[float, float]:
    """Price of a card and a host when the plan got them: what they would have brought, or what was paid for them."""
    problem, theta = comparison.way.problem, comparison.way.theta
    tax = 1.0 + float(theta[0, problem.tax_rate_at])
    factor = hardware_factor(problem, theta, bought)

    def price(today_at: int | None, price_at: int, includes_tax: bool) -> float:
        if was_owned and today_at is not None:  # new cards in old hosts were bought
            return float(theta[0, today_at])
        return factor * float(theta[0, price_at]) / (tax if includes_tax else 1.0)

    return (
        price(None if cohort is None else cohort.resale_gpu_today_at, machine.gpu_price_at, machine.gpu_includes_tax),
        price(
            None if cohort is None else cohort.resale_host_today_at, machine.host_price_at, machine.host_includes_tax
        ),
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
    prices = [_prices(comparison, machine, None, bill.month - 1, was_owned=False) for bill in bills]
    age = entry.age_months or 0
    return [
        _Units(
            count=int((bill.quantity or 0.0) // machine.gpus),
            age_months=age + max(past - (bill.month - 1) - entry.delivery_months, 0),
            bought_age=age,
            host_older=0,
            gpu_usd=gpu_usd,
            host_usd=host_usd,
            comes_after=max(bill.month - 1 + entry.delivery_months - past, 0),
        )
        for bill, (gpu_usd, host_usd) in zip(bills, prices, strict=True)
    ]
