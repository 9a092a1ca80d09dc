"""Comparison and new plan -> the JSON document and the CSV of `actual`."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from planner.actual.carried import Replan
from planner.actual.continued import continued
from planner.actual.drift import BillDrift, Comparison, JobDrift, MonthDrift, ResourceDrift
from planner.actual.effects import Effects
from planner.actual.flags import flags
from planner.actual.outlook import Rest, rest_of_way
from planner.report.document import issue_entry
from planner.report.export import safe_cell
from planner.report.plain import plain
from planner.scenario.schema import Scenario
from planner.strategy.evaluate import Result

SCHEMA_VERSION = 1
COLUMNS = (
    "strategy", "month", "kind", "resource", "job", "line", "runs_planned", "runs_actual", "attempts_actual",
    "gpu_hours_planned", "gpu_hours_actual", "amount_planned_usd", "amount_actual_usd", "effect_runs_usd",
    "effect_attempts_usd", "effect_speed_usd", "effect_quantity_usd", "effect_price_usd", "effect_unplanned_usd",
    "effect_undivided_usd",
)  # fmt: skip


def actual_document(
    scenario: Scenario, result: Result, comparison: Comparison, new: tuple[Replan, Result] | None = None
) -> dict[str, Any]:
    """The comparison as plain data, in the shape documented in `docs/actual.md`; what isn't known is None.

    Parameters
    ----------
    scenario : Scenario
        Of the plan.
    result : Result
        The plan.
    comparison : Comparison
        What happened.
    new : tuple of Replan and Result, optional
        The rest of the plan anew.
    """
    problem = result.problem
    document = {
        "schema_version": SCHEMA_VERSION,
        "name": problem.name,
        "strategy": comparison.way.strategy.id,
        "horizon_months": problem.horizon_months,
        "plan_starts": scenario.plan_starts,
        "last_month": comparison.last_month,
        "currency": {
            "code": problem.currency,
            "usd_per_unit": problem.usd_per_unit,
            "as_of": problem.currency_as_of,
        },
        "months_without_hours": list(comparison.months_without_hours),
        "months_without_bills": list(comparison.months_without_bills),
        "totals": _totals(comparison),
        "months": [_month(month) for month in comparison.months],
        "jobs": [_job(job) for job in comparison.jobs],
        "resources": [_resource(resource) for resource in comparison.resources],
        "bills": [_bill(bill) for bill in comparison.bills],
        "energy": [asdict(entry) for entry in comparison.energy],
        "flags": [issue_entry(issue) for issue in flags(comparison)],
        "replan": None if new is None else _replan(comparison, result, *new),
    }
    answer: dict[str, Any] = plain(document)
    return answer


def _totals(comparison: Comparison) -> dict[str, Any]:
    billed = bool(comparison.bills)
    planned = sum(month.planned_usd for month in comparison.months)
    compared = sum(bill.planned_usd for bill in comparison.bills)
    actual = sum(bill.actual_usd for bill in comparison.bills)
    low, high = comparison.billed_low_usd, comparison.billed_high_usd
    metered = bool(comparison.energy)
    return {
        "planned_usd": planned,
        "billed_planned_usd": compared if billed else None,
        "billed_planned_low_usd": low,
        "billed_planned_high_usd": high,
        "unbilled_planned_usd": planned - compared,
        "actual_usd": actual if billed else None,
        "difference_usd": actual - compared if billed else None,
        "effects": _effects(comparison.effects),
        "metered_planned_kwh": sum(entry.planned_kwh for entry in comparison.energy) if metered else None,
        "actual_kwh": sum(entry.actual_kwh for entry in comparison.energy) if metered else None,
    }


def _effects(effects: Effects) -> dict[str, float]:
    return asdict(effects)


def _month(month: MonthDrift) -> dict[str, Any]:
    return {
        "month": month.month,
        "has_hours": month.has_hours,
        "planned_usd": month.planned_usd,
        "billed_planned_usd": month.billed_planned_usd,
        "actual_usd": month.actual_usd,
        "effects": _effects(month.effects),
        "cumulative_low_usd": month.cumulative_low_usd,
        "cumulative_high_usd": month.cumulative_high_usd,
    }


def _job(job: JobDrift) -> dict[str, Any]:
    planned, likely_h = job.planned, job.likely_h or (None, None)
    known = bool(job.months)
    return {
        "id": job.job,
        "resource": job.resource,
        "months": list(job.months),
        "unknown_months": list(job.unknown_months),
        "runs_planned": job.runs_planned,
        "runs_actual": job.runs if known else None,
        "attempts_planned": job.attempts_planned,
        "attempts_actual": job.attempts,
        "attempts_per_run_planned": None if planned is None else planned.attempts_per_run,
        "attempts_per_run_low": None if planned is None else planned.attempts_low,
        "attempts_per_run_high": None if planned is None else planned.attempts_high,
        "attempts_per_run_actual": job.attempts_per_run,
        "attempts_per_run_implied": job.attempts_implied,
        "gpu_hours_planned": job.gpu_hours_planned,
        "gpu_hours_actual": job.gpu_hours if known else None,
        "gpu_hours_per_run_planned": None if planned is None else planned.attempts_per_run * planned.gpu_h_per_attempt,
        "gpu_hours_per_run_actual": job.gpu_hours / job.runs if job.runs else None,
        "attempt_h_planned": None if planned is None else planned.attempt_h,
        "attempt_h_low": likely_h[0],
        "attempt_h_high": likely_h[1],
        "attempt_h_actual": job.attempt_h,
        "slower": job.slower,
        "inside": job.inside,
        "kwh_actual": job.kwh,
        "hours": None if job.hours is None else asdict(job.hours),
        "runs_usd": job.usd.runs_usd,
        "attempts_usd": job.usd.attempts_usd,
        "speed_usd": job.usd.speed_usd,
    }


def _resource(resource: ResourceDrift) -> dict[str, Any]:
    billed = bool(resource.months)
    return {
        "id": resource.resource,
        "months": list(resource.months),
        "gpu_hours_planned": resource.gpu_hours_planned,
        "gpu_hours_actual": resource.gpu_hours,
        "planned_usd": resource.planned_usd if billed else None,
        "actual_usd": resource.actual_usd if billed else None,
        "price_planned_usd": resource.price_planned_usd,
        "price_actual_usd": resource.price_usd,
        "price_unit": resource.price_unit or None,
        "effects": _effects(resource.effects),
    }


def _bill(bill: BillDrift) -> dict[str, Any]:
    return {
        "month": bill.month,
        "resource": bill.resource,
        "line": bill.kind,
        "lines": [line.id for line in bill.lines],
        "planned_usd": bill.planned_usd,
        "actual_usd": bill.actual_usd,
        "quantity_planned": bill.quantity_planned,
        "quantity_actual": bill.quantity,
        "unit": bill.unit or None,
        "effects": _effects(bill.effects),
    }


def _replan(comparison: Comparison, old: Result, replan: Replan, new: Result) -> dict[str, Any]:
    followed = comparison.way.strategy.id
    then = {strategy.id: strategy for strategy in new.strategies}
    return {
        "from_month": replan.month,
        "horizon_months": new.problem.horizon_months,
        "recommended": new.recommendation.strategy,
        "demand": replan.demand,
        "carried": [issue_entry(issue) for issue in replan.carried],
        "not_carried": [issue_entry(issue) for issue in replan.left],
        "ways": [
            {
                "id": strategy.id,
                "feasible": then[strategy.id].feasible,
                "old": _rest(rest_of_way(strategy, replan.month) if strategy.id == followed else None),
                "new": _rest(rest_of_way(then[strategy.id], 1)),
            }
            for strategy in old.strategies
        ],
        **_continued(comparison, replan, new),
        "scenario": replan.document,
    }


def _continued(comparison: Comparison, replan: Replan, new: Result) -> dict[str, Any]:
    """The old decisions in the new plan. Machines that are on their way would be bought again: not with them."""
    known = not any(issue.code == "replan_on_their_way" for issue in replan.left)
    found = continued(comparison, new, replan.month) if known else None
    if found is None:
        return {"continued": None, "changed": None, "saves_usd": None, "saves_present_value_usd": None}
    value = {"present_value_usd": found.present_value_usd, "fits": found.fits}
    return {
        "continued": {**(_rest(found.rest) or {}), **value},
        "changed": [asdict(change) for change in found.changed],
        "saves_usd": found.saves_usd,
        "saves_present_value_usd": found.saves_present_value_usd,
    }


def _rest(rest: Rest | None) -> dict[str, float] | None:
    return None if rest is None else {**asdict(rest), "total_usd": rest.total_usd}


def actual_csv(comparison: Comparison) -> str:
    """Every compared cell: a row for each month, job and resource with hours, and for each bill."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    strategy = comparison.way.strategy.id
    for hours in comparison.hours:
        run = comparison.way.run(hours.job, hours.resource)
        runs = None if run is None else run.runs[hours.month - 1]
        row: dict[str, Any] = {
            "strategy": strategy,
            "month": hours.month,
            "kind": "hours",
            "resource": hours.resource,
            "job": hours.job,
            "runs_planned": runs,
            "runs_actual": hours.runs,
            "attempts_actual": hours.attempts,
            "gpu_hours_planned": None
            if run is None or runs is None
            else runs * run.attempts_per_run * run.gpu_h_per_attempt,
            "gpu_hours_actual": hours.gpu_hours,
        }
        writer.writerow(_cells(row))
    for bill in comparison.bills:
        effects = {f"effect_{name}": value for name, value in asdict(bill.effects).items()}
        row = {
            "strategy": strategy,
            "month": bill.month,
            "kind": "bill",
            "resource": bill.resource,
            "line": bill.kind,
            "amount_planned_usd": bill.planned_usd,
            "amount_actual_usd": bill.actual_usd,
            **effects,
        }
        writer.writerow(_cells(row))
    return stream.getvalue()


def _cells(row: Mapping[str, Any]) -> list[object]:
    return [safe_cell("" if row.get(name) is None else row[name]) for name in COLUMNS]
