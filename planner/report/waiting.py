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


UNSURE_SHARE: Final = 0.1
"""Standard error over the mean wait from which a page says it."""
_UNSURE_H = 0.05  # what a text rounds to nothing


def unsure(job: Mapping[str, Any]) -> bool:
    """Whether the mean wait of a job's entry is known so badly that this must be said."""
    error_h = job["wait_mean_error_h"]
    return error_h is not None and bool(error_h > max(UNSURE_SHARE * job["wait_mean_h"], _UNSURE_H))


def waiting_entries(result: Result, strategy: StrategyResult, *, more: int = 0) -> dict[str, dict[str, Any]]:
    """What was simulated for each type of owned machine with work, by machine; with more machines than planned."""
    return {entry.machine: machine_waiting_entry(entry, result) for entry in simulated(result, strategy, more=more)}


def simulated(result: Result, strategy: StrategyResult, *, more: int = 0) -> tuple[MachineWaiting, ...]:
    """The simulations behind `waiting_entries`, with what they would draw. A mix is asked for its overflow too."""
    choice = strategy.allocation.choice
    if choice is None:
        return ()
    mixed = strategy.kind == "hybrid" and more == 0
    return machine_waiting(result.problem, result.theta, choice, more=more, with_overflow=mixed)


def with_waiting(document: Mapping[str, Any], result: Result) -> dict[str, Any]:
    """A plan's document with the waits at its machines, and a warning of jobs that waiting often makes late.

    Waits are null where a run takes more machines than there are. Quotas on rented GPUs likewise.
    """
    strategies: list[dict[str, Any]] = []
    warnings: list[dict[str, Any]] = []
    same_as = None if result.optimum is None else result.optimum.same_as
    for entry, strategy in zip(document["strategies"], result.strategies, strict=True):
        twin = next((known for known in strategies if strategy.kind == "optimal" and known["id"] == same_as), None)
        if twin is not None:  # the same plan has the same waits
            strategies.append({**entry, "machines": twin["machines"], "quotas": twin["quotas"]})
            continue
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
                of_machines = code == "late_with_waiting"
                params = {
                    "way": render(f"strategy_{way}"),
                    "share": job["late_share"],
                    "count": place["count"] if of_machines else place["gpus"],
                    **(_overflow_params(job) if of_machines else {}),
                }
                where = f"{job['id']} on {place['id']}"
                yield Issue(code=code, field=f"jobs.{job['id']}.deadline_h", where=where, params=params)


def _overflow_params(job: Mapping[str, Any]) -> dict[str, Any]:
    """What renting in time would take; None where that isn't asked."""
    found = job["overflow"]
    if found is None:
        return dict.fromkeys(("overflow_to", "overflow_share", "overflow_usd", "no_place_for"))
    return {
        "overflow_to": found["resource"],
        "overflow_share": found["share"],
        "overflow_usd": found["cost_usd"],
        "no_place_for": job["id"] if found["resource"] is None else None,
    }


def machine_waiting_entry(found: MachineWaiting, result: Result) -> dict[str, Any]:
    """Waits and turnaround of the jobs on one type of machine, with what renting in time would take."""
    entry, months = waiting_entry(found.waiting), result.problem.horizon_months
    jobs = [{**job, "overflow": _overflow_entry(found, job["id"], months)} for job in entry["jobs"]]
    return {**entry, "jobs": jobs}


def waiting_entry(waiting: Waiting) -> dict[str, Any]:
    """Waits and turnaround of jobs that share something."""
    return {
        "simulated_months": waiting.months,
        "repetitions": waiting.repetitions,
        "jobs": [_job_entry(job) for job in waiting.jobs],
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


def _job_entry(job: JobWaiting) -> dict[str, Any]:
    wait = {f"wait_{name}": hours for name, hours in asdict(job.wait).items()}
    turnaround = {f"turnaround_{name}": hours for name, hours in asdict(job.turnaround).items()}
    by_month = [_month_entry(month) for month in job.by_month]
    return {
        "id": job.job,
        "runs": job.runs,
        **wait,
        "wait_mean_error_h": job.wait_error_h,
        **turnaround,
        "late_share": job.late_share,
        "overflow": None,
        "by_month": by_month,
    }


def _month_entry(month: MonthWaiting) -> dict[str, Any]:
    return {
        "month": month.month,
        "attempts": month.attempts,
        "wait_p50_h": None if month.wait is None else month.wait.p50_h,
        "wait_p90_h": None if month.wait is None else month.wait.p90_h,
    }
