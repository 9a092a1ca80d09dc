"""How sure a plan is, on a plan in numbers for mental arithmetic: percentiles, chances, bounds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from planner.report.certainty import uncertainty_entry
from planner.scenario.load import load_scenario
from planner.strategy.allocate import allocate
from planner.strategy.draws import ends_of
from planner.strategy.evaluate import Result, evaluate
from planner.strategy.futures import drawn_columns
from planner.strategy.kernel import Choice, kernel
from planner.strategy.problem import PlanProblem
from planner.strategy.uncertainty import uncertainty
from tests.planning import TODAY, evidence, problem_of, shipped_catalog, small_plan, solve

ROOT = Path(__file__).resolve().parents[3]


def choices_of(problem: PlanProblem) -> dict[str, Choice]:
    found = {kind: allocate(problem, problem.theta(), kind).choice for kind in ("local", "cloud")}
    return {kind: choice for kind, choice in found.items() if choice is not None}


def with_range(problem: PlanProblem, id: str, low: float | None, high: float | None) -> PlanProblem:
    """A problem in which only this parameter has a range."""
    parameters = tuple(
        replace(p, low=low if p.id == id else None, high=high if p.id == id else None, assumed_share=0.0)
        for p in problem.parameters
    )
    return replace(problem, parameters=parameters)


def test_percentiles_of_one_price_are_those_of_its_range() -> None:
    """The offer alone: 1,200 hours at 2 USD, in eight of ten futures between 1.5 and 2.5 USD."""
    problem = with_range(problem_of(small_plan()), "offers.rented.price_usd_per_h", 1.5, 2.5)
    (way,) = uncertainty(problem, {"cloud": choices_of(problem)["cloud"]}).ways
    planned = float(kernel(problem, problem.theta(), choices_of(problem)["cloud"]).tco_usd[0])
    assert (way.tco_usd.p10, way.tco_usd.p50, way.tco_usd.p90) == pytest.approx(
        (planned * 0.75, planned, planned * 1.25), rel=0.002
    )
    assert way.energy_kwh.p10 == way.energy_kwh.p90
    assert way.cheapest_probability == way.works_probability == 1.0


def test_the_chance_of_being_cheapest_is_that_of_the_price_beyond_break_even() -> None:
    """Renting costs what owning does at a factor f; a normal price is above it with a known probability."""
    problem = problem_of(small_plan())
    choices = choices_of(problem)
    own, rent = (float(kernel(problem, problem.theta(), choices[kind]).present_value_usd[0]) for kind in choices)
    planned = problem.parameters[problem.column("offers.rented.price_usd_per_h")].value
    even = planned * own / rent  # all lines of the rented way are by this price
    ranged = with_range(
        problem, "offers.rented.price_usd_per_h", planned - (planned - even), planned + (planned - even)
    )
    found = {way.id: way for way in uncertainty(ranged, choices).ways}
    assert even < planned  # owning is cheaper as planned, and dearer in one future of ten
    assert found["cloud"].cheapest_probability == pytest.approx(0.1, abs=0.005)
    assert found["local"].cheapest_probability == pytest.approx(0.9, abs=0.005)


def test_without_ranges_all_is_as_planned() -> None:
    problem = with_range(problem_of(small_plan()), "", None, None)
    choices = choices_of(problem)
    found = uncertainty(problem, choices, samples=16)
    assert found.varied == 0
    for way in found.ways:
        planned = kernel(problem, problem.theta(), choices[way.id])
        for sampled, value in (
            (way.present_value_usd, planned.present_value_usd),
            (way.tco_usd, planned.tco_usd),
            (way.energy_kwh, planned.kwh),
            (way.kg_co2e, planned.kg_co2e),
        ):
            assert (sampled.p10, sampled.p50, sampled.p90) == pytest.approx((float(value[0]),) * 3, rel=1e-9)
    assert sorted(way.cheapest_probability for way in found.ways) == [0.0, 1.0]


@cache
def lab() -> Result:
    """The example, whose machines, speeds, people and site have ranges; the fixtures' figures have none."""
    scenario = load_scenario(ROOT / "examples" / "hybrid-lab.yaml")
    return evaluate(scenario, shipped_catalog(), evidence(), today=TODAY)


def lab_choices() -> dict[str, Choice]:
    found = {way.id: way.allocation.choice for way in lab().strategies}
    return {id: choice for id, choice in found.items() if choice is not None}


def test_equal_choices_share_and_chances_add_up() -> None:
    mix, rent = lab_choices()["hybrid"], lab_choices()["cloud"]
    found = uncertainty(lab().problem, {"one": mix, "twin": mix, "other": rent}, samples=512)
    chances = {way.id: way.cheapest_probability for way in found.ways}
    assert 0.4 < chances["one"] == chances["twin"] < 0.5
    assert chances["other"] > 0
    assert sum(chances.values()) + found.none_works_probability == pytest.approx(1.0)


def test_ways_that_are_the_same_plan_do_not_take_chances_from_one_another() -> None:
    """Without work for machines renting all is the mix too."""
    result = solve(small_plan({"jobs.work.class": "key", "machines.own.count": None}))
    entry = {way["id"]: way for way in uncertainty_entry(result, samples=64)["strategies"]}
    assert (entry["hybrid"]["same_as"], entry["cloud"]["same_as"]) == ("cloud", None)
    assert entry["hybrid"]["cheapest_probability"] == entry["cloud"]["cheapest_probability"]
    different = [way for way in entry.values() if way["same_as"] is None]
    assert sum(way["cheapest_probability"] for way in different) == pytest.approx(1.0)


def test_what_is_not_drawn_changes_nothing() -> None:
    """Figures with a range that are left alone, moved all the same."""
    problem, choices = lab().problem, lab_choices()
    columns = drawn_columns(problem, choices.values())
    others = [
        at for at, p in enumerate(problem.parameters) if ends_of(p, assumed=True) is not None and at not in columns
    ]
    assert len(columns) > 20
    assert len(others) > 100
    moved = problem.theta()
    moved[:, others] *= 1.1
    for choice in choices.values():
        planned, then = (kernel(problem, theta, choice) for theta in (problem.theta(), moved))
        assert then.present_value_usd == pytest.approx(planned.present_value_usd, rel=1e-12)
        assert then.kg_co2e == pytest.approx(planned.kg_co2e, rel=1e-12)


def test_a_way_whose_machines_are_full_in_a_future_is_not_the_cheapest_there() -> None:
    """Machines at a load of 0.98 as planned can't carry the slow half of futures."""
    problem = problem_of(small_plan())
    choices = choices_of(problem)
    speed = next(p for p in problem.parameters if ".throughput." in p.id and p.id.endswith(".own"))
    busy = float(kernel(problem, problem.theta(), choices["local"]).load.max())
    slow = with_range(problem, speed.id, speed.value * busy * 0.5, speed.value * 1.5)
    found = {way.id: way for way in uncertainty(slow, choices).ways}
    full = np.isclose(found["local"].works_probability, 1.0)
    assert not full
    assert found["local"].cheapest_probability <= found["local"].works_probability
    assert sum(way.cheapest_probability for way in found.values()) == pytest.approx(1.0)


def test_a_limit_holds_in_the_futures_in_which_the_run_is_quick_enough() -> None:
    """An hour as planned, a limit of 1.25: kept down to 0.8 of the speed, which one future of ten is below."""
    problem = problem_of(small_plan({"jobs.work.deadline_h": 1.25}))
    choices = choices_of(problem)
    speed = next(p for p in problem.parameters if ".throughput." in p.id and p.id.endswith(".own"))
    ranged = with_range(problem, speed.id, speed.value * 0.8, speed.value * 1.1)
    (way,) = uncertainty(ranged, {"local": choices["local"]}).ways
    (place,) = way.places
    assert place.in_time_probability == pytest.approx(0.9, abs=0.005)
    assert (place.turnaround_h.p10, place.turnaround_h.p90) == pytest.approx((1 / 1.1, 1.25), rel=0.002)


def test_percentiles_hardly_depend_on_the_seed() -> None:
    """Of all ways and figures, but for low percentiles of emissions that are near zero."""
    one, other = (uncertainty(lab().problem, lab_choices(), seed=seed).ways for seed in (1, 2))
    for mine, its in zip(one, other, strict=True):
        for name in ("present_value_usd", "tco_usd", "energy_kwh", "kg_co2e"):
            found, again = getattr(mine, name), getattr(its, name)
            assert found.p10 < found.p50 < found.p90
            assert (found.p50, found.p90) == pytest.approx((again.p50, again.p90), rel=0.01), (mine.id, name)
            if name != "kg_co2e":
                assert found.p10 == pytest.approx(again.p10, rel=0.01), (mine.id, name)
