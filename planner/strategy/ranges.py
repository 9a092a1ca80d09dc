"""Likely range of each strategy's total: decided once, then luck, with the same luck for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.stats import norm, qmc

from planner.cost.course import Array
from planner.strategy.candidates import Kind
from planner.strategy.kernel import Choice, kernel
from planner.strategy.parameters import Parameter, Theta
from planner.strategy.problem import PlanProblem

SAMPLES = 128
SEED = 20261130
_LEAST_SHARE_OF_LOW = 0.2
_Z_80 = float(norm.ppf(0.9))  # low and high of a figure bound 80 % of a split normal


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The 10th and 90th percentile of a strategy's undiscounted total."""

    tco_low_usd: float
    tco_high_usd: float


def sampled_theta(
    problem: PlanProblem, samples: int = SAMPLES, seed: int = SEED, columns: Sequence[int] | None = None
) -> Theta:
    """Parameter rows drawn by scrambled Sobol points; a parameter without a range keeps its value.

    With `columns` others keep theirs too. The points are the more even the fewer are drawn, and the most even in the
    first of them.

    Each parameter with a range is a split normal whose 10th and 90th percentile are its low and high. It is cut where
    it would fall below what it can be, or below a fifth of its low end: rates and prices don't reach zero. Estimated
    speeds share one draw, since they come from one method and err together; all others are independent.
    """
    theta = np.repeat(problem.theta(), samples, axis=0)
    asked = range(len(problem.parameters)) if columns is None else columns
    varied = [(i, problem.parameters[i]) for i in asked if is_drawn(problem.parameters[i])]
    if not varied:
        return theta
    shared = {id: place for place, id in enumerate(dict.fromkeys(_luck_of(parameter) for _, parameter in varied))}
    normal = _normal_points(len(shared), samples, seed)
    for column, parameter in varied:
        below = 0.0 if parameter.low is None else parameter.value - parameter.low
        above = 0.0 if parameter.high is None else parameter.high - parameter.value
        z = normal[:, shared[_luck_of(parameter)]]
        drawn = parameter.value + z / _Z_80 * np.where(z < 0, below, above)
        lowest = _LEAST_SHARE_OF_LOW * min(parameter.value, parameter.low if parameter.low is not None else np.inf)
        if lowest < 0:  # a change of prices, say
            lowest = parameter.floor
        theta[:, column] = np.maximum(drawn, max(lowest, parameter.floor))
    return theta


def is_drawn(parameter: Parameter) -> bool:
    """Whether a parameter has a range, and amounts rest on it."""
    return parameter.money and (parameter.low is not None or parameter.high is not None)


def _luck_of(parameter: Parameter) -> str:
    """Name of the draw a parameter takes part in."""
    return "estimated speed" if parameter.estimate and ".throughput." in parameter.id else parameter.id


@lru_cache(maxsize=32)
def _normal_points(dimensions: int, samples: int, seed: int) -> Array:
    """Standard normal points, the same for the same dimensions: scrambling them costs more than the plans drawn."""
    if dimensions <= qmc.Sobol.MAXDIM:
        points = qmc.Sobol(d=dimensions, scramble=True, rng=seed).random(samples)
    else:  # beyond what Sobol sequences are tabulated for
        points = np.random.default_rng(seed).random((samples, dimensions))
    normal = np.asarray(norm.ppf(np.clip(points, 1e-6, 1 - 1e-6)))
    normal.setflags(write=False)
    return normal


def ranges(problem: PlanProblem, choices: Mapping[Kind, Choice]) -> dict[Kind, Range]:
    """Likely range of the undiscounted total of each choice."""
    theta = sampled_theta(problem)
    found = {}
    for kind, choice in choices.items():
        totals = kernel(problem, theta, choice).tco_usd
        low, high = np.quantile(totals, [0.1, 0.9])
        found[kind] = Range(tco_low_usd=float(low), tco_high_usd=float(high))
    return found
