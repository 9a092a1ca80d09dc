"""Waits summed up over repeated courses, and of a plan's own machines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.report.document import plan_document
from planner.report.text import plan_text
from planner.report.waiting import waiting_entries, with_waiting
from planner.strategy.allocate import allocate
from planner.strategy.queueing import summary
from planner.strategy.queueing.breakdowns import Failing
from planner.strategy.queueing.simulate import Pool
from planner.strategy.queueing.streams import Stream
from planner.strategy.queueing.summary import Spread, simulable, simulate_waiting
from planner.strategy.waiting import machine_waiting
from planner.units import H_PER_MONTH
from tests.planning import document, problem_of, small_plan, solve, strategy


def stream(id: str, runs: float, months: int = 12, **changes: object) -> Stream:
    return Stream(**{"id": id, "runs_per_month": (runs,) * months, "duration_h": 10.0, **changes})  # type: ignore[arg-type]


def test_a_spread_is_mean_median_and_ninetieth_percentile() -> None:
    assert Spread.of(np.arange(11.0)) == Spread(mean_h=5.0, p50_h=5.0, p90_h=9.0)


def test_rare_jobs_are_simulated_more_often() -> None:
    pool = Pool(machines=40, gpus=1)
    often = simulate_waiting(pool, [stream("often", 100.0)], [None])
    assert (often.months, often.repetitions) == (12, 4)
    rare = simulate_waiting(pool, [stream("rare", 1.0)], [None])
    assert rare.repetitions == 34  # 400 runs, at 12 a course
    assert rare.jobs[0].runs == pytest.approx(400, abs=60)


def test_long_waits_are_simulated_until_their_mean_is_known() -> None:
    """M/D/1 at a load of 0.7: 7 h / 0.6; a single year is 15 % off now and then."""
    one = stream("equal", 0.7 * H_PER_MONTH / 10.0)
    found = simulate_waiting(Pool(machines=1, gpus=1), [one], [None])
    (job,) = found.jobs
    assert found.repetitions > 4
    assert job.wait_error_h is not None
    assert 0 < job.wait_error_h <= 0.03 * job.wait.mean_h
    assert job.wait.mean_h == pytest.approx(7.0 / 0.6, abs=3 * job.wait_error_h)


def test_the_error_of_a_mean_is_that_of_its_courses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Means of other seeds lie as far apart as each says of itself."""
    monkeypatch.setattr(summary, "_MOST_ATTEMPTS", 5_000)  # eight courses each
    one = stream("equal", 0.7 * H_PER_MONTH / 10.0)
    jobs = [simulate_waiting(Pool(machines=1, gpus=1), [one], [None], seed=100 * at).jobs[0] for at in range(16)]
    said = np.mean([job.wait_error_h for job in jobs])
    assert np.std([job.wait.mean_h for job in jobs]) == pytest.approx(said, rel=0.5)


def test_the_error_of_a_single_course_is_seen_in_its_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "_MOST_ATTEMPTS", 1)
    one = stream("equal", 0.7 * H_PER_MONTH / 10.0)
    found = [simulate_waiting(Pool(machines=1, gpus=1), [one], [None], seed=100 * at) for at in range(16)]
    said = np.mean([each.jobs[0].wait_error_h for each in found])
    assert {each.repetitions for each in found} == {1}
    assert np.std([each.jobs[0].wait.mean_h for each in found]) == pytest.approx(said, rel=0.5)


def test_long_courses_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "_MOST_OF_ONE", 20_000)
    monkeypatch.setattr(summary, "_MOST_ATTEMPTS", 6_000)
    crowd = simulate_waiting(Pool(machines=10, gpus=1), [stream("crowd", 5_000.0, duration_h=0.1)], [None])
    assert crowd.months == 4
    assert crowd.repetitions == 1


def test_failures_count_among_what_makes_courses_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "_MOST_OF_ONE", 2_000)
    failing = Pool(machines=10, gpus=1, failing=Failing(per_h=0.1, repair_h=1.0))  # 730 a month of all machines
    assert simulate_waiting(failing, [stream("usual", 10.0)], [None]).months == 2
    assert simulable(failing, [stream("usual", 10.0)])
    assert not simulable(replace(failing, machines=40), [stream("usual", 10.0)])


def test_late_attempts_count_their_wait() -> None:
    together = stream("sweep", 12.0, together=4)
    on_one = simulate_waiting(Pool(machines=1, gpus=1), [together], [25.0])
    assert on_one.jobs[0].late_share is not None
    assert on_one.jobs[0].late_share >= 0.5  # of four in a row, the third and fourth end after 30 and 40 h
    on_four = simulate_waiting(Pool(machines=40, gpus=1), [together], [25.0])
    assert on_four.jobs[0].late_share == 0.0
    assert on_four.jobs[0].turnaround.p90_h == pytest.approx(10.0)


def test_a_plans_jobs_wait_for_its_machines_by_their_share_and_machine_count() -> None:
    plan = small_plan({"jobs.work.local_share": 0.5, "machines.own.count": 1})
    problem = problem_of(plan)
    theta = problem.theta()
    choice = allocate(problem, theta, "hybrid").choice
    assert choice is not None
    (own,) = machine_waiting(problem, theta, choice)
    assert (own.machine, own.count) == ("own", 1)
    (job,) = own.waiting.jobs
    runs = plan["jobs"]["work"]["runs_per_month"] * plan["horizon_months"] * 0.5 * own.waiting.repetitions
    assert job.runs == pytest.approx(runs, rel=0.2)
    (more,) = machine_waiting(problem, theta, choice, more=1)
    assert more.count == 2
    assert more.waiting.jobs[0].wait.mean_h <= job.wait.mean_h


def test_priority_sweeps_and_office_hours_of_a_job_reach_the_simulation() -> None:
    plan = small_plan({"machines.own.count": 1})
    usual = waiting_entries(solve(plan), strategy(solve(plan), "local"))["own"]["jobs"][0]
    plan["jobs"]["work"] |= {"submitted_together": 20, "arrivals": "office_hours"}
    swept = waiting_entries(solve(plan), strategy(solve(plan), "local"))["own"]["jobs"][0]
    assert swept["wait_mean_h"] > 2 * usual["wait_mean_h"]
    plan["jobs"]["urgent"] = plan["jobs"]["work"] | {"priority": 9, "submitted_together": 1}
    both = waiting_entries(solve(plan), strategy(solve(plan), "local"))["own"]["jobs"]
    waits = {job["id"]: job["wait_mean_h"] for job in both}
    assert waits["urgent"] < waits["work"] / 2


def test_the_document_and_the_text_of_a_plan_carry_waits() -> None:
    result = solve(document("hybrid-lab"))
    bare = plan_document(result)
    full = with_waiting(bare, result)
    (machine,) = next(entry for entry in full["strategies"] if entry["id"] == "hybrid")["machines"]
    (job,) = machine["waiting"]["jobs"]
    assert job["id"] == "daily"
    assert job["wait_p50_h"] <= job["wait_mean_h"] <= job["wait_p90_h"] or job["wait_p90_h"] == 0
    assert job["turnaround_mean_h"] > job["wait_mean_h"]
    assert "waits for" in plan_text(full)
    assert "waits for" not in plan_text(bare)
    again = with_waiting(bare, result)
    assert again == full


def test_waiting_that_often_makes_late_is_a_warning() -> None:
    plan = small_plan({"machines.own.count": 1})
    plan["jobs"]["work"] |= {"submitted_together": 50, "deadline_h": 30}
    result = solve(plan)
    bare = plan_document(result)
    full = with_waiting(bare, result)
    late = [warning for warning in full["warnings"] if warning["code"] == "late_with_waiting"]
    assert [warning["field"] for warning in late][:1] == ["jobs.work.deadline_h"]
    assert late[0]["message"].startswith("work on own: Own all: ")
    assert "late_with_waiting" not in {warning["code"] for warning in bare["warnings"]}
    plan["jobs"]["work"]["deadline_h"] = 30_000
    calm = solve(plan)
    assert "late_with_waiting" not in {
        warning["code"] for warning in with_waiting(plan_document(calm), calm)["warnings"]
    }


def test_few_simulated_runs_have_no_ninetieth_percentile_in_the_text() -> None:
    result = solve(document("hybrid-lab"))
    full = with_waiting(plan_document(result), result)
    for strategy_entry in full["strategies"]:
        for machine in strategy_entry["machines"]:
            for job in machine["waiting"]["jobs"]:
                job["runs"] = 19
    assert "too few runs" in plan_text(full)


@pytest.mark.parametrize(
    "changes",
    [{"jobs.work.attempts_per_run": 1e6}, {"jobs.work.runs_per_month": 1e9, "machines.own.count": None}],
)
def test_what_is_too_large_to_simulate_is_left_out_at_once(changes: dict[str, object]) -> None:
    result = solve(small_plan(changes))
    full = with_waiting(plan_document(result), result)
    local = next(entry for entry in full["strategies"] if entry["id"] == "local")
    assert [machine["waiting"] for machine in local["machines"]] == [None]
