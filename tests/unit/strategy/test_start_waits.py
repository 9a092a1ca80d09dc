"""Rented instances that aren't always there: waits in time, not in money, and chances of being late."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planner.errors import InputError, ScenarioError
from planner.performance.start_wait import longer_wait_probability, mean_start_wait_s, percentile_start_wait_s
from planner.report.document import plan_document
from planner.report.text import plan_text
from planner.strategy.evaluate import Result, StrategyResult
from tests.planning import document, problem_of, small_plan, solve, strategy

RARE = {"offers.rented.available_share": 0.25, "offers.rented.retry_s": 1800}


def planned(changes: dict[str, Any] | None = None) -> Result:
    return solve(small_plan({**RARE, **(changes or {})}))


def cloud(changes: dict[str, Any] | None = None) -> StrategyResult:
    return strategy(planned(changes), "cloud")


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 1.0])
def test_formulas_against_drawn_tries(share: float) -> None:
    waits = (np.random.default_rng(1).geometric(share, 200_000) - 1) * 60.0
    assert mean_start_wait_s(share, 60.0) == pytest.approx(waits.mean(), rel=0.01, abs=1e-9)
    assert percentile_start_wait_s(share, 60.0, 0.9) == np.quantile(waits, 0.9, method="inverted_cdf")
    for limit_s in (-1.0, 0.0, 59.0, 60.0, 600.0):
        expected = (waits > limit_s).mean()
        assert longer_wait_probability(share, 60.0, limit_s) == pytest.approx(expected, abs=0.005)


def test_formulas_take_arrays() -> None:
    shares, retries = np.array([0.25, 0.5]), np.array([600.0, 60.0])
    assert np.asarray(mean_start_wait_s(shares, retries)).tolist() == [1800.0, 60.0]
    assert np.asarray(percentile_start_wait_s(shares, retries, 0.9)).tolist() == [4800.0, 180.0]
    assert np.asarray(longer_wait_probability(shares, retries, np.array([1200.0, -1.0]))).tolist() == [0.75**3, 1.0]


def test_the_wait_counts_in_time_and_costs_nothing() -> None:
    (job,) = cloud().jobs
    wait = job.start_wait
    assert wait is not None
    assert (wait.mean_h, wait.p90_h, wait.late_share) == (
        1.5,
        4.0,
        None,
    )  # three and eight more tries
    usual = strategy(solve(small_plan()), "cloud")
    assert usual.jobs[0].start_wait is None
    assert cloud().tco_usd == usual.tco_usd
    assert job.attempt_h == usual.jobs[0].attempt_h


def test_limits_count_the_expected_wait() -> None:
    """One hour of work after 1.5 h of waiting on average."""
    assert cloud({"jobs.work.deadline_h": 2.5}).feasible
    late = cloud({"jobs.work.deadline_h": 2.4})
    (problem,) = late.allocation.problems
    assert (problem.code, problem.params["needs_h"]) == ("deadline_missed", 2.5)


def test_the_gpus_of_a_run_are_chosen_with_the_wait() -> None:
    job = {"workload": "llama-2-7b", "tokens": 1e10, "runs_per_month": 1}
    alone = problem_of(document("committed-node", {"jobs.train": job})).pairs[0]
    hours = alone.work / alone.fit.throughput / 3600
    job |= {"deadline_h": hours * 1.1}
    half = {"offers.on-demand.available_share": 0.5, "offers.on-demand.retry_s": 0.2 * 3600 * hours}
    for changes, nodes in ({}, 1), (half, 2):
        pair = problem_of(document("committed-node", {"jobs.train": job, **changes})).pairs[0]
        assert (pair.resource, pair.nodes) == ("on-demand", nodes)


def test_the_chance_of_being_late_is_said() -> None:
    """Of 2.5 h, 1.5 are left to wait: four tries, all refused in 0.75^4 = 31.6 % of the cases."""
    result = planned({"jobs.work.deadline_h": 2.5})
    (job,) = strategy(result, "cloud").jobs
    assert job.start_wait is not None
    assert job.start_wait.late_share == pytest.approx(0.75**4)
    assert "late_with_capacity" in [issue.code for issue in result.warnings]
    text = plan_text(plan_document(result))
    assert "instances are there in 25 % of the tries" in text
    assert "32 % end after 2.5 h" in text
    sure = planned({"jobs.work.deadline_h": 12})
    assert "late_with_capacity" not in [issue.code for issue in sure.warnings]


def test_the_figures_are_cited() -> None:
    figures = {figure["id"]: figure for figure in plan_document(planned({"offers.rented.retry_s": None}))["figures"]}
    assert figures["offers.rented.available_share"]["sources"] == ["scenario"]
    assert figures["offers.rented.retry_s"]["sources"] == ["assumptions:rented_retry_s"]


def test_beyond_a_commitment_the_wait_is_that_of_the_overflow() -> None:
    result = solve(document("committed-node", {"offers.on-demand.available_share": 0.5, "jobs.train.deadline_h": 1}))
    (job,) = strategy(result, "cloud").jobs
    assert (job.resource, job.start_wait and job.start_wait.offer) == ("reserved", "on-demand")
    assert strategy(result, "cloud").feasible  # what is committed starts at once
    assert "late_with_capacity" not in [issue.code for issue in result.warnings]


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InputError) as refused:
        problem_of(document("committed-node", {"offers.reserved.available_share": 0.5}))
    assert (refused.value.code, refused.value.field) == ("available_committed", "offers.reserved.available_share")
    for changes in (
        {"offers.rented.available_share": 0},
        {"offers.rented.available_share": 1.5},
        {"offers.rented.retry_s": 60},
        {"offers.rented.available_share": 0.5, "offers.rented.retry_s": 0},
    ):
        with pytest.raises(ScenarioError):
            problem_of(small_plan(changes))
