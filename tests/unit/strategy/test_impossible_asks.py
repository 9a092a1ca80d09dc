"""Asks that nothing can meet, or that say too little: a clear sentence, and numbers where there are some."""

from __future__ import annotations

from typing import Any

import pytest

from planner.errors import InputError, ScenarioError
from planner.report.document import plan_document
from planner.scenario.load import check_document
from tests.planning import document, small_plan, solve


def ways(plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {entry["id"]: entry for entry in plan_document(solve(plan))["strategies"]}


def said(entry: dict[str, Any]) -> list[str]:
    return [problem["message"] for problem in entry["problems"]]


def warnings(plan: dict[str, Any]) -> dict[str, str]:
    return {warning["code"]: warning["message"] for warning in plan_document(solve(plan))["warnings"]}


def test_a_deadline_that_no_hardware_meets_is_answered_with_what_the_fastest_takes() -> None:
    """The rented card is twice as fast as the own one; the slower of two machines isn't named."""
    plan = small_plan({"jobs.work.deadline_h": 0.25})
    plan["machines"]["slow"] = dict(plan["machines"]["own"])
    plan["jobs"]["work"]["throughput"] = {"own": 1, "rented": 2, "slow": 0.5}
    found = ways(plan)
    assert plan_document(solve(plan))["recommended"] is None
    advice = "expected at most 0.25 h: allow more time or GPUs, or a faster GPU"
    assert said(found["local"]) == [f"jobs.work.deadline_h: work needs 1 h on own (GPUs: 1), {advice}"]
    assert said(found["cloud"]) == [f"jobs.work.deadline_h: work needs 0.5 h on rented (GPUs: 1), {advice}"]
    assert all(entry["tco_usd"] > 0 for entry in found.values())  # how near it comes


def test_start_up_alone_may_break_a_deadline() -> None:
    found = ways(small_plan({"jobs.work.deadline_h": 2, "offers.rented.startup_s": 7200}))
    assert found["local"]["feasible"]
    (problem,) = said(found["cloud"])
    assert "work needs 3 h on rented" in problem


def test_more_work_than_hours_says_how_many_machines_it_would_take() -> None:
    found = ways(small_plan({"jobs.work.runs_per_month": 5000}))
    assert said(found["local"]) == [
        "machines.own.count: 1 of own are booked for 5,000 h a month but have 730 h, expected at least 10 machines"
    ]
    assert found["cloud"]["feasible"]
    one_busy_month = ways(small_plan({"jobs.work.runs_by_month": {7: 5000}}))
    assert said(one_busy_month["local"]) == said(found["local"])
    enough = ways(small_plan({"jobs.work.runs_per_month": 5000, "machines.own.count": 10}))
    assert enough["local"]["feasible"]


@pytest.mark.parametrize(("months", "told"), [(1, True), (2, False)])
def test_an_attempt_that_is_longer_than_the_plan_is_pointed_out(months: int, told: bool) -> None:
    plan = small_plan({"horizon_months": months, "jobs.work.runs_per_month": 0.5, "jobs.work.samples": 3600 * 1000})
    found = warnings(plan)
    assert ("run_longer_than_plan" in found) is told
    if told:
        assert found["run_longer_than_plan"] == (
            "one attempt of work takes 1,000 h, longer than the whole plan of 730 h: only a share of it is counted"
        )


def test_spot_instances_that_nobody_published_a_share_of_say_what_is_assumed() -> None:
    spot = {"offers.rented.term": "spot", "rental.terms": ["spot"]}
    assert warnings(small_plan(spot))["spot_share_assumed"] == (
        "how often rented is taken away isn't published: 15 % of its instances a month are assumed, likely 5 to 25 %; "
        "interrupted_share_per_month of the offer takes a figure of your own"
    )
    assert "spot_share_assumed" not in warnings(small_plan({**spot, "offers.rented.interrupted_share_per_month": 0.15}))
    assert "spot_share_assumed" not in warnings(small_plan())
    assert "spot_share_assumed" not in warnings(document("spot-node"))  # its offer has one


@pytest.mark.parametrize("month", [0, -1, 85])
def test_demand_in_the_past_is_refused(month: int) -> None:
    with pytest.raises(ScenarioError) as caught:
        check_document(small_plan({"jobs.work.runs_by_month": {month: 5}}))
    assert str(caught.value) == (
        f"scenario: jobs.work.runs_by_month.{month}: found {month}, "
        "expected a month of the plan, from 1 to 84 (what is past isn't planned)"
    )


def test_demand_after_the_horizon_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        solve(small_plan({"jobs.work.runs_by_month": {13: 5, 12: 5}}))
    assert str(caught.value) == ("jobs.work.runs_by_month: found month 13, expected one of the 12 months of the plan")
    with pytest.raises(InputError, match="found no run in any month, expected some"):
        solve(small_plan({"jobs.work.runs_by_month": dict.fromkeys(range(1, 13), 0)}))
