"""The most work for a budget: what it says is planned within it, and a little more isn't."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.scenario.work_scale import scaled_runs
from planner.strategy.evaluate import searched
from planner.strategy.optimise.most_work import MOST_FACTOR, TOLERANCE, MostWork, most_work
from tests.mixes import small_mix
from tests.planning import problem_of, small_plan, solve
from tests.unit.cli.test_cli import TODAY, run


def found_for(plan: dict[str, Any], budget: float) -> MostWork:
    problem = problem_of({**plan, "limits": {"total_usd": budget}})
    return most_work(problem, problem.theta(), range(len(problem.jobs)))


def rented_only() -> dict[str, Any]:
    """100 hours a month at 2 USD: 2,400 USD in the year."""
    plan = small_plan()
    del plan["machines"]
    del plan["jobs"]["work"]["throughput"]["own"]
    return plan


@pytest.mark.parametrize("budget", [240, 2400, 4800, 24000])
def test_what_is_rented_by_the_hour_grows_with_the_budget(budget: float) -> None:
    found = found_for(rented_only(), budget)
    assert found.factor == pytest.approx(budget / 2400, rel=TOLERANCE)
    assert found.beyond is not None
    assert found.factor * 2400 <= budget + 0.01 < found.beyond * 2400 + 0.02
    assert found.beyond / found.factor <= 1 + TOLERANCE


@pytest.mark.parametrize("seed", [3, 6])
def test_a_plan_of_the_most_work_keeps_the_budget_and_a_little_more_work_has_none(seed: int) -> None:
    plan = small_mix(seed, few_runs=False)
    as_written = searched(solve(plan)).optimum
    assert as_written is not None
    assert as_written.evaluation is not None
    budget = 1.7 * float(as_written.evaluation.tco_usd[0])
    found = found_for(plan, budget)
    assert found.beyond is not None
    assert found.factor > 1
    for factor, there in ((found.factor, True), (found.beyond * (1 + TOLERANCE), False)):
        more = yaml.safe_load(yaml.safe_dump({**plan, "limits": {"total_usd": budget}}))
        for job in more["jobs"].values():
            job["runs_per_month"] *= factor * (1 - 1e-9)
        again = searched(solve(more)).optimum
        assert again is not None
        assert (again.choice is not None) == there, factor


def test_a_budget_of_nothing_pays_for_nothing_and_free_hours_for_some() -> None:
    assert found_for(rented_only(), 0).factor == 0
    plan = rented_only()
    plan["offers"]["rented"]["free_node_hours_per_month"] = 50
    assert found_for(plan, 0).factor == pytest.approx(0.5, rel=TOLERANCE)


def test_what_costs_next_to_nothing_isnt_limited_by_the_budget() -> None:
    plan = rented_only()
    plan["offers"]["rented"]["price_usd_per_h"] = 1e-3
    free = found_for(plan, 1e9)
    assert free.beyond is None
    assert free.factor >= MOST_FACTOR


def test_it_needs_a_budget() -> None:
    problem = problem_of(rented_only())
    with pytest.raises(ValueError, match="limit on the total"):
        most_work(problem, problem.theta(), [0])


def test_runs_of_single_months_grow_too_and_are_rounded_down() -> None:
    document = {"jobs": {"a": {"runs_per_month": 3, "runs_by_month": {2: 10, 5: 0}}, "b": {"runs_per_month": 1}}}
    assert scaled_runs(document, ["a"], 1 / 3) == {
        "jobs.a.runs_per_month": 1.0,
        "jobs.a.runs_by_month": {2: 3.33333, 5: 0.0},
    }


def test_the_command_plans_the_most_work(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    plan = rented_only()
    plan["jobs"]["other"] = {**plan["jobs"]["work"], "runs_per_month": 10}
    file = tmp_path / "plan.yaml"
    file.write_text(yaml.safe_dump(json.loads(json.dumps(plan))), encoding="utf-8")
    asked = ("optimise", str(file), "--json", *TODAY)
    status, out, err = run(capsys, *asked, "--budget", "5040", "--most-work", "work")
    assert (status, err) == (0, "")
    found = json.loads(out)
    most = found["most_work"]
    assert most["factor"] == pytest.approx(2.0, rel=TOLERANCE)
    assert {job["id"]: job["grows"] for job in most["jobs"]} == {"work": True, "other": False}
    assert most["total_usd"] <= 5040.01
    runs = {job["id"]: job["runs"] for job in most["jobs"]}
    assert runs["other"] == 120
    assert runs["work"] == pytest.approx(2400, rel=TOLERANCE)
    best = next(way for way in found["strategies"] if way["id"] == "optimal")
    assert best["tco_usd"] == most["total_usd"]
    assert (
        "times the work as written" in run(capsys, *asked[:2], *TODAY, "--budget", "5040 USD", "--most-work", "work")[1]
    )
    for wrong, word in (
        (("--most-work",), "no budget"),
        (("--budget", "5"), "without --most-work"),
        (("--budget", "5", "--most-work", "wrok"), "work"),
    ):
        status, _, err = run(capsys, *asked, *wrong)
        assert status == 2
        assert word in err
