"""Cash of a way month by month against what was paid: the whole plan, what of it was billed, and the bills."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ui import formatting
from ui.charts import TITLE_ABOVE, Spec, axis_unit, chart_colours, ink, nice_ticks, text_mark, themed, tip
from ui.formatting import Currency
from ui.i18n import t
from ui.timeline_cash import month_marks

CHART_PX = 280
_ROOM = 1.3  # of the months: for names at the line ends
_BAND = 0.14
_LEAST_GAP = 0.085  # of the height, between names

Month = Mapping[str, Any]


def sums(months: Sequence[Month]) -> list[dict[str, Any]]:
    """Cash up to each month: of the whole plan, of what was billed, and paid; None after the last bill. [USD]"""
    last = max((month["month"] for month in months if month["actual_usd"] is not None), default=0)
    whole = billed = paid = 0.0
    rows = []
    for month in months:
        whole += month["planned_usd"]
        billed += month["billed_planned_usd"] or 0.0
        paid += month["actual_usd"] or 0.0
        known = month["month"] <= last
        rows.append(
            {
                "month": month["month"],
                "whole": whole,
                "low": month["cumulative_low_usd"],
                "high": month["cumulative_high_usd"],
                "billed": billed if known else None,
                "actual": paid if known else None,
            }
        )
    return rows


def actual_chart(months: Sequence[Month], *, currency: Currency, dark: bool, faded: bool = False) -> Spec:
    """Planned and paid cash, summed up month by month."""
    colours = chart_colours(dark=dark, faded=faded)
    rows = sums(months)
    scale, unit_key = axis_unit(max(max(row["high"], row["whole"], row["actual"] or 0.0) for row in rows), currency)
    count = len(rows)
    top = max(max(row["high"], row["whole"], row["actual"] or 0.0) for row in rows) / scale * 1.05 or 1.0
    x = {
        "type": "quantitative",
        "scale": {"domain": [0.8, max(count * _ROOM, count + 0.8)], "nice": False},
        "axis": {"values": month_marks(count), "title": t("chart.spend.x"), "format": "d"},
    }
    y = {
        "type": "quantitative",
        "scale": {"domain": [min(0.0, *(row["low"] / scale for row in rows)), top], "nice": False},
        "axis": {
            "values": nice_ticks(top),
            "grid": True,
            "title": t(f"actual.chart.y.{unit_key}", currency=currency.code),
            **TITLE_ABOVE,
        },
    }
    band = [{"month": row["month"], "low": row["low"] / scale, "high": row["high"] / scale} for row in rows]
    month = {"field": "month", **x}
    layers: list[Spec] = [
        {
            "data": {"values": band},
            "mark": {"type": "area", "color": colours.secondary, "opacity": _BAND},
            "encoding": {"x": month, "y": {"field": "low", **y}, "y2": {"field": "high"}},
        }
    ]
    styles = {
        "whole": {"color": colours.secondary, "strokeWidth": 1.5, "strokeDash": [2, 3]},
        "billed": {"color": colours.fill["owned"], "strokeWidth": 2, "strokeDash": [6, 4]},
        "actual": {"color": colours.text, "strokeWidth": 3},
    }
    inks = {"whole": colours.secondary, "billed": colours.way_text["local"], "actual": colours.text}
    ends: list[dict[str, Any]] = []
    for name, style in styles.items():
        points = [
            {
                "month": row["month"],
                "usd": row[name] / scale,
                "line": t(f"actual.chart.{name}"),
                "exact": formatting.price(row[name], currency),
            }
            for row in rows
            if row[name] is not None
        ]
        if not points:
            continue
        tooltip = [
            tip("line", "actual.column.part"),
            {"field": "month", "type": "quantitative", "title": t("chart.spend.x")},
            tip("exact", "actual.column.paid"),
        ]
        place = {"x": month, "y": {"field": "usd", **y}}
        data = {"values": points}
        layers.append({"data": data, "mark": {"type": "line", **style}, "encoding": place})
        spot = {"type": "point", "filled": True, "size": 60 if name == "actual" else 140}
        shown = {"color": style["color"], "opacity": 1 if name == "actual" else 0}
        layers.append({"data": data, "mark": {**spot, **shown}, "encoding": {**place, "tooltip": tooltip}})
        ends.append(
            {"month": points[-1]["month"], "usd": points[-1]["usd"], "text": points[-1]["line"], "ink": inks[name]}
        )
    layers.append(
        {
            "data": {"values": _apart(ends, top * _LEAST_GAP)},
            "mark": text_mark(fontSize=12, align="left", dx=8, fontWeight=600),
            "encoding": {"x": month, "y": {"field": "usd", **y}, "text": {"field": "text"}, "color": ink("ink")},
        }
    )
    return themed(layers, colours, height=CHART_PX, faded=faded)


def _apart(ends: Sequence[dict[str, Any]], gap: float) -> list[dict[str, Any]]:
    """Names at line ends, moved up where they would lie on each other."""
    placed: list[dict[str, Any]] = []
    for end in sorted(ends, key=lambda end: end["usd"]):
        least = placed[-1]["usd"] + gap if placed else end["usd"]
        placed.append({**end, "usd": max(end["usd"], least)})
    return placed


def actual_alt(months: Sequence[Month], currency: Currency) -> str:
    """The chart in words."""
    last = sums(months)[-1]
    return t(
        "actual.chart.alt",
        month=last["month"],
        planned=formatting.money(last["whole"], currency, fine=True),
        billed=formatting.money(last["billed"], currency, fine=True),
        actual=formatting.money(last["actual"], currency, fine=True),
    )
