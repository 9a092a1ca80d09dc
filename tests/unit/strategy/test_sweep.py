"""A sweep: every point is the plan with its values, however computed; kept plans; points that can't be planned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from planner.errors import PlannerError
from planner.messages import render
from planner.scenario.axes import as_input, parse_axes
from planner.scenario.load import check_document
from planner.scenario.paths import with_overrides
from planner.strategy.allocate import allocate
from planner.strategy.candidates import KINDS
from planner.strategy.evaluate import evaluate
from planner.strategy.kernel import kernel
from planner.strategy.sweep import Sweep
from planner.strategy.sweep_rows import SweepPoint
from tests.planning import TODAY, catalog, document, evidence, problem_of, small_plan

LAB = document("hybrid-lab")


def sweep_of(plan: Mapping[str, Any], *axes: str, keep_plan: bool = False) -> Sweep:
    return Sweep(plan, parse_axes(axes), catalog(), evidence(), today=TODAY, keep_plan=keep_plan)


def assert_is_the_plan(point: SweepPoint, plan: Mapping[str, Any], sweep: Sweep) -> None:
    """That a point says what `plan` says with its values set."""
    values = {axis.path: as_input(value) for axis, value in zip(sweep.axes, point.values, strict=True)}
    try:
        result = evaluate(check_document(with_overrides(plan, values)), catalog(), evidence(), today=TODAY)
    except PlannerError as error:
        assert (point.problem, point.ways) == (str(error), ())
        return
    assert point.recommended == result.recommendation.strategy
    for way, expected in zip(point.ways, result.strategies, strict=True):
        assert (way.id, way.feasible) == (expected.id, expected.feasible)
        if not expected.feasible:
            issue = expected.allocation.problems[0]
            assert way.problem == render(issue.code, field=issue.field, **issue.params)
        if expected.evaluation is None:
            assert not way.planned
            continue
        for name in ("present_value_usd", "tco_usd", "capex_usd", "kwh", "kg_co2e"):
            found, wanted = getattr(way, name), float(getattr(expected.evaluation, name)[0])
            assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9), name
        machines = zip(result.problem.machines, expected.evaluation.machine_count[0], strict=True)
        assert way.machine_count == {machine.id: int(count) for machine, count in machines}
        for job in result.problem.jobs:
            hours = [found.attempt_h for found in expected.jobs if found.job == job.id]
            assert way.slowest[job.id].turnaround_h >= max(hours) * (1 - 1e-12)


@pytest.mark.parametrize(
    ("axes", "columns"),
    [
        (["jobs.daily.runs_per_month=20:2000:4:log", "site.electricity_usd_per_kwh=0.05,0.6"], [True, True]),
        (["discount_rate=0:0.2:3", "horizon_months=6,36"], [True, False]),
        (["jobs.key.deadline_h=1:400:4:log"], [False]),
        (["machines.workstation.target_utilisation=0.1,0.9", "jobs.daily.local_share=0:1:3"], [True, False]),
        (["tax.rate=0,0.3", "machines.workstation.gpu_price_usd=100:9000:3"], [True, True]),
    ],
)
def test_every_point_is_the_plan_with_its_values(axes: list[str], columns: list[bool]) -> None:
    sweep = sweep_of(LAB, *axes)
    assert [axis in sweep.columns for axis in sweep.axes] == columns
    for point in sweep:
        assert_is_the_plan(point, LAB, sweep)


@pytest.mark.parametrize(
    ("changes", "axis"),
    [
        ({"jobs.work.growth_per_month": 0.1, "jobs.work.runs_by_month.3": 50}, "jobs.work.runs_per_month=50:300:3"),
        ({"rental.price_change_per_year": 0}, "rental.price_change_per_year=-0.2:0.2:3"),
        ({"rental.price_change_per_year": 0.1}, "rental.price_change_per_year=-0.2:0.2:3"),
        (
            {"machines.own.owned": {"count": 1, "age_months": 3}, "machines.own.residual_gpu": {0: 1, 24: 0.5}},
            "machines.own.gpu_price_usd=500:2000:3",
        ),
        ({}, "machines.own.idle_w=50:1000:3"),
        ({}, "rental.storage_gb=0:100:2"),
        ({"jobs.work.deadline_h": 0.9}, "offers.rented.startup_s=0:4000:3"),
    ],
)
def test_what_only_seems_to_be_a_column_is_planned_anew(changes: dict[str, Any], axis: str) -> None:
    plan = small_plan(changes)
    sweep = sweep_of(plan, axis)
    for point in sweep:
        assert_is_the_plan(point, plan, sweep)


def test_a_month_that_is_fixed_keeps_demand_from_being_a_column() -> None:
    plan = small_plan({"jobs.work.runs_by_month.3": 50})
    assert sweep_of(plan, "jobs.work.runs_per_month=50:300:3").columns == ()
    assert len(sweep_of(small_plan(), "jobs.work.runs_per_month=50:300:3").columns) == 1


def test_columns_are_proven_anew_beside_other_inputs() -> None:
    """Without a month that is fixed demand is a column, with one it isn't."""
    sweep = sweep_of(small_plan(), "jobs.work.runs_by_month.3=50,150", "jobs.work.runs_per_month=50:300:5")
    for point in sweep:
        assert_is_the_plan(point, small_plan(), sweep)


def test_the_cheapest_start_is_found_at_each_point() -> None:
    changes = {"machines.own.owned": {"count": 1, "age_months": 3, "at_start": "cheapest", "resale_gpu_usd": 900,
                                      "resale_host_usd": 400}, "machines.own.residual_gpu": {0: 1, 24: 0.5},
               "machines.own.residual_host": {0: 1, 24: 0.5}, "machines.own.count": None}  # fmt: skip
    plan = small_plan(changes)
    sweep = sweep_of(plan, "offers.rented.price_usd_per_h=0.1,0.5,5")
    for point in sweep:
        assert_is_the_plan(point, plan, sweep)


def test_inputs_that_contradict_each_other_have_a_row_that_says_so() -> None:
    points = list(sweep_of(small_plan(), "machines.own.load_w=50,600", "machines.own.idle_w=40,100"))
    assert [bool(point.problem) for point in points] == [False, True, False, False]
    assert "idle_w" in points[1].problem
    assert points[1].recommended is None


def test_an_infeasible_point_says_why() -> None:
    points = list(sweep_of(small_plan(), "jobs.work.runs_per_month=100,100000"))
    assert [way.feasible for way in points[0].ways] == [True, True, True]
    assert not points[1].ways[0].feasible
    assert "machines.own.count" in points[1].ways[0].problem
    assert points[1].recommended == "cloud"


def test_a_kept_plan_is_costed_under_other_values() -> None:
    sweep = sweep_of(LAB, "jobs.daily.runs_per_month=20:2000:3", "horizon_months=24,36", keep_plan=True)
    problem = problem_of(LAB)
    choices = {kind: allocate(problem, problem.theta(), kind).choice for kind in KINDS}
    for point in sweep:
        runs, months = point.values
        here = problem_of(with_overrides(LAB, {"horizon_months": int(months)}))
        theta = here.theta()
        theta[0, here.column("jobs.daily.runs_per_month")] = runs
        for way in point.ways:
            choice = choices[way.id]
            assert way.planned == (choice is not None)
            if choice is None:
                continue
            assert way.present_value_usd == pytest.approx(kernel(here, theta, choice).present_value_usd[0], rel=1e-9)
            assert list(way.machine_count.values()) == choice.machine_count[0].tolist()


def test_a_kept_plan_may_become_too_small() -> None:
    plan = small_plan({"machines.own.count": None})
    points = list(sweep_of(plan, "jobs.work.runs_per_month=100,1000", keep_plan=True))
    assert [point.ways[0].machine_count["own"] for point in points] == [1, 1]
    assert [point.ways[0].feasible for point in points] == [True, False]
    anew = list(sweep_of(plan, "jobs.work.runs_per_month=100,1000"))
    assert anew[1].ways[0].feasible
    assert anew[1].ways[0].machine_count["own"] > 1


def test_a_kept_plan_takes_a_number_of_machines_that_is_varied() -> None:
    points = list(sweep_of(small_plan(), "machines.own.count=1,3", keep_plan=True))
    assert [[way.machine_count["own"] for way in point.ways] for point in points] == [[1, 0, 1], [3, 0, 3]]


def test_points_come_in_the_order_of_the_grid() -> None:
    values = [point.values for point in sweep_of(small_plan(), "tax.rate=0,0.1", "horizon_months=12,6,3")]
    assert values == [(tax, months) for tax in (0.0, 0.1) for months in (12.0, 6.0, 3.0)]


def test_many_rows_are_allocated_as_each_by_itself() -> None:
    """Prices that reorder the candidates from row to row."""
    rng = np.random.default_rng(1)
    sweep = sweep_of(LAB, "jobs.daily.runs_per_month=" + ",".join(map(str, rng.uniform(10, 900, 30).round(3))),
                     "machines.workstation.gpu_price_usd=500,9000")  # fmt: skip
    points = list(sweep)
    for at in (0, 17, 33, 59):
        assert_is_the_plan(points[at], LAB, sweep)


def test_candidates_are_listed_anew_where_prices_change_their_order() -> None:
    """Of ten offers eight are tried: the tenth becomes the first only at its lower price."""
    quote = small_plan()["offers"]["rented"]
    offers = {f"o{at}": {**quote, "price_usd_per_h": 1 + at} for at in range(10)}
    changes = {"offers": offers, "rental.offers": sorted(offers), "jobs.work.throughput": {"rtx-4090": 1}}
    plan = with_overrides(small_plan(), {"offers.rented": None, **changes})
    sweep = sweep_of(plan, "offers.o9.price_usd_per_h=20,0.5,3")
    assert len(sweep.columns) == 1
    points = list(sweep)
    assert points[1].ways[1].tco_usd < points[0].ways[1].tco_usd
    for point in points:
        assert_is_the_plan(point, plan, sweep)
