"""The usual questions to a plan, more people or more machines: the scenario changed for them, and the extra cost."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any


def people_jobs(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Jobs that grow with the people: those of class development, or all where there are none."""
    jobs: Mapping[str, Any] = document.get("jobs") or {}
    found = tuple(id for id, job in jobs.items() if job.get("class", "development") == "development")
    return found or tuple(jobs)


def with_more_runs(document: Mapping[str, Any], jobs: tuple[str, ...], factor: float) -> dict[str, Any]:
    """A copy of a document in which some jobs have `factor` times as many runs, in every month."""
    changed = copy.deepcopy(dict(document))
    for id in jobs:
        job = changed["jobs"][id]
        job["runs_per_month"] = job["runs_per_month"] * factor
        if job.get("runs_by_month"):
            job["runs_by_month"] = {month: runs * factor for month, runs in job["runs_by_month"].items()}
    return changed


def with_machines(document: Mapping[str, Any], counts: Mapping[str, int]) -> dict[str, Any]:
    """A copy of a document with these numbers of machines, and without the types that aren't named."""
    changed = copy.deepcopy(dict(document))
    changed["machines"] = {id: _counted(changed["machines"][id], count) for id, count in counts.items()}
    for job in changed["jobs"].values():  # own speeds on the types that are gone
        rates = job.get("throughput") or {}
        gone = [name for name in rates if name in document["machines"] and name not in counts]
        if gone:
            job["throughput"] = {name: rate for name, rate in rates.items() if name not in gone}
    return changed


def as_chosen(document: Mapping[str, Any], options: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A copy of a document in which machines that are there already become what a plan of it chose."""
    changed = copy.deepcopy(dict(document))
    for machine in next((option["machines"] for option in options if option["chosen"]), []):
        changed["machines"][machine["id"]]["owned"]["at_start"] = machine["at_start"]
    return changed


def _counted(entry: Mapping[str, Any], count: int) -> dict[str, Any]:
    """A type with a number of machines in the plan; of one that is bought in stages, the last stage changes."""
    owned, stages = entry.get("owned") or {}, entry.get("purchases")
    if owned.get("at_start") == "sell":  # those that are sold aren't in the plan, but in what a scenario counts
        count += owned["count"]
    if not stages:
        return {**entry, "count": count}
    more = count - sum(stages.values()) - owned.get("count", 0)
    last = max(stages)
    return {**entry, "count": count, "purchases": {**stages, last: stages[last] + more}}


def extra_usd_per_month(before: Mapping[str, Any], after: Mapping[str, Any], horizon_months: int) -> float:
    """What a changed plan costs more than the plan before, resale included, spread over the horizon. [USD/month]

    Parameters
    ----------
    before, after : mapping
        The same strategy of the two plan documents.
    horizon_months : int
        Of both.
    """
    return float((after["tco_usd"] - before["tco_usd"]) / horizon_months)
