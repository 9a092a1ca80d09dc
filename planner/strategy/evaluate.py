"""evaluate(scenario, catalog) -> Result: the named strategies, costed, compared and ranked."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from planner.catalog.records import Catalog, Workload, is_old
from planner.cost.finance import price_factor
from planner.messages import render
from planner.performance.evidence import Evidence
from planner.scenario.own_gpus import with_own_gpus
from planner.scenario.own_models import with_own_models
from planner.scenario.schema import Scenario
from planner.strategy.allocate import Allocation, allocate, choice_warnings
from planner.strategy.attribution import Attribution, attribute
from planner.strategy.candidates import KINDS, Candidates, Kind, on_time
from planner.strategy.compare import Recommendation, recommend
from planner.strategy.demand import TrainingDemand
from planner.strategy.job_notes import job_notes
from planner.strategy.kernel import Choice, Evaluation, kernel
from planner.strategy.limits import limits_broken, limits_of
from planner.strategy.optimise.loads import late_machines
from planner.strategy.optimise.records import Optimum
from planner.strategy.optimise.search import optimise
from planner.strategy.parameters import Theta
from planner.strategy.problem import Issue, Pair, PlanProblem
from planner.strategy.ranges import Range, ranges
from planner.strategy.relief_lines import unused_credits
from planner.strategy.resolve import resolve
from planner.strategy.sessions import attempt_s, download_s, upload_s
from planner.strategy.spot_jobs import SpotJob, spot_job
from planner.strategy.start_options import OwnedOption, WayTotal, cheapest, start_options, with_start
from planner.strategy.start_waits import StartWait, late_for_capacity, start_wait
from planner.strategy.unit_costs import RunCost, marginal_usd, run_costs
from planner.units import HALF_CENT_USD, S_PER_H
from planner.workload.job import PlannedJob

FIELD_OF_ASIDE: Final = {"aside_for_ceiling": "cash_ceiling_usd_per_quarter", "aside_for_waiting": "jobs"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerUp:
    """The offer that would be next for a job, with its marginal cost of a run. [USD]"""

    resource: str
    marginal_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """One job on one resource: a share of its runs."""

    job: str
    workload: str
    resource: str
    pair: Pair
    runs: float  # successful runs over the horizon
    gpu_hours: float  # over the horizon, attempts included
    attempt_h: float
    attempt_low_h: float
    attempt_high_h: float
    upload_h: float | None  # of the data of one run; None: not counted
    download_h: float | None
    cost: RunCost
    runner_up: RunnerUp | None  # the next offer, for rented runs
    spot: SpotJob | None
    start_wait: StartWait | None  # for rented instances that aren't always there


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyResult:
    """A strategy with its one-row evaluation; `evaluation` is None when some job can't run at all."""

    id: str
    kind: Kind
    allocation: Allocation
    evaluation: Evaluation | None
    jobs: tuple[JobResult, ...]
    range: Range | None  # likely range of the total
    attribution: Attribution | None = None  # None as `evaluation`

    @property
    def feasible(self) -> bool:
        """Whether it does all the work within its limits."""
        return self.allocation.feasible

    @property
    def present_value_usd(self) -> float:
        """Present value of all lines; infinite when some job can't run."""
        return float("inf") if self.evaluation is None else float(self.evaluation.present_value_usd[0])

    @property
    def tco_usd(self) -> float:
        """Undiscounted total of all lines; infinite when some job can't run."""
        return float("inf") if self.evaluation is None else float(self.evaluation.tco_usd[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The answer to a scenario."""

    problem: PlanProblem
    theta: Theta
    strategies: tuple[StrategyResult, ...]
    recommendation: Recommendation
    catalog: Catalog
    evidence: Evidence
    today: dt.date
    owned_options: tuple[OwnedOption, ...] = ()  # where the cheapest was asked for
    optimum: Optimum | None = None  # None: not searched for
    set_aside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # cheaper ways not recommended, and why

    @property
    def distinct_ways(self) -> tuple[StrategyResult, ...]:
        """The strategies, without the best mix where that is the same plan as another."""
        if self.optimum is None or self.optimum.same_as is None:
            return self.strategies
        return tuple(way for way in self.strategies if way.kind != "optimal")

    @property
    def warnings(self) -> tuple[Issue, ...]:
        """Warnings of the whole plan: of the problem, and of the strategies' allocations and predictions."""
        found = [*self.problem.warnings, *self._model_notes()]
        found += [
            Issue(code=code, field=FIELD_OF_ASIDE[code], params={"way": render(f"strategy_{way}")})
            for way, codes in self.set_aside.items()
            for code in codes
        ]
        for strategy in self.strategies:
            found += strategy.allocation.warnings
            for job in strategy.jobs:
                place = f"{job.job} on {job.resource}"
                found += [
                    replace(issue, where=place)
                    for issue in (*job.pair.fit.warnings, *late_for_capacity(job.job, job.resource, job.start_wait))
                ]
            found += self._machine_warnings(strategy)
            found += [issue for job in strategy.jobs for issue in job_notes(self.problem, job.pair, job.attempt_h)]
            if strategy.evaluation is not None:
                found += unused_credits(self.problem, self.theta, strategy.evaluation.lines, strategy.kind)
            found += [issue for job in strategy.jobs for issue in self._price_warnings(job.resource)]
        unique: dict[tuple[str, str, str, str], Issue] = {}
        for issue in found:
            unique.setdefault((issue.code, issue.field, issue.where, repr(sorted(issue.params.items()))), issue)
        return tuple(unique.values())

    def _model_notes(self) -> list[Issue]:
        """What was assumed of models that the scenario describes."""
        named = dict.fromkeys(job.workload for job in self.problem.jobs)
        return [issue for id in named for issue in model_notes(self.catalog.workloads[id])]

    def _price_at(self, price_usd: float, month: int) -> float:
        """Price of a card or host at the end of a month. [USD]"""
        column = self.problem.hardware_change_at
        return price_usd if column is None else price_usd * float(price_factor(float(self.theta[0, column]), month))

    def _machine_warnings(self, strategy: StrategyResult) -> list[Issue]:
        """Owned machines that are replaced within the horizon, and prices of cards too old to rely on."""
        issues: list[Issue] = []
        if strategy.evaluation is None:
            return issues
        for index, machine in enumerate(self.problem.machines):
            if strategy.evaluation.machine_count[0, index] == 0:
                continue
            price = self.problem.parameters[machine.gpu_price_at]
            field = f"machines.{machine.id}"
            for cohort in machine.cohorts:
                if cohort.owned and cohort.bought:
                    month = cohort.lives[cohort.paid].month
                    paid_usd = self._price_at(price.value, cohort.bought[0])
                    params = {"machine": machine.id, "month": month, "price_usd": paid_usd}
                    issues.append(Issue(code="owned_replaced", field=f"{field}.useful_life_months", params=params))
            if is_old(price.as_of, self.today) and "scenario" not in price.sources:
                params = {"machine": machine.id, "gpu": machine.gpu_name, "as_of": price.as_of}
                issues.append(Issue(code="hardware_price_old", field=f"{field}.gpu_price_usd", params=params))
        return issues

    def _price_warnings(self, resource: str) -> list[Issue]:
        """What is known against the price of an offer in use: a vague date, a remark of the catalog."""
        offer = self.catalog.offers.get(resource)
        column = next((o.price_at for o in self.problem.offers if o.id == resource), None)
        if offer is None or column is None or self.problem.parameters[column].sources == ("scenario",):
            return []
        issues = []
        as_of = offer.price_usd_per_h.as_of or "unknown"
        if len(as_of) < len("2026-11"):
            issues.append(Issue(code="price_date_vague", field="rental", params={"offer": resource, "as_of": as_of}))
        if offer.note:
            issues.append(Issue(code="price_remark", field="rental", params={"offer": resource, "note": offer.note}))
        return issues


def model_notes(workload: Workload) -> list[Issue]:
    """What was assumed of a model that was read from a config.json; nothing for workloads of the catalog."""
    if workload.source != "scenario":
        return []
    return [
        Issue(code="model_note", field=f"models.{workload.id}", params={"model": workload.name, "note": note})
        for note in workload.note.splitlines()
    ]


def evaluate(
    scenario: Scenario, catalog: Catalog, evidence: Evidence, *, today: dt.date, search: bool = False
) -> Result:
    """Plan a scenario in every named way; of what machines that are there already may become, the cheapest.

    Parameters
    ----------
    scenario : Scenario
        The checked question.
    catalog : Catalog
        Facts and assumptions.
    evidence : Evidence
        Measurements the estimator may see.
    today : date
        Day of the run.
    search : bool
        Search for the best mix too; of what machines may become, under the option that the named ways take.

    Returns
    -------
    Result
        Strategies in the order local, cloud, hybrid, and the best mix where it is searched for, with the
        recommendation.

    Raises
    ------
    InputError, UnknownIdError
        As `resolve`.
    """
    catalog = with_own_models(with_own_gpus(catalog, scenario.gpus), scenario.models)
    return evaluate_known(scenario, catalog, evidence, today=today, search=search)


def evaluate_known(
    scenario: Scenario, catalog: Catalog, evidence: Evidence, *, today: dt.date, search: bool = False
) -> Result:
    """As `evaluate`, with a catalog that has the scenario's own GPUs and models already, such as that of a `Result`."""
    options = start_options(scenario)
    results = [_evaluate(with_start(scenario, option), catalog, evidence, today) for option in options]
    if len(results) == 1:
        return searched(results[0]) if search else results[0]
    found = [
        OwnedOption(
            machines=option,
            ways=tuple(
                WayTotal(
                    id=way.kind, feasible=way.feasible, tco_usd=way.tco_usd, present_value_usd=way.present_value_usd
                )
                for way in result.strategies
            ),
            chosen=False,
        )
        for option, result in zip(options, results, strict=True)
    ]
    best = cheapest(found)
    found[best] = replace(found[best], chosen=True)
    result = replace(results[best], owned_options=tuple(found))
    return searched(result) if search else result


def searched(result: Result) -> Result:
    """A plan with the best mix as one more way, for what machines become in it.

    Ways in which waiting often makes jobs late, or that are above a ceiling on cash, aren't recommended where another
    keeps both.
    """
    problem, theta = result.problem, result.theta
    named = {way.id: way.allocation.choice for way in result.strategies if way.feasible}
    known = {id: choice for id, choice in named.items() if choice is not None}
    optimum = optimise(problem, theta, known)
    choice = optimum.choice
    found = Allocation(
        kind="optimal",
        choice=choice,
        problems=optimum.problems,
        warnings=() if choice is None else choice_warnings(problem, theta, choice),
    )
    spread = None if choice is None else ranges(problem, {"optimal": choice})["optimal"]
    strategies = (*result.strategies, _strategy(problem, theta, found, choice, spread))
    aside = {id: codes for id, one in known.items() if (codes := _set_aside(problem, theta, one))}
    kept = [way for way in strategies if way.id not in aside]
    if not any(way.feasible for way in kept):
        return replace(result, strategies=strategies, recommendation=recommend(strategies), optimum=optimum)
    recommendation = recommend(kept)
    least_usd = next(way.present_value_usd for way in kept if way.id == recommendation.strategy)
    cheaper = {
        way.id: aside[way.id]
        for way in result.strategies
        if way.id in aside and way.present_value_usd < least_usd - HALF_CENT_USD
    }
    return replace(result, strategies=strategies, recommendation=recommendation, optimum=optimum, set_aside=cheaper)


def _set_aside(problem: PlanProblem, theta: Theta, choice: Choice) -> tuple[str, ...]:
    """Why a way that does all the work within its limits isn't recommended all the same, as codes."""
    ceiling = [limit for limit in limits_of(problem, ceiling=True) if limit.kind == "cash_per_quarter"]
    above = bool(ceiling) and bool(limits_broken(problem, kernel(problem, theta, choice), ceiling).any())
    late = bool(late_machines(problem, theta, choice))
    return tuple(code for code, holds in (("aside_for_ceiling", above), ("aside_for_waiting", late)) if holds)


def _evaluate(scenario: Scenario, catalog: Catalog, evidence: Evidence, today: dt.date) -> Result:
    """One plan, each type of machine with one thing that becomes of it."""
    problem = resolve(scenario, catalog, evidence, today=today)
    theta = problem.theta()
    candidates = Candidates(problem, theta)
    allocations = {kind: allocate(problem, theta, kind, candidates) for kind in KINDS}
    choices = {kind: found.choice for kind, found in allocations.items() if found.choice is not None}
    spread = ranges(problem, choices)
    strategies = tuple(
        _strategy(problem, theta, allocations[kind], choices.get(kind), spread.get(kind)) for kind in KINDS
    )
    return Result(
        problem=problem,
        theta=theta,
        strategies=strategies,
        recommendation=recommend(strategies),
        catalog=catalog,
        evidence=evidence,
        today=today,
    )


def _strategy(
    problem: PlanProblem, theta: Theta, allocation: Allocation, choice: Choice | None, spread: Range | None
) -> StrategyResult:
    if choice is None:
        return StrategyResult(
            id=allocation.kind, kind=allocation.kind, allocation=allocation, evaluation=None, jobs=(), range=None
        )
    evaluation = kernel(problem, theta, choice)
    attribution = attribute(problem, theta, choice, evaluation)
    costs = run_costs(problem, theta, attribution)
    jobs = tuple(
        _job_result(problem, theta, index, float(choice.routing[0, index]), costs[index]) for index in attribution.pairs
    )
    return StrategyResult(
        id=allocation.kind,
        kind=allocation.kind,
        allocation=allocation,
        evaluation=evaluation,
        jobs=jobs,
        range=spread,
        attribution=attribution,
    )


def _job_result(problem: PlanProblem, theta: Theta, index: int, share: float, cost: RunCost) -> JobResult:
    pair = problem.pairs[index]
    job = problem.jobs[pair.job]
    runs = float(theta[0, job.runs_per_month_at]) * job.mean_factor * share * problem.horizon_months
    rate = problem.parameters[pair.throughput_at]
    attempt = float(attempt_s(pair, theta)[0])
    demand: PlannedJob = TrainingDemand(problem=problem, theta=theta, index=pair.job)

    def with_rate(value: float | None) -> float:
        return (attempt if value is None else float(attempt_s(pair, theta, value)[0])) / S_PER_H

    return JobResult(
        job=job.id,
        workload=job.workload,
        resource=pair.resource,
        pair=pair,
        runs=runs,
        gpu_hours=demand.gpu_hours(pair.resource) * share * problem.horizon_months,
        attempt_h=attempt / S_PER_H,
        attempt_low_h=with_rate(rate.high),
        attempt_high_h=with_rate(rate.low),
        upload_h=None if pair.transfer is None else float(upload_s(pair, theta)[0]) / S_PER_H,
        download_h=None if pair.transfer is None else float(download_s(pair, theta)[0]) / S_PER_H,
        cost=cost,
        runner_up=_runner_up(problem, theta, pair),
        spot=spot_job(problem, theta, pair, runs / problem.horizon_months * float(theta[0, job.attempts_per_run_at])),
        start_wait=start_wait(problem, theta, pair),
    )


def _runner_up(problem: PlanProblem, theta: Theta, chosen: Pair) -> RunnerUp | None:
    """The cheapest other offer that could do the job as well."""
    if chosen.offer is None:
        return None
    others = [
        RunnerUp(resource=pair.resource, marginal_usd=marginal_usd(problem, theta, pair))
        for pair in problem.pairs
        if pair.job == chosen.job
        and pair.offer is not None
        and pair.offer != chosen.offer
        and problem.offers[pair.offer].commitment is None  # the next run there would be paid on demand
        and pair.feasible
        and on_time(problem, theta, pair)
    ]
    return min(others, key=lambda other: (other.marginal_usd, other.resource), default=None)
