"""What spot instances mean for a job of a plan: interruptions, what they cost, and when on-demand wins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.cost.rental import billed_session_s
from planner.cost.spot import on_demand_wins_at_per_h
from planner.strategy.parameters import Theta
from planner.strategy.problem import Pair, PlanProblem, RentedOffer
from planner.strategy.sessions import spot_course, startup_s
from planner.strategy.unit_costs import with_tax
from planner.units import S_PER_H


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotJob:
    """Of one attempt, expected."""

    interrupted_share_per_month: float  # of one instance
    interruptions: float
    interrupted_probability: float  # of at least one
    lost_h: float  # paid beyond an attempt that isn't interrupted
    waiting_h: float  # for new instances
    on_demand_offer: str | None  # the same instance on demand, where the plan may rent it
    on_demand_wins_at_per_instance_h: float | None


def spot_job(problem: PlanProblem, theta: Theta, pair: Pair) -> SpotJob | None:
    """What interruptions do to a pair; None for one that isn't on spot instances.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    theta : array, shape [1, parameters]
        Parameter values.
    pair : Pair
        Of the problem.
    """
    spot = pair.spot
    if spot is None or pair.offer is None:
        return None
    course = spot_course(pair, theta)
    offer = problem.offers[pair.offer]
    other = _on_demand(problem, offer)
    return SpotJob(
        interrupted_share_per_month=float(theta[0, spot.interrupted_share_at]),
        interruptions=_first(course.interruptions),
        interrupted_probability=_first(course.interrupted_probability),
        lost_h=_first(course.paid_s - course.uninterrupted_s) / S_PER_H,
        waiting_h=_first(course.waiting_s) / S_PER_H,
        on_demand_offer=None if other is None else other.id,
        on_demand_wins_at_per_instance_h=None if other is None else _wins_at(problem, theta, pair, offer, other),
    )


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
