"""A job on every machine type and offer that it could run on: time, memory, cost, or why it can't."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from planner.performance.bottleneck import bottleneck
from planner.performance.constants import constants_of
from planner.performance.layout import Layout
from planner.performance.memory_parts import Part, memory_parts
from planner.report.candidates import CandidateBasis, basis_of, rows_of
from planner.report.document import bottleneck_entry, issue_entry
from planner.report.plain import plain
from planner.strategy.allocate import late_problem, machine_counts
from planner.strategy.attribution import attribute
from planner.strategy.evaluate import Result, StrategyResult
from planner.strategy.kernel import Choice, kernel
from planner.strategy.problem import Pair
from planner.strategy.sessions import attempt_s, turnaround_h
from planner.strategy.unit_costs import marginal_usd, run_costs
from planner.units import S_PER_H


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlace:
    """One job on one resource. Times, memory and costs are None where nothing is known of them.

    Low to high is an 80 % interval. `done_h` counts from the order to the end of an attempt, so with the start-up of
    rented machines and the wait for them, and is what a limit is held against; `reasons` are empty where the job may
    run there on time.
    """

    job: str
    resource: str
    rented: bool
    gpu: str
    gpus: int
    nodes: int
    attempt_h: float | None
    done_h: float | None
    done_low_h: float | None
    done_high_h: float | None
    limit_h: float | None  # of the job
    basis: CandidateBasis
    memory_gb: float | None
    capacity_gb: float | None
    memory_parts_gb: Mapping[Part, float]
    layout: Layout | None
    settings: Mapping[str, Any]
    marginal_usd: float | None
    runs: bool  # whether an attempt can run there, be it late
    reasons: tuple[Mapping[str, Any], ...]  # as the problems of a strategy in the plan's document
    ways: tuple[str, ...]  # kinds of the strategies that use it
    pair: int  # among those of the problem

    @property
    def on_time(self) -> bool:
        """Whether the job may run there and an attempt ends within its limit."""
        return not self.reasons


class JobPlaces:
    """Places of the jobs of a plan; what takes longer to work out is found when it is asked for, once."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._known: dict[str, tuple[JobPlace, ...]] = {}
        self._full: dict[int, float | None] = {}
        self._limits: dict[int, Mapping[str, Any]] = {}
        self._lock = Lock()

    @property
    def jobs(self) -> tuple[str, ...]:
        """Ids of the jobs, in the scenario's order."""
        return tuple(job.id for job in self._result.problem.jobs)

    def of(self, job: str) -> tuple[JobPlace, ...]:
        """Places of a job, owned machines before offers."""
        with self._lock:
            if job not in self._known:
                self._known[job] = tuple(
                    self._place(index, pair)
                    for index, pair in enumerate(self._result.problem.pairs)
                    if self._result.problem.jobs[pair.job].id == job
                )
            return self._known[job]

    def full_usd(self, place: JobPlace) -> float | None:
        """Cost of one successful run with its share of everything that is paid for it. [USD]

        As in the recommended strategy where that runs the job there; else as if all runs of the job were there and
        everything else stayed, with as many machines as that takes. None where the job can't run there, or no strategy
        has a cost.
        """
        if not place.runs:
            return None
        with self._lock:
            if place.pair not in self._full:
                self._full[place.pair] = self._amortised(place.pair)
            return self._full[place.pair]

    def bottleneck(self, place: JobPlace) -> Mapping[str, Any] | None:
        """What takes most of a run's time there and its remedy, as in the plan's document; None for an own rate."""
        fit = self._result.problem.pairs[place.pair].fit
        if fit.setup is None or fit.prediction is None:
            return None
        known = id(fit.prediction)  # places with equal machines share one
        with self._lock:
            if known not in self._limits:
                self._limits[known] = bottleneck_entry(bottleneck(fit.setup, fit.prediction, self._result.catalog))
            return self._limits[known]

    @cached_property
    def _ways(self) -> dict[int, tuple[str, ...]]:
        found: dict[int, tuple[str, ...]] = {}
        for strategy in self._result.strategies:
            for job in strategy.jobs:
                found[id(job.pair)] = (*found.get(id(job.pair), ()), strategy.kind)
        return found

    @cached_property
    def _base(self) -> StrategyResult | None:
        """The recommended strategy, or the first that has a cost."""
        costed = [strategy for strategy in self._result.strategies if strategy.evaluation is not None]
        return next((way for way in costed if way.id == self._result.recommendation.strategy), next(iter(costed), None))

    def _place(self, index: int, pair: Pair) -> JobPlace:
        problem, theta, fit = self._result.problem, self._result.theta, pair.fit
        place = problem.machines[pair.machine] if pair.machine is not None else problem.offers[pair.offer or 0]
        rate = problem.parameters[pair.throughput_at]

        def attempt_h(throughput: float | None) -> float:
            return float(attempt_s(pair, theta, throughput)[0]) / S_PER_H

        def done_h(throughput: float | None) -> float:
            before_h = float(turnaround_h(problem, pair, theta)[0]) - attempt_h(None)
            return before_h + attempt_h(throughput)

        late = late_problem(problem, theta, pair) if pair.feasible else None
        issues = pair.problems if late is None else (*pair.problems, late)
        ranged = pair.feasible and rate.low is not None and rate.high is not None
        parts: Mapping[Part, float] = {}
        if fit.setup is not None and fit.prediction is not None:
            parts = memory_parts(fit.setup, fit.prediction, constants_of(self._result.catalog.assumptions))
        return JobPlace(
            job=problem.jobs[pair.job].id,
            resource=pair.resource,
            rented=pair.offer is not None,
            gpu=place.gpu,
            gpus=pair.gpus,
            nodes=pair.nodes,
            attempt_h=attempt_h(None) if pair.feasible else None,
            done_h=done_h(None) if pair.feasible else None,
            done_low_h=done_h(rate.high) if ranged else None,
            done_high_h=done_h(rate.low) if ranged else None,
            limit_h=problem.jobs[pair.job].deadline_h,
            basis=basis_of(pair, rows_of(rate)),
            memory_gb=fit.memory_gb,
            capacity_gb=None if fit.prediction is None else fit.prediction.capacity_gb,
            memory_parts_gb=parts,
            layout=None if fit.prediction is None else fit.prediction.layout,
            settings=plain(fit.settings),
            marginal_usd=marginal_usd(problem, theta, pair) if pair.feasible else None,
            runs=pair.feasible,
            reasons=tuple(issue_entry(issue) for issue in issues),
            ways=self._ways.get(id(pair), ()),
            pair=index,
        )

    def _amortised(self, index: int) -> float | None:
        base, problem, theta = self._base, self._result.problem, self._result.theta
        if base is None or base.allocation.choice is None or base.evaluation is None:
            return None
        pair = problem.pairs[index]
        choice = base.allocation.choice
        if not choice.routing[0, index] > 0:
            routing = choice.routing.copy()
            routing[:, [other for other, found in enumerate(problem.pairs) if found.job == pair.job]] = 0.0
            routing[:, index] = 1.0
            keep = base.kind != "cloud" or pair.machine is not None
            choice = Choice(machine_count=machine_counts(problem, theta, routing, keep_fixed=keep), routing=routing)
        evaluation = kernel(problem, theta, choice)
        attribution = attribute(problem, theta, choice, evaluation)
        found = run_costs(problem, theta, attribution)[index].amortised_usd
        return float(found) if np.isfinite(found) else None
