"""How sure a plan is, on a plan in numbers for mental arithmetic: percentiles, chances, bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.strategy.allocate import allocate
from planner.strategy.kernel import Choice, kernel
from planner.strategy.problem import PlanProblem
from planner.strategy.uncertainty import uncertainty
from tests.planning import document, problem_of, small_plan


def choices_of(problem: PlanProblem) -> dict[str, Choice]:
    found = {kind: allocate(problem, problem.theta(), kind).choice for kind in ("local", "cloud")}
    return {kind: choice for kind, choice in found.items() if choice is not None}


def with_range(problem: PlanProblem, id: str, low: float | None, high: float | None) -> PlanProblem:
    """A problem in which only this parameter has a range."""
    parameters = tuple(
        replace(p, low=low if p.id == id else None, high=high if p.id == id else None) for p in problem.parameters
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


def test_equal_choices_share_and_chances_add_up() -> None:
    problem = problem_of(document("hybrid-lab"))
    choice = allocate(problem, problem.theta(), "hybrid").choice
    other = allocate(problem, problem.theta(), "cloud").choice
    assert choice is not None
    assert other is not None
    found = uncertainty(problem, {"one": choice, "twin": choice, "other": other}, samples=512)
    chances = {way.id: way.cheapest_probability for way in found.ways}
    assert chances["one"] == chances["twin"] > 0
    assert sum(chances.values()) + found.none_works_probability == pytest.approx(1.0)


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
    problem = problem_of(small_plan({"jobs.work.deadline_h": 1.0}))
    choices = choices_of(problem)
    speed = next(p for p in problem.parameters if ".throughput." in p.id and p.id.endswith(".own"))
    ranged = with_range(problem, speed.id, speed.value * 0.9, speed.value * 1.1)
    way = next(way for way in uncertainty(ranged, {"local": choices["local"]}).ways)
    (place,) = way.places
    assert place.in_time_probability == pytest.approx(0.5, abs=0.01)  # as planned it takes exactly the hour
    assert place.turnaround_h.p10 < 1.0 < place.turnaround_h.p90


def test_percentiles_hardly_depend_on_the_seed() -> None:
    problem = problem_of(document("hybrid-lab"))
    choices = {"hybrid": allocate(problem, problem.theta(), "hybrid").choice}
    known = {id: choice for id, choice in choices.items() if choice is not None}
    one, other = (uncertainty(problem, known, seed=seed).ways[0].tco_usd for seed in (1, 2))
    assert (one.p10, one.p50, one.p90) == pytest.approx((other.p10, other.p50, other.p90), rel=0.01)
