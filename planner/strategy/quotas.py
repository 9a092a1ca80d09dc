"""Quotas on rented GPUs: what the runs of a choice hold of them, and whether it is too much."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner.cost.course import Array
from planner.strategy.kernel import Choice
from planner.strategy.offers import Quota
from planner.strategy.parameters import Theta
from planner.strategy.problem import Issue, Pair, PlanProblem
from planner.strategy.sessions import session_node_h
from planner.units import H_PER_MONTH

_SLACK = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaUse:
    """What one row of a choice takes of a quota in its busiest month."""

    quota: Quota
    gpu_h: float
    available_h: float  # of the GPUs that whole runs can use
    unit: int  # GPUs of which the runs' GPUs are multiples

    @property
    def needed(self) -> int:
        """GPUs that would do the work of the busiest month, in whole runs."""
        return math.ceil(self.gpu_h / H_PER_MONTH / self.unit - _SLACK) * self.unit


def quota_uses(problem: PlanProblem, theta: Theta, choice: Choice) -> tuple[QuotaUse, ...]:
    """Use of each quota by which a choice of one row is limited."""
    if not problem.quotas:
        return ()
    gpu_h, units = _gpu_h(problem, theta, choice), _units(problem, choice.routing)
    return tuple(
        QuotaUse(
            quota=quota,
            gpu_h=float(gpu_h[0, index].max()),
            available_h=float(_available_h(quota, units[0, index])),
            unit=int(units[0, index]),
        )
        for index, quota in enumerate(problem.quotas)
        if units[0, index]
    )


def quotas_exceeded(problem: PlanProblem, theta: Theta, choice: Choice) -> Array:
    """Number of quotas that each row of a choice exceeds in its busiest month. [rows]"""
    if not problem.quotas:
        return np.zeros(len(choice.routing))
    busiest, units = _gpu_h(problem, theta, choice).max(axis=2), _units(problem, choice.routing)
    room = np.stack([_available_h(quota, units[:, at]) for at, quota in enumerate(problem.quotas)], axis=1)
    return np.asarray((busiest > room * (1 + _SLACK)).sum(axis=1))


def quota_problems(problem: PlanProblem, theta: Theta, choice: Choice) -> list[Issue]:
    """The quotas that a choice of one row exceeds, with what would be needed."""
    return [
        Issue(
            code="over_quota",
            field=f"rental.quota_gpus.{use.quota.id}",
            params={
                "quota": use.quota.id,
                "gpus": use.quota.gpus,
                "gpu_h": use.gpu_h,
                "available_h": use.available_h,
                "needed": use.needed,
            },
        )
        for use in quota_uses(problem, theta, choice)
        if use.gpu_h > use.available_h * (1 + _SLACK)
    ]


def _gpu_h(problem: PlanProblem, theta: Theta, choice: Choice) -> Array:
    """GPU-hours of billed sessions under each quota. [rows, quotas, months]"""
    months, routing = range(1, problem.horizon_months + 1), choice.routing
    by_offer = np.zeros((len(routing), len(problem.offers), len(months)))
    used = np.any(routing, axis=0)
    for index, pair in enumerate(problem.pairs):
        if pair.offer is None or not used[index]:
            continue
        job = problem.jobs[pair.job]
        share = choice.by_month[index] if index in choice.by_month else routing[:, index, None]
        attempts = theta[:, job.runs_per_month_at] * theta[:, job.attempts_per_run_at]
        hours = (attempts * session_node_h(pair, problem.offers[pair.offer], theta))[:, None] * share
        by_offer[:, pair.offer] += hours * (1.0 if job.profile is None else np.array(job.profile))
    for index, offer in enumerate(problem.offers):
        if offer.commitment is not None:
            covered = np.minimum(by_offer[:, index], [offer.commitment.cover_h(month) for month in months])
            by_offer[:, offer.commitment.overflow] += by_offer[:, index] - covered
            by_offer[:, index] = covered
    by_offer *= np.array([offer.gpu_count for offer in problem.offers])[:, None]
    return np.stack([by_offer[:, list(quota.offers)].sum(axis=1) for quota in problem.quotas], axis=1)


def _units(problem: PlanProblem, routing: Array) -> npt.NDArray[np.int64]:
    """Largest number that divides the GPUs of all runs under each quota; 0 without runs. [rows, quotas]"""
    by_quota = []
    for quota in problem.quotas:
        sizes = np.array([run_gpus(problem, pair) if limits(problem, quota, pair) else 0 for pair in problem.pairs])
        by_quota.append(np.gcd.reduce(np.where(routing > 0, sizes, 0), axis=1))
    return np.stack(by_quota, axis=1)


def _available_h(quota: Quota, unit: npt.NDArray[np.int64]) -> Array:
    """GPU-hours a month of the GPUs that whole runs can use. [h]"""
    return np.asarray(quota.gpus // np.maximum(unit, 1) * unit * H_PER_MONTH)


def limits(problem: PlanProblem, quota: Quota, pair: Pair) -> bool:
    """Whether runs of a pair count under a quota, also only by what overflows from a commitment."""
    if pair.offer is None:
        return False
    commitment = problem.offers[pair.offer].commitment
    return pair.offer in quota.offers or (commitment is not None and commitment.overflow in quota.offers)


def run_gpus(problem: PlanProblem, pair: Pair) -> int:
    """GPUs of the whole instances that one run holds."""
    return 0 if pair.offer is None else pair.nodes * problem.offers[pair.offer].gpu_count
