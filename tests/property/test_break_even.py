"""The order of two choices differs on the two sides of a break-even, and is the same everywhere where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given

from planner.strategy.allocate import allocate
from planner.strategy.break_even import BreakEven, Crossing, break_evens
from planner.strategy.candidates import KINDS
from planner.strategy.kernel import Choice, kernel
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from tests.planning import problem_of
from tests.property.plans import plans, quick

STEP = 1e-6


def differences(
    problem: PlanProblem, theta: Theta, choices: dict[str, Choice], pair: BreakEven, columns: list[int], factor: float
) -> tuple[float, float]:
    """Owning less renting at a factor on some columns: undiscounted, and in present values."""
    row = theta.copy()
    row[:, columns] *= factor
    own, rent = (kernel(problem, row, choices[name]) for name in (pair.owning, pair.renting))
    return float(own.tco_usd[0] - rent.tco_usd[0]), float(own.present_value_usd[0] - rent.present_value_usd[0])


@quick
@given(plans(changing=True))
def test_signs_flip_at_every_break_even(plan: dict[str, Any]) -> None:
    problem = problem_of(plan)
    theta = problem.theta()
    found = {kind: allocate(problem, theta, kind).choice for kind in KINDS}
    choices = {kind: choice for kind, choice in found.items() if choice is not None}
    for pair in break_evens(problem, theta, dict(choices)):
        runs = [job.runs_per_month_at for job in problem.jobs]
        prices = [problem.column(f"offers.{id}.price_usd_per_h") for id in pair.prices_usd_per_h]
        for columns, crossings, most in ((runs, pair.use, pair.most_factor), (prices, pair.rental_price, 100.0)):
            for which, crossing in enumerate(crossings):
                check(problem, theta, dict(choices), pair, columns, crossing, which, most)


def check(
    problem: PlanProblem,
    theta: Theta,
    choices: dict[str, Choice],
    pair: BreakEven,
    columns: list[int],
    crossing: Crossing,
    which: int,
    most: float | None,
) -> None:
    def at(factor: float) -> float:
        return differences(problem, theta, choices, pair, columns, factor)[which]

    if crossing.factor is not None:
        for root in (crossing.factor, *crossing.further):
            assert at(root * (1 - STEP)) * at(root * (1 + STEP)) <= 0
            assert at(root * 0.999) * at(root * 1.001) < 0
    elif crossing.reason in ("owning_never", "renting_never"):
        assert most is not None
        expected = 1 if crossing.reason == "owning_never" else -1
        for factor in np.linspace(0.01, most, 7).tolist():
            assert expected * at(factor) > 0
    elif crossing.reason == "same_cost":
        assert abs(at(0.5)) < 0.01
