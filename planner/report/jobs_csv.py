"""Where each job runs and what it costs there, as CSV: one row a month, job and resource."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from planner.report.export import TOTAL, safe_cell
from planner.report.shares import with_shares
from planner.strategy.evaluate import Result

JOBS_COLUMNS = (
    "strategy", "month", "group", "job", "resource", "runs", "gpu_hours", "amount_usd", "kwh", "kg_co2e",
)  # fmt: skip


def jobs_csv(document: Mapping[str, Any], result: Result) -> str:
    """The months of a plan by job, in full precision, with a totals row a strategy.

    What no job uses stands in rows without job, resource and group.
    """
    groups = {job.id: job.group for job in result.problem.jobs}
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(JOBS_COLUMNS)
    for entry in with_shares(document, result)["strategies"]:
        for row in _rows(entry, groups):
            writer.writerow([safe_cell(cell) for cell in row])
    return stream.getvalue()


def _rows(entry: Mapping[str, Any], groups: Mapping[str, str | None]) -> Iterator[tuple[object, ...]]:
    way = entry["id"]
    for month in entry["months"]:
        at = month["month"]
        for job in month["jobs"]:
            group = groups[job["job"]] or ""
            numbers = (job["runs"], job["gpu_hours"], job["amount_usd"], job["kwh"], job["kg_co2e"])
            yield (way, at, group, job["job"], job["resource"], *numbers)
        if month["unassigned_usd"] or month["unassigned_kwh"]:
            rest = (month["unassigned_usd"], month["unassigned_kwh"], month["unassigned_kg_co2e"])
            yield (way, at, "", "", "", 0.0, 0.0, *rest)
    costed = entry["tco_usd"] is not None
    runs, gpu_hours = ((sum(job[key] for job in entry["jobs"]) if costed else "") for key in ("runs", "gpu_hours"))
    totals = (("" if entry[key] is None else entry[key]) for key in ("tco_usd", "energy_kwh", "kg_co2e"))
    yield (way, TOTAL, "", "", "", runs, gpu_hours, *totals)
