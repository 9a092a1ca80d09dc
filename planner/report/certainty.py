"""How sure a plan is, what moves it most and what would turn it, as rows of its document."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from planner.report.plain import plain
from planner.report.provenance import used_parameters
from planner.strategy.evaluate import Result
from planner.strategy.flips import LEAST_FACTOR, MOST_FACTOR, Flip, flips
from planner.strategy.kernel import Choice
from planner.strategy.movers import Mover, movers
from planner.strategy.sensitivity import Bar, sensitivity
from planner.strategy.uncertainty import SAMPLES, WayUncertainty, uncertainty


def with_certainty(document: Mapping[str, Any], result: Result) -> dict[str, Any]:
    """A plan's document with `uncertainty`, `sensitivity` and `flips`."""
    return {
        **document,
        "uncertainty": uncertainty_entry(result),
        "sensitivity": sensitivity_entries(result),
        "flips": flips_entry(result),
    }


def uncertainty_entry(result: Result, *, samples: int = SAMPLES) -> dict[str, Any]:
    """Percentiles and probabilities of the ways that do all the work within their limits, each plan once."""
    choices = {way.id: way.allocation.choice for way in result.distinct_ways if way.feasible}
    found = uncertainty(result.problem, {id: one for id, one in choices.items() if one is not None}, samples=samples)
    entry: dict[str, Any] = plain(
        {
            "samples": found.samples,
            "varied": found.varied,
            "none_works_probability": found.none_works_probability,
            "strategies": [_way_entry(way) for way in found.ways],
        }
    )
    return entry


def _way_entry(way: WayUncertainty) -> dict[str, Any]:
    sampled = ("present_value_usd", "tco_usd", "energy_kwh", "kg_co2e")
    return {
        "id": way.id,
        "cheapest_probability": way.cheapest_probability,
        "works_probability": way.works_probability,
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
    choice = _recommended_choice(result)
    if choice is None:
        return []
    bars = sensitivity(result.problem, result.theta, choice, _movers(result))
    entries: list[dict[str, Any]] = plain([_bar_entry(bar) for bar in bars])
    return entries


def _bar_entry(bar: Bar) -> dict[str, Any]:
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
    }


def flips_entry(result: Result) -> dict[str, Any]:
    """Values of inputs at which another way becomes the one to choose, the nearest first."""
    found = flips(result.problem, result.theta, [mover for mover in _movers(result) if mover.asked])
    entry: dict[str, Any] = plain(
        {
            "least_factor": LEAST_FACTOR,
            "most_factor": MOST_FACTOR,
            "found": [_flip_entry(flip) for flip in found.found],
            "none": [mover.id for mover in found.none],
        }
    )
    return entry


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


def _recommended_choice(result: Result) -> Choice | None:
    chosen = result.recommendation.strategy
    return next((way.allocation.choice for way in result.strategies if way.id == chosen), None)


def nearest_flips(document: Mapping[str, Any], most: int) -> list[dict[str, Any]]:
    """The nearest flips of a document, of each input the nearest."""
    nearest: dict[str, dict[str, Any]] = {}
    for flip in document["flips"]["found"]:
        known = nearest.get(flip["input"])
        if known is None or abs(math.log(flip["factor"])) < abs(math.log(known["factor"])):
            nearest[flip["input"]] = flip
    return list(nearest.values())[:most]
