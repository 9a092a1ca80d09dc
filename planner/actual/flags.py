"""What a reader of the comparison must know: what is unknown, outside its likely range, or not in the plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from planner.actual.drift import Comparison, JobDrift
from planner.strategy.problem import Issue

NOTABLE: Final = 0.01
"""Share by which a paid price differs from the planned one, from which that is said. [-]"""
_SLACK = 1e-9


def flags(comparison: Comparison) -> tuple[Issue, ...]:
    """Issues of a comparison, what is unknown first.

    Parameters
    ----------
    comparison : Comparison
        What happened.
    """
    return (
        *_unknown(comparison),
        *_total(comparison),
        *(issue for job in comparison.jobs for issue in _job(job)),
        *_beyond(comparison),
        *_prices(comparison),
        *_unplanned(comparison),
    )


def _unknown(comparison: Comparison) -> Iterator[Issue]:
    for code, months in (
        ("actual_months_without_hours", comparison.months_without_hours),
        ("actual_months_without_bills", comparison.months_without_bills),
    ):
        if months:
            yield Issue(code=code, params={"months": [str(month) for month in months]})
    for job in comparison.jobs:
        missing = [month for month in job.unknown_months if month not in comparison.months_without_hours]
        if missing:
            params = {"job": job.job, "resource": job.resource, "months": [str(month) for month in missing]}
            yield Issue(code="actual_cell_unknown", field=f"jobs.{job.job}", params=params)
    silent = sorted({job.job for job in comparison.jobs if job.months and job.attempts is None})
    if silent:
        yield Issue(code="actual_attempts_unknown", params={"jobs": silent})


def _total(comparison: Comparison) -> Iterator[Issue]:
    low, high = comparison.billed_low_usd, comparison.billed_high_usd
    paid = sum(bill.actual_usd for bill in comparison.bills)
    if low is not None and high is not None and not low * (1 - _SLACK) <= paid <= high * (1 + _SLACK):
        yield Issue(code="actual_total_outside", params={"actual_usd": paid, "low_usd": low, "high_usd": high})


def _job(job: JobDrift) -> Iterator[Issue]:
    where = {"job": job.job, "resource": job.resource}
    field = f"jobs.{job.job}"
    if job.months and (job.planned is None or not any(job.planned.runs)):
        yield Issue(code="actual_elsewhere", field=field, params={**where, "gpu_hours": job.gpu_hours})
    if job.inside is False and job.likely_h is not None:
        params = {"attempt_h": job.attempt_h, "low_h": job.likely_h[0], "high_h": job.likely_h[1]}
        yield Issue(code="actual_speed_outside", field=field, params={**where, **params})
    found, planned = job.attempts_per_run, job.planned
    if found is None or planned is None or planned.attempts_low is None or planned.attempts_high is None:
        return
    if not planned.attempts_low * (1 - _SLACK) <= found <= planned.attempts_high * (1 + _SLACK):
        params = {"attempts": found, "low": planned.attempts_low, "high": planned.attempts_high}
        yield Issue(code="actual_attempts_outside", field=f"{field}.attempts_per_run", params={**where, **params})


def _beyond(comparison: Comparison) -> Iterator[Issue]:
    """More hours on own machines than they are switched on."""
    way = comparison.way
    for index, machine in enumerate(way.problem.machines):
        there = way.evaluation.machines_there[0, index]
        for month in range(1, comparison.last_month + 1):
            count = float(there[0] if len(there) == 1 else there[month - 1])
            available = count * float(way.theta[0, machine.powered_h_at]) * machine.gpus
            rows = [row for row in comparison.hours if (row.month, row.resource) == (month, machine.id)]
            used = sum(row.gpu_hours for row in rows)
            if used > available * (1 + _SLACK):
                params = {"machine": machine.id, "month": month, "gpu_hours": used, "available_h": available}
                yield Issue(code="actual_hours_beyond", field=f"machines.{machine.id}", params=params)


def _prices(comparison: Comparison) -> Iterator[Issue]:
    for resource in comparison.resources:
        paid, planned = resource.price_usd, resource.price_planned_usd
        if paid is None or not planned or abs(paid / planned - 1) < NOTABLE:
            continue
        params = {
            "resource": resource.resource,
            "price_usd": paid,
            "planned_usd": planned,
            "unit": resource.price_unit,
            "share": paid / planned - 1,
        }
        yield Issue(code="actual_price_differs", params=params)


def _unplanned(comparison: Comparison) -> Iterator[Issue]:
    for bill in comparison.bills:
        if not bill.lines and bill.actual_usd:
            params = {"month": bill.month, "resource": bill.resource, "kind": bill.kind, "amount_usd": bill.actual_usd}
            yield Issue(code="actual_unplanned", params=params)
