"""Waiting for the owned machines of a plan, simulated for the jobs that share them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from planner.cost.course import Array
from planner.performance.uptime import repair_powered_h
from planner.strategy.fleet import cohort_units
from planner.strategy.kernel import Choice
from planner.strategy.machines import Machine
from planner.strategy.overflow import JobOverflow, overflow, total_with_overflow_usd
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from planner.strategy.queueing.breakdowns import Failing
from planner.strategy.queueing.hours import Powered
from planner.strategy.queueing.simulate import Pool
from planner.strategy.queueing.streams import Stream
from planner.strategy.queueing.summary import Waiting, simulable, simulate_waiting
from planner.strategy.sessions import unfailing
from planner.units import H_PER_MONTH, H_PER_YEAR


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineWaiting:
    """What was found for one type of machine."""

    machine: str
    count: int
    pool: Pool
    streams: tuple[Stream, ...]
    waiting: Waiting
    overflow: Mapping[str, JobOverflow]  # by job, of those that may go elsewhere
    total_usd: float | None  # of the whole plan with the overflow of all its machines; None where none was asked for


def machine_waiting(
    problem: PlanProblem,
    theta: Theta,
    choice: Choice,
    *,
    more: int = 0,
    with_overflow: bool = False,
    only: Collection[int] | None = None,
) -> tuple[MachineWaiting, ...]:
    """Waits and turnaround on each type of owned machine that a choice gives work to.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    theta : array, shape [1, parameters]
        Parameter values.
    choice : Choice
        One row.
    more : int
        Machines of each type beyond the choice's, for the same work.
    with_overflow : bool
        Simulate too what becomes of jobs with a limit whose attempts go to rented machines before they are late.
    only : collection of int or None
        Indices of the types that are asked for.

    Returns
    -------
    tuple of MachineWaiting
        In the order of the problem's machines; without those that have fewer machines than one of their runs takes,
        and those that are too large to simulate.
    """
    found = []
    moved: dict[int, JobOverflow] = {}
    for index, machine in enumerate(problem.machines):
        count = int(choice.machine_count[0, index]) + more
        used = [
            (at, pair) for at, pair in enumerate(problem.pairs) if pair.machine == index and choice.routing[0, at] > 0
        ]
        if not used or (only is not None and index not in only) or max(pair.nodes for _, pair in used) > count:
            continue
        powered = Powered(h_per_month=float(theta[0, machine.powered_h_at]))
        streams = tuple(_stream(problem, theta, choice, at) for at, _ in used)
        limits_h = tuple(problem.jobs[pair.job].deadline_h for _, pair in used)
        awaited = _awaited(machine, choice.machine_count[:, index] + more)
        failing = _failing(machine, theta)
        pool = Pool(machines=count, gpus=machine.gpus, powered=powered, failing=failing, awaited=awaited)
        if not simulable(pool, streams):
            continue
        waiting = _simulated(pool, streams, limits_h)
        pairs = [at for at, _ in used]
        elsewhere = overflow(problem, theta, choice, pool, streams, pairs, waiting) if with_overflow else {}
        moved |= {at: elsewhere[job] for at, pair in used if (job := problem.jobs[pair.job].id) in elsewhere}
        found.append(
            MachineWaiting(
                machine=machine.id, count=count, pool=pool, streams=streams, waiting=waiting, overflow=elsewhere,
                total_usd=None,
            )
        )  # fmt: skip
    if not moved:
        return tuple(found)
    total_usd = total_with_overflow_usd(problem, theta, choice, moved)
    return tuple(replace(entry, total_usd=total_usd) for entry in found)


@lru_cache(maxsize=8)
def _simulated(pool: Pool, streams: tuple[Stream, ...], limits_h: tuple[float | None, ...]) -> Waiting:
    """A search, the plan it finds and its document ask for the same courses; few are kept, for they are large."""
    return simulate_waiting(pool, streams, limits_h)


def _failing(machine: Machine, theta: Theta) -> Failing | None:
    failures = machine.failures
    if failures is None or theta[0, failures.per_year_at] == 0:
        return None
    away_h = repair_powered_h(float(theta[0, failures.repair_h_at]), float(theta[0, machine.powered_h_at]))
    return Failing(per_h=float(theta[0, failures.per_year_at]) / H_PER_YEAR, repair_h=float(away_h))


def _awaited(machine: Machine, count: Array) -> tuple[tuple[float, int], ...]:
    """Hour at which machines of a type come, and how many, of those that aren't there from the start."""
    cohorts = zip(machine.cohorts, cohort_units(machine, count), strict=True)
    return tuple(
        (cohort.there_after * H_PER_MONTH, int(units[0]))
        for cohort, units in cohorts
        if cohort.there_after and units[0]
    )


def _stream(problem: PlanProblem, theta: Theta, choice: Choice, at: int) -> Stream:
    pair = problem.pairs[at]
    job = problem.jobs[pair.job]
    runs = float(theta[0, job.runs_per_month_at])
    shares = choice.by_month.get(at, choice.routing[:, at, None])[0].tolist()
    shares = shares if len(shares) > 1 else shares * problem.horizon_months
    profile = job.profile or (1.0,) * problem.horizon_months
    course = unfailing(pair, theta)
    return Stream(
        id=job.id,
        runs_per_month=tuple(runs * share * factor for share, factor in zip(shares, profile, strict=True)),
        duration_h=course.duration_h,
        attempts_per_run=float(theta[0, job.attempts_per_run_at]),
        gpus=math.ceil(pair.gpus / pair.nodes),
        machines=pair.nodes,
        priority=job.priority,
        together=job.submitted_together,
        arrivals=job.arrivals,
        segments=course.segments,
        restart_h=course.restart_h,
    )
