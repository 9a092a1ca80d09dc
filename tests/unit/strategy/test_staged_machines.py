"""Machines that come later: bought in stages, delivered after months, and what is rented until they are there."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from planner.cost.capex import Sale, unit_schedule
from planner.errors import InputError, ScenarioError
from planner.report.course import course_entry
from planner.report.document import plan_document
from planner.report.variants import with_machines
from planner.report.waiting import with_waiting
from planner.strategy.break_even import break_even
from planner.strategy.kernel import kernel
from planner.strategy.meanwhile import NOWHERE, month_ranges, taken, with_meanwhile
from planner.strategy.waiting import machine_waiting
from tests.planning import amounts, by_id, costed, evaluation, problem_of, small_plan, solve, strategy

# 1,500 h a month; two machines book 1,022 h of it, four all of it
STAGED: dict[str, Any] = {
    "horizon_months": 24,
    "jobs.work.runs_per_month": 1500,
    "machines.own.count": None,
    "machines.own.purchases": {0: 2, 12: 2},
    "machines.own.delivery_months": 2,
    "machines.own.useful_life_months": 60,
    "machines.own.residual_gpu": {10: 0.6, 22: 0.4},
    "machines.own.residual_host": {10: 0.5, 22: 0.2},
}


def staged(overrides: dict[str, Any] | None = None) -> dict[str, Any]:
    return small_plan({**STAGED, **(overrides or {})})


def test_two_now_and_two_in_a_year_by_hand() -> None:
    found = evaluation(strategy(solve(staged()), "hybrid"))
    assert amounts(found) == pytest.approx(
        {
            "gpu.own": 4000,
            "host.own": 2000,
            "resale_gpu.own.m24": -2 * 1000 * 0.4,
            "resale_host.own.m24": -2 * 500 * 0.2,
            "resale_gpu.own.bought12.m24": -2 * 1000 * 0.6,
            "resale_host.own.bought12.m24": -2 * 500 * 0.5,
            "electricity.own": 788.40 + 1042.00,  # 12 x (1,022 h loaded, 438 h idle), 10 x (1,500 h, 1,420 h)
            "rental.work.rented": 2 * (2 * 1500 + 12 * 478),
        }
    )
    assert found.tco_usd[0] == pytest.approx(22_602.40)
    assert np.flatnonzero(by_id(found)["gpu.own"].quantity[0]).tolist() == [0, 12]
    assert found.machines_there[0, 0].tolist() == [0] * 2 + [2] * 12 + [4] * 10
    assert found.load[0, 0].tolist() == pytest.approx([0] * 2 + [0.7] * 12 + [1500 / 2920] * 10)
    assert found.utilisation[0, 0] == pytest.approx((12 * 1022 + 10 * 1500) / (12 * 1460 + 10 * 2920))


def test_months_before_delivery_are_rented_and_all_runs_are_done_once() -> None:
    result = solve(staged())
    mix = strategy(result, "hybrid")
    assert {job.resource: job.runs for job in mix.jobs} == pytest.approx(
        {"own": 12 * 1022 + 10 * 1500, "rented": 2 * 1500 + 12 * 478}
    )
    rented = by_id(evaluation(mix))["rental.work.rented"].quantity[0]
    assert rented[1:].tolist() == pytest.approx([1500] * 2 + [478] * 12 + [0] * 10)
    [warning] = [issue for issue in mix.allocation.warnings if issue.code == "rented_meanwhile"]
    assert warning.params == {"job": "work", "machine": "own", "offer": "rented", "months": "1-14"}
    months = plan_document(result)["strategies"][2]
    assert sum(month["amount_usd"] for month in months["months"]) == pytest.approx(22_602.40)
    assert months["machines"][0]["count_by_month"] == [0] * 2 + [2] * 12 + [4] * 10


def test_owning_all_says_in_which_months_it_cannot() -> None:
    result = solve(staged())
    local = strategy(result, "local")
    assert not local.feasible
    [problem] = local.allocation.problems
    assert (problem.code, problem.field) == ("machines_missing", "machines.own.purchases")
    assert problem.params == {"job": "work", "machine": "own", "months": "1-14"}
    assert strategy(result, "cloud").feasible
    [job] = local.jobs  # what can't be done isn't counted as done: two machines are never off, and then all is done
    assert job.runs == pytest.approx(12 * 1460 + 10 * 1500)
    rented = solve(staged({"machines": None, "jobs.work.throughput": {"rented": 1}}))
    assert strategy(rented, "cloud").tco_usd == strategy(result, "cloud").tco_usd


def test_a_job_that_must_stay_goes_before_the_others() -> None:
    plan = staged({"machines.own.purchases": {0: 2, 3: 2}})
    plan["jobs"]["secret"] = {**plan["jobs"]["work"], "runs_per_month": 900, "in_house": True}
    plan["jobs"]["work"]["runs_per_month"] = 600
    mix = strategy(solve(plan), "hybrid")
    assert mix.allocation.choice is not None
    of_job = {job.job: job.runs for job in mix.jobs if job.resource == "own"}
    # 1,022 h may be booked in months 3 to 5: 900 of the job that must stay, 122 of the other
    assert of_job == pytest.approx({"secret": 22 * 900, "work": 3 * 122 + 19 * 600})
    [problem] = mix.allocation.problems
    assert problem.params == {"job": "secret", "machine": "own", "months": "1-2"}


def test_all_at_the_start_without_delivery_is_a_number_of_machines() -> None:
    def document(changes: dict[str, Any]) -> str:
        result = solve(small_plan({"machines.own.count": None, **changes}))
        return json.dumps(with_waiting(plan_document(result), result))

    counted = document({"machines.own.count": 3})
    assert document({"machines.own.purchases": {0: 3}}) == counted
    assert document({"machines.own.purchases": {0: 3}, "machines.own.count": 3}) == counted
    assert document({"machines.own.count": 3, "machines.own.delivery_months": 0}) == counted


def test_space_people_and_upkeep_begin_with_delivery() -> None:
    plan = staged(
        {
            "site.space_usd_per_month": 30,
            "machines.own.maintenance_share_per_year": 0.12,
            "machines.own.fte_per_machine": 0.1,
            "staff.cost_usd_per_fte_year": 1200,
            "staff.fte_cloud": 0.5,
            "rental.storage_gb": 10,
            "rental.storage_usd_per_gb_month": 1,
        }
    )
    lines = by_id(evaluation(strategy(solve(plan), "hybrid")))

    def monthly(id: str) -> list[float]:
        return [float(value) for value in lines[id].amount[0, 1:]]

    there = [0] * 2 + [2] * 12 + [4] * 10
    assert monthly("colocation.space") == pytest.approx([0] * 2 + [30] * 22)
    assert monthly("maintenance.own") == pytest.approx([count * 1500 * 0.01 for count in there])
    assert monthly("staff_local.own") == pytest.approx([count * 10 for count in there])
    assert monthly("staff_cloud") == pytest.approx([50] * 14 + [0] * 10)
    assert lines["storage.rented"].quantity[0, 1:].tolist() == pytest.approx([10] * 14 + [0] * 10)


def test_machines_are_sized_for_the_months_in_which_they_can_be_there() -> None:
    spike = {
        "machines.own.count": None,
        "machines.own.delivery_months": 2,
        "jobs.work.runs_per_month": 400,
        "jobs.work.runs_by_month": {1: 3000},
    }
    mix = evaluation(strategy(solve(small_plan(spike)), "hybrid"))
    assert mix.machine_count[0, 0] == 1
    assert by_id(mix)["rental.work.rented"].quantity[0, 1:4].tolist() == pytest.approx([3000, 400, 0])


def test_owned_machines_work_until_others_come() -> None:
    plan = small_plan(
        {
            "jobs.work.runs_per_month": 1500,
            "machines.own.count": 4,
            "machines.own.delivery_months": 3,
            "machines.own.useful_life_months": 60,
            "machines.own.owned": {"count": 1, "age_months": 6, "resale_gpu_usd": 500, "resale_host_usd": 100},
            "machines.own.residual_gpu": {6: 0.9, 24: 0.5},
            "machines.own.residual_host": {6: 0.9, 24: 0.5},
        }
    )
    found = evaluation(strategy(solve(plan), "hybrid"))
    assert found.machines_there[0, 0].tolist() == [1] * 3 + [4] * 9
    assert amounts(found)["gpu.own"] == pytest.approx(3000)
    assert by_id(found)["rental.work.rented"].quantity[0, 1:5].tolist() == pytest.approx([1500 - 511] * 3 + [0])


def test_replacements_come_when_the_unit_before_goes() -> None:
    def schedule(**changes: Any) -> tuple[tuple[int, ...], list[Sale]]:
        usual = {"horizon_months": 24, "useful_life_months": 12, "first_age": 0, "replacement_age": 0, "owned": False}
        found = unit_schedule(**{**usual, **changes})
        return found.purchase_months, list(found.sales)

    assert schedule(delivery_months=2) == (
        (0, 12),
        [Sale(month=14, bought_age=0, sold_age=12), Sale(month=24, bought_age=0, sold_age=10)],
    )
    assert schedule(ordered_month=5, delivery_months=3)[0] == (5, 17)
    # a unit that is there already has four months left: what replaces it comes after six, and it stays that long
    assert schedule(owned=True, first_age=8, delivery_months=6) == (
        (0, 12),
        [
            Sale(month=6, bought_age=8, sold_age=14),
            Sale(month=18, bought_age=0, sold_age=12),
            Sale(month=24, bought_age=0, sold_age=6),
        ],
    )
    assert schedule(owned=True, first_age=8, delivery_months=24) == ((), [Sale(month=24, bought_age=8, sold_age=32)])


def test_waiting_follows_the_machines_that_are_there() -> None:
    """One machine at first, four from month 7 on: waits before and after, at 70 % and a quarter of that."""
    plan = small_plan(
        {
            "jobs.work.runs_per_month": 511,
            "machines.own.count": None,
            "machines.own.purchases": {0: 1, 6: 3},
        }
    )
    result = solve(plan)
    choice = strategy(result, "hybrid").allocation.choice
    assert choice is not None
    [found] = machine_waiting(result.problem, result.theta, choice)
    assert (found.count, found.pool.awaited) == (4, ((6 * 730.0, 3),))
    [job] = found.waiting.jobs
    mean = [month.wait.mean_h for month in job.by_month if month.wait is not None]
    assert min(mean[1:6]) > 0.5
    assert max(mean[6:]) < 0.05
    typical = found.waiting.typical
    early = typical.started_h < 6 * 730
    assert set(typical.machine[early].tolist()) == {0}
    assert set(typical.machine.tolist()) == {0, 1, 2, 3}
    drawn = course_entry(found)
    assert (drawn["month"], drawn["count"]) == (6, 1)  # the last month of one machine
    [more] = machine_waiting(result.problem, result.theta, choice, more=1)
    assert more.pool.awaited == ((6 * 730.0, 4),)


def test_one_machine_more_comes_with_the_last_stage() -> None:
    larger = with_machines(staged({"machines.own.owned": None}), {"own": 5})
    assert larger["machines"]["own"]["purchases"] == {0: 2, 12: 3}
    assert evaluation(strategy(solve(larger), "hybrid")).machine_count[0, 0] == 5


def test_break_even_counts_the_machines_that_are_there() -> None:
    result = solve(staged())
    choices = {found.id: found.allocation.choice for found in result.strategies if found.id != "local"}
    found = break_even(result.problem, result.theta, {id: choice for id, choice in choices.items() if choice})
    hours = 12 * 1460 + 10 * 2920
    assert found.owning == "hybrid"
    assert found.busy_h == pytest.approx(12 * 1022 + 10 * 1500)
    assert found.utilisation == pytest.approx(found.busy_h / hours)
    assert found.most_factor == pytest.approx(1 / 0.7)  # two machines are the fullest


def test_what_cannot_be_is_refused() -> None:
    def refusal(changes: dict[str, Any]) -> InputError:
        with pytest.raises(InputError) as caught:
            solve(staged(changes))
        return caught.value

    def fault(changes: dict[str, Any]) -> str:
        with pytest.raises(ScenarioError) as caught:
            solve(staged(changes))
        return str(caught.value)

    late = refusal({"machines.own.purchases": {0: 2, 22: 1}})
    assert (late.code, late.field, late.params["value"]) == ("purchase_after_horizon", "machines.own.purchases", 22)
    assert "comes after the horizon" in str(late)
    assert (
        refusal({"machines.own.purchases": {24: 1}, "machines.own.delivery_months": 0}).code == "purchase_after_horizon"
    )
    slow = refusal({"machines.own.purchases": None, "machines.own.delivery_months": 24})
    assert (slow.code, slow.field) == ("delivered_after_horizon", "machines.own.delivery_months")
    expected = "machines.own.count: found 3, expected 4, the purchases together, or only 'purchases'"
    assert expected in fault({"machines.own.count": 3})
    for name, value in (
        ("purchases", {}),
        ("purchases", {-1: 1}),
        ("purchases", {0: 0}),
        ("purchases", 2),
        ("delivery_months", 25),
        ("delivery_months", 1.5),
    ):
        assert f"machines.own.{name}" in fault({f"machines.own.{name}": value}), value


@pytest.mark.parametrize("months", [[], [4], [1, 2, 3, 5, 8, 9]])
def test_months_in_words(months: list[int]) -> None:
    assert month_ranges(months) == {0: "", 1: "4", 6: "1-3, 5, 8-9"}[len(months)]


def test_ranges_and_discount_keep_the_months() -> None:
    plan = staged({"discount_rate": 0.05})
    found = costed(plan, "hybrid")
    by_hand = sum(float(line.amount[0, month]) * 1.05 ** (-month / 12) for line in found.lines for month in range(25))
    assert found.present_value_usd[0] == pytest.approx(by_hand)
    assert strategy(solve(plan), "hybrid").range is not None


def test_choices_side_by_side_are_those_alone() -> None:
    """Two offers to choose from meanwhile, and routing that is not the same in all rows."""
    plan = staged()
    plan["offers"]["other"] = {**plan["offers"]["rented"], "price_usd_per_h": 3}
    plan["rental"]["offers"] = ["rented", "other"]
    plan["jobs"]["work"]["throughput"]["other"] = 1.25
    problem = problem_of(plan)
    theta = problem.theta()
    names = [pair.resource for pair in problem.pairs]
    own, first, second = (names.index(name) for name in ("own", "rented", "other"))
    routing = np.zeros((4, len(names)))
    routing[[0, 1], own], routing[2, [own, first]], routing[3, second] = 1, 0.5, 1
    count = np.array([[4.0], [4.0], [4.0], [0.0]])
    many = with_meanwhile(problem, theta, routing, count, np.array([[first], [second], [first], [NOWHERE]]))
    together = kernel(problem, theta, many)
    for row in range(4):
        alone = taken(problem, many, np.array([row]))
        assert kernel(problem, theta, alone).tco_usd[0] == pytest.approx(together.tco_usd[row])
        assert alone.routing.sum() == pytest.approx(1)
    assert together.tco_usd[0] == pytest.approx(22_602.40)
    assert together.tco_usd[1] == pytest.approx(22_602.40 - 17_472 + 17_472 / 2 * 3 / 1.25)
    assert together.tco_usd[2] == pytest.approx(total_with_half_a_share(plan))
    assert not taken(problem, many, np.array([3])).by_month


def total_with_half_a_share(plan: dict[str, Any]) -> float:
    """The same by a `local_share` of one half: 750 h meant for own machines, all of which two of them can book."""
    plan["jobs"]["work"]["local_share"] = 0.5
    plan["rental"]["offers"] = ["rented"]
    del plan["jobs"]["work"]["throughput"]["other"]
    return strategy(solve(plan), "hybrid").tco_usd


def test_a_commitment_meanwhile_is_paid_over_its_term() -> None:
    plan = staged({"machines.own.purchases": {0: 4}, "machines.own.count": None})
    plan["offers"]["year"] = {**plan["offers"]["rented"], "price_usd_per_h": 0.01, "term": "reserved_1y"}
    plan["rental"] = {"offers": ["rented", "year"], "commitments": {"year": {"nodes": 3, "overflow": "rented"}}}
    plan["jobs"]["work"]["throughput"]["year"] = 1
    lines = by_id(evaluation(strategy(solve(plan), "hybrid")))
    assert lines["commitment.year"].quantity[0].sum() == pytest.approx(3 * 730 * 12)
    assert "overflow.year" not in lines


def test_a_job_that_is_late_everywhere_else_waits_for_its_machines() -> None:
    """What is rented meanwhile has to keep the limit; where nothing does, the mix says which months it can't do."""
    result = solve(staged({"jobs.work.deadline_h": 1.5, "jobs.work.throughput.rented": 0.5}))
    mix = strategy(result, "hybrid")
    assert [issue.params["months"] for issue in mix.allocation.problems] == ["1-14"]
    assert [job.resource for job in mix.jobs] == ["own"]


def test_machines_do_not_fail_before_they_come() -> None:
    plan = small_plan(
        {
            "jobs.work.runs_per_month": 300,
            "machines.own.count": None,
            "machines.own.purchases": {0: 1, 6: 1},
            "machines.own.failures_per_year": 24,
            "machines.own.repair_h": 40,
        }
    )
    result = solve(plan)
    choice = strategy(result, "hybrid").allocation.choice
    assert choice is not None
    [found] = machine_waiting(result.problem, result.theta, choice)
    repairs = found.waiting.typical.repairs
    began = {machine: [repair.failed_h for repair in repairs if repair.machine == machine] for machine in (0, 1)}
    assert min(began[0]) < 6 * 730
    assert min(began[1]) > 6 * 730
