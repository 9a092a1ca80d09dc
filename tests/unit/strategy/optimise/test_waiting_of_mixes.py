"""Jobs with a limit don't wait too long in a best mix: less is booked, more is bought, or some of it is rented."""

from __future__ import annotations

from typing import Any

import pytest

from planner.strategy.kernel import kernel
from planner.strategy.optimise.coefficients import coefficients
from planner.strategy.optimise.loads import TIGHTER, SafeLoad, late_machines
from planner.strategy.optimise.options import usable
from planner.strategy.optimise.rounds import begin
from planner.strategy.optimise.search import optimise
from tests.planning import problem_of, small_plan


def shared(deadline_h: float | None, price: float = 2.0) -> dict[str, Any]:
    """500 one-hour runs a month on machines, of which one could book 511 hours."""
    plan = small_plan({"jobs.work.runs_per_month": 500, "offers.rented.price_usd_per_h": price, "horizon_months": 2})
    del plan["machines"]["own"]["count"]
    if deadline_h is not None:
        plan["jobs"]["work"]["deadline_h"] = deadline_h
    return plan


def test_without_a_limit_nothing_is_simulated() -> None:
    problem = problem_of(shared(None))
    found = optimise(problem, problem.theta(), {})
    assert found.choice is not None
    assert found.choice.machine_count.tolist() == [[1]]
    assert len(found.rounds) == 1


@pytest.mark.parametrize("price", [0.5, 5.0])
def test_less_is_booked_until_nine_in_ten_are_in_time(price: float) -> None:
    problem = problem_of(shared(2.5, price))
    theta = problem.theta()
    found = optimise(problem, theta, {})
    assert found.choice is not None
    assert found.evaluation is not None
    assert found.rounds[0].late == ("own",)
    assert found.rounds[-1].late == ()
    first, second = (round.loads["own"] for round in found.rounds[:2])
    one = found.choice.machine_count.tolist() == [[1]]
    assert one == (price < 1)
    assert second <= TIGHTER * first if one else second == first  # two machines may be as full as one was planned to be
    assert late_machines(problem, theta, found.choice) == []
    assert found.evaluation.load.max() <= found.rounds[-1].loads["own"] * (1 + 1e-6)
    eager = optimise(problem_of(shared(None, price)), theta, {})
    assert found.present_value_usd > eager.present_value_usd


def test_a_named_way_that_makes_jobs_wait_too_long_is_no_answer() -> None:
    problem = problem_of(shared(2.5, 5.0))
    theta = problem.theta()
    eager = optimise(problem_of(shared(None, 5.0)), theta, {}).choice
    assert eager is not None
    assert late_machines(problem, theta, eager) == [0]
    found = optimise(problem, theta, {"local": eager})
    assert found.same_as is None
    assert found.choice is not None
    assert late_machines(problem, theta, found.choice) == []


def test_a_limit_that_no_queue_could_keep_is_kept_by_renting() -> None:
    problem = problem_of(shared(1.0001, 5.0))
    found = optimise(problem, problem.theta(), {})
    assert found.choice is not None
    assert late_machines(problem, problem.theta(), found.choice) == []


@pytest.mark.parametrize(
    ("crowded", "count"), [((), 3), (((1, 0.1), (2, 0.3)), 3), (((2, 0.6), (3, 0.5)), 4), (((9, 0.35),), 5)]
)
def test_more_machines_may_be_fuller(crowded: tuple[tuple[int, float], ...], count: int) -> None:
    """1,200 hours of work a month, of 730 that each machine is on."""
    plan = shared(2000, 50.0)
    plan["jobs"]["work"]["runs_per_month"] = 1200
    problem = problem_of(plan)
    theta = problem.theta()
    every = coefficients(problem, theta, usable(problem, theta))
    search = begin(problem, theta, every, list(every.pairs), limits=(), gap=1e-6, time_limit_s=10)
    search.loads = {0: SafeLoad(target=0.7, crowded=crowded)}
    mix, solved = search.solved(())
    assert solved.values is not None
    choice = mix.choice(solved.values)
    load = kernel(problem, theta, choice).load.max()
    assert choice.machine_count.tolist() == [[count]]
    assert load <= search.loads[0].of(count) + 1e-9


def test_a_safe_load_tightens_for_as_many_machines_and_fewer() -> None:
    load = SafeLoad(target=0.7).below(2, 0.6).below(1, 0.4)
    assert [load.of(count) for count in (1, 2, 3)] == pytest.approx([0.4 * TIGHTER, 0.6 * TIGHTER, 0.7])
    assert load.steps == (1, 2)
