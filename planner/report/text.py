"""Result -> text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner.messages import render

UNKNOWN = "unknown"


def plan_text(document: dict[str, Any]) -> str:
    """A plan's document as a page of text: the answer, the ways beside each other, jobs, problems and warnings."""
    currency = document["currency"]
    lines = [
        f"{document['name']}: {document['horizon_months']} months, prices as of {document['catalog_as_of']}, USD",
        "",
        f"Recommended: {_name(document['recommended'])}. {document['reason']}",
        "",
        *table(
            ["", "total", "likely", "present value", "at the start", "kWh", "kg CO2e", "estimated"],
            [_way_row(entry) for entry in document["strategies"]],
        ),
        "",
        *table(
            ["way", "job", "resource", "GPUs", "one attempt h", "likely", "basis", "full / run", "marginal"],
            [_job_row(entry, job) for entry in document["strategies"] for job in entry["jobs"]],
        ),
    ]
    if currency["code"] != "USD":
        lines += ["", f"1 {currency['code']} = {currency['usd_per_unit']:g} USD (as of {currency['as_of'] or UNKNOWN})"]
    for entry in document["strategies"]:
        lines += [f"{_name(entry['id'])}: {problem['message']}" for problem in entry["problems"]]
    lines += [f"Note: {warning['message']}" for warning in document["warnings"]]
    return "\n".join(lines) + "\n"


def rows_text(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    """Rows as an aligned table of some columns."""
    return "\n".join(table(list(columns), [[_cell(row.get(column)) for column in columns] for row in rows])) + "\n"


def forecast_text(document: dict[str, Any]) -> str:
    """An estimate as text, one figure a line."""
    unit = document["throughput_unit"].replace("_per_s", "/s")
    lines = [
        f"{document['gpus']} x {document['gpu']}, {document['workload']} ({document['basis']})",
        f"throughput  {_cell(document['throughput'])} {unit}"
        f" (likely {_cell(document['throughput_low'])} to {_cell(document['throughput_high'])})",
        f"memory      {_cell(document['memory_gb'])} of {_cell(document['capacity_gb'])} GB a GPU",
        f"time        {_cell(document['time_to_train_h'])} h"
        f" (likely {_cell(document['low_h'])} to {_cell(document['high_h'])})",
        f"wall power  {_cell(document['wall_power_w'])} W",
    ]
    lines += [f"Note: {warning['message']}" for warning in document["warnings"]]
    return "\n".join(lines) + "\n"


def _name(strategy: str | None) -> str:
    return "none" if strategy is None else render(f"strategy_{strategy}")


def _way_row(entry: dict[str, Any]) -> list[str]:
    name = _name(entry["id"]) + ("" if entry["feasible"] else " (not feasible)")
    likely = f"{_usd(entry['tco_low_usd'])} to {_usd(entry['tco_high_usd'])}" if entry["tco_low_usd"] else UNKNOWN
    share = UNKNOWN if entry["estimated_share"] is None else f"{100 * entry['estimated_share']:.0f} %"
    money = [_usd(entry["tco_usd"]), likely, _usd(entry["present_value_usd"]), _usd(entry["cash_at_start_usd"])]
    return [name, *money, _whole(entry["energy_kwh"]), _whole(entry["kg_co2e"]), share]


def _job_row(entry: dict[str, Any], job: dict[str, Any]) -> list[str]:
    return [
        _name(entry["id"]),
        job["id"],
        job["resource"],
        str(job["gpus"]),
        _cell(job["time_to_train_h"]),
        f"{_cell(job['low_h'])} to {_cell(job['high_h'])}",
        job["basis"],
        _usd(job["cost_per_run_usd"], cents=True),
        _usd(job["marginal_cost_per_run_usd"], cents=True),
    ]


def _usd(value: float | None, *, cents: bool = False) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:,.2f}" if cents else f"{value:,.0f}"


def _whole(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:,.0f}"


def _cell(value: object) -> str:
    if value is None:
        return UNKNOWN
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of an aligned table."""
    widths = [max(len(cell) for cell in column) for column in zip(head, *rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in [head, *rows]
    ]
