"""Jobs with a limit don't wait too long in a best mix: less is booked, more is bought, or some of it is rented."""

from __future__ import annotations

from typing import Any

import pytest

from planner.strategy.optimise.loads import TIGHTER, late_machines
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
    assert second <= TIGHTER * first
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
