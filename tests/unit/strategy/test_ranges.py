"""Likely ranges: what is drawn, and what the range of a total says."""

from __future__ import annotations

import numpy as np
import pytest

from planner.strategy.allocate import allocate
from planner.strategy.ranges import ranges, sampled_theta
from tests.planning import problem_of, small_plan


def test_what_has_no_range_keeps_its_value() -> None:
    problem = problem_of(small_plan())
    assert all(parameter.low is None for parameter in problem.parameters if parameter.sources == ("scenario",))
    drawn = sampled_theta(problem, 64)
    for column, parameter in enumerate(problem.parameters):
        if parameter.low is None and parameter.high is None:
            assert (drawn[:, column] == parameter.value).all(), parameter.id


def test_a_range_bounds_eighty_percent_of_what_is_drawn() -> None:
    """Rent of the contract by default: 200, likely between 160 and 400 USD per kW and month."""
    problem = problem_of(small_plan({"site.colocation.contracted_kw": 2}))
    drawn = sampled_theta(problem, 1024)[:, problem.column("site.colocation.price_usd_per_kw_month")]
    assert np.quantile(drawn, [0.1, 0.5, 0.9]) == pytest.approx([160, 200, 400], rel=0.01)


def test_nothing_drawn_falls_below_what_it_can_be() -> None:
    """Shares of people stay above zero; a run takes at least one attempt, and a site draws at least its machines."""
    problem = problem_of(
        small_plan({"staff.fte_cloud": None, "jobs.work.attempts_per_run": None, "offers.rented.pue": None})
    )
    drawn = sampled_theta(problem, 1024)
    assert drawn[:, problem.fte_cloud_at].min() > 0
    assert drawn[:, problem.jobs[0].attempts_per_run_at].min() == 1
    assert drawn[:, problem.offers[0].pue_at].min() == 1


def test_the_same_luck_every_time() -> None:
    problem = problem_of(small_plan({"site.colocation.contracted_kw": 2}))
    assert sampled_theta(problem).tolist() == sampled_theta(problem).tolist()


def test_range_of_a_total() -> None:
    """Only the rent of the contract is uncertain: 12 months of 2 kW."""
    problem = problem_of(small_plan({"site.colocation.contracted_kw": 2}))
    choices = {kind: allocate(problem, problem.theta(), kind).choice for kind in ("local", "cloud")}
    found = ranges(problem, {kind: choice for kind, choice in choices.items() if choice is not None})
    without_rent = 1500 - 625 + 12 * 123 * 0.1
    assert found["local"].tco_low_usd == pytest.approx(without_rent + 24 * 160, rel=0.03)
    assert found["local"].tco_high_usd == pytest.approx(without_rent + 24 * 400, rel=0.03)
    assert (found["cloud"].tco_low_usd, found["cloud"].tco_high_usd) == pytest.approx((2400, 2400))
