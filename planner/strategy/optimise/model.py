"""The programme of a plan: which machines, which terms, and where each job's runs go in each period."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from planner.cost.course import Array
from planner.strategy.optimise.effects import Coefficients
from planner.strategy.optimise.loads import SafeLoad
from planner.strategy.optimise.mix import Mix
from planner.strategy.optimise.owned import add_machines, add_shares
from planner.strategy.optimise.periods import Period, weights
from planner.strategy.optimise.relief import add_credits, add_free_hours
from planner.strategy.optimise.rented import add_commitments, add_renting
from planner.strategy.optimise.split import NO_SPLIT, Split
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem


def build(
    problem: PlanProblem,
    theta: Theta,
    found: Coefficients,
    periods: tuple[Period, ...],
    *,
    loads: Mapping[int, SafeLoad],
    quota_gpus: Mapping[int, int],
    split: Split = NO_SPLIT,
) -> Mix:
    """The programme without limits on money, energy and emissions, which `with_limits` adds.

    Parameters
    ----------
    problem, theta, found, periods
        What is planned, and what decisions add.
    loads : mapping
        Most of the powered hours of each machine type that may be booked, by their number.
    quota_gpus : mapping
        GPUs under each quota that whole runs can use.
    split : mapping
        How credits that are used up were shared in an earlier answer.
    """
    mix = Mix(problem, found, periods)
    worth = [discounts(problem, found, period) for period in periods]
    add_shares(mix, theta, worth)
    add_machines(mix, loads)
    add_renting(mix, theta, worth)
    add_commitments(mix, worth, quota_gpus)
    add_free_hours(mix, theta, worth)
    add_credits(mix, theta, split)
    return mix


def discounts(problem: PlanProblem, found: Coefficients, period: Period) -> Array:
    result = np.zeros(len(found.discount))
    result[: problem.horizon_months + 1] = weights(problem, period)
    return result * found.discount
