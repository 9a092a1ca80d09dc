"""Choices by rule: the named strategies. All local, all rented, and the hybrid by job class are one code path.

A strategy says which share of each job's runs stays on owned machines. For each job the candidates of either side are
listed, and of all combinations the one with the lowest present value is taken, costed by the kernel itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from planner.cost.lines import Array
from planner.strategy.fleet import powered_h_of_one
from planner.strategy.kernel import Choice, kernel
from planner.strategy.parameters import Theta
from planner.strategy.problem import Issue, Job, Pair, PlanProblem
from planner.strategy.quotas import quota_problems, quotas_exceeded
from planner.strategy.sessions import busy_h_by_month, powered_h, session_node_h, turnaround_h

Kind = Literal["local", "cloud", "hybrid"]
KINDS: tuple[Kind, ...] = ("local", "cloud", "hybrid")
MAX_COMBINATIONS = 256
_OFFERS_PER_JOB = 8  # cheapest by rental; storage and egress can reorder the first few, hardly more
_SLACK = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """A strategy's choice (one row), whether it may be carried out, and why not."""

    kind: Kind
    choice: Choice | None  # None: some job can't run at all
    problems: tuple[Issue, ...]
    warnings: tuple[Issue, ...]

    @property
    def feasible(self) -> bool:
        """Whether the strategy does all the work within its limits."""
        return not self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """Candidates of one job on one side: those on time, the cheapest first; else the fastest."""

    pairs: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """One job's share and candidates."""

    local_share: float
    local: _Side | None
    rented: _Side | None


def allocate(problem: PlanProblem, theta: Theta, kind: Kind) -> Allocation:
    """The cheapest way to carry out a named strategy under one row of parameter values.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    theta : array, shape [1, parameters]
        Parameter values.
    kind : str
        "local", "cloud" or "hybrid".

    Returns
    -------
    Allocation
        With a choice of one row, or the problems that stand in the way.
    """
    problems: list[Issue] = []
    warnings: list[Issue] = []
    plans: list[_Plan] = []
    for index, job in enumerate(problem.jobs):
        plan = _plan_job(problem, theta, kind, index, job, problems, warnings)
        if plan is not None:
            plans.append(plan)
    if len(plans) < len(problem.jobs):
        return Allocation(kind=kind, choice=None, problems=tuple(problems), warnings=tuple(warnings))
    choices = _combinations(problem, theta, plans)
    counts = machine_counts(problem, theta, choices, keep_fixed=kind != "cloud")
    rows = Choice(machine_count=counts, routing=choices)
    evaluation = kernel(problem, theta, rows)
    overfull = _overfull(problem, theta, choices, counts)
    exceeded = overfull.sum(axis=1) + quotas_exceeded(problem, theta, rows)
    best = int(np.lexsort((evaluation.present_value_usd, exceeded))[0])  # within capacity, then cheapest
    routing, count = choices[best : best + 1], counts[best : best + 1]
    choice = Choice(machine_count=count, routing=routing)
    problems += _capacity_problems(problem, theta, routing, count, overfull[best])
    problems += quota_problems(problem, theta, choice)
    problems += _late_problems(problem, theta, routing)
    warnings += _load_warnings(problem, theta, routing, count, overfull[best])
    return Allocation(
        kind=kind,
        choice=choice,
        problems=tuple(problems),
        warnings=tuple(warnings),
    )


def _plan_job(
    problem: PlanProblem, theta: Theta, kind: Kind, index: int, job: Job, problems: list[Issue], warnings: list[Issue]
) -> _Plan | None:
    """Share and candidates of one job; reports problems and returns None when it can't run as the strategy wants."""
    pairs = [(i, pair) for i, pair in enumerate(problem.pairs) if pair.job == index]
    local = _side(problem, theta, job, [(i, pair) for i, pair in pairs if pair.machine is not None])
    rented = _side(problem, theta, job, [(i, pair) for i, pair in pairs if pair.offer is not None])
    share = _local_share(theta, kind, job)
    if kind == "hybrid" and job.local_share is None:
        wanted, other = (local, rented) if share == 1.0 else (rented, local)
        if wanted is None and other is not None:
            where = "rented" if share == 1.0 else "owned"
            warnings.append(Issue(code=f"moved_to_{where}", field=f"jobs.{job.id}", params={"job": job.id}))
            share = 1.0 - share
    missing = [
        side
        for side, found, needed in (("local", local, share > 0), ("rented", rented, share < 1))
        if needed and found is None
    ]
    for side in missing:
        problems += _why_not(problem, job, side, [pair for _, pair in pairs])
    if missing:
        return None
    return _Plan(local_share=share, local=local if share > 0 else None, rented=rented if share < 1 else None)


def _local_share(theta: Theta, kind: Kind, job: Job) -> float:
    if kind == "local":
        return 1.0
    if kind == "cloud":
        return 0.0
    if job.in_house:
        return 1.0
    if job.local_share_at is not None:
        return float(theta[0, job.local_share_at])
    return 1.0 if job.job_class == "development" else 0.0


def on_time(problem: PlanProblem, theta: Theta, pair: Pair) -> bool:
    """Whether one attempt ends within the job's limit, without waiting."""
    limit_h = problem.jobs[pair.job].deadline_h
    return limit_h is None or float(turnaround_h(problem, pair, theta)[0]) <= limit_h * (1 + _SLACK)


def _side(problem: PlanProblem, theta: Theta, job: Job, pairs: Sequence[tuple[int, Pair]]) -> _Side | None:
    possible = [(i, pair) for i, pair in pairs if pair.feasible]
    if not possible:
        return None
    punctual = [(i, pair) for i, pair in possible if on_time(problem, theta, pair)]
    if not punctual:  # the fastest, so that the plan says how near the limit it comes
        return _Side(pairs=(min(possible, key=lambda item: float(turnaround_h(problem, item[1], theta)[0]))[0],))
    punctual.sort(key=lambda item: (_run_cost(problem, theta, item[1]), item[1].resource))
    return _Side(pairs=tuple(i for i, _ in punctual))


def _run_cost(problem: PlanProblem, theta: Theta, pair: Pair) -> float:
    """A first order of candidates: rental of an attempt, or hours of machines weighted by their price."""
    if pair.offer is not None:
        offer = problem.offers[pair.offer]
        return float((session_node_h(pair, offer, theta) * theta[:, offer.price_at])[0])
    assert pair.machine is not None
    machine = problem.machines[pair.machine]
    price = machine.gpus * theta[0, machine.gpu_price_at] + theta[0, machine.host_price_at]
    return float(price * pair.gpus / machine.gpus * turnaround_h(problem, pair, theta)[0])


def _combinations(problem: PlanProblem, theta: Theta, plans: Sequence[_Plan]) -> Array:
    """Routing rows of every combination of candidates, the cheapest first where there are too many."""
    slots: list[tuple[float, list[int]]] = []
    for plan in plans:
        if plan.local is not None:
            slots.append((plan.local_share, list(plan.local.pairs)))
        if plan.rented is not None:
            slots.append((1.0 - plan.local_share, list(plan.rented.pairs[:_OFFERS_PER_JOB])))
    while np.prod([len(candidates) for _, candidates in slots], dtype=float) > MAX_COMBINATIONS:
        max(slots, key=lambda slot: len(slot[1]))[1].pop()
    rows = list(itertools.product(*[candidates for _, candidates in slots]))
    routing = np.zeros((len(rows), len(problem.pairs)))
    for row, chosen in enumerate(rows):
        for (share, _), pair in zip(slots, chosen, strict=True):
            routing[row, pair] += share
    return routing


def machine_counts(problem: PlanProblem, theta: Theta, routing: Array, *, keep_fixed: bool) -> Array:
    """Machines of each type: as the scenario says, or as many as hold the busiest month at the target utilisation.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    theta : array, shape [rows or 1, parameters]
        Parameter values.
    routing : array, shape [rows or 1, pairs]
        Shares of runs.
    keep_fixed : bool
        A number fixed in the scenario is bought even where no job runs on it (not in the all-rented strategy).

    Returns
    -------
    array, shape [rows, machines]
        Whole numbers.
    """
    busy = busiest_h(problem, theta, routing)
    counts = np.zeros_like(busy)
    for index, machine in enumerate(problem.machines):
        bookable_h = powered_h_of_one(machine, theta) * theta[:, machine.target_utilisation_at]
        needed = np.maximum(np.ceil(busy[:, index] / bookable_h - _SLACK), 1.0)
        counts[:, index] = np.where(busy[:, index] > 0, np.maximum(needed, machine.owned_count), 0.0)
        if machine.fixed_count is not None:
            counts[:, index] = machine.fixed_count if keep_fixed else 0.0
    return counts


def busiest_h(problem: PlanProblem, theta: Theta, routing: Array) -> Array:
    """Machine-hours of work in the busiest month of each machine type. [rows, machines]"""
    return np.asarray(busy_h_by_month(problem, theta, routing).max(axis=2))


def _overfull(problem: PlanProblem, theta: Theta, routing: Array, counts: Array) -> Array:
    busy = busiest_h(problem, theta, routing)
    return np.asarray(busy > powered_h(problem, theta, counts) * (1 + _SLACK))


def _capacity_problems(
    problem: PlanProblem, theta: Theta, routing: Array, count: Array, overfull: Array
) -> list[Issue]:
    busy = busiest_h(problem, theta, routing)[0]
    issues = []
    for index in np.flatnonzero(overfull):
        machine = problem.machines[index]
        hours = float(powered_h_of_one(machine, theta)[0])
        params = {
            "machine": machine.id,
            "count": int(count[0, index]),
            "busy_h": float(busy[index]),
            "available_h": float(count[0, index] * hours),
            "needed": int(np.ceil(busy[index] / (hours * theta[0, machine.target_utilisation_at]) - _SLACK)),
        }
        issues.append(Issue(code="over_capacity", field=f"machines.{machine.id}.count", params=params))
    return issues


def _load_warnings(problem: PlanProblem, theta: Theta, routing: Array, count: Array, overfull: Array) -> list[Issue]:
    busy = busiest_h(problem, theta, routing)[0]
    issues = []
    for index, machine in enumerate(problem.machines):
        available_h = float(count[0, index] * powered_h_of_one(machine, theta)[0])
        if available_h == 0 or overfull[index]:
            continue
        utilisation, target = busy[index] / available_h, float(theta[0, machine.target_utilisation_at])
        if utilisation > target * (1 + _SLACK):
            params = {"machine": machine.id, "utilisation": float(utilisation), "target": target}
            issues.append(Issue(code="above_target_utilisation", field=f"machines.{machine.id}.count", params=params))
    return issues


def late_problem(problem: PlanProblem, theta: Theta, pair: Pair) -> Issue | None:
    """That one attempt takes longer than the job's limit, if it does."""
    if on_time(problem, theta, pair):
        return None
    job = problem.jobs[pair.job]
    params = {
        "job": job.id,
        "resource": pair.resource,
        "gpus": pair.gpus,
        "needs_h": float(turnaround_h(problem, pair, theta)[0]),
        "deadline_h": job.deadline_h,
    }
    return Issue(code="deadline_missed", field=f"jobs.{job.id}.deadline_h", params=params)


def _late_problems(problem: PlanProblem, theta: Theta, routing: Array) -> list[Issue]:
    used = [pair for index, pair in enumerate(problem.pairs) if routing[0, index] > 0]
    return [late for pair in used if (late := late_problem(problem, theta, pair)) is not None]


def _why_not(problem: PlanProblem, job: Job, side: str, pairs: Sequence[Pair]) -> list[Issue]:
    """The reasons of the candidates of a side, the most helpful one; or that there is no candidate."""
    mine = [pair for pair in pairs if (pair.machine is not None) == (side == "local")]
    if not mine:
        code = "no_machines" if side == "local" else "no_offers"
        return [Issue(code=code, field="machines" if side == "local" else "rental", params={"job": job.id})]
    rules = ("in_house_only", "pinned_elsewhere", "pinned_off", "region_not_allowed", "term_not_allowed")
    allowed = [pair for pair in mine if not any(issue.code in rules for issue in pair.problems)]
    if allowed:  # what keeps a permitted place from doing the job helps more than that another isn't permitted
        mine = allowed
    reasons = [issue for pair in mine for issue in pair.problems]
    order = (*rules, "quota_below_run", "quota_zero", "does_not_fit", "too_many_gpus", "fits_nowhere")
    reasons.sort(key=lambda issue: (order.index(issue.code) if issue.code in order else len(order), _distance(issue)))
    return reasons[:1]


def _distance(issue: Issue) -> float:
    """How far a candidate is from fitting: memory needed over memory there."""
    memory, capacity = issue.params.get("memory_gb"), issue.params.get("capacity_gb")
    if isinstance(memory, float) and isinstance(capacity, float) and capacity > 0:
        return memory / capacity
    return 0.0
