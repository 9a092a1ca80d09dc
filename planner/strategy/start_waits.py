"""How long attempts of a plan wait until rented instances are granted, and whether they are late for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from planner.performance.start_wait import longer_wait_probability, mean_start_wait_s, percentile_start_wait_s
from planner.strategy.parameters import Theta
from planner.strategy.problem import Issue, Pair, PlanProblem
from planner.strategy.sessions import session_s
from planner.units import S_PER_H

OFTEN_LATE: Final = 0.1
"""Share of the attempts that end past their limit, from which a plan says so. [-]"""
_NINE_IN_TEN: Final = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class StartWait:
    """Of one attempt, before its session starts; not paid."""

    offer: str  # that is asked for: for a commitment the one that takes what it doesn't cover
    available_share: float  # probability that a try is granted
    retry_s: float
    mean_h: float
    p90_h: float
    late_share: float | None  # probability of ending after the job's limit; None without one


def start_wait(problem: PlanProblem, theta: Theta, pair: Pair) -> StartWait | None:
    """The wait of a pair; None on owned machines and where instances are always there.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    theta : array, shape [1, parameters]
        Parameter values.
    pair : Pair
        Of the problem.
    """
    if pair.offer is None:
        return None
    offer = problem.offers[pair.offer]
    if offer.commitment is not None:
        offer = problem.offers[offer.commitment.overflow]
    if offer.availability is None:
        return None
    share = float(theta[0, offer.availability.available_share_at])
    retry_s = float(theta[0, offer.availability.retry_s_at])
    mean_s, p90_s = mean_start_wait_s(share, retry_s), percentile_start_wait_s(share, retry_s, _NINE_IN_TEN)
    limit_h, late = problem.jobs[pair.job].deadline_h, None
    if limit_h is not None:
        room_s = limit_h * S_PER_H - session_s(problem, pair, theta)[0]
        late = float(longer_wait_probability(share, retry_s, room_s))
    return StartWait(
        offer=offer.id,
        available_share=share,
        retry_s=retry_s,
        mean_h=float(mean_s) / S_PER_H,
        p90_h=float(p90_s) / S_PER_H,
        late_share=late,
    )


def late_for_capacity(job: str, resource: str, wait: StartWait | None) -> list[Issue]:
    """That waiting for instances often makes a job late, if it does; not for what a commitment may overflow."""
    share = None if wait is None or wait.offer != resource else wait.late_share
    if share is None or share <= OFTEN_LATE:
        return []
    return [Issue(code="late_with_capacity", field=f"jobs.{job}.deadline_h", params={"share": share})]
