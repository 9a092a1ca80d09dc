"""Likely range of each strategy's total: decided once, then luck, with the same luck for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.strategy.candidates import Kind
from planner.strategy.draws import SEED, Draws, normal_points
from planner.strategy.kernel import Choice, kernel
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem

SAMPLES = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The 10th and 90th percentile of a strategy's undiscounted total."""

    tco_low_usd: float
    tco_high_usd: float


def sampled_theta(
    problem: PlanProblem, samples: int = SAMPLES, seed: int = SEED, columns: Sequence[int] | None = None
) -> Theta:
    """Parameter rows drawn by scrambled Sobol points; a parameter without a range keeps its value.

    With `columns` others keep theirs too. Only ranges that a figure has count, not those assumed of work and prices:
    these rows say how sure the figures are at the work and the prices that were given.
    """
    draws = Draws(problem, range(len(problem.parameters)) if columns is None else columns, assumed=False)
    if not draws.names:
        return np.repeat(problem.theta(), samples, axis=0)
    return draws.theta(normal_points(len(draws.names), samples, seed))


def ranges(problem: PlanProblem, choices: Mapping[Kind, Choice]) -> dict[Kind, Range]:
    """Likely range of the undiscounted total of each choice."""
    theta = sampled_theta(problem)
    found = {}
    for kind, choice in choices.items():
        totals = kernel(problem, theta, choice).tco_usd
        low, high = np.quantile(totals, [0.1, 0.9])
        found[kind] = Range(tco_low_usd=float(low), tco_high_usd=float(high))
    return found
