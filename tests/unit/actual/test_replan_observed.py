"""The rest of a plan after months that went otherwise: what was observed is carried over, and what changes by it."""

from __future__ import annotations

import pytest

from planner.actual.compare import strategy_to_follow
from planner.actual.document import actual_document
from planner.actual.outlook import rest_of
from planner.actual.planned import PlannedWay
from planner.actual.replan import replan
from planner.actual.run import RowsFile, against_plan, plan_anew
from planner.actual.text import actual_text
from planner.scenario.load import check_document
from tests.planning import TODAY, catalog, evaluation, evidence, small_plan, solve, strategy
from tests.unit.actual.replanning import codes, followed, observed


def test_observed_speed_attempts_and_price_are_carried_over() -> None:
    found, new = observed(small_plan(), "1,work,rented,100,120,150\n", "1,rented,rental,330,150\n")
    job = found.document["jobs"]["work"]
    assert job["throughput"]["rented"] == pytest.approx(0.8)  # 1.25 h for what took 1 h at 1 sample/s
    assert job["attempts_per_run"] == pytest.approx(1.2)
    assert found.document["offers"]["rented"]["price_usd_per_h"] == pytest.approx(2.2)
    assert codes(found) == ({"replan_speed", "replan_attempts", "replan_price"}, set())
    # 11 months of 100 runs, 1.2 attempts of 1.25 h at 2.20
    assert evaluation(strategy(new, "cloud")).opex_usd[0] == pytest.approx(11 * 100 * 1.2 * 1.25 * 2.2)


def test_speed_is_that_of_the_work_without_start_up_and_checkpoints() -> None:
    more = {"offers.rented.startup_s": 360, "jobs.work.checkpoints": 4, "jobs.work.checkpoint_s": 90}
    found, new = observed(small_plan(more), "1,work,rented,100,100,145\n")  # 0.1 h start-up, 0.1 h checkpoints
    assert found.document["jobs"]["work"]["throughput"]["rented"] == pytest.approx(1 / 1.25)
    assert evaluation(strategy(new, "cloud")).opex_usd[0] == pytest.approx(11 * 145 * 2)


def test_demand_is_scaled_by_what_was_measured_only_where_asked() -> None:
    plan = small_plan({"jobs.work.runs_by_month": {9: 40}})
    result = solve(plan)
    way = strategy_to_follow(result, "cloud")
    planned = PlannedWay(result, way).run("work", "rented")
    assert planned is not None
    rows = "".join(f"{at},work,rented,{planned.runs[at - 1] * 1.5},{planned.runs[at - 1]}\n" for at in (1, 2))
    hours = RowsFile(content=f"month,job,resource,runs,gpu_hours\n{rows}".encode(), file="h.csv")
    comparison = against_plan(check_document(plan), result, way, hours=hours, invoice=None)
    asked = [replan(plan, check_document(plan), comparison, 3, demand=each) for each in ("planned", "measured")]
    usual, more = (each.document["jobs"]["work"] for each in asked)
    assert more["runs_per_month"] == pytest.approx(1.5 * usual["runs_per_month"])
    assert (usual["runs_by_month"], more["runs_by_month"]) == ({7: 40}, {7: pytest.approx(60)})
    assert ["replan_demand" in codes(each)[0] for each in asked] == [False, True]


def test_few_runs_do_not_scale_demand() -> None:
    plan = small_plan()
    result = solve(plan)
    hours = RowsFile(content=b"month,job,resource,runs,gpu_hours\n1,work,rented,3,3\n", file="h.csv")
    comparison = against_plan(
        check_document(plan), result, strategy_to_follow(result, "cloud"), hours=hours, invoice=None
    )
    found = replan(plan, check_document(plan), comparison, 2, demand="measured")
    assert found.document["jobs"]["work"]["runs_per_month"] == plan["jobs"]["work"]["runs_per_month"]
    assert "replan_demand_few" in codes(found)[1]


def test_what_is_decided_otherwise_is_said_with_what_it_saves() -> None:
    base = small_plan()
    other = {"offers.other": {**base["offers"]["rented"], "price_usd_per_h": 2}, "jobs.work.throughput.other": 1}
    both = {**other, "rental.offers": ["rented", "other"]}
    plan, dear = (small_plan({**both, "offers.rented.price_usd_per_h": price}) for price in (1, 5))
    result, comparison = followed(plan, "cloud", 5)
    new = plan_anew(dear, check_document(dear), comparison, 6, catalog(), evidence(), today=TODAY)
    anew = actual_document(check_document(plan), result, comparison, new)["replan"]
    runs = pytest.approx(7 * 100)
    rented, instead = sorted(anew["changed"], key=lambda change: change["new"])
    assert rented == {"job": "work", "resource": "rented", "continued": runs, "new": 0}
    assert instead == {"job": "work", "resource": "other", "continued": 0, "new": runs}
    assert (anew["continued"]["total_usd"], anew["continued"]["fits"]) == (pytest.approx(3500), True)
    assert anew["saves_usd"] == anew["saves_present_value_usd"] == pytest.approx(2100)
    said = actual_text(actual_document(check_document(plan), result, comparison, new))
    assert "Decided otherwise: runs of work on other: 0 -> 700." in said and "saves +2,100.00 in cash" in said


def test_work_that_takes_longer_does_not_fit_as_it_was_decided() -> None:
    plan, slow = (
        small_plan({"machines.own.count": None, "jobs.work.runs_per_month": 500, "jobs.work.throughput.own": speed})
        for speed in (1, 0.5)
    )
    result, comparison = followed(plan, "local", 5)
    new = plan_anew(slow, check_document(slow), comparison, 6, catalog(), evidence(), today=TODAY)
    anew = actual_document(check_document(plan), result, comparison, new)["replan"]
    assert anew["continued"]["fits"] is False
    assert [change["job"] for change in anew["changed"]] == [None]


def test_without_attempts_hours_of_a_run_are_taken_for_speed_and_it_is_said() -> None:
    found, _ = observed(small_plan(), "1,work,rented,100,,125\n")
    assert found.document["jobs"]["work"]["throughput"]["rented"] == pytest.approx(0.8)
    assert codes(found) == ({"replan_speed_assumed"}, set())


def test_too_few_attempts_change_nothing_and_it_is_said() -> None:
    plan = small_plan({"jobs.work.runs_per_month": 9})
    found, _ = observed(plan, "1,work,rented,8,9,11\n")
    assert found.document["jobs"]["work"] == plan["jobs"]["work"]
    assert codes(found) == (set(), {"replan_speed_few", "replan_attempts_few"})


def test_hours_that_no_speed_explains_change_nothing() -> None:
    found, _ = observed(small_plan({"offers.rented.startup_s": 360}), "1,work,rented,100,100,5\n")
    assert codes(found) == (set(), {"replan_speed_unlike"})


def test_prices_with_tax_inside_stay_so() -> None:
    more = {
        "tax": {"rate": 0.25, "recoverable": True},
        "offers.rented.includes_tax": True,
        "offers.rented.price_usd_per_h": 2.5,
    }
    found, new = observed(small_plan(more), "1,work,rented,100,100,100\n", "1,rented,rental,220,100\n")
    assert found.document["offers"]["rented"]["price_usd_per_h"] == pytest.approx(2.75)
    assert evaluation(strategy(new, "cloud")).opex_usd[0] == pytest.approx(11 * 220)


def test_a_price_per_gpu_hour_makes_room_for_the_one_that_was_paid() -> None:
    offer = {**small_plan()["offers"]["rented"], "price_per_gpu_h": "2 USD"}
    del offer["price_usd_per_h"]
    plan = {**small_plan(), "offers": {"rented": offer}}
    found, _ = observed(plan, "1,work,rented,100,100,100\n", "1,rented,rental,150,\n")
    assert found.document["offers"]["rented"]["price_usd_per_h"] == pytest.approx(1.5)
    assert "price_per_gpu_h" not in found.document["offers"]["rented"]


def test_the_paid_tariff_becomes_that_of_the_site() -> None:
    found, new = observed(small_plan(), "1,work,own,100,100,100\n", "1,own,electricity,24.6,123\n", way="local")
    assert found.document["site"]["electricity_usd_per_kwh"] == pytest.approx(0.2)
    assert evaluation(strategy(new, "local")).opex_usd[0] == pytest.approx(11 * 24.6)


def test_machines_are_those_whose_cards_were_billed() -> None:
    rows = "1,work,own,100,100,100\n2,work,own,100,100,100\n3,work,own,100,100,100\n"
    found, _ = observed(small_plan(), rows, "1,own,gpu,1000,1\n3,own,gpu,2000,2\n", way="local")
    owned = found.document["machines"]["own"]["owned"]
    assert [(each["count"], each["age_months"]) for each in (owned, owned["others"]["batch2"])] == [(2, 1), (1, 3)]
    assert found.document["machines"]["own"]["count"] == 3
    assert codes(found) == ({"replan_machines_bought"}, set())


def test_machines_that_were_not_bought_are_bought_by_the_new_plan() -> None:
    found, new = observed(small_plan(), "1,work,own,0,0,0\n", "1,own,gpu,0,0\n", way="local")
    assert "owned" not in found.document["machines"]["own"]
    assert rest_of(evaluation(strategy(new, "local")), 1).purchase_usd == pytest.approx(1500)
