"""Waits and turnaround on owned machines as rows of a plan's document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from planner.messages import render
from planner.report.document import issue_entry
from planner.strategy.evaluate import Result, StrategyResult
from planner.strategy.problem import Issue
from planner.strategy.queueing.summary import JobWaiting, MonthWaiting
from planner.strategy.waiting import MachineWaiting, machine_waiting

OFTEN_LATE: Final = 0.1
"""Share of the attempts that end past their limit, from which a plan says so. [-]"""
FEW_RUNS: Final = 20
"""Simulated runs below which nine in ten are all but one or two."""


def waiting_entries(result: Result, strategy: StrategyResult, *, more: int = 0) -> dict[str, dict[str, Any]]:
    """What was simulated for each type of owned machine with work, by machine; with more machines than planned."""
    return {entry.machine: waiting_entry(entry, result) for entry in simulated(result, strategy, more=more)}


def simulated(result: Result, strategy: StrategyResult, *, more: int = 0) -> tuple[MachineWaiting, ...]:
    """The simulations behind `waiting_entries`, with what they would draw. A mix is asked for its overflow too."""
    choice = strategy.allocation.choice
    if choice is None:
        return ()
    mixed = strategy.kind == "hybrid" and more == 0
    return machine_waiting(result.problem, result.theta, choice, more=more, with_overflow=mixed)


def with_waiting(document: Mapping[str, Any], result: Result) -> dict[str, Any]:
    """A plan's document with the waits at its machines, and a warning of jobs that waiting often makes late.

    Waits are null where a run takes more machines than there are.
    """
    strategies, warnings = [], []
    for entry, strategy in zip(document["strategies"], result.strategies, strict=True):
        waiting = waiting_entries(result, strategy)
        machines = [{**machine, "waiting": waiting.get(machine["id"])} for machine in entry["machines"]]
        strategies.append({**entry, "machines": machines})
        warnings += [issue_entry(issue) for issue in _late(entry["id"], machines)]
    return {**document, "strategies": strategies, "warnings": [*document["warnings"], *warnings]}


def _late(way: str, machines: Sequence[Mapping[str, Any]]) -> Iterator[Issue]:
    for machine in machines:
        for job in machine["waiting"]["jobs"] if machine["waiting"] is not None else ():
            if (job["late_share"] or 0.0) > OFTEN_LATE:
                place = f"{job['id']} on {machine['id']}"
                elsewhere = job["overflow"] or {"resource": None, "share": None, "cost_usd": None}
                params = {
                    "way": render(f"strategy_{way}"),
                    "share": job["late_share"],
                    "count": machine["count"],
                    "overflow_to": elsewhere["resource"],
                    "overflow_share": elsewhere["share"],
                    "overflow_usd": elsewhere["cost_usd"],
                    "no_place_for": job["id"] if _nowhere(job) else None,
                }
                yield Issue(code="late_with_waiting", field=f"jobs.{job['id']}.deadline_h", where=place, params=params)


def _nowhere(job: Mapping[str, Any]) -> bool:
    return job["overflow"] is not None and job["overflow"]["resource"] is None


def waiting_entry(found: MachineWaiting, result: Result) -> dict[str, Any]:
    """Waits and turnaround of the jobs on one type of machine."""
    months = result.problem.horizon_months
    return {
        "simulated_months": found.waiting.months,
        "repetitions": found.waiting.repetitions,
        "jobs": [_job_entry(job, _overflow_entry(found, job.job, months)) for job in found.waiting.jobs],
    }


def _overflow_entry(found: MachineWaiting, job: str, months: int) -> dict[str, Any] | None:
    elsewhere = found.overflow.get(job)
    if elsewhere is None:
        return None
    cost_usd = elsewhere.cost_usd
    return {
        "resource": elsewhere.resource,
        "share": elsewhere.share,
        "attempts": elsewhere.attempts,
        "late_share": elsewhere.late_share,
        "cost_usd": cost_usd,
        "cost_usd_per_month": None if cost_usd is None else cost_usd / months,
        "strategy_tco_usd": found.total_usd,
    }


def _job_entry(job: JobWaiting, overflow: dict[str, Any] | None) -> dict[str, Any]:
    wait = {f"wait_{name}": hours for name, hours in asdict(job.wait).items()}
    turnaround = {f"turnaround_{name}": hours for name, hours in asdict(job.turnaround).items()}
    by_month = [_month_entry(month) for month in job.by_month]
    return {
        "id": job.job,
        "runs": job.runs,
        **wait,
        **turnaround,
        "late_share": job.late_share,
        "overflow": overflow,
        "by_month": by_month,
    }


def _month_entry(month: MonthWaiting) -> dict[str, Any]:
    return {
        "month": month.month,
        "attempts": month.attempts,
        "wait_p50_h": None if month.wait is None else month.wait.p50_h,
        "wait_p90_h": None if month.wait is None else month.wait.p90_h,
    }
