"""Builds and rentals costed on the work asked: one resolved problem, one row of the kernel an option."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from planner.advise.recommend.candidates import Build
from planner.advise.recommend.serving import serving_rate
from planner.advise.recommend.uses import UsesFile
from planner.advise.recommend.work import Work, scenario_document
from planner.catalog.records import Catalog, Gpu, Offer
from planner.cost.course import Array
from planner.performance.evidence import Evidence
from planner.scenario.load import check_document
from planner.strategy.allocate import machine_counts
from planner.strategy.candidates import on_time
from planner.strategy.kernel import Choice, Evaluation, kernel
from planner.strategy.parameters import Parameter, Theta
from planner.strategy.problem import Pair, PlanProblem
from planner.strategy.resolve import resolve
from planner.strategy.sessions import attempt_s, session_node_h, turnaround_h
from planner.units import S_PER_H

Kind = Literal["build", "rental"]
OLD_AFTER_MONTHS = 36  # a price of more than three years ago says little of today
_SLACK = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A build or rental with what it does for the work asked and what that costs.

    `speed` is the work done per second by all GPUs of the option, in the unit of the workload; for serving, the peak it
    answers. `total_usd` counts everything over the months asked: purchase, power, upkeep and resale, or rent; its
    present value is what options are ranked by, as plans are. The budget is held against the total, whatever the kind,
    and a purchase must also be within it at once.
    """

    kind: Kind
    id: str
    build: Build | None
    offer: Offer | None
    provider: str | None  # name of who rents it out
    gpu: Gpu
    gpus: int  # of one machine or instance
    count: int  # machines bought
    needed: int  # machines that the work needs
    fits: bool
    on_time: bool
    speed: float
    speed_low: float
    speed_high: float
    basis: str
    run_h: float | None  # one attempt, start-up included; None for serving
    run_low_h: float | None
    run_high_h: float | None
    run_gpus: int
    memory_gb: float | None
    busy_share: float | None  # of an owned machine's hours
    price_usd: float  # purchase of the machines, or rent of the work over the months
    running_usd_per_month: float  # power and upkeep, or rent
    rented_h_per_month: float | None
    billed_h: float | None  # paid of one rented attempt
    total_usd: float
    paid_usd: float  # purchase and running costs, or rent: the total before resale
    full_total_usd: float  # the total of as many machines as the work needs
    present_value_usd: float
    total_estimated_share: float
    covered_months: float  # months of the work that the budget pays for
    covers: bool  # all the work, in time, within the budget
    affordable: bool  # the purchase of at least one machine, or one run
    over_budget_usd: float  # by which the total exceeds the budget
    early_over_usd: float  # by which what is paid before resale exceeds it
    current: bool  # an offer at a price of today; builds always
    price_is_old: bool  # some part's price is too old to buy by

    @property
    def unit_price_usd(self) -> float:
        """Price of one machine, or of an hour of one instance. [USD]"""
        return self.build.price_usd if self.build is not None else _offer(self).price_usd_per_h.value

    @property
    def resale_usd(self) -> float:
        """What resale brings at the end. [USD]"""
        return self.paid_usd - self.total_usd

    @property
    def part(self) -> bool:
        """Whether it does a part of the work in time within the budget, or all of it."""
        return self.affordable and self.covered_months > 0

    @property
    def full_price_usd(self) -> float:
        """Price of as many machines as the work needs. [USD]"""
        return self.needed * self.build.price_usd if self.build is not None else self.price_usd

    @property
    def full_speed(self) -> float:
        """Speed of as many machines as the work needs. [unit/s]"""
        return self.speed / self.count * self.needed if self.build is not None else self.speed

    @property
    def step_price_usd(self) -> float:
        """What steps up and down are compared by: purchase, or an hour of the instances of a run. [USD]"""
        return self.full_price_usd if self.build is not None else self.count * self.unit_price_usd

    @property
    def used(self) -> bool:
        """Whether its cards were used before."""
        return self.build is not None and self.build.condition == "used"

    @property
    def usd_per_speed(self) -> float:
        """Purchase price over speed; for rentals price of an hour over speed. [USD per unit/s]"""
        return (self.count * self.unit_price_usd if self.build is None else self.price_usd) / self.speed


def _offer(option: Option) -> Offer:
    assert option.offer is not None
    return option.offer


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One candidate as a row of the kernel call."""

    pair: Pair
    gpu: Gpu
    gpus: int
    build: Build | None
    offer: Offer | None
    rate: float | None  # peak answered, for serving
    needed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Costs:
    """What a row costs, with the machines that the budget buys, or with all that the work needs."""

    total_usd: float
    present_value_usd: float
    opex_usd: float
    paid_usd: float
    estimated_share: float
    utilisation: Array


@dataclass(frozen=True, slots=True)
class _Question:
    """What a problem is resolved from; two with one key are the same question."""

    key: tuple[str, str, str, dt.date]
    document: Mapping[str, Any] = field(compare=False)
    catalog: Catalog = field(compare=False)
    evidence: Evidence = field(compare=False)


@lru_cache(maxsize=8)
def _resolved(question: _Question) -> PlanProblem:
    """The resolved problem of a question: another budget for the same work asks the same one."""
    *_, today = question.key
    return resolve(check_document(question.document), question.catalog, question.evidence, today=today)


def options(
    work: Work,
    uses: UsesFile,
    candidates: Sequence[Build],
    offers: Sequence[Offer],
    budget_usd: float,
    catalog: Catalog,
    evidence: Evidence,
    today: dt.date,
) -> tuple[Option, ...]:
    """Every candidate as an option, also those that can't do the work or cost too much."""
    by_build = {build.id: build for build in candidates}
    by_offer = {offer.id: offer for offer in offers}
    document = scenario_document(
        work,
        name="recommendation",
        currency="USD",
        machines={id: machine_document(build, work) for id, build in by_build.items()},
        offers=list(by_offer),
    )
    question = _Question(
        key=(json.dumps(document, sort_keys=True), catalog.content_hash, evidence.content_hash, today),
        document=document,
        catalog=catalog,
        evidence=evidence,
    )
    problem = _resolved(question)
    theta = problem.theta()
    wanted = machine_counts(problem, theta, np.eye(len(problem.pairs)), keep_fixed=True)
    rates: dict[tuple[str, int], float] = {}

    def rate_of(gpu: Gpu, gpus: int) -> float | None:
        if not work.serving:
            return None
        if (gpu.id, gpus) not in rates:
            rates[gpu.id, gpus] = serving_rate(work, gpu, gpus, uses, catalog, evidence)
        return rates[gpu.id, gpus]

    rows = []
    for index, pair in enumerate(problem.pairs):
        build, offer = by_build.get(pair.resource), by_offer.get(pair.resource)
        if build is not None:
            gpu, gpus = build.gpu, build.gpus
        else:
            rented = problem.offers[pair.offer or 0]
            gpu, gpus = catalog.gpus[rented.gpu], rented.gpu_count
        rate = rate_of(gpu, gpus)
        needed = 1
        if rate is not None and work.peak_per_s is not None:
            needed = max(1, math.ceil(work.peak_per_s / rate - _SLACK)) if rate > 0 else 1
        elif pair.machine is not None:
            needed = max(1, int(wanted[index, pair.machine]))
        rows.append(_Row(pair=pair, gpu=gpu, gpus=gpus, build=build, offer=offer, rate=rate, needed=needed))
    full = _full_costs(question, tuple(row.needed for row in rows))
    counts = [_within(row, costs, budget_usd) for row, costs in zip(rows, full, strict=True)]
    bought = list(full)
    fewer = [at for at, row in enumerate(rows) if counts[at] != row.needed]
    for at, costs in zip(fewer, _costs(problem, fewer, [counts[at] for at in fewer]), strict=True):
        bought[at] = costs
    return tuple(
        _option(work, problem, theta, row, count, whole, costs, catalog, budget_usd, today)
        for row, count, whole, costs in zip(rows, counts, full, bought, strict=True)
    )


@lru_cache(maxsize=8)
def _full_costs(question: _Question, needed: tuple[int, ...]) -> tuple[_Costs, ...]:
    """What every pair costs with all machines that the work needs: the same for every budget."""
    problem = _resolved(question)
    return tuple(_costs(problem, range(len(problem.pairs)), needed))


def _costs(problem: PlanProblem, pairs: Sequence[int], counts: Sequence[int]) -> list[_Costs]:
    """What some pairs cost, each doing all of the work on a number of machines."""
    if not len(pairs):
        return []
    machines = np.zeros((len(pairs), len(problem.machines)))
    for at, (pair, count) in enumerate(zip(pairs, counts, strict=True)):
        machine = problem.pairs[pair].machine
        if machine is not None:
            machines[at, machine] = count
    routing = np.eye(len(problem.pairs))[list(pairs)]
    evaluation = kernel(problem, problem.theta(), Choice(machine_count=machines, routing=routing))
    shares = _estimated_shares(evaluation, problem)
    return [
        _Costs(
            total_usd=float(evaluation.tco_usd[at]),
            present_value_usd=float(evaluation.present_value_usd[at]),
            opex_usd=float(evaluation.opex_usd[at]),
            paid_usd=float(evaluation.capex_usd[at] + evaluation.opex_usd[at]),
            estimated_share=float(shares[at]),
            utilisation=evaluation.utilisation[at],
        )
        for at in range(len(pairs))
    ]


def _within(row: _Row, full: _Costs, budget_usd: float) -> int:
    """Machines of which the budget does most of the work: bought, and run for as long as it pays for."""
    if row.build is None:
        return row.needed
    most = max(1, min(row.needed, math.floor(budget_usd / row.build.price_usd + _SLACK)))
    shares = [_paid_share(row, count, full, budget_usd) for count in range(1, most + 1)]
    return 1 + int(np.argmax(shares))


def _paid_share(row: _Row, count: int, full: _Costs, budget_usd: float) -> float:
    """Share of the work that a budget pays for with some of the machines; fewer do and use that much less of it. [-]"""
    assert row.build is not None
    share = min(1.0, count / row.needed)
    price_usd = row.needed * row.build.price_usd
    running_usd, resale_usd = full.paid_usd - price_usd, full.paid_usd - full.total_usd
    left_usd = budget_usd - share * (price_usd - resale_usd)
    if left_usd >= share * running_usd * (1 - _SLACK):
        return share
    return max(0.0, left_usd) / running_usd


def machine_document(build: Build, work: Work, count: int | None = None) -> dict[str, object]:
    """A build as an entry of a scenario's machines; a service keeps it busy day and night."""
    machine: dict[str, object] = dict(build.machine)
    if count is not None:
        machine["count"] = count
    if work.serving:
        machine["target_utilisation"] = 1.0
    return machine


def _option(
    work: Work,
    problem: PlanProblem,
    theta: Theta,
    row: _Row,
    count: int,
    full: _Costs,
    costs: _Costs,
    catalog: Catalog,
    budget_usd: float,
    today: dt.date,
) -> Option:
    pair, months, total = row.pair, problem.horizon_months, costs.total_usd
    fits = pair.feasible and (row.rate is None or row.rate > 0)
    punctual = fits and on_time(problem, theta, pair)
    speed, low, high = _speeds(row, count, problem.parameters[pair.throughput_at])
    run_h, run_low_h, run_high_h = (None, None, None) if work.serving else _run_hours(problem, theta, pair)
    busy = None if pair.machine is None or work.serving else float(costs.utilisation[pair.machine])
    if row.build is not None:
        price = count * row.build.price_usd
        affordable = row.build.price_usd <= budget_usd * (1 + _SLACK)
        covered = months * _paid_share(row, count, full, budget_usd) if affordable and punctual else 0.0
    else:
        price = total
        run_usd = total / months / (work.runs_per_month * work.attempts_per_run)
        affordable = run_usd <= budget_usd
        covered = min(float(months), budget_usd * months / total) if punctual and row.needed == 1 else 0.0
    billed_h = _billed_h(problem, theta, pair)
    return Option(
        kind="rental" if row.build is None else "build",
        id=pair.resource,
        build=row.build,
        offer=row.offer,
        provider=None if row.offer is None else _provider_name(row.offer, catalog),
        gpu=row.gpu,
        gpus=row.gpus,
        count=pair.nodes if row.build is None else count,
        needed=row.needed,
        fits=fits,
        on_time=punctual,
        speed=speed,
        speed_low=low,
        speed_high=high,
        basis="estimated" if work.serving else pair.fit.basis,
        run_h=run_h,
        run_low_h=run_low_h,
        run_high_h=run_high_h,
        run_gpus=row.gpus if work.serving else pair.gpus,
        memory_gb=None if work.serving else pair.fit.memory_gb,
        busy_share=busy,
        price_usd=price,
        running_usd_per_month=costs.opex_usd / months,
        rented_h_per_month=None if billed_h is None else billed_h * work.runs_per_month * work.attempts_per_run,
        billed_h=billed_h,
        total_usd=total,
        paid_usd=costs.paid_usd,
        full_total_usd=full.total_usd,
        present_value_usd=costs.present_value_usd,
        total_estimated_share=costs.estimated_share,
        covered_months=covered,
        covers=punctual and affordable and covered >= months * (1 - _SLACK),
        affordable=affordable,
        over_budget_usd=max(0.0, total - budget_usd),
        early_over_usd=max(0.0, costs.paid_usd - budget_usd),
        current=row.offer is None or row.offer.status(today) == "current",
        price_is_old=row.build is not None and row.build.price_age_months(today) > OLD_AFTER_MONTHS,
    )


def _speeds(row: _Row, count: int, rate: Parameter) -> tuple[float, float, float]:
    """Speed of all GPUs that are bought or rented, several runs beside each other where one takes fewer, with range."""
    if row.rate is not None:
        speed = row.rate * (count if row.build is not None else 1)
        return speed, speed, speed
    parallel = 1 if row.build is None else count * (row.gpus // row.pair.gpus)
    low = rate.value if rate.low is None else rate.low
    high = rate.value if rate.high is None else rate.high
    return parallel * rate.value, parallel * low, parallel * high


def _run_hours(problem: PlanProblem, theta: Theta, pair: Pair) -> tuple[float, float, float]:
    """Hours from the start of an attempt to its end, with range."""
    rate = problem.parameters[pair.throughput_at]
    hours = float(turnaround_h(problem, pair, theta)[0])
    work_h = float(attempt_s(pair, theta)[0]) / S_PER_H
    ends = [hours - work_h + work_h * rate.value / (end or rate.value) for end in (rate.high, rate.low)]
    return hours, ends[0], ends[1]


def _billed_h(problem: PlanProblem, theta: Theta, pair: Pair) -> float | None:
    """Instance-hours that are paid for one attempt: start-up, work, idle tail, rounded up to the unit of billing."""
    if pair.offer is None:
        return None
    return float(session_node_h(pair, problem.offers[pair.offer], theta)[0])


def _provider_name(offer: Offer, catalog: Catalog) -> str:
    known = catalog.providers.get(offer.provider)
    return known.name if known is not None else offer.provider


def _estimated_shares(evaluation: Evaluation, problem: PlanProblem) -> Array:
    """Share of each row's absolute amounts in lines that rest on an estimate. [-]"""
    total = np.zeros(len(evaluation.tco_usd))
    estimated = np.zeros_like(total)
    for line in evaluation.lines:
        amount = np.abs(line.amount.sum(axis=1))
        total += amount
        if any(problem.parameters[column].estimate for column in (*line.price_at, *line.driver_at)):
            estimated += amount
    return np.divide(estimated, total, out=np.zeros_like(total), where=total > 0)
