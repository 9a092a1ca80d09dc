"""Words and rows of plan against actual, from the engine's document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.messages import Tender, render
from planner.units import HALF_CENT_USD
from ui import formatting
from ui.formatting import Currency, escaped
from ui.i18n import t
from ui.view import View, way_name

Document = Mapping[str, Any]
EFFECTS = (
    "runs_usd", "attempts_usd", "speed_usd", "quantity_usd", "price_usd", "unplanned_usd", "undivided_usd",
)  # fmt: skip
_JOINED = "\N{WORD JOINER}"


def heading(document: Document, currency: Currency) -> str:
    """What was paid against the plan, in one line."""
    difference = document["totals"]["difference_usd"]
    if difference is None:
        return t("actual.paid.none")
    if abs(difference) < HALF_CENT_USD:
        return t("actual.paid.same")
    key = "actual.paid.more" if difference > 0 else "actual.paid.less"
    return t(key, amount=formatting.price(abs(difference), currency))


def sentence(document: Document, currency: Currency) -> str:
    """The sums behind the heading."""
    totals = document["totals"]
    if totals["actual_usd"] is None:
        return t("actual.sentence_hours", last=document["last_month"])
    unbilled = max(totals["unbilled_planned_usd"], 0.0)
    words = t(
        "actual.sentence",
        actual=formatting.price(totals["actual_usd"], currency),
        last=document["last_month"],
        planned=formatting.price(totals["billed_planned_usd"], currency),
        likely=formatting.money_range(
            totals["billed_planned_low_usd"], totals["billed_planned_high_usd"], currency, digits=3
        ),
    )
    if unbilled < HALF_CENT_USD:
        return words
    return f"{words} {t('actual.sentence_unbilled', amount=formatting.price(unbilled, currency))}"


def job_rows(document: Document, view: View) -> list[dict[str, str]]:
    """Drift of each job: runs, hours, and the time of an attempt against its range."""
    return [
        {
            t("actual.column.job"): job["id"],
            t("actual.column.place"): view.place_name(job["resource"]),
            t("actual.column.runs"): _of(job["runs_actual"], job["runs_planned"]),
            t("actual.column.hours"): _of(job["gpu_hours_actual"], job["gpu_hours_planned"]),
            t("actual.column.attempt"): formatting.duration(job["attempt_h_actual"]),
            t("actual.column.planned_attempt"): formatting.duration(job["attempt_h_planned"]),
            t("actual.column.likely"): formatting.duration_range(job["attempt_h_low"], job["attempt_h_high"]),
            t("actual.column.verdict"): _verdict(job),
            t("actual.column.attempts"): _attempts(job),
        }
        for job in document["jobs"]
    ]


def _of(actual: float | None, planned: float) -> str:
    if actual is None and not planned:  # neither is known: plans count only months that were reported
        return formatting.unknown()
    return t("actual.of", actual=formatting.plain(actual), planned=formatting.plain(planned))


def _verdict(job: Mapping[str, Any]) -> str:
    if job["attempt_h_actual"] is None:
        return formatting.unknown()
    if job["inside"] is None:
        return t("actual.verdict.none")
    if job["inside"]:
        return t("actual.verdict.inside")
    return t("actual.verdict.slower" if job["slower"] > 0 else "actual.verdict.faster")


def _attempts(job: Mapping[str, Any]) -> str:
    if job["attempts_per_run_actual"] is not None:
        return _of(job["attempts_per_run_actual"], job["attempts_per_run_planned"])
    if job["attempts_per_run_implied"] is None:
        return formatting.unknown()
    return t("actual.implied", attempts=formatting.plain(job["attempts_per_run_implied"]))


def bridge_rows(document: Document, currency: Currency) -> list[dict[str, str]]:
    """From what was planned to what was paid, part by part."""
    totals = document["totals"]
    parts = [(t(f"actual.effect.{name}"), totals["effects"][name]) for name in _shown(document)]
    ends = (t("actual.column.planned"), totals["billed_planned_usd"]), (t("actual.column.paid"), totals["actual_usd"])
    bold = [(f"**{name}**", f"**{_amount(usd, currency)}**") for name, usd in ends]
    middle = [(name, _amount(usd, currency)) for name, usd in parts]
    return [
        {t("actual.column.part"): name, t("actual.column.amount"): usd} for name, usd in (bold[0], *middle, bold[1])
    ]


def money_rows(document: Document, view: View) -> list[dict[str, str]]:
    """What was paid for each resource, the difference, and its parts that aren't zero everywhere."""
    currency = view.currency
    return [
        {
            t("actual.column.resource"): escaped(view.place_name(entry["id"])),
            t("actual.column.paid"): _amount(entry["actual_usd"], currency),
            t("actual.column.planned"): _amount(entry["planned_usd"], currency),
            t("actual.column.difference"): _amount(entry["actual_usd"] - entry["planned_usd"], currency),
            **{t(f"actual.effect.{part}"): _amount(entry["effects"][part], currency) for part in _shown(document)},
            t("actual.column.price"): _price(entry, currency),
        }
        for entry in document["resources"]
        if entry["actual_usd"] is not None
    ]


def _shown(document: Document) -> list[str]:
    """Parts of the difference that aren't zero everywhere."""
    return [
        name for name in EFFECTS if any(abs(entry["effects"][name]) >= HALF_CENT_USD for entry in document["resources"])
    ]


def _amount(usd: float, currency: Currency) -> str:
    """An amount in a table of Markdown; the minus stays with it in a narrow column."""
    text = formatting.price(usd, currency) if abs(usd) >= HALF_CENT_USD else f"{currency.prefix}0"
    return text.replace(formatting.MINUS, formatting.MINUS + _JOINED).replace("$", r"\$")


def _price(entry: Mapping[str, Any], currency: Currency) -> str:
    paid, planned = entry.get("price_actual_usd"), entry.get("price_planned_usd")
    if paid is None or planned is None:
        return ""
    words = t(
        "actual.price_change",
        paid=f"{currency.prefix}{formatting.trimmed(currency.of(paid), 4)}",
        planned=f"{currency.prefix}{formatting.trimmed(currency.of(planned), 4)}",
        unit=entry["price_unit"],
    )
    return words.replace("$", r"\$")


def notes(entries: list[Mapping[str, Any]], view: View) -> list[str]:
    """Sentences of flags, or of what was carried over, with offers by their names."""
    tender = Tender(code=view.currency.code, usd_per_unit=view.currency.usd_per_unit)
    return [view.named(render(entry["code"], tender, field=entry["field"], **entry["params"])) for entry in entries]


def rest_rows(document: Document, view: View) -> list[dict[str, str]]:
    """The rest of the way as it was planned, and each way planned anew."""
    replan, currency = document["replan"], view.currency
    names = {way["id"]: way_name(way) for way in view.strategies}
    total = t("actual.column.total", month=replan["from_month"])
    shown = [rest for way in replan["ways"] for rest in (way["old"], way["new"]) if rest is not None]
    financed = any(rest["financing_usd"] for rest in shown)

    def row(name: str, rest: Mapping[str, float]) -> dict[str, str]:
        cells = {
            t("actual.column.running"): rest["running_usd"],
            t("actual.column.purchase"): rest["purchase_usd"],
            t("actual.column.resale"): rest["resale_usd"],
            **({t("actual.column.financing"): rest["financing_usd"]} if financed else {}),
            total: rest["total_usd"],
        }
        return {
            t("actual.column.way"): name,
            **{key: _amount(usd, currency) for key, usd in cells.items()},
        }

    rows = [
        row(t("actual.replan.old", way=names[way["id"]]), way["old"])
        for way in replan["ways"]
        if way["old"] is not None
    ]
    if replan["changed"]:  # else it is what is planned anew
        rows.append(row(t("actual.replan.kept", way=names[document["strategy"]]), replan["continued"]))
    rows += [
        row(t("actual.replan.new", way=names[way["id"]]), way["new"])
        for way in replan["ways"]
        if way["new"] is not None and way["feasible"]
    ]
    return rows
