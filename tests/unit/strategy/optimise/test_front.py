"""Fronts: no plan of them is at least as good as another in both, and each is what the kernel says it is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from planner.report.front import pareto_entry
from planner.strategy.candidates import on_time
from planner.strategy.evaluate import Result, searched
from planner.strategy.kernel import Choice, kernel
from planner.strategy.optimise.front import Fronts, fronts
from planner.strategy.sessions import turnaround_h
from tests.mixes import small_mix
from tests.planning import problem_of, small_plan, solve

SLACK = 1e-5


def front_of(result: Result) -> Fronts:
    assert result.optimum is not None
    assert result.optimum.choice is not None
    return fronts(result.problem, result.theta, [result.optimum.choice])


@pytest.mark.parametrize("seed", [4, 7, 20])
def test_each_plan_is_what_the_kernel_says_and_none_beats_another(seed: int) -> None:
    plan = small_mix(seed, few_runs=False)
    for at, offer in enumerate(plan["offers"].values()):
        offer["grid_kg_co2e_per_kwh"] = 0.5 * offer["price_usd_per_h"] ** -1 + 0.01 * at  # what is dear is clean
    result = searched(solve(plan))
    found = front_of(result)
    assert result.optimum is not None
    assert len(found.co2) > 1
    for points, value in ((found.co2, "kg_co2e"), (found.turnaround, "slowdown")):
        assert points[0].present_value_usd == pytest.approx(result.optimum.present_value_usd, rel=1e-4)
        for point in points:
            again = kernel(result.problem, result.theta, point.choice)
            assert point.present_value_usd == pytest.approx(float(again.present_value_usd[0]), abs=1e-6)
            assert point.kg_co2e == pytest.approx(float(again.kg_co2e[0]), abs=1e-9)
        for one, other in itertools.pairwise(points):
            assert other.present_value_usd > one.present_value_usd - 0.005
            assert getattr(other, value) < getattr(one, value)
        for point, other in itertools.product(points, (*found.co2, *found.turnaround)):
            as_cheap = other.present_value_usd < point.present_value_usd + 0.005
            assert not (as_cheap and getattr(other, value) < getattr(point, value) * (1 - SLACK))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_ends_are_the_least_there_is(seed: int) -> None:
    """Against every job at every place in whole, on as many machines as it takes."""
    plan = small_mix(seed, few_runs=True)
    for at, offer in enumerate(plan["offers"].values()):
        offer["grid_kg_co2e_per_kwh"] = 0.1 * (at + 1)
    result = searched(solve(plan))
    problem, theta = result.problem, result.theta
    found = front_of(result)
    able = [i for i, pair in enumerate(problem.pairs) if pair.feasible and on_time(problem, theta, pair)]
    by_job = [[i for i in able if problem.pairs[i].job == job] for job in range(len(problem.jobs))]
    least = np.inf
    for places in itertools.product(*by_job):
        routing = np.zeros((1, len(problem.pairs)))
        routing[0, list(places)] = 1.0
        used = {problem.pairs[i].machine for i in places}
        for number in itertools.product(*[range(1, 4) if at in used else [0] for at in range(len(problem.machines))]):
            counts = np.array([number], dtype=float)
            evaluation = kernel(problem, theta, Choice(machine_count=counts, routing=routing))
            if evaluation.load.max() <= 0.7:
                least = min(least, float(evaluation.kg_co2e[0]))
    assert found.co2[-1].kg_co2e <= least * (1 + SLACK) + 1e-6
    fastest = found.turnaround[-1]
    alone = [min(float(turnaround_h(problem, problem.pairs[i], theta)[0]) for i in mine) for mine in by_job]
    for job, hours in zip(problem.jobs, alone, strict=True):
        taken = fastest.turnaround_h[job.id]
        assert taken is not None
        assert taken >= hours * (1 - SLACK)
    rented = [mine for mine in by_job if all(problem.pairs[i].offer is not None for i in mine)]
    if len(rented) == len(by_job):
        assert fastest.slowdown == pytest.approx(1.0)


def test_without_anything_better_there_is_one_plan() -> None:
    cheap = {"offers.rented.price_usd_per_h": 0.01, "offers.rented.grid_kg_co2e_per_kwh": 0.0}
    entry = pareto_entry(searched(solve(small_plan(cheap))))
    assert entry is not None
    for points in entry.values():
        assert [point["strategy"] for point in points] == ["cloud"]
        assert points[0]["jobs"] == [
            {"id": "work", "turnaround_h": 1.0, "places": [{"resource": "rented", "rented": True, "share": 1.0}]}
        ]


def test_there_is_none_without_a_search_or_a_mix() -> None:
    assert pareto_entry(solve(small_plan())) is None
    impossible = searched(solve(small_plan({"limits.total_usd": 1.0})))
    assert pareto_entry(impossible) is None
    assert problem_of(small_plan()).limits.total_usd is None
