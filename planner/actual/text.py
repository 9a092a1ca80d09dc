"""The document of a comparison as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from planner.messages import Tender, render
from planner.report.text import issue_sentence
from planner.report.text_table import table
from planner.units import HALF_CENT_USD

_EFFECTS = (
    ("runs_usd", "runs"),
    ("attempts_usd", "attempts"),
    ("speed_usd", "hours of an attempt"),
    ("quantity_usd", "other use"),
    ("price_usd", "prices"),
    ("unplanned_usd", "not in the plan"),
    ("undivided_usd", "not told apart"),
)


def actual_text(document: Mapping[str, Any]) -> str:
    """What happened against the plan: totals, why they differ, jobs, resources, months, flags, the new plan."""
    currency = document["currency"]
    rate = currency["usd_per_unit"]
    tender = None if currency["code"] == "USD" else Tender(code=currency["code"], usd_per_unit=rate)
    way = render(f"strategy_{document['strategy']}")
    lines = [
        f"{document['name']}: months 1 to {document['last_month']} of {document['horizon_months']}"
        f" against {way}, {currency['code']}",
        "",
        *_total_lines(document["totals"], rate),
        "",
        *table(
            [
                "job",
                "resource",
                "runs",
                "planned",
                "GPU-h",
                "planned",
                "attempt h",
                "planned",
                "likely",
                "attempts/run",
            ],
            [_job_row(job) for job in document["jobs"]],
        ),
        "",
        *table(
            ["resource", "paid", "planned", "price paid", "planned", "per", "GPU-h", "planned"],
            [_resource_row(resource, rate) for resource in document["resources"]],
        ),
        "",
        *table(
            ["month", "paid", "plan of that", "whole plan", *(name for _, name in _EFFECTS)],
            [_month_row(month, rate) for month in document["months"]],
        ),
    ]
    if document["flags"]:
        lines += ["", *(f"Note: {issue_sentence(flag, tender)}" for flag in document["flags"])]
    if document["replan"] is not None:
        lines += ["", *_replan_lines(document["replan"], rate, tender)]
    return "\n".join(lines) + "\n"


def _total_lines(totals: Mapping[str, Any], rate: float) -> list[str]:
    if totals["actual_usd"] is None:
        return ["Paid: unknown, no invoice was given"]
    likely = (
        f"likely {_money(totals['billed_planned_low_usd'], rate)} to {_money(totals['billed_planned_high_usd'], rate)}"
    )
    parts = [
        f"{name} {_signed(totals['effects'][key], rate)}"
        for key, name in _EFFECTS
        if abs(totals["effects"][key]) >= HALF_CENT_USD
    ]
    lines = [
        f"Paid {_money(totals['actual_usd'], rate)}, planned for the same {_money(totals['billed_planned_usd'], rate)}"
        f" ({likely}): {_signed(totals['difference_usd'], rate)}",
        f"of which {', '.join(parts)}" if parts else "by the plan to the cent",
        f"Planned beside that, and without a bill: {_money(totals['unbilled_planned_usd'], rate)}",
    ]
    if totals["actual_kwh"] is not None:
        lines.append(
            f"Energy {totals['actual_kwh']:,.0f} kWh, planned for the same {totals['metered_planned_kwh']:,.0f}"
        )
    return lines


def _job_row(job: Mapping[str, Any]) -> list[str]:
    likely = "" if job["attempt_h_low"] is None else f"{job['attempt_h_low']:.3g}-{job['attempt_h_high']:.3g}"
    reported = job["attempts_per_run_actual"]
    implied = job["attempts_per_run_implied"]
    attempts = f"{reported:.3g}" if reported is not None else "" if implied is None else f"{implied:.3g} implied"
    return [
        job["id"],
        job["resource"],
        _number(job["runs_actual"]),
        _number(job["runs_planned"]),
        _number(job["gpu_hours_actual"]),
        _number(job["gpu_hours_planned"]),
        _number(job["attempt_h_actual"]),
        _number(job["attempt_h_planned"]),
        likely + (" outside" if job["inside"] is False else ""),
        attempts,
    ]


def _resource_row(resource: Mapping[str, Any], rate: float) -> list[str]:
    return [
        resource["id"],
        _money(resource["actual_usd"], rate),
        _money(resource["planned_usd"], rate),
        _number(None if resource["price_actual_usd"] is None else resource["price_actual_usd"] / rate),
        _number(None if resource["price_planned_usd"] is None else resource["price_planned_usd"] / rate),
        resource["price_unit"] or "",
        _number(resource["gpu_hours_actual"]),
        _number(resource["gpu_hours_planned"]),
    ]


def _month_row(month: Mapping[str, Any], rate: float) -> list[str]:
    effects = [month["effects"][key] for key, _ in _EFFECTS]
    return [
        str(month["month"]),
        _money(month["actual_usd"], rate),
        _money(month["billed_planned_usd"], rate),
        _money(month["planned_usd"], rate),
        *("" if month["actual_usd"] is None else _signed(effect, rate) for effect in effects),
    ]


def _replan_lines(replan: Mapping[str, Any], rate: float, tender: Tender | None) -> list[str]:
    advice = "none" if replan["recommended"] is None else render(f"strategy_{replan['recommended']}")
    columns = {"running_usd": "running", "purchase_usd": "purchases", "resale_usd": "resale"}
    if any(rest["financing_usd"] for way in replan["ways"] for rest in (way["old"], way["new"]) if rest is not None):
        columns["financing_usd"] = "loans, leases"
    rows = [
        [
            render(f"strategy_{way['id']}"),
            *(cell for key in ("old", "new") for cell in _rest_cells(way[key], columns, rate)),
        ]
        for way in replan["ways"]
    ]
    names = list(columns.values())
    head = ["", f"old: {names[0]}", *names[1:], f"new: {names[0]}", *names[1:]]
    return [
        f"From month {replan['from_month']}, {replan['horizon_months']} months. Recommended then: {advice}.",
        "",
        *table(head, rows),
        "",
        *_changed_lines(replan, rate),
        *(f"Carried over: {issue_sentence(issue, tender)}" for issue in replan["carried"]),
        *(f"Not carried over: {issue_sentence(issue, tender)}" for issue in replan["not_carried"]),
    ]


def _changed_lines(replan: Mapping[str, Any], rate: float) -> list[str]:
    """What the way that was followed decides otherwise now, and what runs were planned for."""
    lines = [f"Coming runs: {'as planned' if replan['demand'] == 'planned' else 'scaled by those measured'}."]
    kept = replan["continued"]
    if kept is None:
        return [*lines, "The old decisions can't be continued in the new plan as they are.", ""]
    room = "" if kept["fits"] else "; some machine would have more work than hours"
    lines.append(f"Continued as decided, this way costs {_money(kept['total_usd'], rate)} in cash{room}.")
    for change in replan["changed"]:
        job, resource = change["job"], change["resource"]
        what = f"machines of {resource}" if job is None else f"runs of {job} on {resource}"
        lines.append(f"Decided otherwise: {what}: {_number(change['continued'])} -> {_number(change['new'])}.")
    if replan["changed"] and replan["saves_usd"] is not None:
        value = _signed(replan["saves_present_value_usd"], rate)
        lines.append(f"That saves {_signed(replan['saves_usd'], rate)} in cash, {value} in present value.")
    return [*lines, ""]


def _rest_cells(rest: Mapping[str, float] | None, columns: Iterable[str], rate: float) -> list[str]:
    """Cells of a way; empty for one that wasn't followed, or that can't do the work."""
    return ["" if rest is None else _money(rest[key], rate) for key in columns]


def _money(amount_usd: float | None, rate: float) -> str:
    return "unknown" if amount_usd is None else f"{amount_usd / rate:,.2f}"


def _signed(amount_usd: float, rate: float) -> str:
    amount = amount_usd / rate
    return f"{0.0 if abs(amount) < 0.005 else amount:+,.2f}"


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
