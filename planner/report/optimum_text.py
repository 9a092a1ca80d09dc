"""The best mix of a plan's document -> text for a terminal."""

from __future__ import annotations

from typing import Any, Final

from planner.messages import Tender, render
from planner.report.most_work import most_work_text
from planner.report.text_table import cell_text, table, whole_text

_PROVEN: Final = 5e-6
_MOST_REJECTED: Final = 8
_LEAST_SHARE: Final = 0.005  # of a job's runs, below which a place isn't listed
_OF_MONEY: Final = ("total", "capex", "cash_per_month", "cash_per_quarter")


def optimum_text(document: dict[str, Any]) -> str:
    """What to buy, rent and run where, what it costs, what holds it back, and what was left out."""
    currency, found = document["currency"], document["optimal"]
    rate = currency["usd_per_unit"]
    entry = next(way for way in document["strategies"] if way["id"] == "optimal")
    head = (
        f"{document['name']}: {document['horizon_months']} months, prices as of {document['catalog_as_of']},"
        f" {currency['code']}"
    )
    if document.get("most_work") is not None:
        head = "\n".join([head, "", *most_work_text(document)])
    if not found["found"]:
        return "\n".join([head, "", render("no_best_mix"), *no_best_mix_lines(document)]) + "\n"
    ways = [way for way in document["strategies"] if way["tco_usd"] is not None]
    lines = [
        head,
        "",
        *table(
            ["", "total", "present value", "purchases", "kWh", "kg CO2e"],
            [
                [
                    render(f"strategy_{way['id']}") + ("" if way["feasible"] else " (not feasible)"),
                    *(f"{way[name] / rate:,.0f}" for name in ("tco_usd", "present_value_usd", "capex_usd")),
                    *(whole_text(way[name]) for name in ("energy_kwh", "kg_co2e")),
                ]
                for way in [entry, *(other for other in ways if other is not entry)]
            ],
        ),
        "",
        *_machines(entry),
        *table(["job", "where", "GPUs", "runs", "one attempt h"], [_job(job) for job in entry["jobs"]]),
        "",
        *sure_lines(document),
        *binding_lines(document),
        *rejected_lines(document),
        *front_lines(document),
    ]
    return "\n".join(lines) + "\n"


def front_lines(document: dict[str, Any]) -> list[str]:
    """Plans that emit less or take less time, and what each costs; nothing where the cheapest does best in both."""
    found, rate = document.get("pareto"), document["currency"]["usd_per_unit"]
    if found is None:
        return []
    lines = []
    for key, head in (("co2", "kg CO2e"), ("turnaround", "times the fastest")):
        points = found[key]
        if len(points) < 2:
            lines += ["", render(f"front_{key}_none")]
            continue
        rows = [
            [
                f"{point['present_value_usd'] / rate:,.0f}",
                whole_text(point["kg_co2e"]) if key == "co2" else f"{point['slowdown']:.2f}",
                *(cell_text(job["turnaround_h"]) for job in point["jobs"]),
                ", ".join(f"{machine['count']} {machine['id']}" for machine in point["machines"]) or "-",
                "; ".join(_places(job) for job in point["jobs"]),
            ]
            for point in points
        ]
        jobs = [f"{job['id']} h" for job in points[0]["jobs"]]
        columns = ["present value", head, *jobs, "machines", "where"]
        lines += ["", render(f"front_{key}"), *table(columns, rows)]
    return lines


def _places(job: dict[str, Any]) -> str:
    shown = sorted((place for place in job["places"] if place["share"] >= _LEAST_SHARE), key=lambda one: -one["share"])
    if len(shown) == 1:
        return f"{job['id']}: {shown[0]['resource']}"
    return f"{job['id']}: " + ", ".join(f"{100 * place['share']:.0f} % {place['resource']}" for place in shown)


def _machines(entry: dict[str, Any]) -> list[str]:
    if not entry["machines"]:
        return [render("best_mix_no_machines"), ""]
    rows = [
        [machine["id"], str(machine["count"]), f"{100 * machine['utilisation']:.0f} %"] for machine in entry["machines"]
    ]
    return [*table(["machines", "number", "busy"], rows), ""]


def _job(job: dict[str, Any]) -> list[str]:
    place = job["resource"] + (" (rented)" if job["rented"] else "")
    return [job["id"], place, str(job["gpus"]), cell_text(job["runs"]), cell_text(job["time_to_train_h"])]


def sure_lines(document: dict[str, Any]) -> list[str]:
    """How good the best mix is: its gap, whether time ran out, the named way that it equals."""
    found = document.get("optimal")
    if found is None or not found["found"]:
        return []
    lines = []
    if found["same_as"] is not None:
        lines.append(render("best_mix_same", way=render(f"strategy_{found['same_as']}")))
    if found["gap"] is not None:
        percent = None if found["gap"] < _PROVEN else f"{100 * found['gap']:.2g}"
        lines.append(render("best_mix_gap", percent=percent))
    if found["timed_out"]:
        lines.append(render("best_mix_timed_out"))
    tightened = {machine for one in found["rounds"] for machine in one["late"]}
    if tightened:
        lines.append(render("best_mix_waiting", machines=sorted(tightened)))
    return lines


def binding_lines(document: dict[str, Any]) -> list[str]:
    """Limits and quotas that hold the best mix back, and what it would save without each."""
    found, tender = document["optimal"], _tender(document)
    lines = []
    for one in found["binding_limits"]:
        if one["usd_less"] is None:
            lines.append(render("quota_binds", tender, field=one["field"], value=one["value"], most=one["of"]))
        elif one["limit"] in _OF_MONEY:
            params = {"value_usd": one["value"], "most_usd": one["of"], "less_usd": one["usd_less"]}
            lines.append(render("limit_binds_usd", tender, field=one["field"], **params))
        else:
            params = {"value": one["value"], "most": one["of"], "less_usd": one["usd_less"]}
            lines.append(render("limit_binds", tender, field=one["field"], **params))
    return lines


def rejected_lines(document: dict[str, Any]) -> list[str]:
    """What the best mix doesn't use and why, the nearest first."""
    found = document.get("optimal")
    if found is None or not found["rejected"]:
        return []
    lines = ["", render("best_mix_rejected")]
    lines += [f"  {one['option']}: {rejected_reason(document, one)}" for one in found["rejected"][:_MOST_REJECTED]]
    more = len(found["rejected"]) - _MOST_REJECTED
    return [*lines, *([f"  {render('best_mix_rejected_more', count=more)}"] if more > 0 else [])]


def rejected_reason(document: dict[str, Any], one: dict[str, Any]) -> str:
    """Why the best mix doesn't use an option."""
    return render(one["reason_code"], _tender(document), field=one["field"], **one["reason_params"])


def no_best_mix_lines(document: dict[str, Any]) -> list[str]:
    """Why there is no best mix: which limit would have to give way, and by how much."""
    entry = next(way for way in document["strategies"] if way["id"] == "optimal")
    tender = _tender(document)
    return [render(one["code"], tender, field=one["field"], **one["params"]) for one in entry["problems"]]


def _tender(document: dict[str, Any]) -> Tender | None:
    """The currency in which a document speaks of money; None where that is USD."""
    currency = document["currency"]
    return None if currency["code"] == "USD" else Tender(code=currency["code"], usd_per_unit=currency["usd_per_unit"])
