"""Levers and suggestions change what they say, and nothing else."""

from __future__ import annotations

import pytest

from planner.report.levers import levers, suggested, suggestions, with_lever
from planner.scenario.differences import differing_paths
from tests.planning import catalog, document, small_plan, solve


def test_levers_stand_where_the_plan_does() -> None:
    plan = small_plan()
    found = {lever.kind: lever for lever in levers(plan, solve(plan))}
    assert {kind: lever.value for kind, lever in found.items()} == {
        "runs": 100.0, "rental_prices": 1.0, "card_price": 1000.0, "electricity": 0.1,
    }  # fmt: skip
    for lever in found.values():
        scale = lever.scale()
        assert scale.low < lever.value < scale.high
        assert (lever.value - scale.low) / scale.step == pytest.approx(round((lever.value - scale.low) / scale.step))


@pytest.mark.parametrize(
    ("kind", "value", "path", "then"),
    [
        ("runs", 250.0, "jobs.work.runs_per_month", 250.0),
        ("rental_prices", 0.5, "offers.rented.price_usd_per_h", 1.0),
        ("card_price", 700.0, "machines.own.gpu_price_usd", 700.0),
        ("electricity", 0.3, "site.electricity_usd_per_kwh", 0.3),
    ],
)
def test_a_lever_moves_its_input_alone(kind: str, value: float, path: str, then: float) -> None:
    plan = small_plan()
    lever = next(one for one in levers(plan, solve(plan)) if one.kind == kind)
    moved = with_lever(plan, lever, value)
    assert differing_paths(plan, moved) == (path,)
    here: object = moved
    for part in path.split("."):
        assert isinstance(here, dict)
        here = here[part]
    assert here == pytest.approx(then)
    assert with_lever(plan, lever, lever.value) == plan


def test_every_suggestion_changes_something_and_can_be_planned() -> None:
    plan = document("hybrid-lab")
    found = levers(plan, solve(plan))
    offered = suggestions(plan, found, catalog())
    assert "twice_the_runs" in offered
    for id in offered:
        changed = suggested(id, plan, found, catalog())
        assert differing_paths(plan, changed), id
        assert solve(changed).strategies, id


def test_differences_are_inputs_alone() -> None:
    plan = small_plan()
    assert differing_paths(plan, {**plan, "name": "Other"}) == ()
    assert differing_paths(plan, {**plan, "horizon_months": 12.0}) == ()
    assert differing_paths(plan, {**plan, "site": {**plan["site"], "pue": 1.2}, "discount_rate": 0.1}) == (
        "discount_rate", "site.pue",
    )  # fmt: skip
    without = {key: value for key, value in plan.items() if key != "tax"}
    assert differing_paths(plan, without) == ("tax.rate",)
