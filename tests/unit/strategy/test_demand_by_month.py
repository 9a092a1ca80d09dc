"""Demand that grows, follows seasons or is given for single months: money, energy, machines, waits."""

from __future__ import annotations

import numpy as np
import pytest

from planner.errors import InputError, ScenarioError
from planner.report.document import plan_document
from planner.strategy.waiting import machine_waiting
from tests.planning import by_id, document, problem_of, small_plan, solve, strategy

WINTER = [1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 2.0, 2.0]


def profile(**job: object) -> tuple[float, ...] | None:
    plan = small_plan()
    plan["jobs"]["work"] |= job
    return problem_of(plan).jobs[0].profile


def test_growth_seasons_and_single_months() -> None:
    assert profile() is None
    assert profile(growth_per_month=0.0, seasonality=[1] * 12) is None
    grown = profile(growth_per_month=0.1)
    assert grown is not None
    assert grown[:3] == pytest.approx((1.0, 1.1, 1.21))
    seasons = profile(seasonality=WINTER)
    assert seasons is not None
    assert seasons[:12] == tuple(WINTER)
    runs = small_plan()["jobs"]["work"]["runs_per_month"]
    both = profile(growth_per_month=0.1, seasonality=WINTER, runs_by_month={2: 3 * runs, 4: 0})
    assert both is not None
    assert both[:4] == pytest.approx((1.0, 3.0, 1.21 * 0.5, 0.0))


def test_rental_follows_the_months_and_egress_is_free_month_by_month() -> None:
    plan = document("on-demand-node", {"jobs.train.runs_by_month": {3: 16, 4: 1}})
    lines = by_id(strategy(solve(plan), "cloud").evaluation)  # type: ignore[arg-type]
    hours = lines["rental.train.p4d"].quantity[0]
    assert hours[[1, 2, 3, 4, 5]] == pytest.approx([8 * 21.1, 8 * 21.1, 16 * 21.1, 21.1, 8 * 21.1])
    sent = lines["egress.p4d"].quantity[0]
    assert sent[[1, 3, 4]] == pytest.approx([380.0, 860.0, 0.0])  # 60 GB a run, 100 free, the rest lapses


def test_a_profile_of_ones_costs_what_constant_demand_costs() -> None:
    plan = document("hybrid-lab")
    constant = strategy(solve(plan), "hybrid")
    plan["jobs"]["key"] |= {"runs_by_month": {60: plan["jobs"]["key"]["runs_per_month"] * (1 + 1e-12)}}
    by_month = strategy(solve(plan), "hybrid")
    assert by_month.tco_usd == pytest.approx(constant.tco_usd, rel=1e-9)
    assert by_month.present_value_usd == pytest.approx(constant.present_value_usd, rel=1e-9)
    costs = {job.job: job.cost for job in constant.jobs}
    for job in by_month.jobs:
        assert job.cost.amortised_usd == pytest.approx(costs[job.job].amortised_usd, rel=1e-9)
        assert job.runs == pytest.approx(next(other.runs for other in constant.jobs if other.job == job.job))


def test_machines_are_bought_for_the_busiest_month() -> None:
    plan = small_plan({"machines.own.count": None})
    usual = strategy(solve(plan), "local")
    assert usual.evaluation is not None
    plan["jobs"]["work"]["runs_by_month"] = {2: plan["jobs"]["work"]["runs_per_month"] * 100}
    busy = strategy(solve(plan), "local")
    assert busy.evaluation is not None
    assert busy.evaluation.machine_count[0, 0] > usual.evaluation.machine_count[0, 0]
    plan["machines"]["own"]["count"] = 1
    codes = [problem.code for problem in strategy(solve(plan), "local").allocation.problems]
    assert codes == ["over_capacity"]


def test_energy_of_owned_machines_follows_the_months() -> None:
    plan = small_plan({"machines.own.count": 2})
    plan["jobs"]["work"]["runs_by_month"] = {1: 0}
    found = strategy(solve(plan), "local").evaluation
    assert found is not None
    kwh = by_id(found)["electricity.own"].quantity[0]
    problem = problem_of(plan)
    theta, machine = problem.theta()[0], problem.machines[0]
    idle = 2 * theta[machine.powered_h_at] * theta[machine.idle_w_at] / 1000 * theta[machine.pue_at]
    assert kwh[1] == pytest.approx(idle)
    assert kwh[2] > 1.05 * idle
    assert np.allclose(kwh[2:], kwh[2])


def test_waits_are_simulated_month_by_month() -> None:
    plan = small_plan({"machines.own.count": 2})
    plan["jobs"]["work"]["runs_by_month"] = dict.fromkeys(range(2, plan["horizon_months"] + 1), 0)
    result = solve(plan)
    choice = strategy(result, "local").allocation.choice
    assert choice is not None
    (own,) = machine_waiting(result.problem, result.theta, choice)
    assert own.waiting.typical.submitted_h.max() <= 730


@pytest.mark.parametrize(
    ("job", "field"),
    [
        ({"runs_by_month": {85: 1}}, "jobs.work.runs_by_month"),
        ({"runs_by_month": {1: -1}}, "jobs.work.runs_by_month.1"),
        ({"growth_per_month": 3}, "jobs.work.growth_per_month"),
        ({"seasonality": [1, 2]}, "jobs.work.seasonality"),
    ],
)
def test_what_cannot_be_is_refused(job: dict[str, object], field: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        profile(**job)
    assert refused.value.problems[0].field.startswith(field)


def test_months_after_the_horizon_and_no_run_at_all_are_named() -> None:
    months = small_plan()["horizon_months"]
    with pytest.raises(InputError) as late:
        profile(runs_by_month={months + 1: 5})
    assert late.value.field == "jobs.work.runs_by_month"
    with pytest.raises(InputError) as none:
        profile(runs_by_month=dict.fromkeys(range(1, months + 1), 0))
    assert none.value.code == "no_runs"


def test_a_plan_with_a_commitment_says_what_is_paid_after_the_horizon() -> None:
    document_of_plan = plan_document(solve(document("committed-node")))
    cloud = next(entry for entry in document_of_plan["strategies"] if entry["id"] == "cloud")
    assert [month["month"] for month in cloud["months"]] == list(range(1, 13))
    assert cloud["months"][11]["opex_usd"] == pytest.approx(730 * 62.9248)
    assert cloud["months"][11]["kwh"] == 0
    assert cloud["tco_usd"] == pytest.approx(sum(month["amount_usd"] for month in cloud["months"]))


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"rental.commitments": {"on-demand": {}}}, "not_committed", "rental.commitments.on-demand"),
        (
            {"rental.commitments.reserved.from_month": 10},
            "month_after_horizon",
            "rental.commitments.reserved.from_month",
        ),
        (
            {"rental.commitments.reserved.overflow": "elsewhere"},
            "overflow_not_in_plan",
            "rental.commitments.reserved.overflow",
        ),
        (
            {"rental.commitments.reserved.overflow": "reserved"},
            "overflow_differs",
            "rental.commitments.reserved.overflow",
        ),
        ({"offers.on-demand.region": "elsewhere"}, "no_overflow", "rental.commitments.reserved.overflow"),
    ],
)
def test_commitments_that_cannot_be(changes: dict[str, object], code: str, field: str) -> None:
    with pytest.raises(InputError) as refused:
        problem_of(document("committed-node", changes))
    assert (refused.value.code, refused.value.field) == (code, field)


def test_a_commitment_is_renewed_as_long_as_the_plan_runs() -> None:
    plan = document("committed-node", {"horizon_months": 20, "rental.commitments.reserved.renew": True})
    found = strategy(solve(plan), "cloud").evaluation
    assert found is not None
    assert by_id(found)["commitment.reserved"].quantity[0].sum() == 24 * 730
    lapsed = document("committed-node", {"horizon_months": 20})
    found = strategy(solve(lapsed), "cloud").evaluation
    assert found is not None
    assert by_id(found)["overflow.reserved"].quantity[0, 13] == 640
