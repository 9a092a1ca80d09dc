"""What a followed way decided, costed in the plan of its remaining months, and what that plan decides otherwise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.actual.drift import Comparison
from planner.actual.outlook import Rest, rest_of
from planner.cost.course import Array
from planner.strategy.evaluate import Result
from planner.strategy.kernel import Choice, Evaluation, kernel

_SAME = 1e-9
_FULL = 1.0 + 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """Machines of a type, or runs of a job on a resource, of which the new plan has other numbers."""

    job: str | None  # None: machines
    resource: str
    continued: float
    new: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Continued:
    """The remaining months as they were decided, at the speeds, prices and machines of the new plan."""

    rest: Rest
    present_value_usd: float
    fits: bool  # no machine has more work than hours
    changed: tuple[Changed, ...]
    saves_usd: float | None  # by deciding anew: cash; None where the way can't be done anew
    saves_present_value_usd: float | None  # by which ways are decided


def continued(comparison: Comparison, new: Result, month: int) -> Continued | None:
    """The followed way's machines and places of jobs in the new plan; None where it lacks one of them.

    Parameters
    ----------
    comparison : Comparison
        With the way that was followed.
    new : Result
        The plan of the remaining months.
    month : int
        Its first month in the old plan.
    """
    choice = _choice(comparison, new, month - 1)
    if choice is None:
        return None
    way = next(strategy for strategy in new.strategies if strategy.id == comparison.way.strategy.id)
    found = kernel(new.problem, new.theta, choice)
    rest, other = rest_of(found, 1), way.evaluation
    saves = None if other is None else rest.total_usd - rest_of(other, 1).total_usd
    value = float(found.present_value_usd[0])
    decided = way.allocation.choice
    return Continued(
        rest=rest,
        present_value_usd=value,
        fits=_fits(found),
        changed=() if decided is None else tuple(_changes(new, choice, decided)),
        saves_usd=saves,
        saves_present_value_usd=None if other is None else value - float(other.present_value_usd[0]),
    )


def _choice(comparison: Comparison, new: Result, past: int) -> Choice | None:
    """The decisions of the old plan, for the machines and pairs of the new one."""
    way, problem = comparison.way, new.problem
    types = {machine.id: index for index, machine in enumerate(problem.machines)}
    counts = np.zeros((1, len(types)))
    for index, machine in enumerate(way.problem.machines):
        count = float(way.choice.machine_count[0, index])
        if count and machine.id not in types:
            return None
        if count:
            counts[0, types[machine.id]] = count
    jobs = [job.id for job in problem.jobs]
    pairs = {(jobs[pair.job], pair.resource): index for index, pair in enumerate(problem.pairs)}
    routing, by_month = np.zeros((1, len(pairs))), {}
    for old_index, old in enumerate(way.problem.pairs):
        job = way.problem.jobs[old.job].id
        shares = _shares(way.choice, old_index, way.months)[past:]
        if job not in jobs or not shares.any():
            continue
        at = pairs.get((job, old.resource))
        if at is None or not problem.pairs[at].feasible:
            return None
        weights = np.array(problem.jobs[problem.pairs[at].job].profile or (1.0,) * problem.horizon_months)
        routing[0, at] = float((shares * weights).sum() / weights.sum())
        if np.ptp(shares) > _SAME:
            by_month[at] = shares[None, :]
    return Choice(machine_count=counts, routing=routing, by_month=by_month)


def _shares(choice: Choice, pair: int, months: int) -> Array:
    """Share of a job's runs on a pair in each month."""
    if pair in choice.by_month:
        return np.broadcast_to(choice.by_month[pair][0], months)
    return np.full(months, choice.routing[0, pair])


def _fits(found: Evaluation) -> bool:
    return bool(not found.load.size or found.load.max() <= _FULL)


def _changes(new: Result, choice: Choice, decided: Choice) -> list[Changed]:
    """Where two decisions of one plan differ."""
    problem = new.problem
    found = [
        Changed(job=None, resource=machine.id, continued=before, new=after)
        for index, machine in enumerate(problem.machines)
        if (before := float(choice.machine_count[0, index])) != (after := float(decided.machine_count[0, index]))
    ]
    for index, pair in enumerate(problem.pairs):
        job = problem.jobs[pair.job]
        usual = float(new.theta[0, job.runs_per_month_at])
        demand = usual * np.array(job.profile or (1.0,) * problem.horizon_months)
        before_by, after_by = (demand * _shares(each, index, len(demand)) for each in (choice, decided))
        if np.abs(before_by - after_by).max() > _SAME * max(float(demand.max()), 1.0):
            before, after = float(before_by.sum()), float(after_by.sum())
            found.append(Changed(job=job.id, resource=pair.resource, continued=before, new=after))
    return found
