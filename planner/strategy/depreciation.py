"""Depreciation of what a strategy buys: a view of its purchases, never part of a total.

Straight line from what was paid, tax that isn't recovered included, to the resale value at the end of the useful life.
A machine that goes earlier leaves the books with what isn't written off; what it brings beyond that is a gain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from planner.cost.course import Array
from planner.cost.finance import real_share
from planner.cost.lines import CostLine
from planner.strategy.cash import NOT_CASH, by_month, fiscal_spans, with_tax
from planner.strategy.financing import Lease
from planner.strategy.fiscal import YEAR, Span
from planner.strategy.kernel import Evaluation
from planner.strategy.machines import Cohort, Machine, SaleColumns
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem

_PARTS = ("gpu", "host")


@dataclass(frozen=True, slots=True, kw_only=True)
class BookYear:
    """Books of a machine type over a fiscal year: opening + additions - depreciation - disposals = closing."""

    span: Span
    opening_usd: float
    additions_usd: float
    depreciation_usd: float
    disposals_usd: float  # what isn't written off of machines that go
    closing_usd: float
    resale_usd: float  # what they bring

    @property
    def gain_usd(self) -> float:
        """Resale beyond the book value; negative: a loss."""
        return self.resale_usd - self.disposals_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """Depreciation of a machine type; no years where the resale curve ends before the useful life."""

    machine: str
    useful_life_months: int
    years: tuple[BookYear, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asset:
    """Units that are bought at one time."""

    time: int
    cost_usd: float
    residual_usd: float
    life_months: int  # from then on
    sold: int  # time


def depreciation(problem: PlanProblem, theta: Theta, evaluation: Evaluation) -> list[Books]:
    """Books of each machine type of which the strategy buys any; those there already were paid for before the plan."""
    found = []
    for machine in problem.machines:
        bought = [line for line in evaluation.lines if line.resource == machine.id and line.group == "capex"]
        bought = [line for line in bought if line.kind != NOT_CASH]
        if not bought:
            continue
        assets = list(_assets(problem, theta, machine, bought))
        if machine.end_of_life is not None and not assets:  # leased, and only set up at the plan's cost
            continue
        life = round(float(theta[0, machine.useful_life_at]))
        sold = _sold(machine, evaluation)
        years = () if machine.end_of_life is None else tuple(_years(problem, assets, sold))
        found.append(Books(machine=machine.id, useful_life_months=life, years=years))
    return found


def _assets(problem: PlanProblem, theta: Theta, machine: Machine, bought: list[CostLine]) -> Iterator[_Asset]:
    if machine.end_of_life is None:
        return
    lease = machine.finance if isinstance(machine.finance, Lease) else None
    bought = [line for line in bought if lease is None or line.kind == "buyout"]
    if not bought:
        return
    cost = np.sum([with_tax(problem, theta, line) for line in bought], axis=0)
    life = round(float(theta[0, machine.useful_life_at]))
    for start, sale in _histories(machine):
        time = start if lease is None else start + lease.term_months
        age = sale.sale.bought_age if lease is None else sale.sale.bought_age + lease.term_months
        if time < len(cost) and cost[time] > 0:
            yield _Asset(
                time=time,
                cost_usd=float(cost[time]),
                residual_usd=_residual(problem, theta, machine, bought, time),
                life_months=max(life - age, 1),
                sold=sale.sale.month,
            )


def _histories(machine: Machine) -> Iterator[tuple[int, SaleColumns]]:
    """Time at which units of the plan begin, with their sale; units that begin together have one history."""
    begun: dict[int, SaleColumns] = {}
    for cohort in machine.cohorts:
        for start, sale in zip(cohort.bought, _later_sales(cohort), strict=False):
            begun.setdefault(start, sale)
    yield from sorted(begun.items())


def _later_sales(cohort: Cohort) -> tuple[SaleColumns, ...]:
    """Sales of what the plan bought."""
    return tuple(sale for sale in cohort.sales if sale.position >= cohort.owned + cohort.paid)


def _residual(problem: PlanProblem, theta: Theta, machine: Machine, bought: list[CostLine], time: int) -> float:
    """What cards and hosts are worth at the end of their life, without tax; of a buyout by today's prices. [USD]"""
    assert machine.end_of_life is not None
    rate = float(theta[0, problem.tax_rate_at])
    ratios = dict(zip(_PARTS, machine.end_of_life, strict=True))
    included = {"gpu": machine.gpu_includes_tax, "host": machine.host_includes_tax}
    columns = {"gpu": machine.gpu_price_at, "host": machine.host_price_at}
    counts = {"gpu": machine.gpus, "host": 1}
    total = 0.0
    for line in bought:
        if line.kind == "buyout":
            assert isinstance(machine.finance, Lease)
            worth = float(real_share(theta[0, machine.finance.inflation_at], machine.finance.term_months))
            units = float(line.quantity[0, time]) / worth
            for part in _PARTS:
                price = float(theta[0, columns[part]]) / (1.0 + rate if included[part] else 1.0)
                total += units * counts[part] * price * ratios[part]
        elif line.kind in _PARTS:
            gross = 1.0 + rate if included[line.kind] and not problem.tax_recoverable else 1.0
            total += float(line.amount[0, time]) / gross * ratios[line.kind]
    return total


def _sold(machine: Machine, evaluation: Evaluation) -> Array:
    """What units that the plan bought bring, by time."""
    first = {
        f".{cohort.name}.m{sale.sale.month}"
        for cohort in machine.cohorts
        if cohort.owned
        for sale in cohort.sales
        if sale.position <= cohort.paid
    }
    lines = [line for line in evaluation.lines if line.resource == machine.id and line.group == "residual"]
    lines = [line for line in lines if not line.id.endswith(tuple(first) or ("\0",))]
    return -np.asarray(np.sum([np.zeros_like(evaluation.discount[0]), *(line.amount[0] for line in lines)], axis=0))


def _years(problem: PlanProblem, assets: list[_Asset], sold: Array) -> Iterator[BookYear]:
    times = np.arange(len(sold))
    additions, written, disposed = (np.zeros(len(sold)) for _ in range(3))
    for asset in assets:
        monthly = max(asset.cost_usd - asset.residual_usd, 0.0) / asset.life_months
        age = np.clip(times - asset.time, 0, min(asset.life_months, asset.sold - asset.time))
        so_far = monthly * age
        additions[asset.time] += asset.cost_usd
        written += np.diff(so_far, prepend=0.0)
        disposed[asset.sold] += asset.cost_usd - so_far[-1]
    months = [by_month(amounts) for amounts in (additions, written, disposed, sold)]
    closing = 0.0
    for span in fiscal_spans(problem, len(months[0]), YEAR):
        added, depreciated, gone, brought = (float(month[span.first - 1 : span.last].sum()) for month in months)
        opening, closing = closing, closing + added - depreciated - gone
        yield BookYear(
            span=span,
            opening_usd=opening,
            additions_usd=added,
            depreciation_usd=depreciated,
            disposals_usd=gone,
            closing_usd=closing,
            resale_usd=brought,
        )
