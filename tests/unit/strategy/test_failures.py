"""Failures of owned machines in a plan: hours that are left, work that is lost, waits that grow."""

from __future__ import annotations

import math

import pytest

from planner.errors import ScenarioError
from planner.performance.uptime import uptime_share
from planner.report.course import course_entry
from planner.report.document import plan_document
from planner.report.waiting import simulated, waiting_entries
from planner.strategy.evaluate import Result
from tests.planning import by_id, evaluation, problem_of, quantity, small_plan, solve, strategy

FAILURES = "machines.own.failures_per_year"
REPAIR = "machines.own.repair_h"
OFTEN = {FAILURES: 87.6, REPAIR: 100}  # every 100 hours for 100 hours
RESTART_H = 300 / 3600
CURVES = {"machines.own.residual_gpu": {84: 0.1}, "machines.own.residual_host": {84: 0.1}}


def local(changes: dict[str, object]) -> Result:
    return solve(small_plan(changes))


def lost(hours: float, mtbf_h: float = 100.0) -> float:
    """Expected hours of an attempt that starts again whenever its machine fails."""
    return mtbf_h * math.exp(RESTART_H / mtbf_h) * math.expm1(hours / mtbf_h)


def test_uptime_is_mean_time_between_failures_over_that_and_the_repair() -> None:
    assert uptime_share(87.6, 100.0, 730.0) == pytest.approx(0.5)
    assert uptime_share(87.6, 100.0, 365.0) == pytest.approx(2 / 3)  # half of the hours of a repair would have been off
    assert uptime_share(0.0, 100.0, 730.0) == 1.0


def test_what_a_failing_machine_has_left_is_booked_and_work_is_lost_on_it() -> None:
    found = evaluation(strategy(local(OFTEN), "local"))
    busy_h = 100 * lost(1.0)
    assert found.utilisation[0, 0] == pytest.approx(busy_h / (730 * 0.5))
    kwh = (busy_h * 600 + (365 - busy_h) * 100) / 1000 * 12  # nothing is drawn while it is away
    assert quantity(by_id(found)["electricity.own"]) == pytest.approx(kwh)
    (job,) = strategy(local(OFTEN), "local").jobs
    assert job.attempt_h == pytest.approx(lost(1.0))


def test_as_many_machines_are_bought_as_hold_the_work_between_failures() -> None:
    many = {"machines.own.count": None, "machines.own.target_utilisation": 1, "jobs.work.runs_per_month": 2000}
    assert evaluation(strategy(local(many), "local")).machine_count[0, 0] == 3
    failing = evaluation(strategy(local({**many, **OFTEN}), "local"))
    assert failing.machine_count[0, 0] == math.ceil(2000 * lost(1.0) / 365)
    full = strategy(local({"jobs.work.runs_per_month": 400, **OFTEN}), "local")
    (problem,) = full.allocation.problems
    assert (problem.code, problem.params["available_h"]) == ("over_capacity", pytest.approx(365.0))


def test_checkpoints_keep_what_was_done() -> None:
    long = {**OFTEN, "jobs.work.samples": 3600 * 100, "jobs.work.runs_per_month": 1}
    (unsaved,) = strategy(local(long), "local").jobs
    assert unsaved.attempt_h == pytest.approx(lost(100.0))
    (saved,) = strategy(local({**long, "jobs.work.checkpoints": 9}), "local").jobs
    assert saved.attempt_h == pytest.approx(10 * lost(10.0))


def test_failures_of_gpus_hold_those_of_machines() -> None:
    longer = {"jobs.work.restarts": True, "jobs.work.samples": 3600 * 100, "jobs.work.runs_per_month": 1}
    (gpus,) = strategy(local(longer), "local").jobs
    (both,) = strategy(local({**longer, FAILURES: 0.1, REPAIR: 0}), "local").jobs
    assert both.attempt_h == pytest.approx(gpus.attempt_h, rel=1e-12)  # 0.173 a GPU-year is more
    (more,) = strategy(local({**longer, FAILURES: 10, REPAIR: 0}), "local").jobs
    assert more.attempt_h > gpus.attempt_h


def test_none_by_default_and_typical_ones_by_name() -> None:
    assert problem_of(small_plan()).machines[0].failures is None
    never, plain = local({FAILURES: 0}), local({})
    assert strategy(never, "local").tco_usd == pytest.approx(strategy(plain, "local").tco_usd, abs=1e-9)
    figures = {figure["id"]: figure for figure in plan_document(local({FAILURES: "typical"}))["figures"]}
    assert (figures[FAILURES]["value"], figures[FAILURES]["high"]) == (0.05, 0.11)
    assert figures[FAILURES]["sources"] == ["assumptions:machine_failures_per_gpu_year"]
    assert figures[REPAIR]["sources"] == ["assumptions:repair_h"]


def test_turnaround_counts_repairs() -> None:
    def waits(changes: dict[str, object]) -> float:
        result = local({"jobs.work.runs_per_month": 20, **changes})
        entry = waiting_entries(result, strategy(result, "local"))["own"]["jobs"][0]
        return float(entry["turnaround_mean_h"])

    usual, failing = waits({}), waits(OFTEN)
    assert usual == pytest.approx(1.0, abs=0.05)
    assert failing > 25  # a run that comes at a random moment finds the machine away in half of the cases
    assert waits({FAILURES: 87.6, REPAIR: 1}) < failing / 10


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({FAILURES: "often"}, FAILURES),
        ({FAILURES: -1}, FAILURES),
        ({FAILURES: 9000}, FAILURES),
        ({FAILURES: 1, REPAIR: 10_000}, REPAIR),
        ({REPAIR: 24}, FAILURES),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, object], field: str) -> None:
    with pytest.raises(ScenarioError) as error:
        local(changes)
    assert [problem.field for problem in error.value.problems] == [field]


def test_runs_that_failures_never_let_end_are_refused() -> None:
    endless = {FAILURES: 8760, REPAIR: 1, "jobs.work.samples": 3600 * 50, "jobs.work.runs_per_month": 1}
    (problem,) = strategy(local(endless), "local").allocation.problems
    assert (problem.code, problem.field) == ("attempt_never_ends", "jobs.work.checkpoint_s")


@pytest.mark.parametrize("changes", [{}, {"jobs.work.checkpoints": 3}, {"jobs.work.restarts": True}])
def test_the_simulation_loses_what_the_core_expects_to_be_lost(changes: dict[str, object]) -> None:
    often = {FAILURES: 300, REPAIR: 2, "jobs.work.samples": 3600 * 20, "jobs.work.runs_per_month": 12}
    result = local({**often, "horizon_months": 84, "machines.own.useful_life_months": 84, **CURVES, **changes})
    local_way = strategy(result, "local")
    (own,) = simulated(result, local_way)
    course = own.waiting.typical
    held_h = float((course.ended_h - course.started_h).sum()) / len(course.whole(0)[0])
    assert len(course_entry(own)["repairs"]) >= 1
    (job,) = local_way.jobs
    assert job.attempt_h > 20.4  # of 20 hours of work
    assert held_h == pytest.approx(job.attempt_h, rel=0.03)
