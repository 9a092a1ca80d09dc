"""Tables to fill in: the cells of a plan with what was planned, for hours and for invoices."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from planner.actual.planned import PlannedLine, PlannedWay
from planner.report.export import safe_cell

HOURS = ("month", "job", "resource", "runs", "attempts", "gpu_hours", "kwh")
INVOICE = ("month", "resource", "line", "amount_usd", "quantity")


def hours_template(way: PlannedWay, months: int) -> str:
    """Hours of the first months as if all had gone by the plan: to be overwritten with what happened."""
    rows = (
        (month, run.job, run.resource, runs, runs * run.attempts_per_run, runs * run.attempts_per_run * hours, "")
        for month in range(1, months + 1)
        for run in way.routed()
        for runs, hours in [(run.runs[month - 1], run.gpu_h_per_attempt)]
    )
    return _csv(HOURS, rows)


def invoice_template(way: PlannedWay, months: int) -> str:
    """Bills of the first months as if all had gone by the plan, a row for each resource and kind of line.

    Credits that pay offers and what their providers bill beside them are named line by line: a kind of line at a
    provider would hold those of its offers too.
    """
    return _csv(INVOICE, _invoice_rows(way, months))


def _invoice_rows(way: PlannedWay, months: int) -> Iterator[tuple[object, ...]]:
    groups: dict[tuple[str, str], list[PlannedLine]] = {}
    several = len({line.resource for line in way.lines if line.kind == "credit"}) > 1
    for line in way.lines:
        name = line.id if several and line.kind == "credit" else line.kind
        groups.setdefault((line.resource, name), []).append(line)
    for month in range(1, months + 1):
        for (resource, name), lines in groups.items():
            amount = sum(line.amount_usd[month - 1] for line in lines)
            if amount:
                one_unit = len({line.unit for line in lines}) == 1
                quantity = sum(line.quantity[month - 1] for line in lines) if one_unit else ""
                yield (month, resource, name, amount, quantity)


def _csv(columns: Sequence[str], rows: Iterator[tuple[object, ...]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([[safe_cell(cell) for cell in row] for row in rows])
    return stream.getvalue()
