"""Waits and turnaround on owned machines as rows of a plan's document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from planner.strategy.evaluate import Result, StrategyResult
from planner.strategy.queueing.summary import JobWaiting, MonthWaiting, Waiting
from planner.strategy.waiting import MachineWaiting, machine_waiting


def waiting_entries(result: Result, strategy: StrategyResult, *, more: int = 0) -> dict[str, dict[str, Any]]:
    """What was simulated for each type of owned machine with work, by machine; with more machines than planned."""
    return {entry.machine: waiting_entry(entry.waiting) for entry in simulated(result, strategy, more=more)}


def simulated(result: Result, strategy: StrategyResult, *, more: int = 0) -> tuple[MachineWaiting, ...]:
    """The simulations behind `waiting_entries`, with what they would draw."""
    choice = strategy.allocation.choice
    return () if choice is None else machine_waiting(result.problem, result.theta, choice, more=more)


def with_waiting(document: Mapping[str, Any], result: Result) -> dict[str, Any]:
    """A plan's document with the waits at its machines; null where a run takes more machines than there are."""
    strategies = []
    for entry, strategy in zip(document["strategies"], result.strategies, strict=True):
        waiting = waiting_entries(result, strategy)
        machines = [{**machine, "waiting": waiting.get(machine["id"])} for machine in entry["machines"]]
        strategies.append({**entry, "machines": machines})
    return {**document, "strategies": strategies}


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
