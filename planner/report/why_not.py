"""Why not the other option: a plan's document -> one page of Markdown for those who have to agree."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from planner.messages import Tender, render

Row = Mapping[str, Any]
_DIGITS = 3  # of amounts, which rest on estimates
_MOST = 3  # differences, and figures that are uncertain
_MOST_SOURCES = 8
_UNITS_THAT_COUNT = ("USD", "USD/h", "USD/kWh", "USD/year", "W", "-", "FTE", "tokens_per_s", "samples_per_s")
_PART_OF_LINE = {
    "gpu": "machines",
    "host": "machines",
    "installation": "machines",
    "tax_purchase": "machines",
    "opportunity": "machines",
    "resale_gpu": "resale",
    "resale_host": "resale",
    "rental": "rental",
    "commitment": "rental",
    "overflow": "rental",
    "tax_rented": "rental",
    "electricity": "power",
    "colocation": "power",
    "staff_local": "people",
    "staff_cloud": "people",
    "maintenance": "upkeep",
    "tax_local": "upkeep",
    "storage": "data",
    "egress": "data",
    "ingress": "data",
    "loan_proceeds": "financing",
    "loan_repayment": "financing",
    "running_loan": "financing",
    "running_lease": "financing",
    "lease": "financing",
    "buyout": "financing",
    "tax_lease": "financing",
}


def other_ways(document: Row) -> tuple[str, ...]:
    """Ids of the ways that a plan doesn't recommend, the next best first."""
    ids = [way["id"] for way in document["strategies"] if way["id"] != document["recommended"]]
    return tuple(sorted(ids, key=lambda id: id != document["runner_up"]))


def why_not_text(document: Row, other: str | None = None) -> str:
    """The decision against another way as Markdown, money in the plan's currency.

    Parameters
    ----------
    document : mapping
        A plan, with `break_even` where what would turn the order is to be said.
    other : str, optional
        Id of a way that isn't recommended; the next best where it isn't given.
    """
    ways = {way["id"]: way for way in document["strategies"]}
    mine = ways.get(document["recommended"] or "")
    against = [id for id in other_ways(document) if other in (None, id)]
    head = [f"# {_title(document, mine, against)}", "", _about(document)]
    if mine is None:
        return _page([*head, "", render("why_not_none"), "", *_problems(document["strategies"])])
    if not against:
        return _page([*head, "", render("why_not_alone")])
    its, tender = ways[against[0]], _tender(document)
    if not its["feasible"]:
        sentence = render("why_not_impossible", way=_name(its["id"]))
        return _page([*head, *_section("decision", [sentence, "", *_problems([its])]), *_sources(document, [mine])])
    return _page(
        [
            *head,
            *_section("decision", [_decision(document, mine, its, tender)]),
            *_section("numbers", _numbers(mine, its, tender)),
            *_section("differences", _differences(mine, its, tender)),
            *_section("flips", _flips(document, mine, its, tender)),
            *_section("uncertain", _uncertain(document, mine, its, tender)),
            *_sources(document, [mine, its]),
        ]
    )


def _page(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"


def _title(document: Row, mine: Row | None, against: Sequence[str]) -> str:
    name = _plain(document["name"])
    if mine is None or not against:
        return render("why_not_title_plain", name=name)
    return render("why_not_title", name=name, way=_name(mine["id"]), other=_name(against[0]))


def _about(document: Row) -> str:
    return render(
        "why_not_about",
        months=document["horizon_months"],
        currency=document["currency"]["code"],
        catalog=document["catalog_as_of"],
        planned=document["planned_on"],
    )


def _section(key: str, lines: Sequence[str]) -> list[str]:
    return ["", f"## {render(f'why_not_head_{key}')}", "", *lines]


def _tender(document: Row) -> Tender:
    currency = document["currency"]
    return Tender(code=currency["code"], usd_per_unit=currency["usd_per_unit"])


def _name(way: str) -> str:
    return render(f"strategy_{way}")


def _plain(text: str) -> str:
    """A name of the scenario's own, harmless in Markdown."""
    for character in "\\`*_[]<>#|~$":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


def _problems(ways: Sequence[Row]) -> list[str]:
    return [f"- {_name(way['id'])}: {_plain(problem['message'])}" for way in ways for problem in way["problems"]]


def _decision(document: Row, mine: Row, its: Row, tender: Tender) -> str:
    """The recommendation's own reason where it is about these two, else the gap between them."""
    params = document["reason_params"]
    if its["id"] == document["runner_up"]:
        names = {f"{key}_name": _name(params[key]) for key in ("strategy", "runner_up") if params.get(key)}
        return f"{render(document['reason_code'], tender, **params, **names)}."
    more = its["present_value_usd"] - mine["present_value_usd"]
    return render(
        "why_not_more", tender, way=_name(mine["id"]), other=_name(its["id"]), more_usd=more, share=_share(more, its)
    )


def _share(amount: float, way: Row) -> float | None:
    return amount / way["present_value_usd"] if way["present_value_usd"] > 0 else None


def _numbers(mine: Row, its: Row, tender: Tender) -> list[str]:
    """Both ways in one table."""

    def money(key: str) -> list[str]:
        amounts = [way[key] for way in (mine, its)]
        return [*(tender.words(amount, _DIGITS) for amount in amounts), _signed(amounts[1] - amounts[0], tender)]

    def plain(values: Sequence[float], unit: str) -> list[str]:
        return [
            *(f"{_rounded(value)} {unit}" for value in values),
            f"{_rounded(values[1] - values[0], sign=True)} {unit}",
        ]

    runs = [max((job["time_to_train_h"] for job in way["jobs"]), default=0.0) for way in (mine, its)]
    rows = [
        ["total", *money("tco_usd")],
        ["likely", *(_likely(way, tender) for way in (mine, its)), ""],
        ["value", *money("present_value_usd")],
        ["cash", *money("cash_at_start_usd")],
        ["run", *plain(runs, "h")],
        ["energy", *plain([way["energy_kwh"] for way in (mine, its)], "kWh")],
        ["carbon", *plain([way["kg_co2e"] for way in (mine, its)], "kg CO2e")],
    ]
    head = ["", _name(mine["id"]), _name(its["id"]), render("why_not_difference")]
    return [
        f"| {' | '.join(head)} |",
        "|---|---:|---:|---:|",
        *(f"| {' | '.join([render(f'why_not_row_{key}'), *cells])} |" for key, *cells in rows),
    ]


def _likely(way: Row, tender: Tender) -> str:
    if way["tco_low_usd"] is None:
        return render("why_not_unknown")
    low, high = (tender.words(way[key], _DIGITS) for key in ("tco_low_usd", "tco_high_usd"))
    return f"{low.removesuffix(f' {tender.code}')} to {high}"


def _signed(amount_usd: float, tender: Tender) -> str:
    sign = "+" if amount_usd > 0 else "\N{MINUS SIGN}" if amount_usd < 0 else ""
    return f"{sign}{tender.words(abs(amount_usd), _DIGITS)}"


def _rounded(value: float, *, sign: bool = False) -> str:
    """Three significant digits, thousands separated."""
    shown = float(f"{abs(value):.{_DIGITS}g}")
    text = f"{shown:,.0f}" if shown >= 100 or shown == int(shown) else f"{shown:g}"
    return f"{('+' if value > 0 else chr(0x2212) if value < 0 else '') if sign else ''}{text}"


def parts_usd(way: Row) -> dict[str, float]:
    """A way's total by part: machines, resale, rental, power, people, upkeep, data, financing. [USD]"""
    parts: dict[str, float] = {}
    for line in way["lines"]:
        part = _part(line)
        parts[part] = parts.get(part, 0.0) + line["amount_usd"]
    return parts


def _part(line: Row) -> str:
    """What a line belongs to; one that reduces another, such as a credit, belongs with it."""
    return _PART_OF_LINE[(line["reduces"] or line["id"]).partition(".")[0]]


def _largest(mine: Row, its: Row) -> list[tuple[str, float]]:
    """The parts in which two ways differ most, with what the other takes more. [USD]"""
    one, other = parts_usd(mine), parts_usd(its)
    gaps = {part: other.get(part, 0.0) - one.get(part, 0.0) for part in dict.fromkeys([*one, *other])}
    ranked = sorted(gaps.items(), key=lambda item: -abs(item[1]))
    return [(part, gap) for part, gap in ranked[:_MOST] if abs(gap) >= 0.5]


def _differences(mine: Row, its: Row, tender: Tender) -> list[str]:
    one, other = parts_usd(mine), parts_usd(its)
    lines = [
        "- "
        + render(
            "why_not_part_more" if gap > 0 else "why_not_part_less",
            tender,
            part=render(f"why_not_part_{part}"),
            other=_name(its["id"]),
            gap_usd=abs(gap),
            its_usd=other.get(part, 0.0),
            mine_usd=one.get(part, 0.0),
        )
        for part, gap in _largest(mine, its)
    ]
    return lines or [render("why_not_no_difference")]


def _flips(document: Row, mine: Row, its: Row, tender: Tender) -> list[str]:
    """Where both have the same present value: by use, by rental price, by month."""
    pair = {mine["id"], its["id"]}
    found = [entry for entry in document.get("break_even", ()) if {entry["owning"], entry["renting"]} == pair]
    lines = [line for entry in found for line in _turning(entry, tender)]
    return [f"- {line}" for line in lines] or [render("why_not_no_flip")]


def _turning(entry: Row, tender: Tender) -> list[str]:
    names = {side: _name(entry[side]) for side in ("owning", "renting")}
    use, price, payback = (entry[part][1] for part in ("use", "rental_price", "payback"))
    lines = []
    if use["scale"] is not None:
        busy = None if use["utilisation"] is None else use["utilisation"]
        if len(use["runs"]) == 1:
            lines.append(render("why_not_flip_runs", runs=use["runs"][0]["runs_per_month"], share=busy, **names))
        else:
            lines.append(render("why_not_flip_scale", scale=use["scale"], share=busy, **names))
    if price["factor"] is not None:
        lines.append(render("why_not_flip_rental", factor=price["factor"], **names))
        lines += [
            render("why_not_flip_offer", offer=offer["id"], price=tender.words(offer["price_usd_per_h"], _DIGITS))
            for offer in price["offers"][:_MOST]
        ]
    if payback["month"] is not None:
        lines.append(render("why_not_flip_payback", month=payback["month"], **names))
    return lines


def _uncertain(document: Row, mine: Row, its: Row, tender: Tender) -> list[str]:
    """Whether the likely ranges overlap, how much is estimated, and which figures are least known."""
    lines = []
    ends = [way[key] for way in (mine, its) for key in ("tco_low_usd", "tco_high_usd")]
    if None not in ends:
        overlap = mine["tco_low_usd"] < its["tco_high_usd"] and its["tco_low_usd"] < mine["tco_high_usd"]
        lines.append(render("why_not_overlap" if overlap else "why_not_apart"))
    lines.append(
        render(
            "why_not_estimated",
            way=_name(mine["id"]),
            share=mine["estimated_share"],
            other=_name(its["id"]),
            its_share=its["estimated_share"],
        )
    )
    lines += [
        render("why_not_figure", id=figure["id"], low=figure["low"], high=figure["high"], planned=figure["value"])
        + (f" {figure['unit']}" if figure["unit"] not in ("", "-") else "")
        for figure in _least_known(document, [mine, its])
    ]
    return [f"- {line}" for line in lines]


def _least_known(document: Row, ways: Sequence[Row]) -> list[Row]:
    """Figures with a range that move one plan against the other most, as the tornado found; of one kind the first.

    Of a document without a tornado those with the widest likely range for their size.
    """
    used = {machine["id"] for way in ways for machine in way["machines"]}
    used |= {job["resource"] for way in ways for job in way["jobs"]}
    ranged = [
        figure
        for figure in document["figures"]
        if figure["low"] is not None
        and figure["high"] is not None
        and figure["low"] > 0
        and figure["unit"] in _UNITS_THAT_COUNT
        and (not figure["id"].startswith(("machines.", "offers.")) or figure["id"].split(".")[1] in used)
    ]
    moved = {
        bar["input"]: abs(bar["difference_high_usd"] - bar["difference_low_usd"])
        for bar in document.get("sensitivity", ())
        if bar["difference_low_usd"] is not None
    }
    if moved:
        ranged = [figure for figure in ranged if figure["id"] in moved]
        ranked = sorted(ranged, key=lambda figure: -moved[figure["id"]])
    else:
        ranked = sorted(ranged, key=lambda figure: figure["low"] / figure["high"])
    of_a_kind = {"".join(re.split(r"\.[^.]+\.", figure["id"], maxsplit=1)): figure for figure in reversed(ranked)}
    return [figure for figure in ranked if figure in of_a_kind.values()][:_MOST]


def _sources(document: Row, ways: Sequence[Row]) -> list[str]:
    """Where the largest amounts come from, with dates."""
    lines = sorted((line for way in ways for line in way["lines"]), key=lambda line: -abs(line["amount_usd"]))
    ids = list(dict.fromkeys(line["sources"][0] for line in lines if line["sources"]))
    shown = [_source(document["sources"][id]) for id in ids[:_MOST_SOURCES]]
    return [*_section("sources", [f"- {text}" for text in dict.fromkeys(shown)]), "", render("why_not_foot")]


def _source(record: Row) -> str:
    url = f", <{record['url']}>" if record["url"] else ""
    return f"{_plain(record['title'])}{url}{', ' + str(record['retrieved']) if record['retrieved'] else ''}"
