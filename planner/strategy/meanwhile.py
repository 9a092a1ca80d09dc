"""Work in months in which too few machines are there yet: what is rented meanwhile, and what can't be done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from planner.cost.course import Array
from planner.strategy.fleet import machines_there, powered_h_by_month
from planner.strategy.kernel import Choice
from planner.strategy.machines import Machine
from planner.strategy.parameters import Theta
from planner.strategy.problem import Issue, Job, PlanProblem
from planner.strategy.sessions import SharesByMonth, busy_h_by_month

NOWHERE = -1
"""Instead of a pair: a job's runs can't be rented meanwhile."""
_SLACK = 1e-9


def with_meanwhile(
    problem: PlanProblem, theta: Theta, routing: Array, count: Array, meanwhile: npt.NDArray[np.int64]
) -> Choice:
    """Choices whose work follows the machines that are there.

    Until the last machines of a type are delivered, those there take the work of jobs that can't be rented first, up to
    their powered hours; what is left up to the target utilisation goes to the others in proportion, and their rest is
    rented. From then on shares are as asked for, whatever the load.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    theta : array, shape [1, parameters]
        Parameter values.
    routing : array, shape [rows, pairs]
        Share of each job's runs on each pair while all machines are there.
    count : array, shape [rows, machines]
        Machines of each type, whenever they come.
    meanwhile : array of int, shape [rows, jobs]
        Pair on which each job is rented meanwhile, or `NOWHERE`.

    Returns
    -------
    Choice
        With the same rows. Shares of a job sum to less than 1 where runs can't be done.
    """
    late = [index for index, machine in enumerate(problem.machines) if machine.complete_after]
    if not late:
        return Choice(machine_count=count, routing=routing)
    kept = _kept(problem, theta, routing, count, meanwhile, late)
    rows = np.arange(len(routing))
    shares: dict[int, Array] = {}

    def by_month(index: int) -> Array:
        """Of a pair, from its share in all months."""
        return shares.setdefault(index, np.repeat(routing[:, index, None], problem.horizon_months, axis=1))

    for index, pair in enumerate(problem.pairs):
        if pair.machine not in kept or not routing[:, index].any():
            continue
        rentable = meanwhile[:, pair.job] != NOWHERE
        part = np.where(rentable[:, None], *kept[pair.machine])
        moved = routing[:, index, None] * (1.0 - part)
        for target in np.unique(meanwhile[rentable, pair.job]).tolist():
            mine = rows[meanwhile[:, pair.job] == target]
            by_month(target)[mine] += moved[mine]
        by_month(index)[:] -= moved
    return _choice(problem, routing, count, shares)


def taken(problem: PlanProblem, choice: Choice, rows: npt.NDArray[np.int64]) -> Choice:
    """Some rows of a choice; pairs whose share is the same in all months in all of them have no shares by month."""
    shares = {index: share[rows] for index, share in choice.by_month.items()}
    return _choice(problem, choice.routing[rows], choice.machine_count[rows], shares)


def stacked(problem: PlanProblem, choices: Sequence[Choice]) -> Choice:
    """The rows of some choices below each other."""
    if len(choices) == 1:
        return choices[0]
    routing = np.concatenate([choice.routing for choice in choices])
    shares = {}
    for index in sorted({index for choice in choices for index in choice.by_month}):
        alike = ((len(choice.routing), problem.horizon_months) for choice in choices)
        each = [
            choice.by_month.get(index, np.broadcast_to(choice.routing[:, index, None], shape))
            for choice, shape in zip(choices, alike, strict=True)
        ]
        shares[index] = np.concatenate(each)
    return Choice(
        machine_count=np.concatenate([choice.machine_count for choice in choices]), routing=routing, by_month=shares
    )


def _choice(problem: PlanProblem, routing: Array, count: Array, shares: SharesByMonth) -> Choice:
    """A choice with the means of shares by month, weighted by demand."""
    routing = routing.copy()
    differ = {}
    for index, share in shares.items():
        job = problem.jobs[problem.pairs[index].job]
        if np.all(share == share[:, :1]):
            routing[:, index] = share[:, 0]
            continue
        differ[index] = share
        demand = _demand(problem, job)
        routing[:, index] = share @ demand / demand.sum() if demand.any() else share.mean(axis=1)
    return Choice(machine_count=count, routing=routing, by_month=differ)


def _demand(problem: PlanProblem, job: Job) -> Array:
    return np.ones(problem.horizon_months) if job.profile is None else np.array(job.profile)


def _kept(
    problem: PlanProblem,
    theta: Theta,
    routing: Array,
    count: Array,
    meanwhile: npt.NDArray[np.int64],
    late: list[int],
) -> dict[int, tuple[Array, Array]]:
    """By machine type: share of the work meant for it that it takes, of jobs that can be rented and of the others."""
    shape = (*count.shape, problem.horizon_months)
    jobs = [pair.job for pair in problem.pairs]
    must = np.broadcast_to(busy_h_by_month(problem, theta, routing * (meanwhile[:, jobs] == NOWHERE)), shape)
    busy = np.broadcast_to(busy_h_by_month(problem, theta, routing), shape)
    powered = np.broadcast_to(powered_h_by_month(problem, theta, machines_there(problem, count)), shape)
    months = np.arange(1, problem.horizon_months + 1)
    kept = {}
    for index in late:
        machine = problem.machines[index]
        waiting = months <= machine.complete_after
        room = powered[:, index] * theta[:, machine.target_utilisation_at, None] - must[:, index]
        rentable = _share_that_fits(room, busy[:, index] - must[:, index])
        kept[index] = (
            np.where(waiting, rentable, 1.0),
            np.where(waiting, _share_that_fits(powered[:, index], must[:, index]), 1.0),
        )
    return kept


def _share_that_fits(room_h: Array, work_h: Array) -> Array:
    """Share of some work that there is room for. [-]"""
    tight = work_h > np.maximum(room_h, 0.0) * (1 + _SLACK)
    return np.divide(np.maximum(room_h, 0.0), work_h, out=np.ones_like(work_h), where=tight)


def undone(problem: PlanProblem, choice: Choice) -> Array:
    """Share of each job's runs that aren't done, by month. [rows, jobs, months or 1]"""
    if not choice.by_month:
        return np.zeros((len(choice.routing), len(problem.jobs), 1))
    done = np.zeros((len(choice.routing), len(problem.jobs), problem.horizon_months))
    for index, pair in enumerate(problem.pairs):
        done[:, pair.job] += choice.by_month.get(index, choice.routing[:, index, None])
    demanded = np.array([_demand(problem, job) > 0 for job in problem.jobs])
    missing = (1.0 - done) * demanded
    return np.where(missing > _SLACK, missing, 0.0)


def undone_problems(problem: PlanProblem, choice: Choice) -> list[Issue]:
    """Of one row: the months in which machines are missing for a job that isn't rented meanwhile."""
    missing = undone(problem, choice)[0]
    issues = []
    for index, pair in enumerate(problem.pairs):
        if pair.machine is None or index not in choice.by_month:
            continue
        lost = missing[pair.job] > 0
        if lost.any() and (choice.by_month[index][0] < choice.by_month[index].max())[lost].any():
            machine, job = problem.machines[pair.machine], problem.jobs[pair.job]
            params = {"job": job.id, "machine": machine.id, "months": month_ranges(np.flatnonzero(lost) + 1)}
            issues.append(Issue(code="machines_missing", field=_field(machine), params=params))
    return issues


def rented_warnings(problem: PlanProblem, choice: Choice) -> list[Issue]:
    """Of one row: the months in which a job is rented because its machines aren't there.

    A best mix may rent more in some months for other reasons.
    """
    issues = []
    waiting = np.arange(problem.horizon_months)
    for index, pair in enumerate(problem.pairs):
        if pair.machine is None or index not in choice.by_month:
            continue
        machine, job = problem.machines[pair.machine], problem.jobs[pair.job]
        for target, share in choice.by_month.items():
            other = problem.pairs[target]
            if other.job != pair.job or other.offer is None:
                continue
            more = (
                (share[0] > share[0].min() + _SLACK) & (_demand(problem, job) > 0) & (waiting < machine.complete_after)
            )
            if not more.any():
                continue
            params = {
                "job": job.id,
                "machine": machine.id,
                "offer": other.resource,
                "months": month_ranges(np.flatnonzero(more) + 1),
            }
            issues.append(Issue(code="rented_meanwhile", field=_field(machine), params=params))
    return issues


def _field(machine: Machine) -> str:
    staged = sum(not cohort.owned for cohort in machine.cohorts) > 1
    return f"machines.{machine.id}.{'purchases' if staged else 'delivery_months'}"


def month_ranges(months: Iterable[int]) -> str:
    """Months in words, neighbours drawn together.

    >>> month_ranges([1, 2, 3, 5, 8, 9])
    '1-3, 5, 8-9'
    """
    ranges: list[list[int]] = []
    for month in months:
        if ranges and ranges[-1][1] == month - 1:
            ranges[-1][1] = month
        else:
            ranges.append([month, month])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)
