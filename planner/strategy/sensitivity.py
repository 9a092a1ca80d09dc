"""Which inputs move the answer most: each at the ends of its range, all others as planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.strategy.compare import recommend
from planner.strategy.kernel import Choice, kernel
from planner.strategy.meanwhile import taken
from planner.strategy.movers import Mover
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from planner.strategy.sweep_rows import ways_of_rows

MOST_BARS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One input: present value of the plan at its low and high end, and what would be recommended there."""

    mover: Mover
    present_value_low_usd: float
    present_value_high_usd: float
    recommended_low: str | None  # planned anew
    recommended_high: str | None

    @property
    def swing_usd(self) -> float:
        """Between both ends. [USD]"""
        return abs(self.present_value_high_usd - self.present_value_low_usd)


def sensitivity(problem: PlanProblem, theta: Theta, choice: Choice, inputs: Sequence[Mover]) -> tuple[Bar, ...]:
    """The inputs with the largest swing of a choice's present value, the largest first.

    Parameters
    ----------
    problem, theta : PlanProblem, array of one row
        The resolved question and its parameter values.
    choice : Choice
        Of one row, kept as it is; what is recommended at the ends is planned anew.
    inputs : sequence of Mover
        What is moved, one at a time.
    """
    if not inputs:
        return ()
    rows = np.concatenate([mover.moved(theta, np.array([mover.low, mover.high])) for mover in inputs])
    kept = taken(problem, choice, np.zeros(len(rows), dtype=np.int64))
    value = kernel(problem, rows, kept).present_value_usd.reshape(-1, 2)
    order = sorted(range(len(inputs)), key=lambda at: (-abs(value[at, 1] - value[at, 0]), inputs[at].id))
    chosen = [at for at in order[:MOST_BARS] if value[at, 1] != value[at, 0]]
    if not chosen:
        return ()
    anew = ways_of_rows(problem, np.concatenate([rows[2 * at : 2 * at + 2] for at in chosen]), None)
    best = [recommend(ways).strategy for ways in anew]
    return tuple(
        Bar(
            mover=inputs[at],
            present_value_low_usd=float(value[at, 0]),
            present_value_high_usd=float(value[at, 1]),
            recommended_low=best[2 * place],
            recommended_high=best[2 * place + 1],
        )
        for place, at in enumerate(chosen)
    )
