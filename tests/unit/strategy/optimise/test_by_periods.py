"""Programmes of many periods: what is had throughout is decided first, then each period by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planner.strategy.optimise.by_periods import GOOD_GAP, solve_by_periods
from planner.strategy.optimise.coefficients import coefficients
from planner.strategy.optimise.loads import targets
from planner.strategy.optimise.mix import Mix
from planner.strategy.optimise.model import build
from planner.strategy.optimise.options import usable
from planner.strategy.optimise.periods import periods
from planner.strategy.optimise.search import optimise
from planner.strategy.problem import PlanProblem
from tests.mixes import small_mix
from tests.planning import problem_of

TIME_LIMIT_S = 20.0


def seasonal(seed: int) -> dict[str, Any]:
    """No month like another."""
    plan = small_mix(seed, few_runs=False)
    for at, job in enumerate(plan["jobs"].values()):
        job["growth_per_month"] = 0.05
        job["seasonality"] = [1.0 + 0.4 * ((5 * month + at) % 3 - 1) for month in range(12)]
    return plan


def programme_of(problem: PlanProblem) -> Mix:
    theta = problem.theta()
    found = coefficients(problem, theta, usable(problem, theta))
    return build(problem, theta, found, periods(problem), loads=targets(problem, theta), quota_gpus={})


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("credit", [False, True])
def test_it_is_as_good_as_the_whole_programme_within_its_gap(seed: int, credit: bool) -> None:
    plan = seasonal(seed)
    if credit:  # a sum over periods keeps them together
        plan["rental"]["credits"] = {"grant": {"amount_usd": 300, "expires_month": 3}}
    programme = programme_of(problem_of(plan)).programme
    every = programme.arrays()
    whole = every.solve(gap=1e-6, time_limit_s=TIME_LIMIT_S)
    found = solve_by_periods(programme, gap=GOOD_GAP, time_limit_s=TIME_LIMIT_S, few=0)
    assert whole.values is not None
    assert found.values is not None
    assert not found.timed_out
    least, cost = float(every.cost @ whole.values), float(every.cost @ found.values)
    assert least - 1e-6 * abs(least) <= cost <= least + GOOD_GAP * abs(cost) + 1e-6
    assert found.bound <= least + 1e-6 * abs(least)
    rows = every.matrix @ found.values
    assert np.all(rows <= every.high + 1e-6)
    assert np.all(rows >= every.low - 1e-6)
    whole_ones = found.values[every.whole]
    np.testing.assert_allclose(whole_ones, np.round(whole_ones), atol=1e-6)


def test_a_search_over_many_different_months_says_its_gap() -> None:
    plan = seasonal(3)
    plan["horizon_months"] = 30
    problem = problem_of(plan)
    found = optimise(problem, problem.theta(), {})
    assert found.choice is not None
    assert found.gap is not None
    assert 0.0 <= found.gap <= GOOD_GAP
    assert abs(found.rounds[-1].deviation) < 1e-3
