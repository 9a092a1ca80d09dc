"""Waits and turnaround on owned machines as rows of a plan's document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from planner.messages import render
from planner.report.document import issue_entry
from planner.strategy.evaluate import Result, StrategyResult
from planner.strategy.problem import Issue
from planner.strategy.queueing.summary import JobWaiting, MonthWaiting, Waiting
from planner.strategy.quota_waiting import quota_waiting
from planner.strategy.start_waits import OFTEN_LATE
from planner.strategy.waiting import MachineWaiting, machine_waiting

FEW_RUNS: Final = 20
"""Simulated runs below which nine in ten are all but one or two."""


def waiting_entries(result: Result, strategy: StrategyResult, *, more: int = 0) -> dict[str, dict[str, Any]]:
    """What was simulated for each type of owned machine with work, by machine; with more machines than planned."""
    return {entry.machine: waiting_entry(entry.waiting) for entry in simulated(result, strategy, more=more)}


def simulated(result: Result, strategy: StrategyResult, *, more: int = 0) -> tuple[MachineWaiting, ...]:
    """The simulations behind `waiting_entries`, with what they would draw."""
    choice = strategy.allocation.choice
    return () if choice is None else machine_waiting(result.problem, result.theta, choice, more=more)


def with_waiting(document: Mapping[str, Any], result: Result) -> dict[str, Any]:
    """A plan's document with the waits at its machines, and a warning of jobs that waiting often makes late.

    Waits are null where a run takes more machines than there are. Quotas on rented GPUs likewise.
    """
    strategies, warnings = [], []
    for entry, strategy in zip(document["strategies"], result.strategies, strict=True):
        waiting = waiting_entries(result, strategy)
        machines = [{**machine, "waiting": waiting.get(machine["id"])} for machine in entry["machines"]]
        quotas = _with_quota_waiting(entry["quotas"], result, strategy)
        strategies.append({**entry, "machines": machines, "quotas": quotas})
        late = [*_late(entry["id"], machines, "late_with_waiting"), *_late(entry["id"], quotas, "late_with_quota")]
        warnings += [issue_entry(issue) for issue in late]
    return {**document, "strategies": strategies, "warnings": [*document["warnings"], *warnings]}


def _with_quota_waiting(
    entries: Sequence[Mapping[str, Any]], result: Result, strategy: StrategyResult
) -> list[dict[str, Any]]:
    choice = strategy.allocation.choice
    found = () if choice is None or not entries else quota_waiting(result.problem, result.theta, choice)
    return [
        {**entry, "waiting": None if one.waiting is None else waiting_entry(one.waiting)}
        for entry, one in zip(entries, found, strict=True)
    ]


def _late(way: str, places: Sequence[Mapping[str, Any]], code: str) -> Iterator[Issue]:
    for place in places:
        for job in place["waiting"]["jobs"] if place["waiting"] is not None else ():
            if (job["late_share"] or 0.0) > OFTEN_LATE:
                count = place["count"] if code == "late_with_waiting" else place["gpus"]
                params = {"way": render(f"strategy_{way}"), "share": job["late_share"], "count": count}
                where = f"{job['id']} on {place['id']}"
                yield Issue(code=code, field=f"jobs.{job['id']}.deadline_h", where=where, params=params)


def waiting_entry(waiting: Waiting) -> dict[str, Any]:
    """Waits and turnaround of the jobs on one type of machine."""
    return {
        "simulated_months": waiting.months,
        "repetitions": waiting.repetitions,
        "jobs": [_job_entry(job) for job in waiting.jobs],
    }


def _job_entry(job: JobWaiting) -> dict[str, Any]:
    wait = {f"wait_{name}": hours for name, hours in asdict(job.wait).items()}
    turnaround = {f"turnaround_{name}": hours for name, hours in asdict(job.turnaround).items()}
    by_month = [_month_entry(month) for month in job.by_month]
    return {
        "id": job.job,
        "runs": job.runs,
        **wait,
        **turnaround,
        "late_share": job.late_share,
        "by_month": by_month,
    }


def _month_entry(month: MonthWaiting) -> dict[str, Any]:
    return {
        "month": month.month,
        "attempts": month.attempts,
        "wait_p50_h": None if month.wait is None else month.wait.p50_h,
        "wait_p90_h": None if month.wait is None else month.wait.p90_h,
    }
