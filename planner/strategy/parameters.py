"""The flat table of numbers a plan is computed from, each with range, unit and origin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner.catalog.records import Figure
from planner.catalog.source_ids import ASSUMPTIONS
from planner.scenario.uncertainty import Shape

Theta = npt.NDArray[np.float64]
"""Parameter values, shape [samples, parameters]; one row is a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One number: `id` is its path in the scenario where it has one. `low` and `high` bound 80 % where known.

    `floor` is the least it can be, whatever its range: 0, or 1 for ratios such as PUE. Without `money` no amount rests
    on it, so it isn't drawn for the range of one. `shape` is what lies between and beyond a range of the user's own.
    Where no range is known, futures are drawn as if it were `assumed_share` of the value either way. Parameters of one
    `market` move together: `correlation` is that of any two of them.
    """

    id: str
    value: float
    low: float | None
    high: float | None
    unit: str
    sources: tuple[str, ...]
    as_of: str | None
    estimate: bool
    floor: float = 0.0
    money: bool = True
    shape: Shape = "normal"
    assumed_share: float = 0.0
    market: str = ""
    correlation: float = 0.0

    @property
    def ranged(self) -> bool:
        """Whether it has a range of its own, if only one side of one."""
        return self.low is not None or self.high is not None


class ParameterTable:
    """Collects parameters while a problem is resolved and hands out their column numbers."""

    def __init__(self) -> None:
        self._parameters: list[Parameter] = []
        self._columns: dict[str, int] = {}

    def add(self, id: str, figure: Figure, unit: str, *, floor: float = 0.0, money: bool = True) -> int:
        """Column of a parameter; the same id is added once."""
        if id not in self._columns:
            self._columns[id] = len(self._parameters)
            self._parameters.append(
                Parameter(
                    id=id,
                    value=figure.value,
                    low=figure.low,
                    high=figure.high,
                    unit=unit,
                    sources=figure.sources,
                    as_of=figure.as_of,
                    estimate=figure.estimate,
                    floor=floor,
                    money=money,
                )
            )
        return self._columns[id]

    def value(self, column: int) -> float:
        """Nominal value of a parameter."""
        return self._parameters[column].value

    def freeze(self) -> tuple[Parameter, ...]:
        """All parameters in column order."""
        return tuple(self._parameters)


def given(value: float) -> Figure:
    """A figure the user gave: its source is the scenario, and it isn't an estimate of ours."""
    return Figure(value=float(value), sources=("scenario",))


def by_default(assumption_id: str, figure: Figure) -> Figure:
    """A figure taken from `assumptions.yaml`, cited by its entry there."""
    return Figure(
        value=figure.value,
        low=figure.low,
        high=figure.high,
        sources=(f"{ASSUMPTIONS}{assumption_id}",),
        as_of=figure.as_of,
        estimate=figure.estimate,
    )
