"""Candidates of a search: where each job may run, less those that another is never dearer than."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from planner.cost.course import Array
from planner.strategy.allocate import late_problem
from planner.strategy.candidates import on_time, why_not
from planner.strategy.measures import COST, KG_CO2E, KWH
from planner.strategy.optimise.effects import Coefficients
from planner.strategy.parameters import Theta
from planner.strategy.problem import Issue, PlanProblem
from planner.strategy.quotas import limits as under_quota
from planner.strategy.sessions import turnaround_h


def usable(problem: PlanProblem, theta: Theta) -> list[int]:
    """Pairs on which a job may run and keeps its limit, waiting aside."""
    return [index for index, pair in enumerate(problem.pairs) if pair.feasible and on_time(problem, theta, pair)]


def nowhere(problem: PlanProblem, theta: Theta, pairs: list[int]) -> list[Issue]:
    """Why jobs without a usable pair can't run."""
    placed = {problem.pairs[index].job for index in pairs}
    issues: list[Issue] = []
    for index, job in enumerate(problem.jobs):
        if index in placed:
            continue
        mine = [pair for pair in problem.pairs if pair.job == index]
        able = [pair for pair in mine if pair.feasible]
        if able:
            fastest = min(able, key=lambda pair: float(turnaround_h(problem, pair, theta)[0]))
            late = late_problem(problem, theta, fastest)
            issues += [] if late is None else [late]
        else:
            for side in ("local", "rented"):
                issues += why_not(problem, job, side, mine)
    return issues


def undominated(
    problem: PlanProblem, found: Coefficients, *, measures: Sequence[int] = (COST,), also: Array | None = None
) -> list[int]:
    """Pairs without those for which another of the same job and provider does as well, and costs less in every month.

    The other has no quota, and where energy or emissions are limited it draws and emits no more either.

    Parameters
    ----------
    problem, found : PlanProblem, Coefficients
        What is planned, and what decisions add.
    measures : sequence of int
        In which the other has to be no more.
    also : array, shape [pairs], optional
        A further measure.
    """
    measures = list(measures)
    measures += [KWH] if problem.limits.energy_kwh is not None else []
    measures += [KG_CO2E] if problem.limits.kg_co2e is not None else []
    groups: dict[tuple[int, int], list[int]] = {}
    kept = []
    for place, index in enumerate(found.pairs):
        pair = problem.pairs[index]
        offer = None if pair.offer is None else problem.offers[pair.offer]
        if offer is None or offer.commitment is not None or offer.free_hours:
            kept.append(index)
        else:
            groups.setdefault((pair.job, offer.provider), []).append(place)
    for places in groups.values():
        rows = found.share[places][:, measures].reshape(len(places), -1)
        if also is not None:
            rows = np.column_stack([rows, also[places]])
        better: list[int] = []
        for at in np.argsort(rows[:, : found.share.shape[2]].sum(axis=1), kind="stable").tolist():
            if any(np.all(rows[other] <= rows[at]) for other in better):
                continue
            kept.append(found.pairs[places[at]])
            pair = problem.pairs[found.pairs[places[at]]]
            if not any(under_quota(problem, quota, pair) for quota in problem.quotas):
                better.append(at)
    return sorted(kept)


def only(found: Coefficients, pairs: list[int]) -> Coefficients:
    """Coefficients of some of the pairs."""
    places = [found.pairs.index(index) for index in pairs]
    return replace(
        found,
        pairs=tuple(pairs),
        share=found.share[places],
        rental=found.rental[places],
        busy_h=found.busy_h[places],
        node_h=found.node_h[places],
        sent_gb=found.sent_gb[places],
    )
