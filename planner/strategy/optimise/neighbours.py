"""Choices next to one: a machine fewer, or all runs of a job in one other place, each costed by the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from planner.strategy.allocate import choice_within, machine_counts
from planner.strategy.kernel import Choice, kernel
from planner.strategy.limits import Limit, limits_broken
from planner.strategy.meanwhile import stacked, taken
from planner.strategy.optimise.loads import SafeLoad
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem

_SLACK = 1e-6  # of a load, what a solver leaves over
_PLACES = 8  # of each job, the cheapest


def neighbours(problem: PlanProblem, theta: Theta, choice: Choice, places: dict[int, list[int]]) -> list[Choice]:
    """Choices that differ in one decision.

    Parameters
    ----------
    problem, theta, choice
        The plan, in one row.
    places : mapping
        Pairs of each job, the cheapest first.
    """
    found = []
    needed = machine_counts(problem, theta, choice.routing, keep_fixed=True)[0]
    for at, machine in enumerate(problem.machines):
        if machine.fixed_count is None and choice.machine_count[0, at] > max(needed[at], machine.owned_count):
            counts = choice.machine_count.copy()
            counts[0, at] -= 1
            found.append(replace(choice, machine_count=counts))
    for job, pairs in places.items():
        mine = [index for index, pair in enumerate(problem.pairs) if pair.job == job]
        for index in pairs[:_PLACES]:
            if choice.routing[0, index] == 1.0:
                continue
            routing = choice.routing.copy()
            routing[0, mine] = 0.0
            routing[0, index] = 1.0
            by_month = {at: share for at, share in choice.by_month.items() if at not in mine}
            counts = machine_counts(problem, theta, routing, keep_fixed=True)
            for at, machine in enumerate(problem.machines):
                used = any(routing[0, i] > 0 for i, pair in enumerate(problem.pairs) if pair.machine == at)
                if machine.fixed_count is not None and not used:
                    counts[0, at] = 0.0
            found.append(Choice(machine_count=counts, routing=routing, by_month=by_month))
    return found


def cheaper(
    problem: PlanProblem,
    theta: Theta,
    choices: list[Choice],
    limits: tuple[Limit, ...],
    below_usd: float,
    loads: Mapping[int, SafeLoad] | None = None,
) -> list[tuple[float, Choice]]:
    """Those that are within capacity, quotas and limits and cost less than something, the cheapest first.

    Of loads, the most that may be booked, where these are to be kept too.
    """
    if not choices:
        return []
    rows = stacked(problem, choices)
    values = np.repeat(theta, len(choices), axis=0)
    evaluation = kernel(problem, values, rows)
    within = choice_within(problem, values, rows) & ~limits_broken(problem, evaluation, limits).any(axis=1)
    for at, load in (loads or {}).items():
        most = np.array([load.of(count) for count in rows.machine_count[:, at].tolist()])
        within &= evaluation.load[:, at].max(axis=1) <= most * (1 + _SLACK)
    cost = np.where(within, evaluation.present_value_usd, np.inf)
    order = [at for at in np.argsort(cost, kind="stable").tolist() if cost[at] < below_usd]
    return [(float(cost[at]), taken(problem, rows, np.array([at]))) for at in order]
