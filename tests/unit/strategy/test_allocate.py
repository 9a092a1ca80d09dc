"""Choices of the named strategies: shares, candidates, numbers of machines, and what stands in the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planner.strategy.allocate import Allocation, allocate
from planner.strategy.candidates import Kind
from planner.strategy.problem import PlanProblem
from tests.planning import document, problem_of, small_plan


def plan_for(plan: dict[str, Any], kind: Kind) -> tuple[PlanProblem, Allocation]:
    problem = problem_of(plan)
    return problem, allocate(problem, problem.theta(), kind)


def shares(problem: PlanProblem, found: Allocation) -> dict[tuple[str, str], float]:
    """Share of runs by job and resource."""
    assert found.choice is not None
    return {
        (problem.jobs[pair.job].id, pair.resource): float(share)
        for pair, share in zip(problem.pairs, found.choice.routing[0], strict=True)
        if share
    }


def counts(found: Allocation) -> list[float]:
    assert found.choice is not None
    return [float(count) for count in found.choice.machine_count[0]]


def with_key_job(overrides: dict[str, Any] | None = None) -> dict[str, Any]:
    plan = small_plan({"machines.own.count": None})
    plan["jobs"]["late"] = {**plan["jobs"]["work"], "class": "key", "runs_per_month": 1}
    return {**plan, **(overrides or {})}


def test_shares_by_class() -> None:
    plan = with_key_job()
    assert shares(*plan_for(plan, "local")) == {("work", "own"): 1, ("late", "own"): 1}
    assert shares(*plan_for(plan, "cloud")) == {("work", "rented"): 1, ("late", "rented"): 1}
    assert shares(*plan_for(plan, "hybrid")) == {("work", "own"): 1, ("late", "rented"): 1}


def test_a_job_says_its_own_share() -> None:
    plan = with_key_job()
    plan["jobs"]["work"]["local_share"] = 0.25
    assert shares(*plan_for(plan, "hybrid")) == {("work", "own"): 0.25, ("work", "rented"): 0.75, ("late", "rented"): 1}
    assert shares(*plan_for(plan, "local"))["work", "own"] == 1


def test_in_house_jobs_stay_in_the_hybrid_and_rule_out_the_cloud() -> None:
    plan = with_key_job()
    plan["jobs"]["late"]["in_house"] = True
    problem, hybrid = plan_for(plan, "hybrid")
    assert shares(problem, hybrid)["late", "own"] == 1
    assert not hybrid.warnings
    _, cloud = plan_for(plan, "cloud")
    assert (cloud.choice, cloud.feasible) == (None, False)
    assert [(issue.code, issue.field) for issue in cloud.problems] == [("in_house_only", "jobs.late.in_house")]


def test_region_of_an_offer() -> None:
    plan = small_plan({"jobs.work.regions": ["eu-north"]})
    _, found = plan_for(plan, "cloud")
    assert [issue.code for issue in found.problems] == ["region_not_allowed"]
    assert found.problems[0].params["region"] == "unknown"
    plan["offers"]["rented"]["region"] = "eu-north"
    assert plan_for(plan, "cloud")[1].feasible


def test_a_side_without_candidates() -> None:
    plan = small_plan({"jobs.work.throughput": {"rented": 1}})
    plan["machines"] = {}
    local, hybrid = plan_for(plan, "local")[1], plan_for(plan, "hybrid")
    assert [(issue.code, issue.field) for issue in local.problems] == [("no_machines", "machines")]
    assert hybrid[1].feasible
    assert shares(*hybrid) == {("work", "rented"): 1}
    assert [(issue.code, issue.field) for issue in hybrid[1].warnings] == [("moved_to_rented", "jobs.work")]
    plan = small_plan({"rental.offers": []})
    assert [issue.code for issue in plan_for(plan, "cloud")[1].problems] == ["no_offers"]


@pytest.mark.parametrize("share", [0.5, 1])
def test_a_wanted_share_is_not_moved_silently(share: float) -> None:
    plan = small_plan({"jobs.work.local_share": share, "jobs.work.throughput": {"rented": 1}})
    plan["machines"] = {}
    assert [issue.code for issue in plan_for(plan, "hybrid")[1].problems] == ["no_machines"]


@pytest.mark.parametrize(("runs", "machines"), [(100, 1), (511, 1), (512, 2), (1022, 2), (1023, 3)])
def test_as_many_machines_as_hold_the_work_at_the_target(runs: float, machines: int) -> None:
    """511 h of work are 70 % of a month of 730 h."""
    plan = small_plan({"machines.own.count": None, "machines.own.target_utilisation": 0.7})
    plan["jobs"]["work"]["runs_per_month"] = runs
    assert counts(plan_for(plan, "local")[1]) == [machines]


def test_machines_that_are_there_are_kept() -> None:
    plan = small_plan(
        {
            "machines.own.count": None,
            "machines.own.owned": {"count": 3, "age_months": 1},
            "machines.own.useful_life_months": 48,
            "machines.own.residual_gpu": {24: 0.5},
            "machines.own.residual_host": {24: 0.5},
        }
    )
    assert counts(plan_for(plan, "local")[1]) == [3]
    assert counts(plan_for(plan, "cloud")[1]) == [0]


def test_a_fixed_number_is_bought_unless_all_is_rented() -> None:
    plan = small_plan({"machines.own.count": 2, "jobs.work.local_share": 0})
    assert [counts(plan_for(plan, kind)[1]) for kind in ("local", "hybrid", "cloud")] == [[2], [2], [0]]


def test_more_work_than_hours() -> None:
    _, found = plan_for(small_plan({"jobs.work.runs_per_month": 1460}), "local")
    (issue,) = found.problems
    assert (issue.code, issue.field) == ("over_capacity", "machines.own.count")
    assert issue.params == {"machine": "own", "count": 1, "busy_h": 1460.0, "available_h": 730.0, "needed": 3}
    assert found.choice is not None
    assert plan_for(small_plan({"jobs.work.runs_per_month": 730}), "local")[1].feasible


def test_above_the_target_is_a_warning() -> None:
    _, found = plan_for(small_plan({"jobs.work.runs_per_month": 657}), "local")
    assert found.feasible
    (issue,) = found.warnings
    assert (issue.code, issue.field) == ("above_target_utilisation", "machines.own.count")
    assert issue.params == {"machine": "own", "utilisation": pytest.approx(0.9), "target": 0.7}


def test_limit_of_time_holds_work_checkpoints_and_start_up() -> None:
    limits = {
        "offers.rented.startup_s": 900,
        "jobs.work.checkpoints": 1,
        "jobs.work.checkpoint_s": 900,
        "jobs.work.deadline_h": 1.4,
    }
    assert plan_for(small_plan(limits), "local")[1].feasible
    _, cloud = plan_for(small_plan(limits), "cloud")
    (issue,) = cloud.problems
    assert (issue.code, issue.field) == ("deadline_missed", "jobs.work.deadline_h")
    assert issue.params["needs_h"] == pytest.approx(1.5)
    assert plan_for(small_plan({**limits, "jobs.work.deadline_h": 1.5}), "cloud")[1].feasible


def test_a_dearer_offer_in_time_comes_before_a_cheaper_late_one() -> None:
    plan = small_plan({"jobs.work.deadline_h": 0.6})
    plan["offers"]["fast"] = {**plan["offers"]["rented"], "price_usd_per_h": 50}
    plan["rental"]["offers"] = ["rented", "fast"]
    plan["jobs"]["work"]["throughput"]["fast"] = 2
    assert shares(*plan_for(plan, "cloud")) == {("work", "fast"): 1}
    del plan["jobs"]["work"]["deadline_h"]
    assert shares(*plan_for(plan, "cloud")) == {("work", "rented"): 1}


def test_without_one_in_time_the_fastest_is_shown() -> None:
    plan = small_plan({"jobs.work.deadline_h": 0.1})
    plan["offers"]["fast"] = {**plan["offers"]["rented"], "price_usd_per_h": 50}
    plan["rental"]["offers"] = ["rented", "fast"]
    plan["jobs"]["work"]["throughput"]["fast"] = 2
    problem, found = plan_for(plan, "cloud")
    assert shares(problem, found) == {("work", "fast"): 1}
    assert [issue.code for issue in found.problems] == ["deadline_missed"]


def test_storage_can_make_the_dearer_offer_the_better_one() -> None:
    """Two jobs at one provider share its storage: that decides, not the hourly price alone."""
    plan = small_plan({"rental.storage_gb": 1000, "rental.storage_usd_per_gb_month": 1})
    plan["jobs"]["more"] = {**plan["jobs"]["work"], "throughput": {"first": 1}}
    plan["jobs"]["work"]["throughput"] = {"own": 1, "first": 1, "second": 1}
    base = plan["offers"].pop("rented")
    plan["offers"] = {"first": {**base, "price_usd_per_h": 2.1}, "second": base}
    plan["rental"]["offers"] = ["first", "second"]
    plan["jobs"]["more"]["regions"] = ["here"]
    plan["offers"]["first"]["region"] = "here"
    assert shares(*plan_for(plan, "cloud")) == {("work", "first"): 1, ("more", "first"): 1}
    plan["rental"]["storage_gb"] = 0
    assert shares(*plan_for(plan, "cloud")) == {("work", "second"): 1, ("more", "first"): 1}


def test_machine_types_are_chosen_by_present_value() -> None:
    plan = small_plan({"machines.own.count": None})
    plan["machines"]["thrifty"] = {**plan["machines"]["own"], "load_w": 200, "idle_w": 20}
    plan["jobs"]["work"]["throughput"]["thrifty"] = 1
    problem, found = plan_for(plan, "local")
    assert shares(problem, found) == {("work", "thrifty"): 1}
    assert counts(found) == [0, 1]


def test_a_full_machine_is_avoided_where_another_is_free() -> None:
    plan = small_plan({"jobs.work.runs_per_month": 700})
    plan["machines"]["spare"] = {**plan["machines"]["own"], "load_w": 5000}
    plan["jobs"]["more"] = {**plan["jobs"]["work"], "runs_per_month": 600}
    for job in plan["jobs"].values():
        job["throughput"] = {"own": 1, "spare": 1}
    problem, found = plan_for(plan, "local")
    assert found.feasible
    assert shares(problem, found) == {("work", "own"): 1, ("more", "spare"): 1}


def test_the_hybrid_lab_needs_its_node_for_key_runs() -> None:
    _, local = plan_for(document("hybrid-lab"), "local")
    (issue,) = local.problems
    assert (issue.code, issue.field) == ("too_many_gpus", "jobs.key.gpus")
    assert issue.params == {"job": "key", "resource": "workstation", "value": 8, "limit": 1}


def test_routing_sums_to_one() -> None:
    plan = with_key_job()
    plan["jobs"]["work"]["local_share"] = 0.3
    for kind in ("local", "cloud", "hybrid"):
        problem, found = plan_for(plan, kind)
        assert found.choice is not None
        of_job = np.array([pair.job for pair in problem.pairs])
        assert [found.choice.routing[0, of_job == job].sum() for job in range(2)] == pytest.approx([1, 1])
