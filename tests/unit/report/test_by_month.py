"""What a plan's document says month by month: amounts of lines, loads, waits, and the course that is drawn."""

from __future__ import annotations

import json

import pytest

from planner.report.course import course_entry
from planner.report.document import plan_document
from planner.report.variants import extra_usd_per_month, people_jobs, with_machines, with_more_runs
from planner.report.waiting import simulated, with_waiting
from planner.units import H_PER_MONTH
from tests.planning import CENT, document, small_plan, solve, strategy

PLANS = ("hybrid-lab", "committed-node", "colocated-node", "on-demand-node", "spot-node", "workstation-or-rental")


@pytest.mark.parametrize("plan", PLANS)
def test_lines_by_month_add_up_to_the_months_and_to_the_total(plan: str) -> None:
    for way in plan_document(solve(document(plan)))["strategies"]:
        for line in way["lines"]:
            assert len(line["by_month_usd"]) == len(way["months"])
            assert sum(line["by_month_usd"]) == pytest.approx(line["amount_usd"], abs=CENT)
        for at, month in enumerate(way["months"]):
            assert sum(line["by_month_usd"][at] for line in way["lines"]) == pytest.approx(month["amount_usd"])


def test_purchases_stand_in_month_one_and_resale_in_the_last() -> None:
    (own,) = [way for way in plan_document(solve(small_plan()))["strategies"] if way["id"] == "local"]
    lines = {line["id"].split(".")[0]: line["by_month_usd"] for line in own["lines"]}
    assert lines["gpu"] == [1000.0, *[0.0] * 11]
    assert lines["resale_host"] == [*[0.0] * 11, -125.0]
    assert lines["electricity"] == pytest.approx([12.3] * 12)  # 100 h at 600 W and 630 h at 100 W


def test_loads_follow_the_months() -> None:
    plan = small_plan({"jobs.work.runs_by_month": {2: 365, 3: 0}})
    (machine,) = strategy_entry(plan)["machines"]
    assert machine["load"] == pytest.approx([100 / H_PER_MONTH, 0.5, 0.0, *[100 / H_PER_MONTH] * 9])
    assert sum(machine["load"]) / 12 == pytest.approx(machine["utilisation"])
    (same,) = strategy_entry(small_plan({"machines.own.target_utilisation": 0.6}))["machines"]
    assert same["load"] == pytest.approx([100 / H_PER_MONTH] * 12)
    assert same["target_utilisation"] == 0.6


def strategy_entry(plan: dict, kind: str = "local") -> dict:  # type: ignore[type-arg]
    return next(way for way in plan_document(solve(plan))["strategies"] if way["id"] == kind)


def test_waits_by_month_follow_the_load_and_are_left_out_where_too_little_runs() -> None:
    plan = small_plan({"jobs.work.runs_by_month": {6: 700, 9: 0}})
    result = solve(plan)
    own = next(way for way in with_waiting(plan_document(result), result)["strategies"] if way["id"] == "local")
    (job,) = own["machines"][0]["waiting"]["jobs"]
    months = job["by_month"]
    assert [month["month"] for month in months] == list(range(1, 13))
    assert max(months, key=lambda month: month["wait_p90_h"] or 0.0)["month"] == 6
    assert months[8] == {"month": 9, "attempts": 0, "wait_p50_h": None, "wait_p90_h": None}
    assert sum(month["attempts"] for month in months) == pytest.approx(job["runs"], abs=job["runs"] * 0.02)
    assert all(month["wait_p50_h"] <= month["wait_p90_h"] for month in months if month["attempts"])


def test_the_course_has_hours_from_its_beginning_and_is_plain_data() -> None:
    result = solve(small_plan())
    (found,) = simulated(result, strategy(result, "local"))
    entry = course_entry(found)
    assert (entry["machine"], entry["count"], entry["gpus_per_machine"], entry["month"]) == ("own", 1, 1, 6)
    assert (entry["span_h"], entry["complete"], entry["jobs"]) == (730.0, True, ["work"])
    assert len(entry["bars"]) == entry["attempts"] == pytest.approx(100, abs=30)
    for before, after in zip(entry["bars"], entry["bars"][1:], strict=False):
        assert after["started_h"] >= before["ended_h"] - 1e-9  # one GPU: nothing overlaps
    assert all(bar["submitted_h"] <= bar["started_h"] < 730.0 for bar in entry["bars"])
    assert all(bar["ended_h"] - bar["started_h"] == pytest.approx(1.0) for bar in entry["bars"])
    json.dumps(entry)


def test_more_people_have_more_runs_in_every_month() -> None:
    plan = small_plan({"jobs.work.runs_by_month": {2: 50}})
    plan["jobs"]["key"] = {**plan["jobs"]["work"], "class": "key"}
    assert people_jobs(plan) == ("work",)
    more = with_more_runs(plan, ("work",), 1.5)
    assert more["jobs"]["work"]["runs_per_month"] == 150
    assert more["jobs"]["work"]["runs_by_month"] == {2: 75}
    assert more["jobs"]["key"] == plan["jobs"]["key"]
    assert plan["jobs"]["work"]["runs_per_month"] == 100
    del plan["jobs"]["work"]
    assert people_jobs(plan) == ("key",)


def test_machines_are_kept_and_other_types_left_out_with_their_speeds() -> None:
    plan = small_plan()
    plan["machines"]["spare"] = dict(plan["machines"]["own"])
    plan["jobs"]["work"]["throughput"]["spare"] = 2
    kept = with_machines(plan, {"own": 3})
    assert list(kept["machines"]) == ["own"]
    assert kept["machines"]["own"]["count"] == 3
    assert kept["jobs"]["work"]["throughput"] == {"own": 1, "rented": 1}
    assert "spare" in plan["machines"]
    solve(kept)


def test_one_more_machine_costs_its_own_lines() -> None:
    before = strategy_entry(small_plan())
    after = strategy_entry(with_machines(small_plan(), {"own": 2}))
    # 1,500 USD less 625 USD of resale, and 730 h at 100 W for 0.10 USD/kWh a month
    assert extra_usd_per_month(before, after, 12) == pytest.approx((1500 - 625) / 12 + 7.3)
