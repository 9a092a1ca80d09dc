"""The document of a recommendation -> text for a terminal."""

from __future__ import annotations

from typing import Any

from planner.report.text import UNKNOWN, table

MOST_ROWS = 5


def recommendation_text(document: dict[str, Any]) -> str:
    """The answer, its price part by part, the steps beside it, and what guides say."""
    options, code = document["options"], document["budget"]["currency"]
    budget = document["budget"]
    lines = [
        f"Budget {_exact(budget['amount'])} {code} = {_exact(budget['usd'])} USD,"
        f" prices as of {document['catalog_as_of']}",
        _sentence(document["work"]["message"]),
        "",
        _sentence(document["answer"]["message"]),
    ]
    if document["pick"] is not None:
        pick = options[document["pick"]]
        lines += [f"  - {_sentence(reason['message'])}" for reason in pick["reasons"]]
        lines += ["", *_price_lines(pick, code)]
        other = document["rental" if pick["kind"] == "build" else "build"]["best"]
        if other is not None and options[other]["kind"] == "build":
            lines += ["", f"The best to buy: {options[other]['name']}", *_price_lines(options[other], code)]
    for key, label in (("step_up", "Step up"), ("step_down", "Step down")):
        step = document[key]
        if step is not None:
            over = f", {_money(step['over_budget_usd'])} USD over the budget" if step["over_budget_usd"] > 0 else ""
            price = f"{_money(step['price_usd'])} USD = {_money(step['price'])} {code}"
            lines.append(f"{label}: {step['name']}, {price}{over}")
    for kind, title in (("builds", "To buy"), ("rentals", "To rent")):
        rows = [_row(options[id], kind, code) for id in document[kind][:MOST_ROWS]]
        if rows:
            lines += ["", *table([title, f"price {code}", "total USD", "one run h", "months covered", "as of"], rows)]
    if document["status"] != "ok":
        lines += ["", *_least_lines(document)]
    lines += [""] + [f"Guides: {_sentence(entry['why'])}" for entry in document["guide_picks"]]
    lines += [f"Note: {note['message']}" for note in document["notes"]]
    return "\n".join(lines) + "\n"


def _price_lines(option: dict[str, Any], code: str) -> list[str]:
    if option["kind"] == "rental":
        return [
            f"{_exact(option['price_usd_per_h'])} USD an hour ({_exact(option['price_usd_per_gpu_h'])} a GPU-hour),"
            f" as of {option['as_of'] or UNKNOWN}; the budget buys {_money(option['budget_gpu_h'])} GPU-hours,"
            f" {_money(option['rented_h_per_month'])} h a month are needed"
        ]
    rows = [
        [part["name"], str(part["count"]), _exact(part["unit_price_usd"]), _exact(part["amount_usd"]),
         _exact(part["amount"]), part["as_of"] or UNKNOWN, "estimate" if part["estimate"] else ""]
        for part in option["parts"]
    ]  # fmt: skip
    rows.append(["total", "", "", _exact(option["price_usd"]), _exact(option["price"]), option["as_of"] or UNKNOWN,
                 f"{100 * option['estimated_share']:.0f} % estimated"])  # fmt: skip
    return table(["part", "count", "each USD", "USD", code, "as of", ""], rows)


def _least_lines(document: dict[str, Any]) -> list[str]:
    least, code = document["least"], document["budget"]["currency"]
    labels = (("build", "The least to buy"), ("rental", "The least to rent"), ("hour", "The cheapest hour"))
    lines = [
        f"{label}: {entry['name']}, {_exact(entry['price_usd'])} USD = {_exact(entry['price'])} {code}"
        for key, label in labels
        if (entry := least[key]) is not None
    ]
    return lines + [f"Free: {entry['name']} ({entry['note']})" for entry in document["free"]]


def _row(option: dict[str, Any], kind: str, code: str) -> list[str]:
    price = _exact(option["price"]) if kind == "builds" else f"{_exact(option['price_per_h'])}/h"
    run = UNKNOWN if option["run_h"] is None else f"{option['run_h']:.3g}"
    return [
        option["name"], price, _money(option["total_usd"]), run, f"{option['covered_months']:.3g}",
        option["as_of"] or UNKNOWN,
    ]  # fmt: skip


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _money(value: float) -> str:
    return f"{value:,.0f}"


def _exact(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
