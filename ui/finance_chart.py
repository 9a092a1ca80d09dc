"""Figure of the money view: what each quarter takes, against a ceiling where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ui import formatting
from ui.charts import TITLE_ABOVE, Spec, axis_unit, chart_colours, nice_ticks, text_mark, themed, tip
from ui.formatting import Currency
from ui.i18n import t
from ui.view import Row

CHART_PX = 240
_HALF = 0.4  # of a bar's width, where quarters are 1 apart
_MOST_LABELS = 10


def quarter_chart(
    quarters: Sequence[Row], ceiling_usd: float | None, *, currency: Currency, dark: bool, faded: bool = False
) -> Spec:
    """Bars of what each quarter takes, what is above the ceiling in the colour of a broken limit."""
    colours = chart_colours(dark=dark, faded=faded)
    highest = max([*(quarter["paid_usd"] for quarter in quarters), ceiling_usd or 0.0])
    lowest = min([0.0, *(quarter["paid_usd"] for quarter in quarters)])
    scale, unit_key = axis_unit(highest, currency)
    top = highest / scale * 1.12 or 1.0
    count = len(quarters)
    step = -(-count // _MOST_LABELS)
    labels = "[" + ",".join(repr(quarter["quarter"]) for quarter in quarters) + "]"
    x = {
        "type": "quantitative",
        "scale": {"domain": [0.5, count + 0.5], "nice": False},
        "axis": {
            "values": list(range(1, count + 1, step)),
            "title": t("timeline.x.quarter") if quarters[0]["quarter"] == "1" else None,
            "labelExpr": f"split({labels}[datum.value - 1], ' ')",
        },
    }
    y = {
        "type": "quantitative",
        "scale": {"domain": [lowest / scale, top], "nice": False},
        "axis": {
            "values": nice_ticks(top),
            "grid": True,
            "title": t(f"timeline.finance.quarter.y.{unit_key}", currency=currency.code),
            **TITLE_ABOVE,
        },
    }
    names = {"within": t("timeline.finance.quarter.within"), "above": t("timeline.finance.quarter.above")}
    kinds = ["within", "above"] if any(quarter["above_usd"] for quarter in quarters) else ["within"]
    fills = {"within": colours.secondary, "above": colours.broken}
    colour = {
        "field": "kind",
        "type": "nominal",
        "scale": {"domain": [names[kind] for kind in kinds], "range": [fills[kind] for kind in kinds]},
        "legend": {"title": None, "orient": "top", "offset": 34} if len(kinds) > 1 else None,
    }
    layers: list[Spec] = [
        {
            "data": {"values": _bars(quarters, scale, names, currency)},
            "mark": {"type": "rect"},
            "encoding": {
                "x": {"field": "x0", **x},
                "x2": {"field": "x1"},
                "y": {"field": "y0", **y},
                "y2": {"field": "y1"},
                "color": colour,
                "tooltip": [
                    tip("when", "timeline.finance.quarter.when"),
                    tip("exact", "timeline.finance.quarter.amount"),
                ],
            },
        }
    ]
    if ceiling_usd is not None:
        text = t("timeline.finance.quarter.ceiling", amount=formatting.money(ceiling_usd, currency, fine=True))
        row = [{"y": ceiling_usd / scale, "x": count + 0.5, "text": text}]
        rule = {"type": "rule", "color": colours.text, "strokeDash": [5, 4], "strokeWidth": 1.5}
        words = text_mark(fontSize=12, align="right", baseline="bottom", dx=-4, dy=-4, color=colours.text)
        where = {"y": {"field": "y", **y}}
        layers.append({"data": {"values": row}, "mark": rule, "encoding": where})
        encoding = {**where, "x": {"field": "x", **x}, "text": {"field": "text"}}
        layers.append({"data": {"values": row}, "mark": words, "encoding": encoding})
    return themed(layers, colours, height=CHART_PX, faded=faded)


def _bars(quarters: Sequence[Row], scale: float, names: Row, currency: Currency) -> list[dict[str, Any]]:
    rows = []
    for number, quarter in enumerate(quarters, start=1):
        within = quarter["paid_usd"] - quarter["above_usd"]
        for kind, start, end in (("within", 0.0, within), ("above", within, quarter["paid_usd"])):
            if start != end:
                rows.append(
                    {
                        "x0": number - _HALF,
                        "x1": number + _HALF,
                        "y0": start / scale,
                        "y1": end / scale,
                        "kind": names[kind],
                        "when": _named(quarter),
                        "exact": formatting.price(quarter["paid_usd"], currency),
                    }
                )
    return rows


def _named(quarter: Row) -> str:
    """A quarter in a sentence: one of a plan without a calendar is a bare number."""
    name = str(quarter["quarter"])
    return t("timeline.finance.quarter.numbered", number=name) if name.isdigit() else name


def quarter_heading(quarters: Sequence[Row], ceiling_usd: float | None, currency: Currency) -> str:
    """The finding of the chart."""
    most = max(quarters, key=lambda quarter: quarter["paid_usd"])
    amount = formatting.money(most["paid_usd"], currency, fine=True)
    if ceiling_usd is None:
        return t("timeline.finance.quarter.heading_free", amount=amount, when=_named(most))
    ceiling = formatting.money(ceiling_usd, currency, fine=True)
    over = sum(quarter["above_usd"] > 0 for quarter in quarters)
    if not over:
        return t("timeline.finance.quarter.heading", ceiling=ceiling)
    words = {"over": over, "all": len(quarters), "ceiling": ceiling, "when": _named(most), "amount": amount}
    return t("timeline.finance.quarter.heading_over", **words)


def quarter_alt(quarters: Sequence[Row], currency: Currency) -> str:
    """The chart in words: all quarters of a short plan, else the three that take most."""
    listed = quarters if len(quarters) <= 8 else sorted(quarters, key=lambda quarter: -quarter["paid_usd"])[:3]
    return " ".join(
        t(
            "timeline.finance.quarter.alt",
            when=_named(quarter),
            amount=formatting.money(quarter["paid_usd"], currency, fine=True),
        )
        for quarter in listed
    )
