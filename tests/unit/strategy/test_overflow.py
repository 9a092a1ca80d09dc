"""What renting in time would take in a plan: how many attempts, where to, at what cost."""

from __future__ import annotations

from typing import Any

import pytest

from planner.report.document import plan_document
from planner.report.text import plan_text
from planner.report.waiting import waiting_entries, with_waiting
from planner.strategy.evaluate import Result
from tests.planning import evaluation, small_plan, solve, strategy

BUSY = {"jobs.work.runs_per_month": 500, "jobs.work.deadline_h": 3}


def mixed(changes: dict[str, object]) -> tuple[Result, dict[str, Any]]:
    result = solve(small_plan({**BUSY, **changes}))
    return result, waiting_entries(result, strategy(result, "hybrid"))["own"]["jobs"][0]


def test_attempts_that_would_be_late_go_to_the_cheapest_that_keeps_the_limit() -> None:
    result, job = mixed({})
    found = job["overflow"]
    assert job["late_share"] > 0.1
    assert 0.02 < found["share"] < job["late_share"]  # those that leave make room
    assert (found["resource"], found["late_share"]) == ("rented", 0.0)
    assert found["attempts"] == pytest.approx(500 * 12 * found["share"])
    assert found["cost_usd"] == pytest.approx(2.0 * found["attempts"])
    assert found["cost_usd_per_month"] == pytest.approx(found["cost_usd"] / 12)
    without = float(evaluation(strategy(result, "hybrid")).tco_usd[0])
    above_idle_usd = 0.5 * 0.1  # of an hour
    assert found["strategy_tco_usd"] == pytest.approx(without + found["attempts"] * (2.0 - above_idle_usd))


def test_failed_attempts_are_counted_one_by_one() -> None:
    _, job = mixed({"jobs.work.runs_per_month": 400, "jobs.work.attempts_per_run": 1.25})
    found = job["overflow"]
    assert found["attempts"] == pytest.approx(500 * 12 * found["share"])
    assert found["cost_usd"] == pytest.approx(2.0 * found["attempts"])


def test_fixed_costs_of_renting_are_in_the_total() -> None:
    people = {"staff.cost_usd_per_fte_year": 10_000, "staff.fte_cloud": 0.1}
    cheap, dear = (mixed(changes)[1]["overflow"]["strategy_tco_usd"] for changes in ({}, people))
    assert dear - cheap == pytest.approx(1000.0)


def test_disk_at_a_new_provider_counts_in_where_they_go() -> None:
    """A cent an hour less doesn't pay for the disk at a second provider, where another job is with the first."""
    plan = small_plan({**BUSY, "jobs.work.throughput": {"rtx-4090": 1}, "offers.rented.region": "here"})
    rare = {"runs_per_month": 1, "class": "key", "regions": ["here"], "deadline_h": None}
    plan["jobs"]["pinned"] = {**plan["jobs"]["work"], **rare}
    plan["offers"]["cheaper"] = {**plan["offers"]["rented"], "region": "there", "price_usd_per_h": 1.99}
    plan["rental"]["offers"] = ["rented", "cheaper"]

    def place() -> object:
        result = solve(plan)
        return waiting_entries(result, strategy(result, "hybrid"))["own"]["jobs"][0]["overflow"]["resource"]

    assert place() == "cheaper"
    plan["rental"] |= {"storage_gb": 1000, "storage_usd_per_gb_month": 0.1}
    assert place() == "rented"


def test_only_the_mix_and_only_jobs_that_may_leave_are_asked() -> None:
    assert mixed({"jobs.work.overflow": False})[1]["overflow"] is None
    assert mixed({"jobs.work.deadline_h": None})[1]["overflow"] is None
    assert mixed({"jobs.work.in_house": True})[1]["overflow"] is None
    own = waiting_entries(solve(small_plan(BUSY)), strategy(solve(small_plan(BUSY)), "local"))["own"]["jobs"][0]
    assert own["overflow"] is None


def test_nobody_leaves_where_nobody_waits_too_long() -> None:
    result, job = mixed({"jobs.work.runs_per_month": 1, "jobs.work.deadline_h": 500})
    found = job["overflow"]
    assert (found["share"], found["cost_usd"]) == (0.0, 0.0)
    assert found["strategy_tco_usd"] == pytest.approx(float(evaluation(strategy(result, "hybrid")).tco_usd[0]))


def test_where_nothing_rented_keeps_the_limit_it_is_said() -> None:
    slow = {"jobs.work.throughput": {"own": 1, "rented": 0.2}}
    result, job = mixed(slow)
    assert job["overflow"] == {
        "resource": None, "share": None, "attempts": None, "late_share": job["late_share"], "cost_usd": None,
        "cost_usd_per_month": None, "strategy_tco_usd": job["overflow"]["strategy_tco_usd"],
    }  # fmt: skip
    full = with_waiting(plan_document(result), result)
    (late,) = [
        entry for entry in full["warnings"] if entry["code"] == "late_with_waiting" and "Mix" in entry["message"]
    ]
    assert late["message"].endswith("; nothing that work may rent keeps its limit")
    assert "no rented machine that it may use keeps its limit" in plan_text(full)


def test_the_warning_and_the_text_say_what_it_would_cost() -> None:
    result, job = mixed({})
    full = with_waiting(plan_document(result), result)
    warnings = {
        entry["message"].split(": ")[1]: entry["message"]
        for entry in full["warnings"]
        if entry["code"] == "late_with_waiting"
    }
    assert "sent to rented in time would cost" in warnings["Mix"]
    assert "sent to" not in warnings["Own all"]
    text = plan_text(full)
    assert (
        f"of the attempts would go to rented, {job['overflow']['attempts']:,.3g} in all" in text or "in all for" in text
    )
