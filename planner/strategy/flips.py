"""Where the recommendation changes: the value of each input at which another way becomes the one to choose.

Every value looked at is planned anew, machines and places included, so a flip holds on both of its sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.cost.course import Array
from planner.strategy.compare import recommend
from planner.strategy.movers import Mover
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from planner.strategy.sweep_rows import ways_of_rows

LEAST_FACTOR: Final = 0.1
MOST_FACTOR: Final = 10.0
_STEPS: Final = 16  # either way, alike in ratio
_PARTS: Final = 8  # an interval is cut into, each round
_ROUNDS: Final = 6  # then an interval is 16^-1 decades / 8^6: seven digits


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """From this value on another way is recommended; None: none does all the work."""

    mover: Mover
    value: float  # the first value, to seven digits, beyond the flip
    before: float  # the last one on this side
    becomes: str | None

    @property
    def factor(self) -> float:
        """On what is planned."""
        return self.value / self.mover.value

    @property
    def below(self) -> bool:
        """Whether it happens when the input falls."""
        return self.value < self.mover.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """What was found, the nearest first, and inputs between whose bounds nothing changes."""

    found: tuple[Flip, ...]
    none: tuple[Mover, ...]


def flips(problem: PlanProblem, theta: Theta, inputs: Sequence[Mover]) -> Flips:
    """The nearest flip of each input either way, from a tenth of it to ten times it.

    Parameters
    ----------
    problem, theta : PlanProblem, array of one row
        The resolved question and its parameter values.
    inputs : sequence of Mover
        What is moved, one at a time, all others as planned.

    Notes
    -----
    Between two neighbouring values that are looked at (16 a decade) a change and its return would be missed.
    """
    today = recommend(ways_of_rows(problem, theta, None)[0]).strategy
    brackets: list[tuple[Mover, float, float, str | None]] = []
    none = []
    grids = [_grid(mover) for mover in inputs]
    answers = _recommended(problem, theta, inputs, [np.concatenate(grid) for grid in grids])
    for mover, (down, up), found in zip(inputs, grids, answers, strict=True):
        mine = [
            *_first_change(mover, down, found[: len(down)], today),
            *_first_change(mover, up, found[len(down) :], today),
        ]
        brackets += mine
        if not mine:
            none.append(mover)
    for _ in range(_ROUNDS):
        brackets = _narrowed(problem, theta, brackets, today)
    flipped = [Flip(mover=mover, value=there, before=here, becomes=other) for mover, here, there, other in brackets]
    flipped.sort(key=lambda flip: (abs(np.log(flip.factor)), flip.mover.id))
    return Flips(found=tuple(flipped), none=tuple(none))


def _grid(mover: Mover) -> tuple[Array, Array]:
    """Values looked at below and above the planned one, the nearest first."""
    down = mover.value * np.geomspace(1.0, LEAST_FACTOR, _STEPS + 1)[1:]
    up = mover.value * np.geomspace(1.0, MOST_FACTOR, _STEPS + 1)[1:]
    return down[down >= mover.floor], up[up <= mover.ceiling]


def _recommended(
    problem: PlanProblem, theta: Theta, inputs: Sequence[Mover], values: Sequence[Array]
) -> list[list[str | None]]:
    """What is recommended at values of each input."""
    if not any(len(some) for some in values):
        return [[] for _ in inputs]
    rows = np.concatenate([mover.moved(theta, some) for mover, some in zip(inputs, values, strict=True)])
    found = iter([recommend(ways).strategy for ways in ways_of_rows(problem, rows, None)])
    return [[next(found) for _ in some] for some in values]


def _first_change(
    mover: Mover, values: Array, found: Sequence[str | None], today: str | None
) -> list[tuple[Mover, float, float, str | None]]:
    """The last value with today's recommendation before the first with another, that value, and the other."""
    for place, other in enumerate(found):
        if other != today:
            here = mover.value if place == 0 else float(values[place - 1])
            return [(mover, here, float(values[place]), other)]
    return []


def _narrowed(
    problem: PlanProblem,
    theta: Theta,
    brackets: Sequence[tuple[Mover, float, float, str | None]],
    today: str | None,
) -> list[tuple[Mover, float, float, str | None]]:
    inside = [np.geomspace(here, there, _PARTS + 1)[1:-1] for _, here, there, _ in brackets]
    answers = _recommended(problem, theta, [mover for mover, *_ in brackets], inside)
    narrowed = []
    for (mover, here, there, other), values, found in zip(brackets, inside, answers, strict=True):
        ends, there_too = [here, *values.tolist(), there], [*found, other]
        first = next(place for place, answer in enumerate(there_too) if answer != today)
        narrowed.append((mover, ends[first], ends[first + 1], there_too[first]))
    return narrowed
