"""Months in which the same is decided: those with the same demand, machines, terms and allowances."""

from __future__ import annotations

import numpy as np

from planner.strategy.problem import PlanProblem

Period = tuple[int, ...]
"""Months, from 1."""


def periods(problem: PlanProblem) -> tuple[Period, ...]:
    """The months of a plan, those together in which nothing that a decision depends on differs.

    Prices may differ within a period: they change in the same proportion for all that is rented.
    """
    alone = bool(problem.credits) or any(offer.free_h_total_at is not None for offer in problem.offers)
    found: dict[tuple[object, ...], list[int]] = {}
    for month in range(1, problem.horizon_months + 1):
        demand = tuple(1.0 if job.profile is None else job.profile[month - 1] for job in problem.jobs)
        there = tuple(month > cohort.there_after for machine in problem.machines for cohort in machine.cohorts)
        cover = tuple(offer.commitment.cover_h(month) for offer in problem.offers if offer.commitment is not None)
        key = (demand, there, cover, month if alone else 0)
        found.setdefault(key, []).append(month)
    return tuple(tuple(months) for months in found.values())


def weights(problem: PlanProblem, period: Period) -> np.ndarray:
    """1 at the times at which months of a period end, else 0. [horizon + 1]"""
    result = np.zeros(problem.horizon_months + 1)
    result[list(period)] = 1.0
    return result
