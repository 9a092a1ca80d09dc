"""The fronts of a plan as rows of its document: plans that are cheaper or better, none both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.report.plain import plain
from planner.strategy.evaluate import Result
from planner.strategy.optimise.front import FrontPoint, Fronts, fronts, shares_of_runs


def with_fronts(document: Mapping[str, Any], result: Result) -> dict[str, Any]:
    """A plan's document with `pareto`; null where there is no best mix to begin with."""
    return {**document, "pareto": pareto_entry(result)}


def pareto_entry(result: Result) -> dict[str, Any] | None:
    """Both fronts, the cheapest plan of each first; None without a best mix."""
    optimum = result.optimum
    if optimum is None or optimum.choice is None:
        return None
    ways = {way.id: way for way in result.distinct_ways if way.feasible and way.id not in result.set_aside}
    choices = [way.allocation.choice for way in ways.values()]
    known = [optimum.choice, *(choice for choice in choices if choice is not None)]
    found: Fronts = fronts(result.problem, result.theta, known)
    named = {
        id(optimum.choice): "optimal" if optimum.same_as is None else optimum.same_as,
        **{id(way.allocation.choice): way.id for way in ways.values()},
    }
    entry: dict[str, Any] = plain(
        {
            "co2": [_point(point, result, named) for point in found.co2],
            "turnaround": [_point(point, result, named) for point in found.turnaround],
        }
    )
    return entry


def _point(point: FrontPoint, result: Result, named: Mapping[int, str]) -> dict[str, Any]:
    problem, evaluation = result.problem, point.evaluation
    shares = shares_of_runs(problem, point.choice)
    return {
        "strategy": named.get(id(point.choice)),
        "present_value_usd": float(evaluation.present_value_usd[0]),
        "tco_usd": float(evaluation.tco_usd[0]),
        "capex_usd": float(evaluation.capex_usd[0]),
        "energy_kwh": float(evaluation.kwh[0]),
        "kg_co2e": float(evaluation.kg_co2e[0]),
        "slowdown": point.slowdown,
        "machines": [
            {"id": machine.id, "count": int(point.choice.machine_count[0, at])}
            for at, machine in enumerate(problem.machines)
            if point.choice.machine_count[0, at] > 0
        ],
        "jobs": [
            {
                "id": job.id,
                "turnaround_h": point.turnaround_h[job.id],
                "places": [
                    {"resource": pair.resource, "rented": pair.offer is not None, "share": float(shares[index])}
                    for index, pair in enumerate(problem.pairs)
                    if pair.job == at and shares[index] > 0
                ],
            }
            for at, job in enumerate(problem.jobs)
        ],
    }
