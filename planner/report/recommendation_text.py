"""The document of a recommendation -> text for a terminal: estimates with three digits, money as asked."""

from __future__ import annotations

from typing import Any

from planner.report.text_table import UNKNOWN, table

MOST_ROWS = 5
_DIGITS = 3  # of an estimate

Document = dict[str, Any]


def recommendation_text(document: Document) -> str:
    """The answer, its price part by part, the steps beside it, and what guides say."""
    options, code = document["options"], document["budget"]["currency"]
    lines = [_budget_line(document), _sentence(document["work"]["message"]), ""]
    lines.append(_sentence(document["answer"]["message"]))
    if document["pick"] is not None:
        pick = options[document["pick"]]
        lines += [f"  - {_sentence(reason['message'])}" for reason in pick["reasons"]]
        lines += ["", *_price_lines(pick, document)]
        other = document["rental" if pick["kind"] == "build" else "build"]["best"]
        if other is not None and options[other]["kind"] == "build":
            lines += ["", f"The best to buy: {options[other]['name']}", *_price_lines(options[other], document)]
    for key, label in (("step_up", "Step up"), ("step_down", "Step down")):
        step = document[key]
        if step is not None:
            over = step["over_budget_usd"] / document["currency"]["usd_per_unit"]
            words = f", {_rounded(over)} {code} over the budget" if over > 0 else ""
            lines.append(f"{label}: {step['name']}, {_costs(step, options[step['id']], document)}{words}")
    lines += _listed_lines(document)
    if document["status"] != "ok":
        lines += ["", *_least_lines(document)]
    lines += [""] + [f"Guides: {_sentence(entry['why'])}" for entry in document["guide_picks"]]
    lines += [f"Note: {note['message']}" for note in document["notes"]]
    return "\n".join(lines) + "\n"


def rate_words(currency: Document) -> str:
    """An exchange rate as it is usually quoted, above one: "7.185 CNY per USD"."""
    rate, code = currency["usd_per_unit"], currency["code"]
    return f"{rate:.4g} USD per {code}" if rate >= 1 else f"{1 / rate:,.4g} {code} per USD"


def _budget_line(document: Document) -> str:
    budget, currency = document["budget"], document["currency"]
    words = f"Budget {budget['amount']:,.10g} {budget['currency']}"
    if budget["currency"] != "USD":
        mark = ", an estimate" if currency["estimate"] else ""
        rate = f"{rate_words(currency)} of {currency['as_of'] or UNKNOWN}{mark}"
        words += f" = {_money(budget['usd'], currency['estimate'])} USD ({rate})"
    return f"{words}, prices as of {document['catalog_as_of']}"


def _price_lines(option: Document, document: Document) -> list[str]:
    rate, code = document["currency"], document["budget"]["currency"]
    if option["kind"] == "rental":
        local = "" if code == "USD" else f" = {_money(option['price_per_h'], rate['estimate'])} {code}"
        return [
            f"{_money(option['price_usd_per_h'])} USD{local} an hour"
            f" ({_money(option['price_usd_per_gpu_h'])} USD a GPU-hour), as of {option['as_of'] or UNKNOWN};"
            f" the budget buys {_rounded(option['budget_gpu_h'])} GPU-hours,"
            f" {_rounded(option['rented_h_per_month'])} h a month are needed"
        ]
    rows = [
        [part["name"], str(part["count"]), _money(part["unit_price_usd"], part["estimate"]),
         *_both(part["amount_usd"], part["estimate"], document),
         part["as_of"] or UNKNOWN, "estimate" if part["estimate"] else ""]
        for part in option["parts"]
    ]  # fmt: skip
    share = option["estimated_share"]
    rows.append(["total", "", "", *_both(option["price_usd"], share > 0, document), option["as_of"] or UNKNOWN,
                 f"{share_words(share)} estimated" if share > 0 else ""])  # fmt: skip
    return table(["part", "count", "each USD", *_codes(code), "as of", ""], rows)


def share_words(share: float) -> str:
    """A share in percent; a small one isn't none of it."""
    return "under 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


def _listed_lines(document: Document) -> list[str]:
    lines: list[str] = []
    code, rate = document["budget"]["currency"], document["currency"]["usd_per_unit"]
    for kind in ("builds", "rentals"):
        options = [document["options"][id] for id in document[kind][:MOST_ROWS]]
        if not options:
            continue
        timed = document["work"]["peak_per_s"] is None
        heads = ["To buy", f"price {code}"] if kind == "builds" else ["To rent", "as", "where", f"{code}/h"]
        heads += [f"total {code}", *(["one run h"] if timed else []), "pays for", "as of"]
        rows = []
        for option in options:
            estimate = document["currency"]["estimate"] or option["estimated_share"] > 0
            row = [option["name"]]
            if kind == "builds":
                row.append(_money(option["price"], estimate))
            else:
                place = option["region"] if option["market"] == "cloud" else f"{option['region']} {option['market']}"
                row += [option["instance_type"], place.strip() or UNKNOWN, _money(option["price_per_h"], estimate)]
            row.append(_rounded(option["total_usd"] / rate))
            if timed:
                row.append(UNKNOWN if option["run_h"] is None else f"{option['run_h']:.3g}")
            rows.append([*row, option["covered"], option["as_of"] or UNKNOWN])
        lines += ["", *table(heads, rows)]
    return lines


def _least_lines(document: Document) -> list[str]:
    least = document["least"]
    labels = (("build", "The least to buy"), ("rental", "The least to rent"), ("hour", "The cheapest hour"))
    lines = [
        f"{label}: {entry['name']}, {_costs(entry, document['options'][entry['id']], document)}"
        for key, label in labels
        if (entry := least[key]) is not None
    ]
    return lines + [f"Free: {entry['name']} ({entry['note']})" for entry in document["free"]]


def _costs(entry: Document, option: Document, document: Document) -> str:
    """Price of a step or of the least, and what it comes to over the months where that is another amount."""
    code, estimated = document["budget"]["currency"], document["currency"]["estimate"]
    rough = estimated or option["estimated_share"] > 0 or option["kind"] == "rental"  # hours of work are an estimate
    price = f"{_money(entry['price'], rough)} {code}"
    if entry["total_usd"] == entry["price_usd"]:
        return price
    return f"{price} to buy, {_rounded(entry['total'])} {code} over {document['work']['months']} months"


def _both(amount_usd: float, estimate: bool, document: Document) -> list[str]:
    """An amount in USD and in the budget's currency, once where they are one."""
    currency = document["currency"]
    words = [_money(amount_usd, estimate)]
    if currency["code"] != "USD":
        words.append(_money(amount_usd / currency["usd_per_unit"], estimate or currency["estimate"]))
    return words


def _codes(code: str) -> list[str]:
    return ["USD"] if code == "USD" else ["USD", code]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _money(value: float, estimate: bool = False) -> str:
    """A price: whole from a hundred on, else three digits; one that rests on an estimate has three in all."""
    return f"{value:,.0f}" if value >= 100 and not estimate else _rounded(value)


def _rounded(value: float) -> str:
    rounded = float(f"{value:.{_DIGITS}g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:.{_DIGITS}g}"
