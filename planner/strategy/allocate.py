"""Choices by rule: the named strategies. All local, all rented, and the hybrid by job class are one code path.

A strategy says which share of each job's runs stays on owned machines. For each job the candidates of either side are
listed, and of all combinations the one with the lowest present value is taken, costed by the kernel itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner.cost.course import Array
from planner.strategy.candidates import Candidates, JobPlan, Kind, on_time, punctual_rows
from planner.strategy.fleet import machines_there, powered_h_by_month, powered_h_of_one
from planner.strategy.kernel import Choice, Evaluation, kernel
from planner.strategy.limits import limit_problems, limits_broken, limits_of
from planner.strategy.meanwhile import (
    NOWHERE,
    rented_warnings,
    stacked,
    taken,
    undone,
    undone_problems,
    with_meanwhile,
)
from planner.strategy.parameters import Theta
from planner.strategy.problem import Issue, Pair, PlanProblem
from planner.strategy.quotas import quota_problems, quotas_exceeded
from planner.strategy.relief_lines import with_relieved_early
from planner.strategy.sessions import busy_h_by_month, turnaround_h

MAX_COMBINATIONS = 256
_OFFERS_PER_JOB = 8  # cheapest by rental; storage and egress can reorder the first few, hardly more
_MOST_ROWS = 2048  # costed at once, and
_MOST_VALUES = 1 << 22  # of theta among them: 32 MiB
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
class AllocatedRows:
    """A strategy's choices under many rows of parameter values."""

    rows: npt.NDArray[np.int64]  # that have a choice, ascending: in the others some job can't run at all
    choice: Choice | None  # of these rows; None where there are none
    undoable: Mapping[int, tuple[Issue, ...]]  # by row without a choice: what stands in the way


def allocate(problem: PlanProblem, theta: Theta, kind: Kind, candidates: Candidates | None = None) -> Allocation:
    """The cheapest way to carry out a named strategy under one row of parameter values.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    theta : array, shape [1, parameters]
        Parameter values.
    kind : str
        "local", "cloud" or "hybrid".
    candidates : Candidates, optional
        Of the problem and this row, where several strategies are asked for.

    Returns
    -------
    Allocation
        With a choice of one row, or the problems that stand in the way.
    """
    [(_, plans)] = (candidates or Candidates(problem, theta)).plans(kind)
    if plans.jobs is None:
        return Allocation(kind=kind, choice=None, problems=plans.problems, warnings=plans.warnings)
    choice = _cheapest(problem, theta, kind, plans.jobs)
    return Allocation(
        kind=kind,
        choice=choice,
        problems=(*plans.problems, *choice_problems(problem, theta, choice)),
        warnings=(*plans.warnings, *choice_warnings(problem, theta, choice)),
    )


def choice_problems(problem: PlanProblem, theta: Theta, choice: Choice) -> list[Issue]:
    """What keeps a choice of one row from doing all the work on time, within capacity, quotas and limits."""
    return [
        *undone_problems(problem, choice),
        *_capacity_problems(problem, theta, choice),
        *quota_problems(problem, theta, choice),
        *_late_problems(problem, theta, choice.routing),
        *(limit_problems(problem, kernel(problem, theta, choice)) if problem.limits.asked else ()),
    ]


def choice_warnings(problem: PlanProblem, theta: Theta, choice: Choice) -> tuple[Issue, ...]:
    """What to know of a choice of one row that may be carried out."""
    return (*_load_warnings(problem, theta, choice), *rented_warnings(problem, choice))


def allocate_rows(problem: PlanProblem, theta: Theta, kind: Kind, candidates: Candidates) -> AllocatedRows:
    """As `allocate`, for each row of parameter values by itself.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    theta : array, shape [rows, parameters]
        Parameter values.
    kind : str
        "local", "cloud" or "hybrid".
    candidates : Candidates
        Of the problem and these rows, for all strategies.

    Returns
    -------
    AllocatedRows
        The choices that `allocate` makes under the same values.
    """
    undoable: dict[int, tuple[Issue, ...]] = {}
    found: list[tuple[npt.NDArray[np.int64], Choice]] = []
    for rows, plans in candidates.plans(kind):
        if plans.jobs is None:
            undoable |= dict.fromkeys(rows.tolist(), plans.problems)
        else:
            found.append((rows, _cheapest(problem, theta[rows], kind, plans.jobs)))
    if not found:
        return AllocatedRows(rows=np.zeros(0, dtype=np.int64), choice=None, undoable=undoable)
    planned = np.concatenate([rows for rows, _ in found])
    order = np.argsort(planned)
    choice = taken(problem, stacked(problem, [choice for _, choice in found]), order)
    return AllocatedRows(rows=planned[order], choice=choice, undoable=undoable)


def choice_within(problem: PlanProblem, theta: Theta, choice: Choice) -> npt.NDArray[np.bool_]:
    """Whether `choice_problems` would find nothing, by row."""
    return np.asarray(~np.any(list(choice_faults(problem, theta, choice).values()), axis=0))


def choice_faults(problem: PlanProblem, theta: Theta, choice: Choice) -> dict[str, npt.NDArray[np.bool_]]:
    """What `choice_problems` would find, by row: of capacity (or work left undone), quotas, deadlines, limits."""
    late = np.zeros(len(theta), dtype=np.bool_)
    for index, pair in enumerate(problem.pairs):
        used = choice.routing[:, index] > 0
        if used.any():
            late |= used & ~punctual_rows(problem, theta, pair)
    beyond = (
        _beyond_limits(problem, kernel(problem, theta, choice)).any(axis=1)
        if problem.limits.asked
        else np.zeros(len(theta), dtype=np.bool_)
    )
    full = _overfull(problem, theta, choice).any(axis=1) | undone(problem, choice).any(axis=(1, 2))
    over = np.broadcast_to(quotas_exceeded(problem, theta, choice) > 0, len(theta))
    return {"capacity": np.asarray(full), "quotas": np.asarray(over), "deadlines": late, "limits": np.asarray(beyond)}


def _cheapest(problem: PlanProblem, theta: Theta, kind: Kind, plans: Sequence[JobPlan]) -> Choice:
    """Under each row, of all combinations of candidates those with all work within capacity, then the cheapest."""
    routing, meanwhile = _combinations(problem, plans)
    many = len(routing)
    step = max(1, min(_MOST_ROWS // many, _MOST_VALUES // (many * theta.shape[1])))
    found = []
    for start in range(0, len(theta), step):
        some = theta[start : start + step]
        values = np.repeat(some.T, many, axis=1).T  # columns stay together in memory
        tries = np.tile(routing, (len(some), 1))
        counts = machine_counts(problem, values, tries, keep_fixed=kind != "cloud")
        choices = with_meanwhile(problem, values, tries, counts, np.tile(meanwhile, (len(some), 1)))
        evaluation = kernel(problem, values, choices)
        cost, short = evaluation.present_value_usd, _short(problem, values, choices)
        if problem.limits.asked:
            short = short + _beyond_limits(problem, evaluation).sum(axis=1)
        order = np.lexsort((cost.reshape(-1, many), short.reshape(-1, many)), axis=1)
        found.append(taken(problem, choices, order[:, 0] + many * np.arange(len(some))))
    return stacked(problem, found)


def _beyond_limits(problem: PlanProblem, evaluation: Evaluation) -> npt.NDArray[np.bool_]:
    """Limits of the scenario that each row breaks. [rows, limits]"""
    return limits_broken(problem, evaluation, limits_of(problem, ceiling=False))


def _short(problem: PlanProblem, theta: Theta, choice: Choice) -> Array:
    """Number of machine types, jobs and quotas that a choice asks too much of. [rows]"""
    short = _overfull(problem, theta, choice).sum(axis=1) + undone(problem, choice).any(axis=2).sum(axis=1)
    return np.asarray(short + quotas_exceeded(problem, theta, choice))


def _combinations(problem: PlanProblem, plans: Sequence[JobPlan]) -> tuple[Array, npt.NDArray[np.int64]]:
    """Routing rows of every combination of candidates, the cheapest first where there are too many.

    And the pair on which each job is rented while its machines aren't there yet.
    """
    slots: list[tuple[float, list[int], int | None]] = []
    for plan in plans:
        if plan.local is not None:
            slots.append((plan.local_share, list(plan.local.pairs), None))
        if plan.rented is not None:
            stands_in = plan.job if plan.rented_meanwhile else None
            candidates = with_relieved_early(problem, plan.rented.pairs)[:_OFFERS_PER_JOB]
            slots.append((1.0 - plan.local_share, candidates, stands_in))
    while np.prod([len(candidates) for _, candidates, _ in slots], dtype=float) > MAX_COMBINATIONS:
        max(slots, key=lambda slot: len(slot[1]))[1].pop()
    rows = list(itertools.product(*[candidates for _, candidates, _ in slots]))
    routing = np.zeros((len(rows), len(problem.pairs)))
    meanwhile = np.full((len(rows), len(problem.jobs)), NOWHERE, dtype=np.int64)
    for row, chosen in enumerate(rows):
        for (share, _, job), pair in zip(slots, chosen, strict=True):
            routing[row, pair] += share
            if job is not None:
                meanwhile[row, job] = pair
    return routing, meanwhile


def machine_counts(problem: PlanProblem, theta: Theta, routing: Array, *, keep_fixed: bool) -> Array:
    """Machines of each type: as the scenario says, or as many as hold the busiest month at the target utilisation.

    Months before they can be there don't count.

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
    by_month = busy_h_by_month(problem, theta, routing)
    busy = by_month.max(axis=2)
    counts = np.zeros(by_month.shape[:2])
    for index, machine in enumerate(problem.machines):
        bookable_h = powered_h_of_one(machine, theta) * theta[:, machine.target_utilisation_at]
        then = busy[:, index]
        if machine.complete_after and by_month.shape[2] > 1:
            then = by_month[:, index, machine.complete_after :].max(axis=1)
        needed = np.where(then > 0, np.maximum(np.ceil(then / bookable_h - _SLACK), 1.0), 0.0)
        counts[:, index] = np.where(busy[:, index] > 0, np.maximum(needed, machine.owned_count), 0.0)
        if machine.fixed_count is not None:
            counts[:, index] = machine.fixed_count if keep_fixed else 0.0
    return counts


def _hours(problem: PlanProblem, theta: Theta, choice: Choice) -> tuple[Array, Array]:
    """Hours of work, and hours that machines there are powered. [rows, machines, months or 1]"""
    there = machines_there(problem, choice.machine_count)
    return busy_h_by_month(problem, theta, choice.routing, choice.by_month), powered_h_by_month(problem, theta, there)


def _overfull(problem: PlanProblem, theta: Theta, choice: Choice) -> npt.NDArray[np.bool_]:
    busy, powered = _hours(problem, theta, choice)
    return np.asarray(np.any(busy > powered * (1 + _SLACK), axis=2), dtype=np.bool_)


def _capacity_problems(problem: PlanProblem, theta: Theta, choice: Choice) -> list[Issue]:
    busy = _hours(problem, theta, choice)[0].max(axis=2)[0]
    count = choice.machine_count
    issues = []
    for index in np.flatnonzero(_overfull(problem, theta, choice)[0]):
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


def _load_warnings(problem: PlanProblem, theta: Theta, choice: Choice) -> list[Issue]:
    overfull = _overfull(problem, theta, choice)[0]
    busy, available = np.broadcast_arrays(*_hours(problem, theta, choice))
    load = np.divide(busy, available, out=np.zeros(busy.shape), where=available > 0).max(axis=2)[0]
    issues = []
    for index, machine in enumerate(problem.machines):
        if overfull[index]:
            continue
        utilisation, target = load[index], float(theta[0, machine.target_utilisation_at])
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
