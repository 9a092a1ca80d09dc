"""Runs of the months that are left: as planned, or scaled by what was measured."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias, get_args

from planner.actual.carried import ENOUGH, Replan, say
from planner.actual.drift import Comparison
from planner.errors import InputError
from planner.scenario.jobs import JobInput
from planner.scenario.schema import Scenario
from planner.scenario.values import SMALLEST

Demand: TypeAlias = Literal["planned", "measured"]
DEMANDS: Final[tuple[Demand, ...]] = get_args(Demand)
_SAME = 1e-9


def carry_demand(found: Replan, scenario: Scenario) -> None:
    """Every job's runs of the remaining months; a job without any is left out."""
    jobs = found.document["jobs"]
    for id, entry in scenario.jobs.items():
        job = {**jobs[id], **shifted_demand(entry, found.month)}
        for key in ("growth_per_month", "seasonality", "runs_by_month"):
            if job.get(key) in (None, {}):
                job.pop(key, None)
        if not _has_runs(entry, found.month, scenario.horizon_months):
            del jobs[id]
            say(found.left, "replan_job_over", f"jobs.{id}", job=id, month=found.month)
            continue
        jobs[id] = job
    if not jobs:
        raise InputError("replan_no_job", field="--month", value=found.month)


def shifted_demand(entry: JobInput, month: int) -> dict[str, Any]:
    """Demand keys of a job whose month 1 is a later month of the plan."""
    past = month - 1
    season = entry.seasonality
    turn = past % len(season) if season else 0
    return {
        "runs_per_month": max(entry.runs_per_month * (1.0 + entry.growth_per_month) ** past, SMALLEST)
        if entry.growth_per_month
        else entry.runs_per_month,
        "growth_per_month": entry.growth_per_month or None,
        "seasonality": [*season[turn:], *season[:turn]] if season else None,
        "runs_by_month": {at - past: runs for at, runs in entry.runs_by_month.items() if at > past},
    }


def _has_runs(entry: JobInput, month: int, horizon_months: int) -> bool:
    season = entry.seasonality or [1.0]
    return any(
        entry.runs_by_month.get(at, season[(at - 1) % len(season)]) > 0 for at in range(month, horizon_months + 1)
    )


def scale_demand(found: Replan, comparison: Comparison) -> None:
    """Multiply the coming runs of each job by those reported over those planned for the same months.

    A job keeps its plan where fewer than `ENOUGH` runs were reported, or where a resource of it is unknown in a month:
    its runs may be there.
    """
    for id, entry in found.document["jobs"].items():
        rows = [job for job in comparison.jobs if job.job == id]
        months = {month for job in rows for month in job.months}
        runs, planned = sum(job.runs for job in rows), sum(job.runs_planned for job in rows)
        where, params = f"jobs.{id}.runs_per_month", {"job": id, "runs": runs, "planned": planned}
        if not months or abs(runs - planned) <= _SAME * planned:
            continue
        if any(months & set(job.unknown_months) for job in rows):
            say(found.left, "replan_demand_unknown", where, job=id)
        elif runs < ENOUGH or not planned:
            say(found.left, "replan_demand_few", where, **params, enough=ENOUGH)
        else:
            entry["runs_per_month"] *= runs / planned
            if entry.get("runs_by_month"):
                entry["runs_by_month"] = {at: each * runs / planned for at, each in entry["runs_by_month"].items()}
            say(found.carried, "replan_demand", where, **params, factor=runs / planned)
