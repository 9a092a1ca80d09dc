"""Limits on money, energy and emissions: kept, said to bind, and what to relax where there is no plan."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from planner.errors import ScenarioError
from planner.strategy.limits import limit_values, limits_of
from planner.strategy.optimise.records import Optimum
from planner.strategy.optimise.search import optimise
from tests.mixes import cheapest_of_all, small_mix
from tests.planning import problem_of, small_plan, solve

PRECISE = 1e-3


def best(plan: dict[str, Any]) -> Optimum:
    problem = problem_of(plan)
    return optimise(problem, problem.theta(), {})


def values(plan: dict[str, Any], found: Optimum) -> dict[str, float]:
    """What a mix comes to under every kind of limit."""
    every = {**plan, "limits": {"total": 1, "capex": 1, "cash_per_month": 1, "energy_kwh": 1, "kg_co2e": 1}}
    problem = problem_of({**every, "cash_ceiling_usd_per_quarter": 1})
    limits = limits_of(problem, ceiling=True)
    assert found.evaluation is not None
    row = limit_values(problem, found.evaluation, limits)[0]
    return {limit.kind: float(value) for limit, value in zip(limits, row, strict=True)}


def limited(plan: dict[str, Any], kind: str, most: float) -> dict[str, Any]:
    if kind == "cash_per_quarter":
        return {**plan, "cash_ceiling_usd_per_quarter": most}
    return {**plan, "limits": {kind: most}}


@pytest.mark.parametrize("kind", ["capex", "cash_per_month", "cash_per_quarter", "energy_kwh", "kg_co2e"])
@pytest.mark.parametrize("seed", [0, 5, 6])
def test_a_limit_is_kept_at_the_least_cost(kind: str, seed: int) -> None:
    plan = small_mix(seed, few_runs=True)
    free = best(plan)
    tight = limited(plan, kind, 0.9 * values(plan, free)[kind])
    found, cheapest = best(tight), cheapest_of_all(problem_of(tight), 1)
    if found.choice is None:
        assert cheapest == float("inf")
        assert found.problems
        return
    assert values(plan, found)[kind] <= 0.9 * values(plan, free)[kind] * (1 + 1e-9)
    assert found.present_value_usd == pytest.approx(cheapest, rel=PRECISE)
    assert [limit.limit for limit in found.binding] == [kind]
    assert found.binding[0].usd_less == pytest.approx(found.present_value_usd - free.present_value_usd, rel=PRECISE)


@pytest.mark.parametrize("kind", ["capex", "cash_per_month", "energy_kwh", "kg_co2e", "total"])
def test_a_looser_limit_never_costs_more(kind: str) -> None:
    plan = small_mix(5, few_runs=False)
    at = values(plan, best(plan))[kind]
    costs = [best(limited(plan, kind, factor * at)).present_value_usd for factor in (0.5, 0.8, 0.95, 1.0, 2.0)]
    assert all(looser <= tighter * (1 + 1e-6) for tighter, looser in pairwise(costs))
    assert costs[-1] == pytest.approx(best(plan).present_value_usd, rel=1e-6)


def test_without_a_plan_each_limit_says_what_would_do() -> None:
    plan = small_plan()
    least = values(plan, best(plan))["total"]
    found = best(limited(plan, "total", least / 2))
    assert found.choice is None
    assert [(one.limit.kind, one.needed) for one in found.relaxations] == [("total", pytest.approx(least, rel=1e-6))]
    assert [issue.code for issue in found.problems] == ["limit_to_relax_usd"]
    assert best(limited(plan, "total", least * 1.000001)).choice is not None


def test_limits_that_contradict_each_other_are_named() -> None:
    plan = {**small_plan(), "limits": {"total": 1, "energy_kwh": 1}}
    found = best(plan)
    assert found.choice is None
    assert [issue.code for issue in found.problems] == ["limits_contradict"]
    assert found.problems[0].params["fields"] == ["limits.total_usd", "limits.energy_kwh"]


def test_a_budget_of_zero_is_too_little() -> None:
    found = best({**small_plan(), "limits": {"total": 0}})
    assert found.choice is None
    assert found.relaxations[0].needed > 0


def test_named_ways_beyond_a_limit_are_not_feasible() -> None:
    free = solve(small_plan())
    rent = next(way for way in free.strategies if way.id == "cloud")
    result = solve({**small_plan(), "limits": {"total": rent.tco_usd - 1}})
    codes = {way.id: [issue.code for issue in way.allocation.problems] for way in result.strategies}
    assert codes["cloud"] == ["over_limit_total"]
    assert codes["local"] == []
    assert result.recommendation.strategy != "cloud"


@pytest.mark.parametrize(("kind", "value"), [("total", -1), ("energy_kwh", "much"), ("kg_co2e", True), ("turns", 1)])
def test_limits_that_make_no_sense_are_refused(kind: str, value: object) -> None:
    with pytest.raises(ScenarioError, match=f"limits.{kind}"):
        problem_of({**small_plan(), "limits": {kind: value}})


@pytest.mark.parametrize("kind", ["cash_per_month", "cash_per_quarter"])
def test_what_is_paid_at_the_start_counts_in_the_first_month_and_quarter(kind: str) -> None:
    plan = small_plan()
    way = next(way for way in solve(plan).strategies if way.id == "local")
    assert way.evaluation is not None
    last = 1 if kind == "cash_per_month" else 3
    spent = [line for line in way.evaluation.lines if line.group != "residual" and line.kind != "opportunity"]
    paid, later = (sum(float(line.amount[0, first : last + 1].sum()) for line in spent) for first in (0, 1))
    assert paid > later
    problem = problem_of(limited(plan, kind, 1))
    assert limit_values(problem, way.evaluation, limits_of(problem, ceiling=True))[0, 0] == pytest.approx(paid)
