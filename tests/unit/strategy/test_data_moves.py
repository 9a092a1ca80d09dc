"""Data to and from rented machines: money, and time in turnaround and in the session. 45 GB at 1 Gbit/s take 0.1 h."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from planner.errors import ScenarioError
from planner.report.document import plan_document
from planner.scenario.load import check_document
from planner.strategy.allocate import allocate
from planner.strategy.kernel import Evaluation, kernel
from planner.strategy.parameters import ParameterTable
from planner.strategy.problem import Pair, PlanProblem
from planner.strategy.resolve.attempts import PlannedAttempt
from planner.strategy.resolve.places import Place
from planner.strategy.sessions import turnaround_h
from tests.planning import CENT, amounts, by_id, costed, problem_of, quantity, small_plan, solve, strategy

RENTAL = "rental.work.rented"
RATE = {"rental.transfer_mbit_per_s": 1000}
WAITING = {**RATE, "rental.upload_while_billed": True}


def rented(overrides: dict[str, Any]) -> Evaluation:
    return costed(small_plan(overrides), "cloud")


def turnaround(overrides: dict[str, Any], resource: str = "rented") -> float:
    problem = problem_of(small_plan(overrides))
    pair = next(pair for pair in problem.pairs if pair.resource == resource)
    return float(turnaround_h(problem, pair, problem.theta())[0])


def test_uploads_are_paid_by_the_run_and_once_at_the_start() -> None:
    overrides = {
        "jobs.work.upload_gb_per_run": 45,
        "jobs.work.attempts_per_run": 1.5,  # the data of a run lies there for its second attempt
        "rental.upload_gb": 1000,
        "rental.ingress_usd_per_gb": 0.01,
    }
    line = by_id(rented(overrides))["ingress.rented"]
    assert line.amount[0] == pytest.approx([0, 55, *[45] * 11], abs=CENT)
    assert (line.unit, line.resource, quantity(line)) == ("GB", "rented", pytest.approx(12 * 4500 + 1000))
    assert rented(overrides | {"tax.rate": 0.1}).tco_usd[0] == pytest.approx(1.1 * (3600 + 550), abs=CENT)
    assert not any(id.startswith("ingress") for id in by_id(costed(small_plan(overrides), "local")))


def test_uploads_follow_the_months_of_the_demand() -> None:
    overrides = {"jobs.work.upload_gb_per_run": 45, "jobs.work.runs_by_month": {2: 10}}
    assert by_id(rented(overrides))["ingress.rented"].quantity[0, 1:4].tolist() == [4500, 450, 4500]


def test_what_is_sent_once_goes_in_the_first_month_that_has_runs_there() -> None:
    problem = problem_of(small_plan({"rental.upload_gb": 1000}))
    choice = allocate(problem, problem.theta(), "cloud").choice
    assert choice is not None
    index = int(np.flatnonzero(choice.routing[0])[0])
    share = np.array([[0.0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1]])
    later = replace(choice, routing=choice.routing * share.mean(), by_month={index: share})
    line = by_id(kernel(problem, problem.theta(), later))["ingress.rented"]
    assert np.flatnonzero(line.quantity[0]).tolist() == [3]
    assert quantity(line) == 1000


def test_what_is_sent_once_waits_for_the_first_month_of_the_demand() -> None:
    overrides = {"rental.upload_gb": 1000, "rental.ingress_usd_per_gb": 0.01, "jobs.work.runs_by_month": {1: 0, 2: 0}}
    assert by_id(rented(overrides))["ingress.rented"].amount[0] == pytest.approx([0, 0, 0, 10, *[0] * 9])


def test_free_incoming_data_is_shown_with_its_amount() -> None:
    line = by_id(rented({"jobs.work.upload_gb_per_run": 45}))["ingress.rented"]
    assert (quantity(line), float(line.amount.sum())) == (54_000, 0)


@pytest.mark.parametrize(
    ("overrides", "hours"),
    [
        ({}, 1.0),
        ({"jobs.work.upload_gb_per_run": 45}, 1.0),  # without a rate moving takes no time
        ({**RATE, "jobs.work.upload_gb_per_run": 45}, 1.1),
        ({**RATE, "jobs.work.egress_gb_per_run": 90}, 1.2),
        ({**WAITING, "jobs.work.upload_gb_per_run": 45, "jobs.work.egress_gb_per_run": 90}, 1.3),
        ({"rental.transfer_mbit_per_s": 500, "jobs.work.upload_gb_per_run": 45}, 1.2),
    ],
)
def test_moving_data_counts_in_turnaround_on_rented_machines_alone(overrides: dict[str, Any], hours: float) -> None:
    assert turnaround(overrides) == pytest.approx(hours)
    assert turnaround(overrides, "own") == pytest.approx(1.0)


def test_waits_for_capacity_and_for_data_add_up() -> None:
    """An hour of wait in the mean, 0.1 h of upload, 1 h of work: of tries an hour apart half are granted."""
    waits = {**RATE, "jobs.work.upload_gb_per_run": 45}
    waits |= {"offers.rented.available_share": 0.5, "offers.rented.retry_s": 3600}
    assert turnaround(waits) == pytest.approx(2.1)
    for limit_h, late in ((2.05, 0.5), (2.15, 0.25)):  # room for no retry, and for one
        job = strategy(solve(small_plan({**waits, "jobs.work.deadline_h": limit_h})), "cloud").jobs[0]
        assert job.start_wait is not None
        assert job.start_wait.late_share == pytest.approx(late)


def test_a_session_holds_the_upload_where_instances_wait_for_it() -> None:
    overrides = {"jobs.work.upload_gb_per_run": 45, "jobs.work.egress_gb_per_run": 90, "jobs.work.attempts_per_run": 2}
    overrides |= {"rental.egress_usd_per_gb": 0}
    apart, waiting = rented({**overrides, **RATE}), rented({**overrides, **WAITING})
    assert amounts(apart)[RENTAL] == pytest.approx(2400 * 2)
    assert amounts(waiting)[RENTAL] == pytest.approx(2400 * 2 * 1.1)
    assert quantity(by_id(apart)["ingress.rented"]) == pytest.approx(1200 * 45)
    assert quantity(by_id(waiting)["ingress.rented"]) == pytest.approx(1200 * 2 * 45)
    assert waiting.kwh[0] == pytest.approx(2400 * (0.6 + 0.1 * 0.1))  # idle while it waits


def test_new_spot_instances_need_the_data_again() -> None:
    spot = {
        "rental.terms": ["spot"],
        "offers.rented.term": "spot",
        "offers.rented.interrupted_share_per_month": 0.9,
        "rental.load_checkpoint_s": 0,
        "jobs.work.upload_gb_per_run": 45,
    }
    startup = {key: value for key, value in spot.items() if not key.startswith("jobs")}
    waiting = rented({**spot, **WAITING})
    assert amounts(waiting)[RENTAL] == pytest.approx(
        amounts(rented({**startup, "offers.rented.startup_s": 360}))[RENTAL]
    )
    job = strategy(solve(small_plan({**spot, **WAITING})), "cloud").jobs[0]
    assert job.spot is not None
    assert job.spot.interruptions > 0.003
    assert quantity(by_id(waiting)["ingress.rented"]) == pytest.approx(1200 * 45 * (1 + job.spot.interruptions))


def test_a_deadline_counts_the_time_of_moving() -> None:
    limits = {"jobs.work.upload_gb_per_run": 45, "jobs.work.deadline_h": 1.05}
    assert strategy(solve(small_plan(limits)), "cloud").feasible
    way = strategy(solve(small_plan({**limits, **RATE})), "cloud")
    assert [issue.code for issue in way.allocation.problems] == ["deadline_missed"]
    assert way.allocation.problems[0].params["needs_h"] == pytest.approx(1.1)


def attempt(problem: PlanProblem, plan: dict[str, Any], pair: Pair) -> PlannedAttempt:
    """The attempt as it is planned while candidates are looked for."""
    scenario = check_document(plan)
    table = ParameterTable()
    table._parameters = list(problem.parameters)
    offer = problem.offers[pair.offer or 0]
    startup_s = table.value(offer.startup_s_at)
    place = SimpleNamespace(
        spot=offer.spot, offer=pair.offer, gpus_per_node=1, startup_s=startup_s, start_wait_s=0.0, failures=None
    )
    return PlannedAttempt(
        job=problem.jobs[0], entry=scenario.jobs["work"], place=cast("Place", place), gpus=1, work_s=3600, table=table
    )


@pytest.mark.parametrize("while_billed", [False, True])
@pytest.mark.parametrize("term", ["on_demand", "spot"])
def test_candidates_are_looked_for_with_the_same_turnaround(term: str, while_billed: bool) -> None:
    moved = {"jobs.work.upload_gb_per_run": 45, "jobs.work.egress_gb_per_run": 90, "offers.rented.startup_s": 100}
    plan = small_plan({**moved, **RATE, "rental.upload_while_billed": while_billed, "offers.rented.term": term})
    plan["rental"]["terms"] = [term]
    problem = problem_of(plan)
    pair = next(pair for pair in problem.pairs if pair.offer is not None)
    planned = attempt(problem, plan, pair).turnaround_h
    assert planned == pytest.approx(float(turnaround_h(problem, pair, problem.theta())[0]), rel=1e-12)
    assert planned > 1.3


def test_what_one_more_run_adds_holds_its_upload() -> None:
    overrides = {"jobs.work.upload_gb_per_run": 45, "rental.ingress_usd_per_gb": 0.01, "jobs.work.attempts_per_run": 2}

    def marginal(more: dict[str, Any]) -> float:
        return strategy(solve(small_plan({**overrides, **more})), "cloud").jobs[0].cost.marginal_usd

    assert marginal({}) == pytest.approx(2 * 2 + 0.45)
    assert marginal(WAITING) == pytest.approx(2 * 2 * 1.1 + 2 * 0.45)


def test_the_cost_of_runs_holds_incoming_data() -> None:
    plan = small_plan({"jobs.work.upload_gb_per_run": 45, "rental.ingress_usd_per_gb": 0.01})
    way = strategy(solve(plan), "cloud")
    assert way.jobs[0].cost.amortised_usd == pytest.approx(2 + 0.45)


def test_the_price_is_the_providers_where_the_catalog_knows_one_else_assumed() -> None:
    problem = problem_of(small_plan({"jobs.work.upload_gb_per_run": 1}))
    parameter = problem.parameters[problem.column("providers.rented.ingress_usd_per_gb")]
    assert (parameter.value, parameter.sources) == (0, ("assumptions:ingress_usd_per_gb",))
    with pytest.raises(KeyError):
        problem_of(small_plan()).column("providers.rented.ingress_usd_per_gb")


def test_times_of_moving_are_told_and_so_is_that_they_are_not_counted() -> None:
    moved = {"jobs.work.upload_gb_per_run": 45, "rental.upload_gb": 4500}
    without = plan_document(solve(small_plan(moved)))
    assert [warning["code"] for warning in without["warnings"]] == ["transfer_without_rate"]
    told = plan_document(solve(small_plan({**moved, **RATE})))
    assert [warning["code"] for warning in told["warnings"]] == ["first_upload"]
    assert told["warnings"][0]["params"] == {"gb": 4500, "hours": pytest.approx(10)}
    jobs = {way["id"]: way["jobs"][0] for way in told["strategies"]}
    assert (jobs["cloud"]["upload_h"], jobs["cloud"]["download_h"]) == (pytest.approx(0.1), 0)
    assert (jobs["local"]["upload_h"], jobs["local"]["download_h"]) == (None, None)


@pytest.mark.parametrize(
    "given",
    [
        {"rental.upload_while_billed": True},  # for how long, if nothing says how fast?
        {"rental.transfer_mbit_per_s": 0},
        {"rental.upload_gb": -1},
        {"jobs.work.upload_gb_per_run": -1},
        {"rental.ingress_usd_per_gb": -0.1},
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError) as caught:
        problem_of(small_plan(given))
    assert next(iter(given)).split(".")[-1] in str(caught.value) or "transfer_mbit_per_s" in str(caught.value)


def test_rows_do_not_touch_each_other() -> None:
    problem = problem_of(small_plan({"jobs.work.upload_gb_per_run": 45, **WAITING, "rental.ingress_usd_per_gb": 0.01}))
    theta = np.repeat(problem.theta(), 2, axis=0)
    theta[1, problem.column("rental.transfer_mbit_per_s")] = 500
    choice = allocate(problem, theta[:1], "cloud").choice
    assert choice is not None
    assert kernel(problem, theta, choice).tco_usd == pytest.approx([1200 * 2.2 + 540, 1200 * 2.4 + 540])
