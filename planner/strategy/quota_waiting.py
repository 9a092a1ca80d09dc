"""Waiting for a quota on rented GPUs, simulated for the jobs that share it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.strategy.kernel import Choice
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from planner.strategy.queueing.simulate import Pool
from planner.strategy.queueing.streams import H_PER_WEEK, Stream
from planner.strategy.queueing.summary import Waiting, simulable, simulate_waiting
from planner.strategy.quotas import QuotaUse, limits, quota_uses, run_gpus
from planner.strategy.sessions import session_s
from planner.units import H_PER_MONTH, S_PER_H

_OFFICE_CROWDING: Final = H_PER_WEEK / 40.0  # what comes in a week comes in its office hours
_DEVIATIONS: Final = 12.0


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaWaiting:
    """What was found for one quota; None where it can't be simulated."""

    use: QuotaUse
    waiting: Waiting | None


def quota_waiting(problem: PlanProblem, theta: Theta, choice: Choice) -> tuple[QuotaWaiting, ...]:
    """Waits and turnaround of rented runs under each quota that limits some, each quota by itself.

    A run holds its whole instances from start-up to its end, so the quota is a pool of GPUs in groups that divide all
    runs; other limits on the same runs are left out.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    theta : array, shape [1, parameters]
        Parameter values.
    choice : Choice
        One row.
    """
    found = []
    for use in quota_uses(problem, theta, choice):
        pairs = [
            (index, pair)
            for index, pair in enumerate(problem.pairs)
            if choice.routing[0, index] > 0 and limits(problem, use.quota, pair)
        ]
        streams = tuple(_stream(problem, theta, choice, index, use.unit) for index, _ in pairs)
        pool = Pool(machines=min(use.quota.gpus // use.unit, _never_all(streams)), gpus=1)
        fits = max(stream.machines for stream in streams) <= pool.machines
        limits_h = [problem.jobs[pair.job].deadline_h for _, pair in pairs]
        waiting = simulate_waiting(pool, streams, limits_h) if fits and simulable(pool, streams) else None
        found.append(QuotaWaiting(use=use, waiting=waiting))
    return tuple(found)


def _never_all(streams: Sequence[Stream]) -> int:
    """Groups of GPUs that runs never hold all at once, even without a quota: a larger one is as good as these.

    What runs at once without limits is compound Poisson: twelve standard deviations and as many batches above its mean
    in the busiest month aren't reached.
    """
    mean = variance = largest = 0.0
    for stream in streams:
        crowded = _OFFICE_CROWDING if stream.arrivals == "office_hours" else 1.0
        attempts_per_h = max(stream.runs_per_month) * stream.attempts_per_run * crowded / H_PER_MONTH
        batch = stream.together * stream.machines
        mean += attempts_per_h * stream.duration_h * stream.machines
        variance += attempts_per_h * stream.duration_h * stream.machines * batch
        largest = max(largest, batch)
    return math.ceil(mean + _DEVIATIONS * (math.sqrt(variance) + largest))


def _stream(problem: PlanProblem, theta: Theta, choice: Choice, index: int, unit: int) -> Stream:
    pair = problem.pairs[index]
    job = problem.jobs[pair.job]
    share = choice.by_month[index][0] if index in choice.by_month else choice.routing[0, index]
    runs = np.ones(problem.horizon_months) * (1.0 if job.profile is None else job.profile) * share
    return Stream(
        id=job.id,
        runs_per_month=tuple((theta[0, job.runs_per_month_at] * runs).tolist()),
        duration_h=float(np.asarray(session_s(problem, pair, theta))[0]) / S_PER_H,
        attempts_per_run=float(theta[0, job.attempts_per_run_at]),
        machines=run_gpus(problem, pair) // unit,
        priority=job.priority,
        together=job.submitted_together,
        arrivals=job.arrivals,
    )
