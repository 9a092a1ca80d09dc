"""How sure a plan is, what moves it most and what would turn it, as rows of its document."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from planner.report.plain import plain
from planner.report.provenance import used_parameters
from planner.scenario.schema import Scenario
from planner.strategy.evaluate import Result, evaluate_known
from planner.strategy.flips import LEAST_FACTOR, MOST_FACTOR, Flip, flips
from planner.strategy.horizon import HorizonFlip, horizon_flips
from planner.strategy.kernel import Choice
from planner.strategy.movers import Mover, movers
from planner.strategy.redecide import redecide
from planner.strategy.sensitivity import Bar, sensitivity
from planner.strategy.uncertainty import SAMPLES, WayUncertainty, uncertainty


def with_certainty(
    document: Mapping[str, Any], result: Result, *, scenario: Scenario | None = None, anew: bool = False
) -> dict[str, Any]:
    """A plan's document with `uncertainty`, `sensitivity` and `flips`.

    Parameters
    ----------
    document : mapping
        Of the plan.
    result : Result
        The plan.
    scenario : Scenario, optional
        What was asked, for horizons that turn the recommendation; without it these aren't looked for.
    anew : bool
        Also plan every future anew.
    """
    return {
        **document,
        "uncertainty": uncertainty_entry(result, anew=anew),
        "sensitivity": sensitivity_entries(result),
        "flips": flips_entry(result, scenario=scenario),
    }


def uncertainty_entry(result: Result, *, samples: int = SAMPLES, anew: bool = False) -> dict[str, Any]:
    """Percentiles and probabilities of the ways that do all the work within their limits.

    Ways that are the same plan share its figures, and don't take chances from one another.
    """
    choices = {way.id: way.allocation.choice for way in result.strategies if way.feasible}
    known = {id: one for id, one in choices.items() if one is not None}
    first = {id: next(other for other in known if _same(known[other], known[id])) for id in known}
    found = uncertainty(result.problem, {id: known[id] for id in known if first[id] == id}, samples=samples)
    of = {way.id: way for way in found.ways}
    entry: dict[str, Any] = plain(
        {
            "samples": found.samples,
            "varied": found.varied,
            "assumed": list(found.assumed),
            "none_works_probability": found.none_works_probability,
            "strategies": [
                {**_way_entry(of[first[id]]), "id": id, "same_as": None if first[id] == id else first[id]}
                for id in known
            ],
            "redecided": _redecided_entry(result, known) if anew else None,
        }
    )
    return entry


def _redecided_entry(result: Result, choices: Mapping[str, Choice]) -> dict[str, Any] | None:
    """Every future planned anew, against the recommended way kept; None without one."""
    chosen = result.recommendation.strategy
    if chosen is None or chosen not in choices:
        return None
    found = redecide(result.problem, choices, chosen)
    return {
        "decided": found.decided,
        "samples": found.samples,
        "decided_works_probability": found.decided_works_probability,
        "works_probability": found.works_probability,
        "decided_mean_usd": found.decided_usd,
        "redecided_mean_usd": found.redecided_usd,
        "perfect_information_usd": found.perfect_information_usd,
        "chosen": [{"id": id, "probability": share} for id, share in found.chosen_probability.items()],
    }


def _same(one: Choice, other: Choice) -> bool:
    """Whether two choices are the same machines and places."""
    shares = one.by_month.keys() == other.by_month.keys() and all(
        np.array_equal(share, other.by_month[pair]) for pair, share in one.by_month.items()
    )
    return (
        shares and np.array_equal(one.machine_count, other.machine_count) and np.array_equal(one.routing, other.routing)
    )


def _way_entry(way: WayUncertainty) -> dict[str, Any]:
    sampled = ("present_value_usd", "tco_usd", "energy_kwh", "kg_co2e")
    return {
        "id": way.id,
        "cheapest_probability": way.cheapest_probability,
        "works_probability": way.works_probability,
        **{f"fails_for_{name}_probability": share for name, share in way.fails_probability.items()},
        "present_value_usd_mean": way.mean_present_value_usd,
        **{f"{name}_{at}": value for name in sampled for at, value in asdict(getattr(way, name)).items()},
        "jobs": [
            {
                "id": place.job,
                "resource": place.resource,
                **{f"turnaround_h_{at}": hours for at, hours in asdict(place.turnaround_h).items()},
                "in_time_probability": place.in_time_probability,
            }
            for place in way.places
        ],
    }


def sensitivity_entries(result: Result) -> list[dict[str, Any]]:
    """The inputs that move the recommended way most; none without a recommendation."""
    found = result.recommendation
    choice = _choice_of(result, found.strategy)
    if choice is None:
        return []
    following = None if found.reason_code == "same_as" else found.runner_up
    other = _choice_of(result, following)
    bars = sensitivity(result.problem, result.theta, choice, _movers(result), runner_up=other)
    entries: list[dict[str, Any]] = plain([_bar_entry(bar, None if other is None else following) for bar in bars])
    return entries


def _bar_entry(bar: Bar, runner_up: str | None) -> dict[str, Any]:
    return {
        **_input(bar.mover),
        "low": bar.mover.low,
        "high": bar.mover.high,
        "assumed": bar.mover.assumed,
        "sources": list(bar.mover.sources),
        "present_value_low_usd": bar.present_value_low_usd,
        "present_value_high_usd": bar.present_value_high_usd,
        "swing_usd": bar.swing_usd,
        "recommended_low": bar.recommended_low,
        "recommended_high": bar.recommended_high,
        "runner_up": runner_up,
        "difference_low_usd": bar.difference_low_usd,
        "difference_high_usd": bar.difference_high_usd,
    }


def flips_entry(result: Result, *, scenario: Scenario | None = None) -> dict[str, Any]:
    """Values of inputs at which another way becomes the one to choose, the nearest first."""
    found = flips(result.problem, result.theta, [mover for mover in _movers(result) if mover.asked])
    entry: dict[str, Any] = plain(
        {
            "least_factor": LEAST_FACTOR,
            "most_factor": MOST_FACTOR,
            "compared": found.today,
            "found": [_flip_entry(flip) for flip in found.found],
            "none": [mover.id for mover in found.none],
            "horizon": None if scenario is None else [asdict(flip) for flip in _horizons(scenario, result)],
        }
    )
    return entry


def _horizons(scenario: Scenario, result: Result) -> tuple[HorizonFlip, ...]:
    def recommended_at(months: int) -> str | None:
        asked = scenario.model_copy(update={"horizon_months": months})
        return evaluate_known(asked, result.catalog, result.evidence, today=result.today).recommendation.strategy

    return horizon_flips(result.problem.horizon_months, recommended_at)


def _flip_entry(flip: Flip) -> dict[str, Any]:
    return {
        **_input(flip.mover),
        "at": flip.value,
        "before": flip.before,
        "factor": flip.factor,
        "direction": "below" if flip.below else "above",
        "becomes": flip.becomes,
    }


def _input(mover: Mover) -> dict[str, Any]:
    return {"input": mover.id, "unit": mover.unit, "value": mover.value}


def _movers(result: Result) -> tuple[Mover, ...]:
    return movers(result.problem, {parameter.id for parameter in used_parameters(result)})


def _choice_of(result: Result, id: str | None) -> Choice | None:
    return next((way.allocation.choice for way in result.strategies if way.id == id), None)


def nearest_flips(document: Mapping[str, Any], most: int) -> list[dict[str, Any]]:
    """The nearest flips of a document, of each input the nearest."""
    nearest: dict[str, dict[str, Any]] = {}
    for flip in document["flips"]["found"]:
        known = nearest.get(flip["input"])
        if known is None or abs(math.log(flip["factor"])) < abs(math.log(known["factor"])):
            nearest[flip["input"]] = flip
    return list(nearest.values())[:most]
