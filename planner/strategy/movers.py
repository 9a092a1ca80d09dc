"""Inputs that are moved to see what they change: one figure, or the level of figures that move together."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.cost.course import Array
from planner.strategy.parameters import Parameter, Theta
from planner.strategy.problem import PlanProblem

RENTAL_LEVEL: Final = "rental_price_level"
"""All prices per hour of rented instances together."""
SPEED_LEVEL: Final = "speed_level"
"""Speeds of all jobs everywhere together."""
_USER: Final = re.compile(
    r"jobs\.[^.]+\.(runs_per_month|attempts_per_run)|discount_rate|site\.(electricity_usd_per_kwh|pue)"
    r"|machines\..+\.(gpu_price_usd|host_price_usd)|staff\.(cost_usd_per_fte_year|fte_per_machine|fte_cloud)"
    r"|site\.colocation\.price_usd_per_kw_month"
)
"""Inputs that a reader would ask about even where their value is given without a range."""
_AT_MOST: Final = (
    (re.compile(r"discount_rate|.*\.(target_utilisation|maintenance_share_per_year|residual_(gpu|host)\.\d+)"), 1.0),
    (re.compile(r".*\bpue"), 5.0),
)
"""What a scenario takes."""
_NOT_ALONE: Final = re.compile(r"offers\..+\.price_usd_per_h|jobs\..+\.throughput\..+")
"""Figures that are moved as a level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mover:
    """Columns of the parameter table that move together. Of a level `value` is 1."""

    id: str
    unit: str
    value: float
    low: float
    high: float
    assumed: bool  # low and high are a share below and above, not a range with a source
    sources: tuple[str, ...]
    floor: float
    ceiling: float
    asked: bool  # something that a reader decides or hears a price of, rather than a property of a machine
    columns: tuple[int, ...]

    @property
    def level(self) -> bool:
        """Whether it multiplies several figures."""
        return self.id in (RENTAL_LEVEL, SPEED_LEVEL)

    def moved(self, theta: Theta, values: Array) -> Theta:
        """One row of parameter values for each value of this input.

        Parameters
        ----------
        theta : array, shape [1, parameters]
            As planned.
        values : array, shape [rows]
            In the unit of the input.
        """
        rows = np.repeat(theta, len(values), axis=0)
        for column in self.columns:
            rows[:, column] = values * theta[0, column] if self.level else values
        return rows


def movers(problem: PlanProblem, used: Collection[str]) -> tuple[Mover, ...]:
    """What may be moved, in the order of the parameters.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    used : collection of str
        Ids of parameters that some strategy rests on; others are left out.
    """
    found = []
    for column, parameter in enumerate(problem.parameters):
        if parameter.id not in used or not parameter.money or _NOT_ALONE.fullmatch(parameter.id):
            continue
        if (parameter.ranged or _USER.fullmatch(parameter.id)) and parameter.value != 0:
            found.append(_single(parameter, column, problem.moved_share))
    prices = [column for column, p in enumerate(problem.parameters) if p.id.endswith(".price_usd_per_h")]
    if any(problem.parameters[column].id in used for column in prices):
        found.append(_level(RENTAL_LEVEL, prices, problem.level_share))
    speeds = [column for column, p in enumerate(problem.parameters) if ".throughput." in p.id]
    if speeds:
        found.append(_level(SPEED_LEVEL, speeds, problem.moved_share, _speed_range(problem, used)))
    return tuple(found)


def _single(parameter: Parameter, column: int, moved_share: float) -> Mover:
    value = parameter.value
    assumed = not parameter.ranged
    share = (parameter.assumed_share or moved_share) * abs(value) if assumed else 0.0
    low = value - share if parameter.low is None else parameter.low
    high = value + share if parameter.high is None else parameter.high
    return Mover(
        id=parameter.id,
        unit=parameter.unit,
        value=value,
        low=max(low, parameter.floor) if value >= parameter.floor else low,
        high=high,
        assumed=assumed,
        sources=parameter.sources,
        floor=parameter.floor,
        ceiling=next((most for path, most in _AT_MOST if path.fullmatch(parameter.id)), math.inf),
        asked=_USER.fullmatch(parameter.id) is not None,
        columns=(column,),
    )


def _level(id: str, columns: list[int], share: float, bounds: tuple[float, float] | None = None) -> Mover:
    low, high = bounds or (1 - share, 1 + share)
    return Mover(
        id=id, unit="-", value=1.0, low=low, high=high, assumed=bounds is None, sources=(), floor=0.0,
        ceiling=math.inf, asked=True, columns=tuple(columns),
    )  # fmt: skip


def _speed_range(problem: PlanProblem, used: Collection[str]) -> tuple[float, float] | None:
    """The widest range of a speed in use, as a factor."""
    mine = [p for p in problem.parameters if ".throughput." in p.id and p.id in used]
    lows = [p.low / p.value for p in mine if p.low is not None and p.value > 0]
    highs = [p.high / p.value for p in mine if p.high is not None and p.value > 0]
    return (min(lows), max(highs)) if lows and highs else None
