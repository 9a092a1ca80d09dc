"""Futures: parameter values drawn from ranges, at evenly spread points of as many normal draws as there are."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from scipy.stats import norm, qmc, triang

from planner.cost.course import Array
from planner.strategy.parameters import Parameter, Theta
from planner.strategy.problem import PlanProblem

SEED: Final = 20261130
Z_80: Final = float(norm.ppf(0.9))  # low and high of a figure bound 80 % of a split normal
_LEAST_SHARE_OF_LOW: Final = 0.2
_SCENARIO: Final = "scenario"
_AGE: Final = re.compile(r"(.*\.residual_(?:gpu|host))\.\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """A column with the bounds it is drawn between, and its weight on each of the draws it takes part in."""

    column: int
    parameter: Parameter
    low: float
    high: float
    weights: tuple[tuple[int, float], ...]


class Draws:
    """Columns that are drawn together, and the independent standard normal draws behind them.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    columns : sequence of int
        What is drawn of it, where it has a range.
    assumed : bool
        Whether figures without a range are drawn from the one that is assumed.
    """

    def __init__(self, problem: PlanProblem, columns: Sequence[int], *, assumed: bool) -> None:
        self._planned = problem.theta()
        names: dict[str, int] = {}
        drawn = []
        for column in columns:
            parameter = problem.parameters[column]
            ends = ends_of(parameter, assumed=assumed)
            if ends is None:
                continue
            weights = tuple((names.setdefault(name, len(names)), weight) for name, weight in _draws_of(parameter))
            drawn.append(_Drawn(column=column, parameter=parameter, low=ends[0], high=ends[1], weights=weights))
        self._drawn = tuple(drawn)
        self.names = tuple(names)

    @property
    def columns(self) -> tuple[int, ...]:
        """Columns that are drawn, in the order in which they were asked for."""
        return tuple(drawn.column for drawn in self._drawn)

    def theta(self, normal: Array) -> Theta:
        """Parameter rows at standard normal draws.

        Parameters
        ----------
        normal : array, shape [rows, draws]
            One column a draw, in the order of `names`.

        Notes
        -----
        A normal range is split: its 10th and 90th percentile are low and high, its median the planned value. It is cut
        where it would fall below what it can be, or below a fifth of its low end: rates and prices don't reach zero.
        """
        theta = np.repeat(self._planned, len(normal), axis=0)
        for drawn in self._drawn:
            theta[:, drawn.column] = self._value(drawn, normal)
        return theta

    def values(self, normal: Array) -> Array:
        """What is drawn alone, over what is planned where that isn't zero. [rows, columns]"""
        found = np.empty((len(normal), len(self._drawn)))
        for at, drawn in enumerate(self._drawn):
            found[:, at] = self._value(drawn, normal) / (drawn.parameter.value or 1.0)
        return found

    @staticmethod
    def _value(drawn: _Drawn, normal: Array) -> Array:
        z = sum(weight * normal[:, at] for at, weight in drawn.weights)
        return _value_at(drawn, np.asarray(z))


def ends_of(parameter: Parameter, *, assumed: bool) -> tuple[float, float] | None:
    """Low and high that a parameter is drawn between; None where it isn't.

    Amounts that the user gave in another currency have the range of its rate: of these the wider range counts.
    """
    if not parameter.money:
        return None
    value = parameter.value
    low, high = (value if end is None else end for end in (parameter.low, parameter.high))
    if assumed and (not parameter.ranged or parameter.sources[:1] == (_SCENARIO,)):
        moved = parameter.assumed_share * abs(value)
        low, high = min(low, max(value - moved, min(parameter.floor, value))), max(high, value + moved)
    return (low, high) if low < high else None


def is_assumed(parameter: Parameter) -> bool:
    """Whether it is drawn from a range that is assumed, as it has none, or a narrower one."""
    return ends_of(parameter, assumed=True) != ends_of(parameter, assumed=False)


def _draws_of(parameter: Parameter) -> tuple[tuple[str, float], ...]:
    """Draws that a parameter takes part in, with its weight on each.

    Estimated speeds share one, since they come from one method and err together, and so does what a card or a host
    sells for at any age. Figures of a market have one in common and one of their own; the squares of the weights add up
    to 1.
    """
    if parameter.estimate and ".throughput." in parameter.id:
        return (("estimated speed", 1.0),)
    own = _AGE.sub(r"\1", parameter.id)
    if parameter.market and parameter.correlation > 0:
        common = (f"market {parameter.market}", math.sqrt(parameter.correlation))
        return (common, (own, math.sqrt(1 - parameter.correlation)))
    return ((own, 1.0),)


def _value_at(drawn: _Drawn, z: Array) -> Array:
    parameter, low, high = drawn.parameter, drawn.low, drawn.high
    value, shape = parameter.value, parameter.shape
    if shape == "uniform":
        return np.asarray(low + (high - low) * norm.cdf(z))
    if shape == "triangular":
        return np.asarray(triang.ppf(norm.cdf(z), (value - low) / (high - low), loc=low, scale=high - low))
    if shape == "lognormal":
        return np.asarray(value * np.exp(z / Z_80 * np.where(z < 0, math.log(value / low), math.log(high / value))))
    lowest = _LEAST_SHARE_OF_LOW * min(value, low)
    if lowest < 0:  # a change of prices, say
        lowest = parameter.floor
    spread = value + z / Z_80 * np.where(z < 0, value - low, high - value)
    return np.asarray(np.maximum(spread, max(lowest, parameter.floor)))


@lru_cache(maxsize=32)
def normal_points(dimensions: int, samples: int, seed: int) -> Array:
    """Standard normal points by scrambled Sobol sequences, the more even the fewer they are, and in the first of them.

    The same for the same dimensions: scrambling them costs more than the plans drawn.
    """
    if dimensions <= qmc.Sobol.MAXDIM:
        points = qmc.Sobol(d=dimensions, scramble=True, rng=seed).random(samples)
    else:  # beyond what Sobol sequences are tabulated for
        points = np.random.default_rng(seed).random((samples, dimensions))
    normal = np.asarray(norm.ppf(np.clip(points, 1e-6, 1 - 1e-6)))
    normal.setflags(write=False)
    return normal
