"""Break-evens between the ways of a plan as rows of its document and as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.messages import render
from planner.report.plain import plain
from planner.strategy.break_even import BreakEven, Crossing, Curve, break_evens
from planner.strategy.evaluate import Result

_DISCOUNTED = (False, True)


def break_even_entries(result: Result) -> list[dict[str, Any]]:
    """One entry for each pair of plans that do all the work within their limits."""
    choices = {way.id: way.allocation.choice for way in result.distinct_ways if way.feasible}
    found = break_evens(
        result.problem, result.theta, {id: choice for id, choice in choices.items() if choice is not None}
    )
    entries: list[dict[str, Any]] = plain([_entry(result, pair) for pair in found])
    return entries


def with_break_even(document: Mapping[str, Any], result: Result) -> dict[str, Any]:
    """A plan's document with the break-evens of its ways."""
    return {**document, "break_even": break_even_entries(result)}


def break_even_sentences(document: Mapping[str, Any]) -> list[str]:
    """Where the recommended way and another have the same present value, where they do anywhere; of twins one only."""
    sentences: dict[tuple[str, ...], str] = {}
    for entry in document.get("break_even", []):
        if document["recommended"] not in (entry["owning"], entry["renting"]):
            continue
        places = [*_use_words(entry["use"][1]), *_price_words(entry["rental_price"][1])]
        if places:
            names = {side: render(f"strategy_{entry[side]}") for side in ("owning", "renting")}
            sentences.setdefault(tuple(places), render("break_even", **names, places=places))
    return list(sentences.values())


def _use_words(use: Mapping[str, Any]) -> list[str]:
    if use["scale"] is None:
        return []
    share = use["utilisation"]
    if len(use["runs"]) == 1:
        return [render("break_even_runs", runs=use["runs"][0]["runs_per_month"], share=share)]
    return [render("break_even_scale", scale=use["scale"], share=share)]


def _price_words(price: Mapping[str, Any]) -> list[str]:
    if price["factor"] is None:
        return []
    if len(price["offers"]) == 1:
        (offer,) = price["offers"]
        return [render("break_even_price", price=offer["price_usd_per_h"], offer=offer["id"])]
    return [render("break_even_factor", factor=price["factor"])]


def _entry(result: Result, found: BreakEven) -> dict[str, Any]:
    return {
        "owning": found.owning,
        "renting": found.renting,
        "planned_busy_h": found.busy_h,
        "planned_utilisation": found.utilisation,
        "most_scale": found.most_factor,
        "use": [
            _use_entry(result, found, discounted, crossing)
            for discounted, crossing in zip(_DISCOUNTED, found.use, strict=True)
        ],
        "rental_price": [
            _price_entry(found, discounted, crossing)
            for discounted, crossing in zip(_DISCOUNTED, found.rental_price, strict=True)
        ],
        "payback": [
            {"discounted": discounted, "month": month, "reason": reason}
            for discounted, month, reason in zip(_DISCOUNTED, found.payback, found.payback_reasons, strict=True)
        ],
        "curve": [] if found.curve is None else _curve_entries(found, found.curve),
    }


def _use_entry(result: Result, found: BreakEven, discounted: bool, crossing: Crossing) -> dict[str, Any]:
    scale = crossing.factor
    return {
        "discounted": discounted,
        "scale": scale,
        "busy_h": None if scale is None else scale * found.busy_h,
        "utilisation": None if scale is None or found.utilisation is None else scale * found.utilisation,
        "runs": [] if scale is None else _runs(result, scale),
        "further_scales": list(crossing.further),
        "reason": crossing.reason,
    }


def _runs(result: Result, scale: float) -> list[dict[str, Any]]:
    """Runs of a mean month, by job."""
    return [
        {
            "id": job.id,
            "runs_per_month": scale * float(result.theta[0, job.runs_per_month_at]) * job.mean_factor,
        }
        for job in result.problem.jobs
    ]


def _price_entry(found: BreakEven, discounted: bool, crossing: Crossing) -> dict[str, Any]:
    factor = crossing.factor
    prices = {} if factor is None else found.prices_usd_per_h
    return {
        "discounted": discounted,
        "factor": factor,
        "offers": [{"id": id, "price_usd_per_h": (factor or 0.0) * price} for id, price in prices.items()],
        "reason": crossing.reason,
    }


def _curve_entries(found: BreakEven, curve: Curve) -> list[dict[str, Any]]:
    return [
        {
            "scale": scale,
            "busy_h": scale * found.busy_h,
            "utilisation": None if found.utilisation is None else scale * found.utilisation,
            "owning_usd": float(curve.owning_usd[at]),
            "renting_usd": float(curve.renting_usd[at]),
            "owning_present_value_usd": float(curve.owning_present_value_usd[at]),
            "renting_present_value_usd": float(curve.renting_present_value_usd[at]),
        }
        for at, scale in enumerate(curve.factor.tolist())
    ]
