"""Random scenarios over the shipped catalog: a finite plan within its limits or a clear error, and one core for all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.random_scenarios import outcome, scenario
from planner.errors import PlannerError
from planner.scenario.axes import Axis
from planner.scenario.load import check_document
from planner.scenario.paths import get_value
from planner.strategy.evaluate import Result, evaluate, searched
from planner.strategy.kernel import Evaluation, kernel
from planner.strategy.ranges import sampled_theta
from planner.strategy.sweep import Sweep
from tests.planning import TODAY, evidence, shipped_catalog

TOTALS = ("present_value_usd", "tco_usd", "capex_usd", "residual_usd", "opex_usd", "financing_usd", "kwh", "kg_co2e")


def planned(first: int, count: int) -> Iterator[tuple[dict[str, object], Result]]:
    """So many random scenarios of which some way is feasible, with their plans."""
    found, seed = 0, first
    while found < count:
        plan = scenario(seed, shipped_catalog())
        seed += 1
        try:
            result = evaluate(check_document(plan), shipped_catalog(), evidence(), today=TODAY)
        except PlannerError:
            continue
        if result.recommendation.strategy is not None:
            found += 1
            yield plan, result


def test_each_gives_a_finite_plan_within_its_limits_or_a_clear_error() -> None:
    with np.errstate(all="raise", under="ignore"):
        found = {seed: outcome(seed, shipped_catalog(), evidence()) for seed in range(40)}
    assert {seed: wrong for seed, (_, wrong) in found.items() if wrong} == {}
    assert {kind for kind, _ in found.values()} == {"planned", "infeasible", "refused"}


def assert_one_core(plan: dict[str, object], result: Result) -> None:
    """That a plan, a row of a sweep and samples without width are the same figures."""
    job = result.problem.jobs[0].id
    path = f"jobs.{job}.runs_per_month"
    runs = float(get_value(plan, path))
    axes = [Axis(path=path, values=(runs, 1.5 * runs)), Axis(path="discount_rate", values=(0.01, 0.07))]
    points = [*Sweep(plan, axes[:1], shipped_catalog(), evidence(), today=TODAY)][:1]
    if get_value(plan, "discount_rate") is None:
        axes[1] = Axis(path="discount_rate", values=(float(result.theta[0, result.problem.discount_rate_at]),))
        points += [*Sweep(plan, axes, shipped_catalog(), evidence(), today=TODAY)][:1]
    certain = replace(
        result.problem, parameters=tuple(replace(p, low=p.value, high=p.value) for p in result.problem.parameters)
    )
    samples = sampled_theta(certain, 8)
    np.testing.assert_allclose(samples, np.repeat(result.theta, 8, axis=0), rtol=1e-12)
    for at, way in enumerate(result.strategies):
        if way.evaluation is None or way.allocation.choice is None:
            assert not any(point.ways[at].planned for point in points)
            continue
        for point in points:
            assert point.recommended == result.recommendation.strategy
            assert_same(point.ways[at], way.evaluation, 0)
        assert_same(kernel(result.problem, samples, way.allocation.choice), way.evaluation, 7)
    assert_best_mix(result)


def assert_best_mix(result: Result) -> None:
    """That the best mix is costed as the plan it is, and as one that it is the same plan as."""
    found = searched(result)
    best = next(way for way in found.strategies if way.id == "optimal")
    assert found.optimum is not None
    if best.evaluation is None or best.allocation.choice is None:
        return
    assert found.optimum.evaluation is not None
    for again in (found.optimum.evaluation, kernel(result.problem, result.theta, best.allocation.choice)):
        assert_same(again, best.evaluation, 0)
    named = [way for way in result.strategies if way.feasible and way.id not in found.set_aside]
    assert all(best.present_value_usd <= way.present_value_usd + 0.005 for way in named)


def assert_same(found: object, plan: Evaluation, row: int) -> None:
    for name in TOTALS:
        value = getattr(found, name, None)
        if value is not None:
            np.testing.assert_allclose(np.ravel(value)[min(row, np.size(value) - 1)], getattr(plan, name)[0],
                                       rtol=1e-9, atol=1e-9, err_msg=name)  # fmt: skip


def test_a_plan_is_a_row_of_a_sweep_and_a_sample_without_width() -> None:
    for plan, result in planned(first=500, count=5):
        assert_one_core(plan, result)


@pytest.mark.slow
def test_fifty_plans_are_rows_of_sweeps_and_samples_without_width() -> None:
    for plan, result in planned(first=1000, count=50):
        assert_one_core(plan, result)
