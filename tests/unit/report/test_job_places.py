"""A job wherever it could run: the plan's own figures where it does, and what the plan would be elsewhere."""

from __future__ import annotations

import pytest

from planner.performance.start_wait import mean_start_wait_s
from planner.report.document import plan_document
from planner.report.job_places import JobPlaces
from tests.planning import CENT, document, small_plan, solve, strategy
from tests.unit.report.test_candidates import solved


def places(result, job):
    return JobPlaces(result).of(job)


@pytest.mark.parametrize("name", ["hybrid-lab", "spot-node", "workstation-or-rental"])
def test_where_the_plan_runs_a_job_the_figures_are_those_of_the_plan(name):
    result = solve(document(name))
    found = JobPlaces(result)
    way = strategy(result, result.recommendation.strategy)
    seen = 0
    for entry in next(one for one in plan_document(result)["strategies"] if one["id"] == way.id)["jobs"]:
        place = next(one for one in found.of(entry["id"]) if one.resource == entry["resource"])
        assert way.kind in place.ways and place.on_time and place.runs
        assert found.full_usd(place) == pytest.approx(entry["cost_per_run_usd"])
        assert place.marginal_usd == pytest.approx(entry["marginal_cost_per_run_usd"])
        assert place.attempt_h == pytest.approx(entry["time_to_train_h"])
        assert place.done_h >= place.attempt_h
        seen += 1
    assert seen


def test_elsewhere_the_full_cost_is_that_of_the_plan_with_the_job_moved_there():
    lab = document("hybrid-lab")
    result = solve(lab)
    found = JobPlaces(result)
    moved = next(one for one in found.of("daily") if one.resource == "a100-one")
    assert result.recommendation.strategy == "hybrid" and "hybrid" not in moved.ways
    lab["jobs"]["daily"]["local_share"] = 0.0
    lab["jobs"]["daily"]["throughput"].pop("a100-node")
    lab["jobs"]["daily"]["gpus"] = 1
    other = next(one for one in plan_document(solve(lab))["strategies"] if one["id"] == "hybrid")
    entry = next(job for job in other["jobs"] if job["id"] == "daily")
    assert entry["resource"] == "a100-one"
    assert found.full_usd(moved) == pytest.approx(entry["cost_per_run_usd"], abs=CENT)


def test_a_machine_that_the_plan_would_not_buy_is_bought_for_the_job():
    result = solve(small_plan({"offers.rented.price_usd_per_h": 0.1}))
    assert result.recommendation.strategy == "cloud"
    found = JobPlaces(result)
    own = next(one for one in found.of("work") if not one.rented)
    cards, power = 1500 - 500 - 125, 12 * (100 * 0.6 + 630 * 0.1) * 0.1
    assert found.full_usd(own) == pytest.approx((cards + power) / 1200)
    assert own.marginal_usd == pytest.approx(0.5 * 0.1)


def test_a_late_place_has_its_time_and_its_reason():
    late = next(one for one in places(solved(), "key") if one.resource == "workstation")
    assert late.runs and not late.on_time
    (reason,) = late.reasons
    assert (reason["code"], reason["field"]) == ("deadline_missed", "jobs.key.deadline_h")
    assert reason["params"]["needs_h"] == pytest.approx(late.done_h)
    assert late.done_low_h < late.done_h < late.done_high_h
    assert late.marginal_usd > 0


def test_a_place_where_it_does_not_fit_has_memory_and_reason_and_no_time_or_cost():
    result = solved(name="pretrain-7b")
    found = JobPlaces(result)
    tight = next(one for one in found.of("pretrain") if not one.runs)
    assert tight.reasons[0]["code"] == "does_not_fit"
    assert tight.memory_gb > tight.capacity_gb
    assert sum(tight.memory_parts_gb.values()) == pytest.approx(tight.memory_gb)
    assert (tight.done_h, tight.done_low_h, tight.marginal_usd, found.full_usd(tight)) == (None, None, None, None)


def test_what_takes_the_time_is_that_of_the_document():
    result = solved()
    found = JobPlaces(result)
    for way in plan_document(result)["strategies"]:
        for job in way["jobs"]:
            place = next(one for one in found.of(job["id"]) if one.resource == job["resource"])
            assert found.bottleneck(place) == job["bottleneck"]


def test_an_own_rate_says_nothing_of_parts_or_bottlenecks():
    result = solve(small_plan())
    found = JobPlaces(result)
    for place in found.of("work"):
        assert place.basis == "given"
        assert not place.memory_parts_gb and found.bottleneck(place) is None
        assert place.done_low_h is None


def test_a_job_that_must_stay_in_the_house_has_that_reason_on_every_offer():
    rented = [one for one in places(solved(**{"jobs.daily.in_house": True}), "daily") if one.rented]
    assert rented and all(one.reasons[0]["code"] == "in_house_only" and not one.runs for one in rented)


def test_what_a_limit_is_held_against_holds_the_wait_for_capacity():
    def rented(**changes):
        found = places(solve(small_plan({f"offers.rented.{key}": value for key, value in changes.items()})), "work")
        return next(one for one in found if one.rented)

    there, scarce = rented(), rented(available_share=0.5, retry_s=3600)
    assert scarce.attempt_h == there.attempt_h
    assert scarce.done_h - there.done_h == pytest.approx(mean_start_wait_s(0.5, 3600) / 3600)


def test_a_job_that_is_pinned_has_that_reason_elsewhere():
    own, rented = places(solve(small_plan({"jobs.work.only_on": ["own"]})), "work")
    assert own.on_time
    assert [reason["code"] for reason in rented.reasons] == ["pinned_elsewhere"]
