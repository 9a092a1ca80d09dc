"""What it would be worth to know the future before deciding: every future planned anew, against one decision kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from planner.cost.course import Array
from planner.strategy.candidates import KINDS
from planner.strategy.draws import SEED, ends_of
from planner.strategy.futures import Futures, drawn_columns
from planner.strategy.kernel import Choice
from planner.strategy.problem import PlanProblem
from planner.strategy.sweep_rows import ways_of_rows
from planner.strategy.uncertainty import sampled
from planner.units import HALF_CENT_USD

SAMPLES: Final = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Redecided:
    """One decision against the best of each future. Money is of futures in which the decision works."""

    decided: str
    samples: int
    decided_works_probability: float
    works_probability: float  # that some way does all the work once it may be planned anew
    decided_usd: float | None  # mean present value; None: it works in no future
    redecided_usd: float | None
    chosen_probability: Mapping[str, float]  # of each way, that it is the cheapest then

    @property
    def perfect_information_usd(self) -> float | None:
        """Expected value of perfect information: what knowing the future before deciding would save. [USD]"""
        if self.decided_usd is None or self.redecided_usd is None:
            return None
        return self.decided_usd - self.redecided_usd


def redecide(
    problem: PlanProblem, choices: Mapping[str, Choice], decided: str, *, samples: int = SAMPLES, seed: int = SEED
) -> Redecided:
    """Plan every future anew, machines, offers and places included.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    choices : mapping
        Choices of one row by name, which each future may take as they are too: so no future is the worse for being
        decided anew.
    decided : str
        The one of them that is kept.
    samples : int
        A power of two suits the sequence.
    seed : int
        Scrambles it.

    References
    ----------
    .. [1] H. Raiffa and R. Schlaifer, "Applied Statistical Decision Theory," 1961, ch. 4.
    """
    first = drawn_columns(problem, choices.values())
    others = [at for at, one in enumerate(problem.parameters) if ends_of(one, assumed=True) is not None]
    theta = Futures(problem, [*first, *(at for at in others if at not in first)], samples, seed).theta
    kept = {id: sampled(problem, theta, choice) for id, choice in choices.items()}
    values: dict[str, Array] = {
        id: np.where(one.works, one.present_value_usd, np.inf) for id, one in kept.items() if id not in KINDS
    }
    anew = np.array(
        [
            [way.present_value_usd if way.feasible else np.inf for way in ways]
            for ways in ways_of_rows(problem, theta, None)
        ]
    ).T
    for kind, planned in zip(KINDS, anew, strict=True):
        mine = kept.get(kind)
        values[kind] = (
            planned if mine is None else np.minimum(planned, np.where(mine.works, mine.present_value_usd, np.inf))
        )
    return _against(decided, kept[decided].works, kept[decided].present_value_usd, values)


def _against(decided: str, works: npt.NDArray[np.bool_], value: Array, values: Mapping[str, Array]) -> Redecided:
    ids = list(dict.fromkeys([*KINDS, *values]))
    table = np.array([values[id] for id in ids])
    least = table.min(axis=0)
    doable = np.isfinite(least)
    chosen = (table < least + HALF_CENT_USD).argmax(axis=0)  # of equal ones the first, as in a plan
    return Redecided(
        decided=decided,
        samples=len(value),
        decided_works_probability=float(works.mean()),
        works_probability=float(doable.mean()),
        decided_usd=float(value[works].mean()) if works.any() else None,
        redecided_usd=float(least[works].mean()) if works.any() else None,
        chosen_probability={id: float((doable & (chosen == at)).mean()) for at, id in enumerate(ids)},
    )
