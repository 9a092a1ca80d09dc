"""How long a plan may be before another way is the one to choose: every horizon is resolved and planned anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from planner.errors import PlannerError

LONGEST: Final = 84
_STEPS: Final = 6  # either way, alike in ratio, down to a month and up to the longest


@dataclass(frozen=True, slots=True, kw_only=True)
class HorizonFlip:
    """From this number of months on another way is recommended; None: none does all the work."""

    months: int
    before: int
    becomes: str | None


def horizon_flips(planned: int, recommended_at: Callable[[int], str | None]) -> tuple[HorizonFlip, ...]:
    """The nearest change of the recommendation for shorter and for longer plans, to the month.

    Parameters
    ----------
    planned : int
        Months as planned.
    recommended_at : callable
        The way to choose at a horizon; a PlannerError where the scenario can't have it: no further is looked then.

    Notes
    -----
    Six horizons are looked at either way; a change and its return between two of them would be missed.
    """
    today = recommended_at(planned)
    found = []
    for end in (1, LONGEST):
        here = planned
        for step in range(1, _STEPS + 1):
            there = round(planned * (end / planned) ** (step / _STEPS))
            if there == here:
                continue
            try:
                other = recommended_at(there)
                if other != today:
                    found.append(_narrowed(here, there, other, today, recommended_at))
                    break
            except PlannerError:
                break
            here = there
    return tuple(found)


def _narrowed(
    here: int, there: int, other: str | None, today: str | None, recommended_at: Callable[[int], str | None]
) -> HorizonFlip:
    while abs(there - here) > 1:
        middle = (here + there) // 2
        answer = recommended_at(middle)
        if answer == today:
            here = middle
        else:
            there, other = middle, answer
    return HorizonFlip(months=there, before=here, becomes=other)
