"""Jobs on resources: work, whole nodes, speeds of the user's own, and names that mean nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from planner.errors import InputError, UnknownIdError
from planner.messages import render
from planner.performance.duration import attempt_parts
from planner.performance.estimate import Prediction, Setup, estimate
from planner.scenario.load import check_document
from planner.strategy.problem import PlanProblem
from planner.strategy.resolve import resolve
from planner.strategy.sessions import attempt_s
from tests.planning import TODAY, evidence, problem_of, shipped_catalog, small_plan, solve, strategy


def shipped_problem_of(plan: dict[str, Any]) -> PlanProblem:
    return resolve(check_document(plan), shipped_catalog(), evidence(), today=TODAY)


@pytest.mark.parametrize(
    ("job", "work"),
    [
        ({"workload": "bert-large-squad"}, 88524 * 2),
        ({"workload": "bert-large", "epochs": 3}, 88524 * 3),
        ({"workload": "bert-large", "samples": 100}, 200),
        ({"workload": "gpt-1.3b"}, 26e9),
        ({"workload": "gpt-1.3b", "tokens": 1e9}, 1e9),
    ],
)
def test_work_of_an_attempt(job: dict[str, Any], work: float) -> None:
    plan = small_plan()
    base = {key: value for key, value in plan["jobs"]["work"].items() if key not in ("workload", "samples", "epochs")}
    plan["jobs"]["work"] = base | job
    assert {pair.work for pair in problem_of(plan).pairs} == {work}


@pytest.mark.parametrize(
    ("overrides", "field"),
    [
        ({"jobs.work.workload": "gpt-1.3b"}, "jobs.work.samples"),
        ({"jobs.work.samples": None, "jobs.work.epochs": None, "jobs.work.tokens": 5}, "jobs.work.tokens"),
    ],
)
def test_work_in_the_other_unit(overrides: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        problem_of(small_plan(overrides))
    assert (caught.value.code, caught.value.field) == ("wrong_unit", field)


@pytest.mark.parametrize(
    ("overrides", "field", "near"),
    [
        ({"jobs.work.workload": "bert-larg"}, "jobs.work.workload", "bert-large-squad"),
        ({"jobs.work.throughput.rentd": 3}, "jobs.work.throughput.rentd", "rented"),
        ({"machines.own.gpu": "rtx-4080"}, "machines.own.gpu", "rtx-4090"),
        ({"machines.own.host": "workstation"}, "machines.own.host", "workstation-1"),
        ({"site.id": "us-averag"}, "site.id", "us-average"),
        ({"offers.rented.gpu": "h100"}, "offers.rented.gpu", "h100-sxm5-80gb"),
    ],
)
def test_unknown_names_come_with_near_ones(overrides: dict[str, Any], field: str, near: str) -> None:
    with pytest.raises(UnknownIdError) as caught:
        problem_of(small_plan(overrides))
    assert caught.value.field == field
    assert near in caught.value.params["near"]


def test_speed_of_a_resource_comes_before_that_of_its_gpu() -> None:
    plan = small_plan({"jobs.work.throughput": {"rtx-4090": 5, "rented": 7}})
    problem = problem_of(plan)
    speeds = {pair.resource: float(problem.theta()[0, pair.throughput_at]) for pair in problem.pairs}
    assert speeds == {"own": 5, "rented": 7}
    assert {pair.fit.basis for pair in problem.pairs} == {"measured"}
    assert problem.parameters[problem.pairs[0].throughput_at].sources == ("scenario",)


def test_without_a_number_a_measured_run_uses_the_whole_node() -> None:
    plan = small_plan({"jobs.work.gpus": None, "offers.rented.gpu": "a100-sxm4-80gb", "offers.rented.gpu_count": 8})
    pairs = {pair.resource: (pair.gpus, pair.nodes) for pair in problem_of(plan).pairs}
    assert pairs == {"own": (1, 1), "rented": (8, 1)}


def test_more_gpus_than_a_measured_place_has() -> None:
    """Such a place drops out with its reason, as one with an estimated speed does."""
    for pair in problem_of(small_plan({"jobs.work.gpus": 2})).pairs:
        (issue,) = pair.problems
        assert (issue.code, issue.field) == ("too_many_gpus", "jobs.work.gpus")
        assert (issue.params["resource"], issue.params["limit"]) == (pair.resource, 1)


def test_currency_of_the_plan() -> None:
    assert problem_of(small_plan({"currency": "CNY"})).usd_per_unit == 0.14
    assert problem_of(small_plan({"currency": "CNY", "currencies.CNY.usd_per_unit": 0.15})).usd_per_unit == 0.15
    assert problem_of(small_plan()).usd_per_unit == 1
    with pytest.raises(InputError) as caught:
        problem_of(small_plan({"currency": "XXX"}))
    assert (caught.value.code, caught.value.field) == ("unknown_currency", "currency")
    with pytest.raises(InputError) as caught:
        problem_of(small_plan({"currencies.USD.usd_per_unit": 2}))
    assert caught.value.code == "usd_rate_fixed"


def test_a_job_that_fits_nowhere_says_what_would_make_it_fit() -> None:
    plan = small_plan()
    work = {"workload": "llama-2-7b", "tokens": 1000000, "gpus": 1, "runs_per_month": 1}
    plan["jobs"]["work"] = work
    pairs = {pair.resource: pair for pair in shipped_problem_of(plan).pairs}
    (issue,) = pairs["own"].problems
    assert issue.code == "does_not_fit"
    assert str(issue.params["remedy"]).startswith("LoRA, which trains adapters only: 17.5 GB a GPU")
    assert "the cheapest change: LoRA" in render(issue.code, field=issue.field, **issue.params)


def test_more_machines_than_there_are_make_nothing_fit() -> None:
    plan = small_plan()
    plan["jobs"]["work"] = {"workload": "llama-2-70b", "tokens": 1000000, "gpus": 1, "runs_per_month": 1}
    pairs = {pair.resource: pair for pair in shipped_problem_of(plan).pairs}
    (issue,) = pairs["own"].problems
    assert issue.params["remedy"] is None
    assert "cheapest change" not in render(issue.code, field=issue.field, **issue.params)


def test_a_job_with_adapters_is_planned_with_them() -> None:
    plan = small_plan()
    work = {"workload": "llama-2-7b", "tokens": 1000000, "gpus": 1, "runs_per_month": 1}
    plan["jobs"] = {
        "small": {**work, "method": "qlora", "optimizer": "adamw-8bit"},
        "large": {**work, "method": "lora", "adapter_rank": 32, "adapter_targets": "all"},
        "rank": {**work, "method": "lora", "adapter_rank": 32},
        "usual": {**work, "method": "lora"},
    }
    small, large, rank, usual = [pair for pair in shipped_problem_of(plan).pairs if pair.resource == "own"]
    assert small.feasible and large.feasible
    assert (small.fit.settings["method"], small.fit.settings["optimizer"]) == ("qlora", "adamw-8bit")
    assert (large.fit.settings["method"], large.fit.settings["optimizer"]) == ("lora", "adamw-16")
    assert len({pair.fit.memory_gb for pair in (small, large, rank, usual)}) == 4


def attempt_h(**job: Any) -> float:
    """One attempt of an hour's work on the rented card, with changes of the job."""
    plan = small_plan()
    plan["jobs"]["work"] |= job
    problem = problem_of(plan)
    (pair,) = [pair for pair in problem.pairs if pair.resource == "rented"]
    return float(attempt_s(pair, problem.theta())[0]) / 3600


def test_evaluation_takes_its_share_of_the_time() -> None:
    assert attempt_h() == pytest.approx(1)
    assert attempt_h(eval_share=0.25) == pytest.approx(1.25)
    assert attempt_h(eval_share=0.25, checkpoints=2, checkpoint_s=90) == pytest.approx(1.25 + 180 / 3600)


def test_interruptions_count_where_they_are_asked_for() -> None:
    months = {"samples": 3600 * 2000, "deadline_h": 5000}
    assert attempt_h(**months) == pytest.approx(2000)
    expected = attempt_parts(
        2000 * 3600.0, gpus=1, checkpoint_s=30.0, interruptions_per_gpu_year=0.173, restart_s=300.0
    ).total_h
    assert attempt_h(**months, restarts=True) == pytest.approx(expected)
    assert 1 < expected / 2000 < 1.002
    longer = attempt_h(samples=3600 * 3000, deadline_h=5000, restarts=True)
    assert attempt_h(**months, eval_share=0.5, restarts=True) == pytest.approx(longer)
    given = {"checkpoints": 9, "checkpoint_s": 7200}
    assert attempt_h(**months, **given, restarts=True) > attempt_h(**months, **given) == pytest.approx(2018)
    free = attempt_h(**months, checkpoints=1000, restarts=True)
    assert 2000 < free < attempt_h(**months, restarts=True)  # as given, they cost nothing


def test_attempts_multiply_runs_and_cost_but_not_the_time_of_one() -> None:
    once, twice = small_plan(), small_plan({"jobs.work.attempts_per_run": 2})
    (one,), (two,) = (strategy(solve(plan), "cloud").jobs for plan in (once, twice))
    assert two.attempt_h == one.attempt_h
    assert two.cost.amortised_usd == pytest.approx(2 * one.cost.amortised_usd)


def test_interruptions_lengthen_the_likely_range_and_cost() -> None:
    plan = small_plan({"jobs.work.samples": 3600 * 100, "jobs.work.runs_per_month": 1})
    (calm,) = strategy(solve(plan), "cloud").jobs
    plan["jobs"]["work"]["restarts"] = True
    result = solve(plan)
    (job,) = strategy(result, "cloud").jobs
    assert job.attempt_h > calm.attempt_h == 100
    assert job.cost.amortised_usd == pytest.approx(calm.cost.amortised_usd * job.attempt_h / 100, rel=1e-4)
    ids = {parameter.id: parameter.sources for parameter in result.problem.parameters}
    assert ids["interruptions_per_gpu_year"] == ("assumptions:interruptions_per_gpu_year",)
    assert ids["jobs.work.checkpoint_s"] == ("assumptions:checkpoint_s",)


def test_a_limit_on_time_counts_evaluation_and_interruptions() -> None:
    plan = small_plan()
    plan["jobs"]["work"] = {"workload": "llama-2-7b", "tokens": 10**9, "runs_per_month": 0.1, "method": "lora"}
    plan["machines"]["own"]["gpus"] = 4

    def gpus(**job: Any) -> int:
        changed = {**plan, "jobs": {"work": {**plan["jobs"]["work"], **job}}}
        (pair,) = [pair for pair in shipped_problem_of(changed).pairs if pair.resource == "own"]
        return pair.gpus

    (alone,) = [pair for pair in shipped_problem_of(plan).pairs if pair.resource == "own"]
    hours = alone.work / alone.fit.throughput / 3600
    assert gpus(deadline_h=hours * 1.0001) == 1
    assert gpus(deadline_h=hours * 1.0001, restarts=True) == 2
    assert gpus(deadline_h=hours * 1.0001, eval_share=0.01) == 2


def test_speeds_are_estimated_once_for_a_catalog_and_its_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counting(setup: Setup, *args: Any) -> Prediction:
        asked.append(setup.gpus)
        return estimate(setup, *args)

    monkeypatch.setattr("planner.strategy.resolve.pairs.estimate", counting)
    plan = small_plan()
    del plan["jobs"]["work"]["throughput"]
    known, other = replace(evidence()), replace(shipped_catalog())
    for runs in (1, 2):
        plan["jobs"]["work"]["runs_per_month"] = runs
        resolve(check_document(plan), shipped_catalog(), known, today=TODAY)
    once = len(asked)
    assert once > 0
    resolve(check_document(plan), other, known, today=TODAY)
    assert len(asked) == 2 * once
    resolve(check_document(plan), shipped_catalog(), replace(evidence()), today=TODAY)
    assert len(asked) == 3 * once
