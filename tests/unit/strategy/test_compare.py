"""Ranking with its reason, and break-even within an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

from planner.strategy.allocate import allocate
from planner.strategy.compare import cumulative_usd, payback_month, recommend
from planner.strategy.kernel import kernel
from tests.break_even import break_even_value
from tests.planning import problem_of, small_plan, solve


@dataclass(frozen=True, kw_only=True)
class Candidate:
    id: str
    present_value_usd: float
    feasible: bool = True


def test_cheapest_by_present_value() -> None:
    found = recommend([Candidate(id="local", present_value_usd=100), Candidate(id="cloud", present_value_usd=80)])
    assert (found.strategy, found.runner_up, found.reason_code) == ("cloud", "local", "cheapest")
    assert found.reason_params["saving_usd"] == 20
    assert found.reason_params["saving_share"] == pytest.approx(0.2)


@pytest.mark.parametrize(("other", "code"), [(101.9, "near_tie"), (102.1, "cheapest")])
def test_within_two_percent_it_is_about_the_same(other: float, code: str) -> None:
    found = recommend([Candidate(id="local", present_value_usd=other), Candidate(id="cloud", present_value_usd=100)])
    assert (found.strategy, found.reason_code) == ("cloud", code)


def test_only_one_can_do_the_work() -> None:
    found = recommend(
        [
            Candidate(id="local", present_value_usd=math.inf, feasible=False),
            Candidate(id="cloud", present_value_usd=100),
            Candidate(id="hybrid", present_value_usd=50, feasible=False),
        ]
    )
    assert (found.strategy, found.runner_up, found.reason_code) == ("cloud", None, "only_feasible")
    assert found.reason_params["others"] == ["local", "hybrid"]


def test_none_can() -> None:
    found = recommend([Candidate(id="local", present_value_usd=1, feasible=False)])
    assert (found.strategy, found.reason_code) == (None, "none_feasible")


def test_the_same_plan_twice_is_named_once_and_compared_with_the_next() -> None:
    same = [Candidate(id="local", present_value_usd=100.001), Candidate(id="hybrid", present_value_usd=100)]
    found = recommend([*same, Candidate(id="cloud", present_value_usd=150)])
    assert (found.strategy, found.runner_up, found.reason_code) == ("local", "cloud", "cheapest")
    found = recommend(same)
    assert (found.strategy, found.runner_up, found.reason_code) == ("local", "hybrid", "same_as")


def test_break_even_within_its_interval() -> None:
    problem = problem_of(small_plan())
    theta = problem.theta()
    own, rent = allocate(problem, theta, "local").choice, allocate(problem, theta, "cloud").choice
    assert own is not None
    assert rent is not None
    price = "offers.rented.price_usd_per_h"
    own_usd = 1500 - 625 + 12 * 123 * 0.1
    assert break_even_value(problem, theta, own, rent, price, low=0, high=5) == pytest.approx(own_usd / 1200)
    assert break_even_value(problem, theta, own, rent, price, low=2, high=5) is None
    assert break_even_value(problem, theta, own, own, price, low=2, high=5) == 2
    assert theta.tolist() == problem.theta().tolist()


def test_money_spent_so_far() -> None:
    problem = problem_of(small_plan({"machines.own.owned": {"count": 1, "age_months": 1, "resale_gpu_usd": 300,
        "resale_host_usd": 0}, "machines.own.useful_life_months": 48, "machines.own.residual_gpu": {13: 0.5},
        "machines.own.residual_host": {13: 0.5}}))  # fmt: skip
    choice = allocate(problem, problem.theta(), "local").choice
    assert choice is not None
    found = kernel(problem, problem.theta(), choice)
    assert cumulative_usd(found)[0, 0] == 300
    assert cumulative_usd(found, cash_only=True)[0, 0] == 0
    assert cumulative_usd(found)[0, -1] == pytest.approx(found.tco_usd[0])
    assert cumulative_usd(found, with_resale=False)[0, -1] == pytest.approx(found.capex_usd[0] + found.opex_usd[0])


def test_recommendation_of_a_plan() -> None:
    found = solve(small_plan()).recommendation
    assert (found.strategy, found.runner_up, found.reason_code) == ("local", "cloud", "cheapest")


@pytest.mark.parametrize(("price_usd_per_h", "month"), [(1.2, None), (1.5, 11), (3.0, 6)])
def test_payback_before_anything_is_sold(price_usd_per_h: float, month: int | None) -> None:
    """1,500 + 12.30 a month against 100 h a month: 1,440 USD in a year don't pay back, though resale would."""
    problem = problem_of(small_plan({"offers.rented.price_usd_per_h": price_usd_per_h}))
    theta = problem.theta()
    own, rent = allocate(problem, theta, "local").choice, allocate(problem, theta, "cloud").choice
    assert own is not None
    assert rent is not None
    assert payback_month(kernel(problem, theta, own), kernel(problem, theta, rent)) == month
