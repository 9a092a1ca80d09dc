"""What spot instances mean for a job of a plan: interruptions, what they cost, and when on-demand wins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.cost.rental import billed_session_s
from planner.cost.spot import on_demand_wins_at_per_h
from planner.cost.spot_spread import Quantiles, SpotSpread, spot_spread
from planner.performance.start_wait import longer_wait_probability, mean_start_wait_s
from planner.strategy.offers import RentedOffer
from planner.strategy.parameters import Theta
from planner.strategy.problem import Pair, PlanProblem
from planner.strategy.sessions import session_node_h, session_s, spot_course, spot_hazard_per_s, startup_s
from planner.strategy.unit_costs import with_tax
from planner.units import S_PER_H

_SHORTEST_S = 1e-3  # between requests: who asks all the time waits for nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotJob:
    """Of one attempt, expected, with percentiles of it and of a mean month. Costs are sessions with their tax."""

    interrupted_share_per_month: float  # of one instance
    interruptions: float
    interrupted_probability: float  # of at least one
    uninterrupted_probability: float
    lost_h: float  # paid beyond an attempt that isn't interrupted
    waiting_h: float  # for new instances
    on_demand_offer: str | None  # the same instance on demand, where the plan may rent it
    on_demand_wins_at_per_instance_h: float | None
    cost_mean_usd: float
    cost_p10_usd: float
    cost_p50_usd: float
    cost_p90_usd: float
    time_mean_h: float  # from the first start of instances to the end
    time_p10_h: float
    time_p50_h: float
    time_p90_h: float
    month_attempts: int  # of a mean month, in whole ones
    month_mean_usd: float
    month_p10_usd: float
    month_p50_usd: float
    month_p90_usd: float
    available_share: float  # chance that a request for instances is granted
    capacity_wait_h: float  # until the first one is
    no_capacity_probability: float | None  # None without a limit
    late_probability: float | None  # of ending after the limit, for whatever reason


def spot_job(problem: PlanProblem, theta: Theta, pair: Pair, attempts_per_month: float) -> SpotJob | None:
    """What interruptions do to a pair; None for one that isn't on spot instances.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    theta : array, shape [1, parameters]
        Parameter values.
    pair : Pair
        Of the problem.
    attempts_per_month : float
        On this pair, in a mean month.
    """
    spot = pair.spot
    if spot is None or pair.offer is None:
        return None
    course = spot_course(pair, theta)
    offer = problem.offers[pair.offer]
    other = _on_demand(problem, offer)
    attempts = max(1, round(attempts_per_month))
    one, month = (_spread(problem, theta, pair, count) for count in (1, attempts))
    mean_usd = _session_usd(problem, theta, pair, offer)
    cost, month_cost = (
        _cost(problem, theta, pair, offer, spread, count) for spread, count in ((one, 1), (month, attempts))
    )
    available, retry_s = float(theta[0, spot.available_share_at]), float(theta[0, spot.retry_s_at])
    limit_h, too_late = problem.jobs[pair.job].deadline_h, None
    if limit_h is not None:
        room_s = limit_h * S_PER_H - float(session_s(problem, pair, theta)[0])
        too_late = float(longer_wait_probability(available, max(retry_s, _SHORTEST_S), room_s))
    return SpotJob(
        interrupted_share_per_month=float(theta[0, spot.interrupted_share_at]),
        interruptions=_first(course.interruptions),
        interrupted_probability=_first(course.interrupted_probability),
        uninterrupted_probability=1.0 - _first(course.interrupted_probability),
        lost_h=_first(course.paid_s - course.uninterrupted_s) / S_PER_H,
        waiting_h=_first(course.waiting_s) / S_PER_H,
        on_demand_offer=None if other is None else other.id,
        on_demand_wins_at_per_instance_h=None if other is None else _wins_at(problem, theta, pair, offer, other),
        cost_mean_usd=mean_usd,
        cost_p10_usd=cost.p10,
        cost_p50_usd=cost.p50,
        cost_p90_usd=cost.p90,
        time_mean_h=_first(course.total_s) / S_PER_H,
        time_p10_h=one.total_s.p10 / S_PER_H,
        time_p50_h=one.total_s.p50 / S_PER_H,
        time_p90_h=one.total_s.p90 / S_PER_H,
        month_attempts=attempts,
        month_mean_usd=mean_usd * attempts,
        month_p10_usd=month_cost.p10,
        month_p50_usd=month_cost.p50,
        month_p90_usd=month_cost.p90,
        available_share=available,
        capacity_wait_h=float(mean_start_wait_s(available, retry_s)) / S_PER_H,
        no_capacity_probability=too_late,
        late_probability=one.late_probability,
    )


def _spread(problem: PlanProblem, theta: Theta, pair: Pair, attempts: int) -> SpotSpread:
    assert pair.spot is not None
    before_s = _first(startup_s(pair, pair.spot.startup_s_at, theta))
    limit_h = problem.jobs[pair.job].deadline_h
    return spot_spread(
        before_s,
        _first(spot_course(pair, theta).uninterrupted_s) - before_s,
        max(pair.checkpoints, 1),
        _first(spot_hazard_per_s(pair, theta)),
        float(theta[0, pair.spot.load_s_at]),
        float(theta[0, pair.spot.reacquire_s_at]),
        attempts=attempts,
        limit_s=None if limit_h is None else limit_h * S_PER_H,
        available_share=float(theta[0, pair.spot.available_share_at]),
        retry_s=float(theta[0, pair.spot.retry_s_at]),
    )


def _session_usd(problem: PlanProblem, theta: Theta, pair: Pair, offer: RentedOffer) -> float:
    """Sessions of one attempt as expected, with the tax that is paid on them. [USD]"""
    return _first(session_node_h(pair, offer, theta)) * _paid(problem, theta, offer)


def _cost(
    problem: PlanProblem, theta: Theta, pair: Pair, offer: RentedOffer, spread: SpotSpread, attempts: int
) -> Quantiles:
    """Percentiles of what attempts cost: as expected, and what their paid time lies above or below that. [USD]"""
    expected_s = attempts * _first(spot_course(pair, theta).paid_s)
    expected_usd = attempts * _session_usd(problem, theta, pair, offer)
    per_s = pair.nodes * _paid(problem, theta, offer) / S_PER_H
    p10, p50, p90 = (
        expected_usd + per_s * (paid_s - expected_s)
        for paid_s in (spread.paid_s.p10, spread.paid_s.p50, spread.paid_s.p90)
    )
    return Quantiles(p10=p10, p50=p50, p90=p90)


def _on_demand(problem: PlanProblem, spot: RentedOffer) -> RentedOffer | None:
    """The on-demand offer of the same GPUs by the same provider in the same region, the first by name."""
    same = (offer for offer in problem.offers if offer.term == "on_demand" and offer.instance == spot.instance)
    return min(same, key=lambda offer: offer.id, default=None)


def _wins_at(problem: PlanProblem, theta: Theta, pair: Pair, offer: RentedOffer, other: RentedOffer) -> float:
    assert pair.spot is not None
    before_s = _first(startup_s(pair, pair.spot.startup_s_at, theta))
    busy_s = _first(spot_course(pair, theta).uninterrupted_s) - before_s
    session = (before_s, busy_s, float(theta[0, offer.idle_tail_s_at]))
    billed = billed_session_s(*session, theta[0, offer.billing_unit_s_at], theta[0, offer.minimum_s_at])
    rate = on_demand_wins_at_per_h(
        before_s,
        busy_s,
        max(pair.checkpoints, 1),
        float(theta[0, pair.spot.load_s_at]),
        billed_s=float(billed),
        price_ratio=_paid(problem, theta, other) / _paid(problem, theta, offer),
    )
    return rate / pair.nodes


def _paid(problem: PlanProblem, theta: Theta, offer: RentedOffer) -> float:
    """Price of an hour with the tax that is paid on it. [USD/h]"""
    price, rate = float(theta[0, offer.price_at]), float(theta[0, problem.tax_rate_at])
    return with_tax(price, rate, offer.includes_tax, problem.tax_recoverable)


def _first(values: object) -> float:
    return float(np.ravel(np.asarray(values))[0])
