"""The futures that choices are looked at in: what is drawn for them, spread most evenly where they answer most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from planner.cost.course import Array
from planner.strategy.draws import SEED, Draws, ends_of, normal_points
from planner.strategy.kernel import Choice, kernel
from planner.strategy.meanwhile import taken
from planner.strategy.problem import PlanProblem
from planner.strategy.sessions import turnaround_h
from planner.strategy.weighing import Weigher, enough, weighted_quantiles

MANY: Final = 65_536
_SLACK: Final = 1e-9


def drawn_columns(problem: PlanProblem, choices: Iterable[Choice]) -> tuple[int, ...]:
    """Columns with a range, if only an assumed one, that some choice rests on, those that move one most first.

    What counts is how far present value, total, energy, emissions and times of attempts move to either bound, in shares
    of themselves: the first columns take the most even points.
    """
    bounds = {at: ends for at, one in enumerate(problem.parameters) if (ends := ends_of(one, assumed=True)) is not None}
    ranged = list(bounds)
    theta = problem.theta().repeat(2 * len(ranged) + 1, axis=0)
    for at, column in enumerate(ranged):
        theta[2 * at + 1, column], theta[2 * at + 2, column] = bounds[column]
    moved = np.zeros(len(ranged))
    for choice in choices:
        kept = taken(problem, choice, np.zeros(len(theta), dtype=np.int64))
        found = kernel(problem, theta, kept)
        hours = [turnaround_h(problem, pair, theta) for at, pair in enumerate(problem.pairs) if choice.routing[0, at]]
        for values in (found.present_value_usd, found.tco_usd, found.kwh, found.kg_co2e, *hours):
            ends = np.abs(values[1:] - values[0]).reshape(-1, 2).max(axis=1)
            moved = np.maximum(moved, ends / max(abs(float(values[0])), _SLACK))
    order = np.argsort(-moved, kind="stable")
    return tuple(ranged[at] for at in order.tolist() if moved[at] > 0)


class Futures:
    """Parameter rows, the same for all choices, and the many more futures that percentiles are weighed by."""

    def __init__(self, problem: PlanProblem, columns: Sequence[int], samples: int, seed: int = SEED) -> None:
        draws = Draws(problem, columns, assumed=True)
        self.theta = np.repeat(problem.theta(), samples, axis=0)
        self._weigher: Weigher | None = None
        if not draws.names:
            return
        few = normal_points(len(draws.names), samples, seed)
        self.theta = draws.theta(few)
        if enough(samples, len(columns)):
            many = normal_points(len(draws.names), MANY, seed + 1)
            self._weigher = Weigher(draws.values(few), draws.values(many))

    def quantiles(self, answers: Array, at: Sequence[float]) -> Array:
        """Quantiles of answers in these futures. [answers, quantiles]

        Parameters
        ----------
        answers : array, shape [rows, answers]
            One row for each of `theta`.
        at : sequence of float
            From 0 to 1, ascending.
        """
        if self._weigher is None:
            return np.quantile(answers, at, axis=0).T
        weights = self._weigher.weights(answers)
        return np.stack(
            [weighted_quantiles(answers[:, one], weights[:, one], np.asarray(at)) for one in range(answers.shape[1])]
        )
