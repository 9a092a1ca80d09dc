"""What credits, free hours and price trends may do to a plan, and what they may not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.scenario.paths import with_overrides
from planner.strategy.allocate import allocate
from planner.strategy.kernel import Evaluation, kernel
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from tests.planning import by_id, problem_of
from tests.property.plans import over_time, plans, quick


@st.composite
def changing_plans(draw: st.DrawFn) -> dict[str, Any]:
    plan = draw(plans())
    draw(over_time(plan))
    return plan


def all_rented(problem: PlanProblem, theta: Theta) -> Evaluation:
    choice = allocate(problem, problem.theta(), "cloud").choice
    assert choice is not None
    return kernel(problem, theta, choice)


@quick
@given(plan=changing_plans())
def test_nothing_takes_off_more_than_there_is(plan: dict[str, Any]) -> None:
    problem = problem_of(plan)
    lines = by_id(all_rented(problem, problem.theta()))
    left = {id: line.amount[0].copy() for id, line in lines.items() if not line.reduces}
    for line in lines.values():
        if line.reduces:
            assert line.amount.max() <= 0
            left[line.reduces] += line.amount[0]
    slack = 1e-9 * max(1.0, *(float(np.abs(line.amount).max()) for line in lines.values()))
    assert min(float(amount.min()) for amount in left.values()) >= -slack
    for credit in problem.credits:
        paid = [line for id, line in lines.items() if id.startswith(f"credit.{credit.id}.")]
        amount = float(problem.theta()[0, credit.amount_at])
        assert -sum(float(line.amount.sum()) for line in paid) <= amount * (1 + 1e-9)
        for line in paid:
            months = np.flatnonzero(line.quantity[0])
            assert credit.from_month <= months.min() <= months.max() <= credit.last_month


@quick
@given(plan=changing_plans(), name=st.sampled_from(["gift", "grant"]), more=st.sampled_from([1, 500, 1e6]))
def test_a_larger_credit_never_makes_a_plan_dearer(plan: dict[str, Any], name: str, more: float) -> None:
    problem = problem_of(plan)
    theta = np.repeat(problem.theta(), 3, axis=0)
    column = problem.column(f"rental.credits.{name}.amount_usd")
    theta[1, column] += more
    theta[2, column] += 2 * more
    found = all_rented(problem, theta).tco_usd
    saved = -np.diff(found)
    tax = 1.0 if problem.tax_recoverable else 1 + float(theta[0, problem.tax_rate_at])
    slack = 1e-9 * max(1.0, float(np.abs(found).max()))
    assert saved.min() >= -slack
    assert saved.max() <= more * tax + slack


@quick
@given(plan=changing_plans())
def test_amounts_of_nothing_and_changes_of_zero_are_the_plan_without(plan: dict[str, Any]) -> None:
    changed = {"hardware_price_change_per_year": 0, "rental.price_change_per_year": 0}
    for offer in plan["offers"].values():
        for name in ("free_node_hours_per_month", "free_node_hours_total"):
            if name in offer:
                offer[name] = 0
    none = {f"rental.credits.{name}.amount_usd": 0 for name in plan["rental"]["credits"]}
    without = with_overrides(plan, {**changed, "rental.credits": {}})
    for offer in without["offers"].values():
        offer.pop("free_node_hours_per_month", None)
        offer.pop("free_node_hours_total", None)
    zero, plain = (problem_of(document) for document in (with_overrides(plan, {**changed, **none}), without))
    with_zero, without_any = all_rented(zero, zero.theta()), all_rented(plain, plain.theta())
    assert by_id(with_zero).keys() == by_id(without_any).keys()
    for id, line in by_id(with_zero).items():
        np.testing.assert_array_equal(line.amount, by_id(without_any)[id].amount, err_msg=id)


@quick
@given(plan=plans(owned=False), factor=st.sampled_from([-0.3, 0.4]))
def test_a_trend_multiplies_every_month_by_its_factor(plan: dict[str, Any], factor: float) -> None:
    still = problem_of(with_overrides(plan, {"rental.price_change_per_year": 0, "rental.credits": {}}))
    moving = problem_of(with_overrides(plan, {"rental.price_change_per_year": factor, "rental.credits": {}}))
    choice = allocate(still, still.theta(), "cloud").choice
    assert choice is not None
    before, after = (by_id(kernel(problem, problem.theta(), choice)) for problem in (still, moving))
    months = np.arange(plan["horizon_months"])
    for id, line in after.items():
        rented = line.bears_on == "rental"
        expected = before[id].amount[0, 1:] * ((1 + factor) ** (months / 12) if rented else 1)
        if line.kind != "tax_rented":
            assert line.amount[0, 1:] == pytest.approx(expected, rel=1e-9), id
