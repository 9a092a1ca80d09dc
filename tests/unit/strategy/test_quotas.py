"""Quotas on rented GPUs: which offers they limit, what fits under them, and how long runs queue for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planner.errors import InputError, UnknownIdError
from planner.report.document import plan_document
from planner.report.text import plan_text
from planner.report.waiting import with_waiting
from planner.strategy.evaluate import Result, StrategyResult
from planner.strategy.kernel import Choice
from planner.strategy.quota_waiting import quota_waiting
from planner.strategy.quotas import quota_uses
from tests.planning import document, problem_of, small_plan, solve, strategy


def node(quota: dict[str, int], changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """640 hours a month on one instance of 8 H100, 800 in the last of nine months."""
    plan = document("committed-node", changes)
    del plan["rental"]["commitments"], plan["offers"]["reserved"]
    plan["rental"]["quota_gpus"] = quota
    return plan


def cloud(plan: dict[str, Any]) -> StrategyResult:
    return strategy(solve(plan), "cloud")


def test_the_busiest_month_must_fit() -> None:
    """800 h of 8 GPUs in month 9 are 6,400 GPU-hours: 8 GPUs have 5,840, and 16 would do."""
    found = cloud(node({"on-demand": 8}))
    (problem,) = found.allocation.problems
    assert (problem.code, problem.field) == ("over_quota", "rental.quota_gpus.on-demand")
    assert problem.params["gpu_h"] == pytest.approx(6_400)
    assert problem.params["available_h"] == pytest.approx(5_840)
    assert problem.params["needed"] == 16
    assert found.evaluation is not None  # it says by how much, and what it would cost
    assert cloud(node({"on-demand": 16})).feasible
    assert not cloud(node({"on-demand": 15})).feasible  # of 15 GPUs an instance of 8 leaves 7 unused


@pytest.mark.parametrize("id", ["on-demand", "h100-sxm5-80gb", "example"])
def test_a_quota_is_of_an_offer_a_gpu_or_a_provider(id: str) -> None:
    assert not cloud(node({id: 8})).feasible
    assert cloud(node({id: 16})).feasible
    assert cloud(node({"a100-sxm4-40gb": 0})).feasible


@pytest.mark.parametrize(
    ("quota", "gpus", "code", "needed"), [(0, 8, "quota_zero", 8), (4, 8, "quota_below_run", 8), (8, 16, None, 16)]
)
def test_a_quota_below_one_run_drops_the_offer(quota: int, gpus: int, code: str | None, needed: int) -> None:
    found = cloud(node({"example": quota}, {"jobs.train.gpus": gpus}))
    assert found.evaluation is None
    (problem,) = found.allocation.problems
    assert (problem.code, problem.field) == (code or "quota_below_run", "rental.quota_gpus.example")
    assert (problem.params["value"], problem.params["needed"]) == (quota, needed)


def test_a_model_that_needs_more_gpus_than_the_quota_says_so() -> None:
    changes = {
        "jobs.train": {"workload": "llama-2-7b", "tokens": 1e9, "runs_per_month": 1},
        "offers.on-demand.gpu_count": 1,
        "offers.on-demand.network_gbit_per_s": 400,
    }
    assert problem_of(node({}, changes)).pairs[0].feasible
    plan = node({"example": 1}, changes)
    (pair,) = problem_of(plan).pairs
    (problem,) = pair.problems
    assert problem.code == "quota_below_run"
    assert problem.params["needed"] > 1


def test_gpus_of_a_run_are_chosen_within_the_quota() -> None:
    job = {"workload": "bert-large-squad", "runs_per_month": 1, "deadline_h": 0.001}
    chosen = [
        problem_of(node(quota, {"jobs.train": job})).pairs[0].gpus for quota in ({"a100-sxm4-40gb": 8}, {"example": 17})
    ]
    assert chosen[0] > chosen[1]
    assert chosen[1] <= 16


def test_work_within_a_commitment_counts_there_and_the_rest_on_demand() -> None:
    """800 h: 730 under the commitment and 70 beyond it, times 8 GPUs."""
    plan = document("committed-node")
    plan["rental"]["quota_gpus"] = {"reserved": 8, "on-demand": 8, "example": 16}
    found = strategy(solve(plan), "cloud")
    assert found.feasible
    (entry,) = [entry for entry in plan_document(solve(plan))["strategies"] if entry["id"] == "cloud"]
    used = {quota["id"]: quota["busiest_gpu_h"] for quota in entry["quotas"]}
    assert used == pytest.approx({"reserved": 5_840, "on-demand": 560, "example": 6_400})
    plan["rental"]["quota_gpus"] = {"example": 7}
    with pytest.raises(InputError) as refused:
        problem_of(plan)
    assert (refused.value.code, refused.value.field) == ("quota_below_commitment", "rental.quota_gpus.example")


def test_another_offer_is_taken_where_the_cheapest_has_no_room() -> None:
    plan = node({"on-demand": 8})
    plan["offers"]["dearer"] = {**plan["offers"]["on-demand"], "price_usd_per_h": 120}
    plan["rental"]["offers"] = ["on-demand", "dearer"]
    found = cloud(plan)
    assert found.feasible
    assert [job.resource for job in found.jobs] == ["dearer"]


def test_shares_by_month_count_in_their_months() -> None:
    """A quarter of the runs in the first eight months and all 800 h of the ninth, times 8 GPUs."""
    problem = problem_of(node({"on-demand": 16}))
    shares = np.array([[0.25] * 8 + [1.0]])
    choice = Choice(machine_count=np.zeros((1, 0)), routing=shares.mean(axis=1, keepdims=True), by_month={0: shares})
    (use,) = quota_uses(problem, problem.theta(), choice)
    assert use.gpu_h == pytest.approx(6_400)
    (found,) = quota_waiting(problem, problem.theta(), choice)
    assert found.waiting is not None
    attempts = [month.attempts / found.waiting.repetitions for month in found.waiting.jobs[0].by_month]
    assert attempts == pytest.approx([160] * 8 + [800], rel=0.25)


def sweep(together: int, quota: int = 4) -> Result:
    """10-hour runs, so many submitted together, rarely, on a quota of a few GPUs."""
    plan = small_plan({"jobs.work.samples": 36_000, "jobs.work.runs_per_month": 1, "horizon_months": 84})
    plan["jobs"]["work"] |= {"submitted_together": together, "deadline_h": 35}
    plan["machines"], plan["jobs"]["work"]["throughput"] = {}, {"rented": 1}
    plan["rental"]["quota_gpus"] = {"rented": quota}
    return solve(plan)


def sweep_waits(together: int, quota: int) -> float:
    """Longest mean wait of the sweep."""
    result = sweep(together, quota)
    choice = strategy(result, "cloud").allocation.choice
    assert choice is not None
    (found,) = quota_waiting(result.problem, result.theta, choice)
    assert found.waiting is not None
    return found.waiting.jobs[0].wait.mean_h


def test_nobody_waits_for_a_quota_that_is_never_used_up() -> None:
    """A million GPUs are simulated as the few hundred that are ever held."""
    assert sweep_waits(20, 1_000_000) == 0
    assert sweep_waits(20, 60) < 0.1 < sweep_waits(20, 19)


def test_runs_submitted_together_queue_for_the_quota() -> None:
    """20 runs of 10 h on four GPUs start at 0, 10, 20, 30 and 40 h: 20 h on average; two in five end after 35 h."""
    result = sweep(20)
    found = with_waiting(plan_document(result), result)
    (entry,) = [entry for entry in found["strategies"] if entry["id"] == "cloud"]
    (quota,) = entry["quotas"]
    (job,) = quota["waiting"]["jobs"]
    assert job["wait_mean_h"] == pytest.approx(20, rel=0.1)
    assert job["wait_p90_h"] == pytest.approx(40, rel=0.1)
    assert job["late_share"] == pytest.approx(0.4, abs=0.05)
    assert "late_with_quota" in [warning["code"] for warning in found["warnings"]]
    assert "quota of 4 GPUs, rented" in plan_text(found)
    alone = with_waiting(plan_document(sweep(4)), sweep(4))
    (entry,) = [entry for entry in alone["strategies"] if entry["id"] == "cloud"]
    assert entry["quotas"][0]["waiting"]["jobs"][0]["wait_mean_h"] < 1


def test_unknown_names_come_with_the_nearest() -> None:
    with pytest.raises(UnknownIdError) as refused:
        problem_of(node({"on-demnad": 8}))
    assert refused.value.field == "rental.quota_gpus.on-demnad"
    assert refused.value.params["near"][0] == "on-demand"
    with pytest.raises(UnknownIdError) as refused:
        problem_of(node({"h100": 8}))
    assert all("h100" in name for name in refused.value.params["near"])  # not "a10", which has similar letters
    with pytest.raises(UnknownIdError):
        problem_of(small_plan({"rental.quota_gpus": {"own": 1}}))  # a machine isn't rented
