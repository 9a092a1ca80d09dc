"""Which inputs move the answer most: each at the ends of its range, all others as planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.cost.course import Array
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
    difference_low_usd: float | None = None  # of the plan over the runner-up, both kept; below 0 the plan is cheaper
    difference_high_usd: float | None = None  # None without a runner-up

    @property
    def swing_usd(self) -> float:
        """Between both ends. [USD]"""
        return abs(self.present_value_high_usd - self.present_value_low_usd)


def sensitivity(
    problem: PlanProblem, theta: Theta, choice: Choice, inputs: Sequence[Mover], *, runner_up: Choice | None = None
) -> tuple[Bar, ...]:
    """The inputs that move a choice's present value most, or what it has over the runner-up; the largest swing first.

    Parameters
    ----------
    problem, theta : PlanProblem, array of one row
        The resolved question and its parameter values.
    choice : Choice
        Of one row, kept as it is; what is recommended at the ends is planned anew.
    inputs : sequence of Mover
        What is moved, one at a time.
    runner_up : Choice, optional
        Of one row, kept as it is.
    """
    if not inputs:
        return ()
    rows = np.concatenate([mover.moved(theta, np.array([mover.low, mover.high])) for mover in inputs])
    value = _kept(problem, rows, choice)
    over = None if runner_up is None else value - _kept(problem, rows, runner_up)
    swing = np.abs(value[:, 1] - value[:, 0])
    effect = swing if over is None else np.maximum(swing, np.abs(over[:, 1] - over[:, 0]))
    most = sorted(range(len(inputs)), key=lambda at: (-effect[at], inputs[at].id))[:MOST_BARS]
    chosen = sorted((at for at in most if effect[at] > 0), key=lambda at: (-swing[at], -effect[at], inputs[at].id))
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
            difference_low_usd=None if over is None else float(over[at, 0]),
            difference_high_usd=None if over is None else float(over[at, 1]),
        )
        for place, at in enumerate(chosen)
    )


def _kept(problem: PlanProblem, rows: Theta, choice: Choice) -> Array:
    """Present value of a choice at the low and the high end of each input. [inputs, ends]"""
    kept = taken(problem, choice, np.zeros(len(rows), dtype=np.int64))
    return kernel(problem, rows, kept).present_value_usd.reshape(-1, 2)
