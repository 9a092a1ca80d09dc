"""The best mix against brute force, in which every answer is costed by the kernel, and against the named ways."""

from __future__ import annotations

import numpy as np
import pytest

from planner.strategy.allocate import choice_problems
from planner.strategy.evaluate import searched
from planner.strategy.kernel import kernel
from planner.strategy.optimise.search import optimise
from tests.mixes import cheapest_of_all, small_mix
from tests.planning import CENT, problem_of, small_plan, solve, strategy

PRECISE = 1e-3


@pytest.mark.parametrize("seed", range(24))
def test_with_few_runs_it_is_the_cheapest_of_all_answers(seed: int) -> None:
    problem = problem_of(small_mix(seed, few_runs=True))
    found = optimise(problem, problem.theta(), {})
    assert found.choice is not None
    assert not choice_problems(problem, problem.theta(), found.choice)
    assert found.present_value_usd == pytest.approx(cheapest_of_all(problem, 1), rel=PRECISE)


@pytest.mark.parametrize("seed", range(5, 15))
def test_with_many_runs_it_is_never_dearer_than_halves_of_them_anywhere(seed: int) -> None:
    problem = problem_of(small_mix(seed, few_runs=False))
    found = optimise(problem, problem.theta(), {})
    assert found.choice is not None
    assert not choice_problems(problem, problem.theta(), found.choice)
    assert np.ptp(found.choice.routing.sum()) == 0
    assert found.present_value_usd <= cheapest_of_all(problem, 2) * (1 + PRECISE)


@pytest.mark.parametrize("seed", range(24))
def test_the_programme_says_what_the_kernel_says(seed: int) -> None:
    plan = small_mix(seed, few_runs=False)
    plan["jobs"]["j0"]["growth_per_month"] = 0.1
    plan["jobs"]["j0"]["egress_gb_per_run"] = 2
    plan["rental"] |= {
        "free_egress_gb_per_month": 100,
        "egress_usd_per_gb": 0.1,
        "upload_gb": 300,
        "ingress_usd_per_gb": 0.05,
        "quota_gpus": {"x": 1},
        "price_change_per_year": -0.2,
        "credits": {"gift": {"amount_usd": 200, "expires_month": 2}},
    }
    plan["offers"]["y"]["free_node_hours_per_month"] = 40
    plan["offers"]["block"] = {**plan["offers"]["z"], "term": "reserved_1y", "price_usd_per_h": 0.2}
    plan["rental"]["offers"] += ["block"]
    plan["rental"]["commitments"] = {"block": {"nodes": 1, "overflow": "z"}}
    for job in plan["jobs"].values():
        job["throughput"]["block"] = job["throughput"]["z"]
    plan["machines"]["a"]["finance"] = {"kind": "loan", "term_months": 12, "nominal_interest_per_year": 0.06}
    plan["site"]["space_usd_per_month"] = 20
    problem = problem_of(plan)
    found = optimise(problem, problem.theta(), {})
    assert found.choice is not None
    assert found.rounds
    assert max(abs(round.deviation) for round in found.rounds) < PRECISE


@pytest.mark.parametrize("seed", range(12))
def test_it_is_never_dearer_than_a_named_way(seed: int) -> None:
    result = solve(small_mix(seed, few_runs=False))
    named = {way.id: way.allocation.choice for way in result.strategies if way.feasible}
    found = optimise(result.problem, result.theta, {id: one for id, one in named.items() if one is not None})
    cheapest = min(way.present_value_usd for way in result.strategies if way.feasible)
    assert found.present_value_usd <= cheapest + CENT
    if found.same_as is not None:
        same = next(way for way in result.strategies if way.id == found.same_as)
        assert found.present_value_usd == pytest.approx(same.present_value_usd, abs=CENT)


@pytest.mark.parametrize("seed", range(12))
def test_one_more_offer_never_makes_it_dearer(seed: int) -> None:
    plan = small_mix(seed, few_runs=False)
    fewer = small_mix(seed, few_runs=False)
    fewer["rental"]["offers"] = ["x", "y"]
    values = []
    for one in (fewer, plan):
        problem = problem_of(one)
        values.append(optimise(problem, problem.theta(), {}).present_value_usd)
    assert values[1] <= values[0] + CENT


def test_machines_of_a_given_number_are_all_there_or_none() -> None:
    for price, count in ((0.01, 0), (10, 2)):
        problem = problem_of(small_plan({"machines.own.count": 2, "offers.rented.price_usd_per_h": price}))
        found = optimise(problem, problem.theta(), {})
        assert found.choice is not None
        assert found.choice.machine_count.tolist() == [[count]]


def test_no_more_is_booked_than_the_target_utilisation() -> None:
    plan = small_plan({"jobs.work.runs_per_month": 650, "offers.rented.price_usd_per_h": 0.5})
    problem = problem_of(plan)
    found = optimise(problem, problem.theta(), {})
    assert found.choice is not None
    assert found.evaluation is not None
    target = float(problem.theta()[0, problem.machines[0].target_utilisation_at])
    assert found.choice.machine_count.tolist() == [[1]]
    assert found.evaluation.load[0, 0, 0] == pytest.approx(target)
    assert float(kernel(problem, problem.theta(), found.choice).present_value_usd[0]) == found.present_value_usd


def test_the_gap_is_between_the_answer_and_the_best_possible() -> None:
    problem = problem_of(small_mix(5, few_runs=False))
    found = optimise(problem, problem.theta(), {})
    assert found.gap is not None
    assert 0 <= found.gap <= PRECISE
    assert not found.timed_out


def test_a_search_without_time_says_so() -> None:
    result = solve(small_mix(5, few_runs=False))
    named = {way.id: way.allocation.choice for way in result.strategies if way.feasible}
    known = {id: one for id, one in named.items() if one is not None}
    found = optimise(result.problem, result.theta, known, time_limit_s=0.0)
    assert found.timed_out
    assert found.choice is not None  # a named way, at least
    assert found.present_value_usd <= min(way.present_value_usd for way in result.strategies if way.feasible) + CENT
    alone = optimise(result.problem, result.theta, {}, time_limit_s=0.0)
    assert alone.choice is None
    assert [issue.code for issue in alone.problems] == ["search_timed_out"]


@pytest.mark.parametrize("seed", range(4))
def test_an_offer_that_another_of_its_provider_always_beats_is_left_out_unless_that_has_a_quota(seed: int) -> None:
    plan = small_mix(seed, few_runs=True)
    for name, price in (("x", 1), ("y", 2), ("z", 0.5)):
        plan["offers"][name] |= {"provider": "p" if name != "z" else "q", "price_usd_per_h": price}
    for job in plan["jobs"].values():
        job["throughput"] |= dict.fromkeys("xyz", 1)
    problem = problem_of(plan)
    jobs = len(plan["jobs"])
    assert optimise(problem, problem.theta(), {}).pruned == jobs  # y; z is another provider's
    plan["rental"]["quota_gpus"] = {"x": 1}
    problem = problem_of(plan)
    assert optimise(problem, problem.theta(), {}).pruned == 0  # x may not be enough


def test_a_month_with_more_work_is_rented_and_not_said_to_lack_machines() -> None:
    """One machine takes 511 of the 600 hours of month 2; it is there from the start."""
    found = searched(solve(small_plan({"jobs.work.runs_by_month": {2: 600}, "machines.own.count": None})))
    best = strategy(found, "optimal")
    assert {job.resource: job.runs for job in best.jobs} == pytest.approx({"own": 1100 + 511, "rented": 89})
    assert "rented_meanwhile" not in {issue.code for issue in best.allocation.warnings}


def test_months_without_runs_need_neither_disk_nor_people_of_the_cloud() -> None:
    plan = small_mix(3, few_runs=False)
    for number, job in enumerate(plan["jobs"].values()):
        job["runs_by_month"] = {1: 0, 3: 0} if number else {1: 0}
        job["not_on"] = ["a", "b"]
    plan["rental"]["storage_gb"], plan["staff"]["fte_cloud"] = 200, 0.01
    problem = problem_of(plan)
    found = optimise(problem, problem.theta(), {})
    assert found.choice is not None
    assert found.rounds[-1].deviation == pytest.approx(0, abs=1e-9)
    quiet = {line.id: line.quantity[0, 1] for line in kernel(problem, problem.theta(), found.choice).lines}
    assert not any(quiet.values())
    assert found.gap is not None
    assert found.gap < PRECISE


def test_space_is_paid_while_machines_are_there_whichever_comes_first() -> None:
    plan = small_mix(4, few_runs=False)
    plan["site"]["space_usd_per_month"] = 300
    plan["machines"]["a"]["delivery_months"], plan["machines"]["b"]["delivery_months"] = 1, 0
    for job in plan["jobs"].values():
        job |= {"only_on": ["a"], "runs_by_month": {1: 0}}
    problem = problem_of(plan)
    found = optimise(problem, problem.theta(), {})
    assert found.choice is not None
    assert found.choice.machine_count[0, 0] > 0
    assert found.rounds[-1].deviation == pytest.approx(0, abs=1e-9)


def test_work_draws_what_it_draws_before_all_machines_are_there_too() -> None:
    plan = small_mix(3, few_runs=False)
    plan["machines"]["a"]["purchases"] = {0: 1, 2: 3}
    for job in plan["jobs"].values():
        job |= {"runs_per_month": 400, "not_on": ["b"]}
    problem = problem_of(plan)
    found = optimise(problem, problem.theta(), {})
    assert found.choice is not None
    assert max(abs(round.deviation) for round in found.rounds) < 1e-9
