"""A way of a plan as the cells that hours and invoices are compared with: jobs on resources and lines, by month."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from planner.actual.known import CLOUD, NOT_CASH, SITE
from planner.catalog.records import Catalog
from planner.cost.lines import CostLine
from planner.strategy.evaluate import Result, StrategyResult
from planner.strategy.kernel import Choice, Evaluation
from planner.strategy.parameters import Theta
from planner.strategy.problem import Pair, PlanProblem
from planner.strategy.sessions import attempt_s, session_node_h
from planner.units import S_PER_H, W_PER_KW

_ON_SITE = ("electricity", "maintenance", "staff_local", "gpu", "host", "installation", "resale_gpu", "resale_host")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRuns:
    """A job on a resource: its runs by month, and what one attempt takes."""

    job: str
    resource: str
    pair: Pair
    rented: bool
    runs: tuple[float, ...]  # by month from 1, successful ones; zero where the way has the job elsewhere
    attempts_per_run: float
    attempts_low: float | None
    attempts_high: float | None
    held_gpus: int  # of one attempt: those of the run, or of the whole instances it rents
    gpu_h_per_attempt: float
    gpu_h_low: float | None  # of one attempt at the likely ends of its speed
    gpu_h_high: float | None

    @property
    def attempt_h(self) -> float:
        """How long one attempt holds its GPUs. [h]"""
        return self.gpu_h_per_attempt / self.held_gpus


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedLine:
    """A cost line by month, from 1: what is paid at the start of the plan stands in month 1."""

    id: str
    kind: str
    resource: str
    provider: str  # of rented machines, else empty
    unit: str
    prices_usd: tuple[float, ...]  # of a unit
    amount_usd: tuple[float, ...]
    quantity: tuple[float, ...]
    kwh: tuple[float, ...]
    drivers: tuple[tuple[str, str], ...]  # jobs on resources whose hours decide the quantity
    units_per_gpu_h: float  # what one more of these hours adds

    def usd_per_gpu_h(self, month: int) -> float:
        """What one more GPU-hour of its jobs costs in a month. [USD]"""
        return self.prices_usd[month - 1] * self.units_per_gpu_h


class PlannedWay:
    """One way of a plan, cell by cell.

    Parameters
    ----------
    result : Result
        The plan.
    strategy : StrategyResult
        The way, which has to be costed.
    """

    def __init__(self, result: Result, strategy: StrategyResult) -> None:
        assert strategy.evaluation is not None and strategy.allocation.choice is not None
        self.problem: PlanProblem = result.problem
        self.theta: Theta = result.theta
        self.catalog: Catalog = result.catalog
        self.strategy = strategy
        self.choice: Choice = strategy.allocation.choice
        self.evaluation: Evaluation = strategy.evaluation
        self.months: int = result.problem.horizon_months
        jobs = [job.id for job in self.problem.jobs]
        self._pairs = {(jobs[pair.job], pair.resource): index for index, pair in enumerate(self.problem.pairs)}
        self._runs: dict[tuple[str, str], PlannedRuns] = {}
        self._routed = [key for key, index in self._pairs.items() if self.choice.routing[0, index] > 0]
        self.lines: tuple[PlannedLine, ...] = tuple(self._all_lines())

    def routed(self) -> tuple[PlannedRuns, ...]:
        """Jobs where this way has them."""
        return tuple(found for key in self._routed if (found := self.run(*key)) is not None)

    def run(self, job: str, resource: str) -> PlannedRuns | None:
        """A job on a resource, with no runs where this way has it elsewhere; None where it can't be there."""
        key = (job, resource)
        if key not in self._runs and key in self._pairs:
            index = self._pairs[key]
            if self.problem.pairs[index].feasible or key in self._routed:
                self._runs[key] = self._planned(index)
        return self._runs.get(key)

    def gpus_of(self, resource: str) -> int:
        """GPUs of one machine or instance of a resource of the plan."""
        for machine in self.problem.machines:
            if machine.id == resource:
                return machine.gpus
        return next(offer.gpu_count for offer in self.problem.offers if offer.id == resource)

    def lines_of(self, resource: str, kind: str) -> tuple[PlannedLine, ...]:
        """Lines that an invoice for a resource covers: of one kind or id, or all of them."""
        return tuple(
            line
            for line in self.lines
            if (not kind or kind in (line.kind, line.id)) and self._belongs(line, resource, kind)
        )

    def _belongs(self, line: PlannedLine, resource: str, kind: str) -> bool:
        if resource == line.resource:
            return True
        if resource == line.provider and all(offer.id != resource for offer in self.problem.offers):
            return True
        if resource == SITE and kind:
            return line.kind in _ON_SITE
        return resource == CLOUD and bool(kind) and bool(line.provider)

    def _planned(self, index: int) -> PlannedRuns:
        pair = self.problem.pairs[index]
        job = self.problem.jobs[pair.job]
        usual = float(self.theta[0, job.runs_per_month_at])
        profile = job.profile or (1.0,) * self.months
        same = [float(self.choice.routing[0, index])] * self.months
        shares = self.choice.by_month[index][0].tolist() if index in self.choice.by_month else same
        rate = self.problem.parameters[pair.throughput_at]
        attempts = self.problem.parameters[job.attempts_per_run_at]
        return PlannedRuns(
            job=job.id,
            resource=pair.resource,
            pair=pair,
            rented=pair.offer is not None,
            runs=tuple(usual * factor * part for factor, part in zip(profile, shares, strict=True)),
            attempts_per_run=attempts.value,
            attempts_low=attempts.low,
            attempts_high=attempts.high,
            held_gpus=held_gpus(self.problem, pair),
            gpu_h_per_attempt=held_gpu_h(self.problem, pair, self.theta),
            gpu_h_low=self._gpu_h_at(pair, rate.high),
            gpu_h_high=self._gpu_h_at(pair, rate.low),
        )

    def _gpu_h_at(self, pair: Pair, throughput: float | None) -> float | None:
        return None if throughput is None else gpu_h_at(self.problem, pair, self.theta, throughput)

    def _all_lines(self) -> Iterator[PlannedLine]:
        for line in self.evaluation.lines:
            if line.kind == NOT_CASH:
                continue
            drivers, units_per_gpu_h = self._drivers(line)
            yield PlannedLine(
                id=line.id,
                kind=line.kind,
                resource=line.resource,
                provider=self._provider(line.resource),
                unit=line.unit,
                prices_usd=(float(line.unit_price[0]),) * (line.quantity.shape[1] - 1),
                amount_usd=_by_month(line.amount[0]),
                quantity=_by_month(line.quantity[0]),
                kwh=(0.0,) * (line.quantity.shape[1] - 1) if line.kwh is None else _by_month(line.kwh[0]),
                drivers=drivers,
                units_per_gpu_h=units_per_gpu_h,
            )

    def _provider(self, resource: str) -> str:
        for offer in self.problem.offers:
            if offer.id == resource:
                return self.problem.providers[offer.provider].id
        return resource if any(provider.id == resource for provider in self.problem.providers) else ""

    def _drivers(self, line: CostLine) -> tuple[tuple[tuple[str, str], ...], float]:
        """Whose hours a line follows, and what one more of them adds; nothing for lines that follow none.

        Committed hours are paid used or not, and what is beyond them follows no single hour.
        """
        if line.kind == "rental":
            offer = next(offer for offer in self.problem.offers if offer.id == line.resource)
            return ((line.job, line.resource),), 1.0 / offer.gpu_count
        if line.kind == "electricity":
            index, machine = next(
                (at, machine) for at, machine in enumerate(self.problem.machines) if machine.id == line.resource
            )
            if float(self.evaluation.load[0, index].max()) > 1.0:  # more hours than there are: idle ones are all gone
                return (), 0.0
            above_w = float(self.theta[0, machine.load_w_at] - self.theta[0, machine.idle_w_at])
            kwh = above_w / W_PER_KW * float(self.theta[0, machine.pue_at]) / machine.gpus
            drivers = tuple((found.job, found.resource) for found in self.routed() if found.resource == machine.id)
            return drivers, kwh
        return (), 0.0


def _by_month(values: np.ndarray) -> tuple[float, ...]:
    amounts = [float(value) for value in values]
    return (amounts[0] + amounts[1], *amounts[2:])


def held_gpus(problem: PlanProblem, pair: Pair) -> int:
    """GPUs that one attempt holds: those it uses, or all of the instances it rents."""
    return pair.gpus if pair.offer is None else pair.nodes * problem.offers[pair.offer].gpu_count


def held_gpu_h(problem: PlanProblem, pair: Pair, theta: Theta) -> float:
    """GPU-hours that one attempt holds: while it runs on a machine; rented, as billed with start-up. [h]"""
    if pair.offer is None:
        return float(attempt_s(pair, theta)[0]) / S_PER_H * pair.gpus
    offer = problem.offers[pair.offer]
    return float(session_node_h(pair, offer, theta)[0]) * offer.gpu_count


def gpu_h_at(problem: PlanProblem, pair: Pair, theta: Theta, throughput: float) -> float:
    """GPU-hours that one attempt would hold at another speed. [h]"""
    changed = theta.copy()
    changed[:, pair.throughput_at] = throughput
    return held_gpu_h(problem, pair, changed)
