"""The money of a plan as a few lines of text: fiscal years, the baseline, lease against buy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner.messages import Tender, render
from planner.report.text_table import table

_COLUMNS = (
    "purchases_usd", "running_usd", "resale_usd", "financing_usd", "cash_usd", "present_value_usd", "tax_paid_usd",
    "tax_back_usd",
)  # fmt: skip


def finance_lines(document: Mapping[str, Any]) -> list[str]:
    """Lines for a finance reader, where the scenario gives any key of its money; amounts in its currency."""
    money = document.get("finance")
    if money is None or not money["asked"]:
        return []
    tender = Tender(code=document["currency"]["code"], usd_per_unit=document["currency"]["usd_per_unit"])
    costed = [way for way in money["strategies"] if way["years"]]
    shown = next((way for way in costed if way["id"] == document["recommended"]), costed[0] if costed else None)
    lines = [f"{money['note']}."]
    if shown is not None:
        lines += [*_years(shown, tender), *_beside(shown, document, tender), *_lease_or_buy(shown, tender)]
    against = {way["id"]: way["against_baseline"] for way in document["strategies"]}
    lines += [_against(id, entry, tender) for id, entry in against.items() if entry is not None]
    return lines


def _years(way: Mapping[str, Any], tender: Tender) -> list[str]:
    """Money by fiscal year as a table, without what is zero throughout."""
    names = [name for name in _COLUMNS if any(year[name] for year in way["years"])]
    heads = [name.removesuffix("_usd").replace("_", " ") for name in names]
    rows = [
        [
            f"{year['fiscal_year']} ({_months(year)})",
            *(_money(year[name], tender) for name in names),
        ]
        for year in way["years"]
    ]
    totals = [_money(sum(year[name] for year in way["years"]), tender) for name in names]
    return table([f"{render('strategy_' + way['id'])}, {tender.code}", *heads], [*rows, ["total", *totals]])


def _beside(way: Mapping[str, Any], document: Mapping[str, Any], tender: Tender) -> Iterator[str]:
    """Why the cash isn't the total of the plan, and what months after it are."""
    name = render(f"strategy_{way['id']}")
    if round(way["not_cash_usd"], 2):
        total = sum(year["cash_usd"] for year in way["years"]) + way["not_cash_usd"]
        worth = _money(way["not_cash_usd"], tender)
        yield (
            f"the total of {name}, {_money(total, tender)} {tender.code}, also counts {worth} that machines owned"
            " already would bring today, which is no cash"
        )
    after = document["horizon_months"]
    months = next(entry["months"] for entry in document["strategies"] if entry["id"] == way["id"])
    if any(round(month["amount_usd"], 2) for month in months if month["month"] > after):
        yield f"after month {after} the plan is over: contracts that were begun are still paid to their end"


def _months(year: Mapping[str, Any]) -> str:
    first, last = year["first_month"], year["last_month"]
    return f"month {first}" if first == last else f"months {first} to {last}"


def _lease_or_buy(way: Mapping[str, Any], tender: Tender) -> Iterator[str]:
    for entry in way["lease_or_buy"]:
        sides = (
            f"{side} present value {_money(entry[side]['present_value_usd'], tender)} {tender.code},"
            f" {_money(entry[side]['cash_at_start_usd'], tender)} at the start"
            for side in ("leased", "bought")
        )
        yield f"{entry['count']} x {entry['machine']}: {'; '.join(sides)}"


def _against(id: str, entry: Mapping[str, Any], tender: Tender) -> str:
    ways = f"{render(f'strategy_{id}')} over {render('strategy_' + entry['baseline'])}"
    months = [
        f"month {payback['month']}" if payback["month"] is not None else render(f"payback_{payback['reason']}")
        for payback in entry["payback"]
    ]
    paid = months[0] if months[0] == months[1] else f"{months[0]}, discounted {months[1]}"
    rate = entry["irr_per_year"]
    parts = [
        f"net present value {_money(entry['npv_usd'], tender)} {tender.code}",
        f"payback: {paid}",
        "internal rate of return: "
        + (f"{round(100 * rate, 1) + 0.0:.1f} % a year" if rate is not None else _no_rate(entry)),
    ]
    return f"{ways}: {'; '.join(parts)}"


def _no_rate(entry: Mapping[str, Any]) -> str:
    return render(f"irr_{entry['irr_reason']}")


def _money(usd: float, tender: Tender) -> str:
    amount = usd / tender.usd_per_unit
    return f"{0.0 if abs(amount) < 0.5 else amount:,.0f}"
