"""Where each job runs and what it costs there, as CSV: one row a month, job and resource."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from planner.report.export import TOTAL, safe_cell

SHARES_COLUMNS = (
    "strategy", "month", "group", "job", "resource", "runs", "gpu_hours", "amount_usd", "kwh", "kg_co2e",
)  # fmt: skip


def shares_csv(document: Mapping[str, Any], groups: Mapping[str, str | None]) -> str:
    """The months of a plan's document by job, in full precision, with a totals row a strategy.

    Parameters
    ----------
    document : mapping
        A plan's document with shares.
    groups : mapping
        Group of each job, by job.

    Returns
    -------
    str
        What no job uses stands in rows without job, resource and group.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(SHARES_COLUMNS)
    for entry in document["strategies"]:
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
