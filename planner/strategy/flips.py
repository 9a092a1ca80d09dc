"""Where the recommendation changes: the value of each input at which another way becomes the one to choose.

Every value looked at is planned anew, machines and places included, so a flip holds on both of its sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np

from planner.cost.course import Array
from planner.strategy.candidates import Kind
from planner.strategy.compare import recommend
from planner.strategy.movers import Mover
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from planner.strategy.sweep_rows import WayPoint, ways_of_rows

LEAST_FACTOR: Final = 0.1
MOST_FACTOR: Final = 10.0
_STEPS: Final = 16  # either way, alike in ratio
_PARTS: Final = 8  # an interval is cut into, each round
_MOST_TIES: Final = 2  # looked at closely, either way
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
class _Lead:
    """The way to choose at a value, and how much dearer the next is, as a share."""

    best: str | None
    over_next: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """What was found, the nearest first, and inputs between whose bounds nothing changes."""

    found: tuple[Flip, ...]
    none: tuple[Mover, ...]
    today: str | None  # of the named ways, which these are about, the one to choose as planned


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
    Looked at are 16 values a decade, and more around those where the lead of the best way over the next falls and rises
    again so steeply that it may be gone in between. A change and its return that no lead announces (a way that stops
    working between two values, and works at both) would be missed.
    """
    now = _lead(ways_of_rows(problem, theta, None)[0])
    today = now.best
    sides = [(mover, values) for mover in inputs for values in _grid(mover)]
    coarse = _looked(problem, theta, sides)
    closer = [_near_ties(mover, values, [now, *found]) for (mover, values), found in zip(sides, coarse, strict=True)]
    finer = _looked(problem, theta, [(mover, more) for (mover, _), more in zip(sides, closer, strict=True)])
    brackets: list[tuple[Mover, float, float, str | None]] = []
    for (mover, values), found, more, also in zip(sides, coarse, closer, finer, strict=True):
        order = np.argsort(np.abs(np.log(np.concatenate([values, more]) / mover.value)), kind="stable")
        every = [*found, *also]
        brackets += _first_change(mover, np.concatenate([values, more])[order], [every[at].best for at in order], today)
    turned = {mover.id for mover, *_ in brackets}
    none = [mover for mover in inputs if mover.id not in turned]
    for _ in range(_ROUNDS):
        brackets = _narrowed(problem, theta, brackets, today)
    flipped = [Flip(mover=mover, value=there, before=here, becomes=other) for mover, here, there, other in brackets]
    flipped.sort(key=lambda flip: (abs(np.log(flip.factor)), flip.mover.id))
    return Flips(found=tuple(flipped), none=tuple(none), today=today)


def _grid(mover: Mover) -> tuple[Array, Array]:
    """Values looked at below and above the planned one, the nearest first."""
    down = mover.value * np.geomspace(1.0, LEAST_FACTOR, _STEPS + 1)[1:]
    up = mover.value * np.geomspace(1.0, MOST_FACTOR, _STEPS + 1)[1:]
    return down[down >= mover.floor], up[up <= mover.ceiling]


def _lead(ways: Sequence[WayPoint]) -> _Lead:
    found = recommend(ways)
    values = {way.id: way.present_value_usd for way in ways}
    if found.strategy is None or found.runner_up is None:
        return _Lead(best=found.strategy, over_next=np.inf)
    best, following = values[cast(Kind, found.strategy)], values[cast(Kind, found.runner_up)]
    return _Lead(best=found.strategy, over_next=(following - best) / max(abs(best), 1e-9))


def _near_ties(mover: Mover, values: Array, leads: Sequence[_Lead]) -> Array:
    """More values beside those where the lead is least and, going on as it fell there, may be gone in between."""
    points = [mover.value, *values.tolist()]
    found: list[tuple[float, int]] = []
    for at in range(1, len(points) - 1):
        before, here, after = (leads[place].over_next for place in (at - 1, at, at + 1))
        if np.isfinite([before, here, after]).all() and here <= min(before, after):
            found.append((here - max(before - here, after - here), at))
    close = [at for left, at in sorted(found)[:_MOST_TIES] if left <= 0]
    inside = [np.geomspace(points[at + one], points[at + one + 1], _PARTS + 1)[1:-1] for at in close for one in (-1, 0)]
    return np.concatenate([np.zeros(0), *inside])


def _looked(problem: PlanProblem, theta: Theta, sides: Sequence[tuple[Mover, Array]]) -> list[list[_Lead]]:
    """What is recommended at values of inputs, and by how much."""
    if not any(len(values) for _, values in sides):
        return [[] for _ in sides]
    rows = np.concatenate([mover.moved(theta, values) for mover, values in sides])
    found = iter([_lead(ways) for ways in ways_of_rows(problem, rows, None)])
    return [[next(found) for _ in values] for _, values in sides]


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
    answers = _looked(problem, theta, [(mover, some) for (mover, *_), some in zip(brackets, inside, strict=True)])
    narrowed = []
    for (mover, here, there, other), values, found in zip(brackets, inside, answers, strict=True):
        ends, there_too = [here, *values.tolist(), there], [*(lead.best for lead in found), other]
        first = next(place for place, answer in enumerate(there_too) if answer != today)
        narrowed.append((mover, ends[first], ends[first + 1], there_too[first]))
    return narrowed
