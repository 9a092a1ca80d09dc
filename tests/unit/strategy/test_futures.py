"""What futures are drawn from: assumed ranges, ranges of a scenario, figures that move together; and deciding anew."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner.errors import InputError, PlannerError, ScenarioError
from planner.scenario.load import check_document
from planner.strategy.allocate import allocate
from planner.strategy.draws import Draws, ends_of, normal_points
from planner.strategy.futures import MANY, drawn_columns
from planner.strategy.horizon import HorizonFlip, horizon_flips
from planner.strategy.kernel import Choice, kernel
from planner.strategy.problem import PlanProblem
from planner.strategy.redecide import redecide
from planner.strategy.uncertainty import uncertainty
from planner.strategy.weighing import Weigher, weighted_quantiles
from tests.planning import problem_of, small_plan

RUNS, PRICE = "jobs.work.runs_per_month", "offers.rented.price_usd_per_h"


def ranged(uncertainty: dict[str, Any]) -> PlanProblem:
    return problem_of({**small_plan(), "uncertainty": uncertainty})


def choices_of(problem: PlanProblem) -> dict[str, Choice]:
    found = {kind: allocate(problem, problem.theta(), kind).choice for kind in ("local", "cloud")}
    return {kind: choice for kind, choice in found.items() if choice is not None}


def drawn(problem: PlanProblem, id: str, samples: int = 4096) -> np.ndarray[Any, np.dtype[np.float64]]:
    column = problem.column(id)
    draws = Draws(problem, [column], assumed=True)
    return draws.theta(normal_points(len(draws.names), samples, 1))[:, column] if draws.names else np.zeros(0)


def test_work_and_prices_without_a_range_are_drawn_from_an_assumed_one() -> None:
    """100 runs and 2 USD/h in the scenario: 25 % and 20 % either way in eight of ten futures."""
    problem = problem_of(small_plan())
    assert np.quantile(drawn(problem, RUNS), [0.1, 0.5, 0.9]) == pytest.approx([75, 100, 125], rel=0.01)
    assert np.quantile(drawn(problem, PRICE), [0.1, 0.5, 0.9]) == pytest.approx([1.6, 2.0, 2.4], rel=0.01)
    assert drawn(problem, "jobs.work.attempts_per_run").min() == 1.0
    named = {problem.parameters[at].id for at in drawn_columns(problem, choices_of(problem).values())}
    assert {RUNS, PRICE, "site.electricity_usd_per_kwh", "site.grid_kg_co2e_per_kwh"} <= named
    assert "machines.own.gpu_price_usd" not in named  # given, and a price that is known when it is paid


@pytest.mark.parametrize(
    ("asked", "quantiles"),
    [
        ({"low": 80, "high": 160}, [80, 100, 160]),
        ({"low": 50, "high": 400, "distribution": "lognormal"}, [50, 100, 400]),
        ({"share": 0.1}, [90, 100, 110]),
        ({"low": 100, "high": 200, "distribution": "uniform"}, [110, 150, 190]),
        ({"low": 50, "high": 150, "distribution": "triangular"}, [72.36, 100, 127.64]),
    ],
)
def test_a_range_of_the_scenario_is_drawn_as_it_says(asked: dict[str, Any], quantiles: list[float]) -> None:
    """A triangle from 50 to 150: a tenth is below 50 + 100 √(0.1 / 2)."""
    assert np.quantile(drawn(ranged({RUNS: asked}), RUNS), [0.1, 0.5, 0.9]) == pytest.approx(quantiles, rel=0.005)


def test_ranges_without_width_are_the_plan() -> None:
    open_ones = [p.id for p in problem_of(small_plan()).parameters if ends_of(p, assumed=True) is not None]
    problem = ranged({id: {"share": 0} for id in open_ones})
    assert drawn(problem, RUNS).size == 0
    for way in uncertainty(problem, choices_of(problem), samples=64).ways:
        planned = float(kernel(problem, problem.theta(), choices_of(problem)[way.id]).present_value_usd[0])
        ends = (way.present_value_usd.p10, way.present_value_usd.p90, way.mean_present_value_usd)
        assert ends == pytest.approx((planned,) * 3, rel=1e-9)


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({RUNS: {"low": 120, "high": 80}}, "high"),
        ({RUNS: {"low": 80}}, "low"),
        ({RUNS: {"low": 80, "high": 120, "share": 0.1}}, "share"),
        ({RUNS: {"share": -0.1}}, "share"),
        ({RUNS: {"share": 1}}, "share"),
        ({RUNS: {"low": 80, "high": 120, "distribution": "pareto"}}, "distribution"),
    ],
)
def test_a_range_that_contradicts_itself_is_refused(asked: dict[str, Any], field: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        check_document({**small_plan(), "uncertainty": asked})
    (problem,) = caught.value.problems
    assert problem.field.endswith(field)
    assert problem.expected


@pytest.mark.parametrize(
    ("path", "asked", "code", "named"),
    [
        (RUNS, {"low": 120, "high": 150}, "range_without_planned", ["100", "120", "150"]),
        (RUNS, {"low": -5, "high": 150}, "range_beyond", ["-5", "at least 0"]),
        (RUNS, {"low": 0, "high": 150, "distribution": "lognormal"}, "range_beyond", ["above 0"]),
        ("jobs.work.attempts_per_run", {"low": 0.5, "high": 2}, "range_beyond", ["0.5", "at least 1"]),
        ("discount_rate", {"low": 0, "high": 2}, "range_beyond", ["2", "at most 1"]),
        ("jobs.work.runs_per_mont", {"share": 0.1}, "unknown_path", [RUNS]),
        ("horizon_months", {"share": 0.1}, "unknown_path", []),
    ],
)
def test_a_range_beyond_what_a_figure_can_be_names_all_three(
    path: str, asked: dict[str, Any], code: str, named: list[str]
) -> None:
    with pytest.raises(InputError) as caught:
        ranged({path: asked})
    assert caught.value.code == code
    assert caught.value.field.startswith(f"uncertainty.{path}")
    assert all(word in str(caught.value) for word in named)


def with_two(problem: PlanProblem, ids: tuple[str, str], **changed: Any) -> PlanProblem:
    """Its first two figures are the price of the offer, under other ids."""
    price = problem.parameters[problem.column(PRICE)]
    pair = tuple(replace(price, id=id, **changed) for id in ids)
    return replace(problem, parameters=(*pair, *problem.parameters[2:]))


def test_prices_of_one_market_move_together_and_ages_of_a_card_alike() -> None:
    problem = problem_of(small_plan())
    prices = with_two(problem, ("offers.a.price_usd_per_h", "offers.b.price_usd_per_h"))
    draws = Draws(prices, [0, 1], assumed=True)
    theta = draws.theta(normal_points(len(draws.names), 4096, 3))
    assert np.corrcoef(theta[:, 0], theta[:, 1])[0, 1] == pytest.approx(0.7, abs=0.02)
    apart = Draws(
        with_two(problem, ("offers.a.price_usd_per_h", "offers.b.price_usd_per_h"), market=""), [0, 1], assumed=True
    )
    assert len(apart.names) == 2
    aged = with_two(problem, ("machines.own.residual_gpu.12", "machines.own.residual_gpu.24"), correlation=0.0)
    assert len(Draws(aged, [0, 1], assumed=True).names) == 1


def test_weights_make_a_percentile_steadier_and_leave_it_where_it_is() -> None:
    """Of a product of two draws and an atom, over eight seeds, against 262,144 futures."""

    def answer(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return np.stack([values[:, 0] * values[:, 1] + values[:, 2], np.maximum(values[:, 0], 1.0)], axis=1)

    def inputs(samples: int, seed: int) -> np.ndarray[Any, Any]:
        return np.exp(0.3 * np.random.default_rng(seed).standard_normal((samples, 8)))

    truth = np.quantile(answer(inputs(1 << 18, 99)), [0.1, 0.5, 0.9], axis=0)
    plain, weighed = [], []
    for seed in range(8):
        few = inputs(2048, seed)
        weights = Weigher(few, inputs(MANY, 100 + seed)).weights(answer(few))
        assert weights.sum(axis=0) == pytest.approx(1)
        plain.append(np.quantile(answer(few), [0.1, 0.5, 0.9], axis=0))
        weighed.append(
            [weighted_quantiles(answer(few)[:, at], weights[:, at], np.array([0.1, 0.5, 0.9])) for at in range(2)]
        )
    found = np.array(weighed).transpose(0, 2, 1)
    assert found.mean(axis=0) == pytest.approx(truth, rel=0.005)
    assert (np.std(found, axis=0)[:, 0] < 0.5 * np.std(plain, axis=0)[:, 0]).all()


def test_knowing_a_price_is_worth_what_it_would_change() -> None:
    """Owning comes to 1,022.60 USD; renting 1,200 h at 0.5 or up to 3.5 USD, as likely: cheaper below 0.852 USD."""
    asked = {PRICE: {"low": 0.5, "high": 3.5, "distribution": "uniform"}}
    others = (RUNS, "jobs.work.attempts_per_run", "site.electricity_usd_per_kwh")
    problem = ranged({**asked, **{id: {"share": 0} for id in others}})
    found = redecide(problem, choices_of(problem), "local", samples=1024)
    even = 1022.6 / 1200
    assert found.decided_usd == pytest.approx(1022.6, rel=1e-6)
    assert found.perfect_information_usd == pytest.approx(1200 * (even - 0.5) ** 2 / 2 / 3, rel=0.01)
    assert found.chosen_probability["cloud"] == pytest.approx((even - 0.5) / 3, abs=0.005)
    assert sum(found.chosen_probability.values()) == pytest.approx(found.works_probability) == 1.0


def test_a_horizon_flips_to_the_month_and_stops_where_it_cannot_be() -> None:
    def at(months: int) -> str:
        if months > 60:
            raise PlannerError("horizon")
        return "cloud" if months < 17 else "local"

    assert horizon_flips(36, at) == (HorizonFlip(months=16, before=17, becomes="cloud"),)
