"""Rows of the Plan page: bars and lines of its charts, and its tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from planner.messages import render
from planner.units import HALF_CENT_USD, MONTHS_PER_YEAR
from ui import formatting
from ui.charts import CostBar, Ring, SpendLine
from ui.fiscal import spans_of
from ui.formatting import escaped
from ui.i18n import t
from ui.view import Row, View, way_name

_ROLE_OF_LINE = {
    "gpu": "owned",
    "host": "owned",
    "installation": "owned",
    "resale_gpu": "owned",
    "resale_host": "owned",
    "opportunity": "owned",
    "tax_purchase": "owned",
    "loan_proceeds": "owned",
    "loan_repayment": "owned",
    "running_loan": "owned",
    "running_lease": "owned",
    "lease": "owned",
    "buyout": "owned",
    "tax_lease": "owned",
    "commitment": "reserved",
    "overflow": "on_demand",
    "electricity": "electricity",
    "colocation": "upkeep",
    "maintenance": "upkeep",
    "storage": "upkeep",
    "egress": "upkeep",
    "ingress": "upkeep",
    "tax_local": "upkeep",
    "staff_local": "people",
    "staff_cloud": "people",
}
_UNIT_WORDS = {"-": "", "tokens_per_s": "tokens/s", "samples_per_s": "samples/s"}
RENTED = ("on_demand", "reserved", "spot")
_ROLE_OF_TERM = {"on_demand": "on_demand", "spot": "spot"}


def cost_bars(view: View) -> list[CostBar]:
    """Cost of every feasible way by role."""
    return [
        CostBar(
            way=way["kind"],
            label=view.label(way),
            parts_usd=_parts(view, way),
            total_usd=way["tco_usd"],
            low_usd=way["tco_low_usd"],
            high_usd=way["tco_high_usd"],
        )
        for way in view.distinct
    ]


def _parts(view: View, way: Row) -> dict[str, float]:
    parts: dict[str, float] = {}
    rented_tax = 0.0
    for line in way["lines"]:
        kind = line["id"].split(".")[0]
        if kind == "tax_rented":
            rented_tax += line["amount_usd"]
            continue
        role = role_of(view, line)
        parts[role] = parts.get(role, 0.0) + line["amount_usd"]
    if rented_tax:
        role = role_of_rented_tax(parts)
        parts[role] = parts.get(role, 0.0) + rented_tax
    return parts


def role_of(view: View, line: Row) -> str:
    """Role of a cost line, all but the tax on what is rented."""
    kind = (line.get("reduces") or line["id"]).split(".")[0]
    if kind == "rental":
        return role_of_term(view.offer(line["resource"]).term)
    return _ROLE_OF_LINE[kind]


def role_of_term(term: str) -> str:
    """Role of what is rented by a term."""
    return _ROLE_OF_TERM.get(term, "reserved")


def role_of_rented_tax(parts_usd: Mapping[str, float]) -> str:
    """Tax stands with what it is paid on: mostly the larger kind of rental."""
    rentals = [role for role in RENTED if role in parts_usd]
    return max(rentals, key=lambda role: parts_usd[role]) if rentals else "upkeep"


def spend_lines(view: View) -> list[SpendLine]:
    """Money spent so far by every feasible way: from the purchases at the start, resale not counted."""
    last = _last_month(view)
    return [SpendLine(way=way["kind"], label=way_name(way), points=_spent(way, last)) for way in view.distinct]


def _last_month(view: View) -> int:
    """Month in which some way is still paid for: commitments outlast the plan."""
    return max(last_paid(way, view.report["horizon_months"]) for way in view.distinct)


def last_paid(way: Row, horizon_months: int) -> int:
    """The plan's last month, or the last one after it in which anything is paid."""
    after = range(len(way["months"]), horizon_months, -1)
    return next(
        (month for month in after if abs(way["months"][month - 1]["amount_usd"]) >= HALF_CENT_USD), horizon_months
    )


def _spent(way: Row, last: int) -> list[tuple[float, float]]:
    """Cash by month; what owned machines are worth today is a cost but no cash, so it is taken out of month 1."""
    spent = -_worth_today(way)
    points = [(0.0, float(way["cash_at_start_usd"]))]
    for month in way["months"][:last]:
        spent += month["capex_usd"] + month["opex_usd"] + month["financing_usd"]
        points.append((float(month["month"]), float(spent)))
    return [*points, *((float(month), float(spent)) for month in range(len(points), last + 1))]


def _worth_today(way: Row) -> float:
    """What machines that are there already could be sold for, counted in month 1 though no money flows."""
    return float(sum(line["amount_usd"] for line in way["lines"] if line["id"].split(".")[0] == "opportunity"))


def cash_table(view: View) -> list[dict[str, str]]:
    """Cash by year and way, with what resale brings back."""
    rows = []
    months = view.report["horizon_months"]
    for span in spans_of(view.document, months, "year"):
        length = span.last - span.first + 1
        key = "cash.year" if length == MONTHS_PER_YEAR else "cash.part_of_year"
        row = {t("cash.when"): t(key, year=span.label, months=length)}
        for way in view.distinct:
            cash = sum(month["amount_usd"] for month in way["months"][span.first - 1 : span.last])
            if span.first == 1:
                cash -= _worth_today(way)
            row[way_name(way)] = _table_money(view, cash)
        rows.append(row)
    if _last_month(view) > months:
        later = {way_name(way): sum(month["amount_usd"] for month in way["months"][months:]) for way in view.distinct}
        rows.append({t("cash.when"): t("cash.later")} | {name: _table_money(view, usd) for name, usd in later.items()})
    return rows


def _table_money(view: View, usd: float) -> str:
    return formatting.money(usd, view.currency, fine=True).replace("$", r"\$")


def rings(view: View) -> list[Ring]:
    """Where another way becomes dearer than the recommended one, or cheaper."""
    if view.recommended is None:
        return []
    mine, rings, last = view.recommended, [], _last_month(view)
    for other in view.distinct:
        pays, waits = _payback(mine, other), _payback(other, mine)
        month = pays or waits
        if month is not None:
            at, spent = _meeting(_spent(mine, last), _spent(other, last), month)
            text = t(
                "ring.dearer" if pays else "ring.cheaper",
                month=month,
                other=t(f"than_short.{other['kind']}"),
                mine=t(f"than_short.{mine['kind']}"),
            )
            rings.append(Ring(month=at, spent_usd=spent, text=text))
    return rings


def spend_heading(view: View) -> str:
    """The finding of the chart of money spent."""
    way = view.recommended
    if way is None:
        return t("title.none")
    ends = {other["kind"]: _spent(other, _last_month(view))[-1][1] for other in view.distinct}
    rent_all = next((other for other in view.distinct if other["kind"] == "cloud"), None)
    if way["kind"] != "cloud" and rent_all is not None:
        month, more = _payback(way, rent_all), ends[way["kind"]] - ends["cloud"]
        if month is not None and more <= 0:
            last = for_good(way, rent_all, view.report["horizon_months"])
            if last is not None and last > month:
                return t("heading.pays_again", month=month, last=last)
            return t("heading.pays", month=month)
        if more > 0 and way["tco_usd"] < rent_all["tco_usd"]:
            amount = formatting.money(more, view.currency)
            return t("heading.resale", way=t(f"the.{way['kind']}"), amount=amount)
    others = sorted((spent, kind) for kind, spent in ends.items() if kind != way["kind"])
    words = {
        "way": t(f"than_short.{way['kind']}"),
        "amount": formatting.money(ends[way["kind"]], view.currency),
        "months": view.report["horizon_months"],
    }
    if not others:
        return t("heading.spent", **words)
    spent, kind = others[0]
    other_amount = formatting.money(spent, view.currency)
    return t("heading.spent_against", **words, other=t(f"than_short.{kind}"), other_amount=other_amount)


def ways_table(view: View) -> list[dict[str, str]]:
    """Time, energy and present value of every way that works; units stand in the heads, for narrow columns."""
    rows = []
    energy = formatting.energy_scale(max(way["energy_kwh"] for way in view.distinct))
    carbon = formatting.carbon_scale(max(way["kg_co2e"] for way in view.distinct))
    for way in view.distinct:
        job = view.longest_run(way)
        rows.append(
            {
                t("ways.way"): way_name(way),
                t("ways.key_run" if view.is_key(job) else "ways.long_run"): formatting.duration(job["time_to_train_h"]),
                energy.name: energy.of(way["energy_kwh"]),
                carbon.name: carbon.of(way["kg_co2e"]),
                t("ways.value"): formatting.money(way["present_value_usd"], view.currency, fine=True).replace(
                    "$", r"\$"
                ),
            }
        )
    return rows


def job_rows(view: View) -> list[dict[str, Any]]:
    """Every job on every resource it uses, way by way."""
    rows = []
    for way in view.feasible:
        for job in way["jobs"]:
            unit = t(f"unit.{job['throughput_unit']}")
            rows.append(
                {
                    t("column.way"): way_name(way),
                    t("column.job"): job["id"],
                    t("column.resource"): view.resource(job),
                    t("column.gpus"): formatting.plain(job["gpus"]),
                    t("column.time"): formatting.duration(job["time_to_train_h"]),
                    t("column.likely"): formatting.duration_range(job["low_h"], job["high_h"]),
                    t("column.memory"): formatting.memory_of(job["memory_gb"], job["capacity_gb"]),
                    t("column.full_cost"): formatting.price(job["cost_per_run_usd"], view.currency),
                    t("column.marginal_cost"): formatting.price(job["marginal_cost_per_run_usd"], view.currency),
                    t("column.runs"): formatting.trimmed(job["runs"], 3),
                    t("column.gpu_hours"): formatting.trimmed(job["gpu_hours"], 3),
                    t("column.speed"): f"{formatting.plain(job['throughput'])}{formatting.NBSP}{unit}",
                    t("column.basis"): t(f"basis.{job['basis']}"),
                }
            )
    return rows


def bottleneck_lines(view: View) -> list[str]:
    """What takes the time of each job on each resource it uses, and what would shorten it; ways share lines."""
    lines = [
        t(
            "details.bottleneck",
            job=escaped(job["id"]),
            place=escaped(view.resource(job)),
            gpus=t("details.gpus.one" if job["gpus"] == 1 else "details.gpus.many", count=job["gpus"]),
            text=escaped(job["bottleneck"]["text"]),
        )
        for way in view.feasible
        for job in way["jobs"]
        if job["bottleneck"] is not None
    ]
    return list(dict.fromkeys(lines))


def note_lines(view: View) -> list[str]:
    """Warnings of the plan, with offers of the catalog by their names; first what goes beyond a ceiling on cash."""
    warnings = sorted(view.report["warnings"], key=lambda warning: not _on_cash(view, warning))
    notes = [view.named(str(warning["message"])) for warning in warnings]
    return [escaped(note[:1].upper() + note[1:]) for note in notes]


def _on_cash(view: View, warning: Row) -> bool:
    """Whether a warning is of the ceiling on cash and the recommended way."""
    way = view.recommended
    return (
        way is not None
        and str(warning["code"]).startswith("quarter_above_ceiling")
        and warning["params"]["way"] == render(f"strategy_{way['id']}")
    )


def line_rows(view: View) -> list[dict[str, Any]]:
    """Every cost line with what it rests on, in USD and exact, as in the CSV."""
    return [
        {
            t("column.way"): way_name(way),
            t("column.line"): t(f"line.{line['id'].split('.')[0]}"),
            t("column.line_for"): _line_for(view, line),
            t("column.amount_usd"): formatting.exact(line["amount_usd"]),
            t("column.quantity"): formatting.trimmed(line["quantity"]),
            t("column.unit"): line["unit"],
            t("column.unit_price_usd"): formatting.trimmed(line["unit_price_usd"]),
            t("column.value_usd"): formatting.exact(line["present_value_usd"]),
            t("column.estimate"): t("word.estimate") if line["estimate"] else "",
            t("column.sources"): "; ".join(source_title(view, id) for id in line["sources"]),
            t("column.line_id"): line["id"],
        }
        for way in view.feasible
        for line in way["lines"]
    ]


def _line_for(view: View, line: Row) -> str:
    """Job, and machine, offer or provider of a cost line, with the month of a resale and of a later purchase."""
    sale = re.fullmatch(r"resale_.*?(?:\.bought(\d+))?\.m(\d+)", line["id"])
    bought, month = (None, None) if sale is None else sale.groups()
    words = (
        line["job"],
        view.place_name(line["resource"]),
        "" if bought is None else t("line.bought", month=bought),
        "" if month is None else t("line.start") if month == "0" else t("line.month", month=month),
    )
    return ", ".join(word for word in words if word)


def figure_rows(view: View) -> list[dict[str, Any]]:
    """Every figure the plan rests on, with its range, date and source."""
    return [
        {
            t("column.figure"): figure["id"],
            t("column.amount"): formatting.trimmed(figure["value"]),
            t("column.unit"): _UNIT_WORDS.get(figure["unit"], figure["unit"]),
            t("column.likely"): _span(figure),
            t("column.as_of"): formatting.date(figure["as_of"]) if figure["as_of"] else "",
            t("column.estimate"): t("word.estimate") if figure["estimate"] else "",
            t("column.sources"): "; ".join(source_title(view, id) for id in figure["sources"]),
        }
        for figure in view.report["figures"]
    ]


def _span(figure: Row) -> str:
    low, high = figure["low"], figure["high"]
    if low is None and high is None:
        return ""
    ends = [formatting.trimmed(figure["value"] if end is None else end) for end in (low, high)]
    return formatting.EN_DASH.join(ends)


def source_title(view: View, id: str) -> str:
    """Title of a source."""
    return str(view.report["sources"][id]["title"])


def _payback(way: Row, other: Row) -> int | None:
    """Month in which a way has made up for its higher purchase, as the engine found it."""
    return next((entry["month"] for entry in way["paybacks"] if entry["against"] == other["id"]), None)


def for_good(way: Row, other: Row, last: int) -> int | None:
    """Month from which a way has spent less than another up to the end: a later purchase may undo an earlier one."""
    pairs = zip(_spent(way, last), _spent(other, last), strict=True)
    dearer = [month for month, ((_, mine), (_, theirs)) in enumerate(pairs) if mine > theirs + HALF_CENT_USD]
    if not dearer:
        return 0
    return dearer[-1] + 1 if dearer[-1] < last else None


def _meeting(
    mine: Sequence[tuple[float, float]], other: Sequence[tuple[float, float]], month: int
) -> tuple[float, float]:
    """Where two lines meet within a month, and what was spent then."""
    (start, a0), (end, a1) = mine[month - 1 : month + 1]
    before, after = other[month - 1][1] - a0, other[month][1] - a1
    part = before / (before - after) if before != after else 0.0
    return start + part * (end - start), a0 + part * (a1 - a0)
