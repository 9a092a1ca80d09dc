"""Figures of the Plan page from plain rows: stacked cost of the ways, and money spent month by month.

Charts are Vega-Lite specifications as plain mappings: building them through Altair took longer than the whole rest of
the page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypedDict

from ui import formatting
from ui.formatting import Currency
from ui.i18n import t
from ui.palette import COST_ROLES, Palette, palette

Spec = dict[str, Any]
FONT = "'Source Sans', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', 'WenQuanYi Zen Hei', sans-serif"
TEXT_PX = 13
BAR_STEP_PX = 92
BAR_REST_PX = 96  # legend, axis and its title
LINES_PX = 330
LINES_PLOT_PX = 265  # without axis and titles
FADED = 0.45
_APART = {"scale": {"color": "independent"}}  # colour scales of layers merge otherwise
DASH = {"hybrid": [1, 0], "local": [6, 4], "cloud": [2, 3], "optimal": [9, 3, 2, 3]}
STROKE = {"hybrid": 3.0, "local": 2.0, "cloud": 2.0, "optimal": 3.0}
TITLE_ABOVE = {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "end", "titleX": 0, "titleY": -14}
"""Title of a vertical axis, lying above its end."""
_QUARTERS_FROM = 100.0  # from here on a quarter of a power of ten is a whole number
_PX_PER_CHARACTER = 5.8  # of the chart font at 12 px: says whether a label fits


class CostBar(TypedDict):
    """One way with its cost by role; amounts in USD, `low_usd` and `high_usd` None where no range is known."""

    way: str
    label: str
    parts_usd: dict[str, float]
    total_usd: float
    low_usd: float | None
    high_usd: float | None


class SpendLine(TypedDict):
    """Money spent so far by one way: (month, USD) from month 0 on."""

    way: str
    label: str
    points: list[tuple[float, float]]


class Ring(TypedDict):
    """A crossing of two lines with its sentence."""

    month: float
    spent_usd: float
    text: str


def cost_chart(
    bars: Sequence[CostBar], *, horizon_months: int, currency: Currency, dark: bool, faded: bool = False
) -> Spec:
    """Stacked cost lines of each way from zero, its name above, its likely range as a whisker below."""
    colours = _colours(dark=dark, faded=faded)
    scale, unit_key = _unit(max(max(bar["total_usd"], bar["high_usd"] or 0.0) for bar in bars), currency)
    parts, ways = _bar_rows(bars, colours, scale, currency)
    lowest = min([0.0, *(row["x0"] for row in parts)])
    top = max(max(way["total"] * 1.2, (way["high"] or 0.0) * 1.03) for way in ways) or 1.0
    parts = [{**row, "share": (row["x1"] - row["x0"]) / (top - lowest)} for row in parts]
    title = t(f"chart.cost.{unit_key}", currency=currency.code, months=horizon_months)
    axis = {"values": nice_ticks(top), "grid": True, "title": title, "titleAnchor": "start"}
    x_scale = {"domain": [lowest, top], "nice": False, "zero": True}
    roles = [role for role in COST_ROLES if any(bar["parts_usd"].get(role) for bar in bars)]
    colour = {
        "field": "role",
        "type": "nominal",
        "scale": {
            "domain": [t(f"role.{role}") for role in COST_ROLES],
            "range": [colours.fill[role] for role in COST_ROLES],
        },
        "legend": {
            "values": [t(f"role.{role}") for role in roles],
            "title": None,
            "orient": "top",
            "columns": {"expr": "width<460?2:5"},
            "columnPadding": 14,
            "offset": 10,
        },
    }

    def x(field: str) -> Spec:
        return {"field": field, "type": "quantitative", "scale": x_scale, "axis": axis}

    def y(field: str) -> Spec:
        domain = {"domain": [0, len(ways)], "reverse": True, "nice": False}
        return {"field": field, "type": "quantitative", "scale": domain, "axis": None}

    tooltip = [
        _tip("way", "chart.tooltip.way"),
        _tip("role", "chart.tooltip.part"),
        _tip("exact", "chart.tooltip.amount"),
    ]
    part_layers = [
        {
            "mark": {"type": "rect", "stroke": colours.page, "strokeWidth": 1},
            "encoding": {
                "x": x("x0"),
                "x2": {"field": "x1"},
                "y": y("top"),
                "y2": {"field": "bottom"},
                "color": colour,
                "tooltip": tooltip,
            },
        },
        {
            "mark": _text(fontSize=12, fontWeight=600),
            "encoding": {
                "x": x("middle"),
                "y": y("centre"),
                "text": _text_if("number", "datum.share*width > 8 + 7*length(datum.number)"),
                "color": _ink("ink"),
                "tooltip": tooltip,
            },
        },
    ]
    words = {
        "data": {"values": _bar_words(ways, top - lowest, colours)},
        "mark": _text(
            align={"expr": "datum.align"},
            dx={"expr": "datum.dx"},
            fontSize={"expr": "datum.size"},
            fontWeight={"expr": "datum.weight"},
            baseline="middle",
            limit={"expr": "width"},
        ),
        "encoding": {
            "x": x("x"),
            "y": y("y"),
            "text": _text_if("text", "datum.room*width >= datum.need && !(datum.other*width >= datum.need)"),
            "color": _ink("ink"),
        },
    }
    layers = [{"data": {"values": parts}, "layer": part_layers, "resolve": _APART}, words]
    whiskers = [segment for way in ways if way["high"] is not None for segment in _whisker(way)]
    if whiskers:
        rule = {"type": "rule", "color": colours.text, "strokeWidth": 1.5}
        line = {"x": x("x0"), "x2": {"field": "x1"}, "y": y("y0"), "y2": {"field": "y1"}}
        layers.append({"data": {"values": whiskers}, "mark": rule, "encoding": line})
    return _themed(layers, colours, height=BAR_STEP_PX * len(ways) + BAR_REST_PX, faded=faded)


def spend_chart(
    lines: Sequence[SpendLine],
    rings: Sequence[Ring],
    *,
    currency: Currency,
    dark: bool,
    faded: bool = False,
) -> Spec:
    """Money spent so far by each way, names at the line ends, a ring where one becomes dearer than another."""
    colours = _colours(dark=dark, faded=faded)
    points = [point for line in lines for point in line["points"]]
    highest = max(spent for _, spent in points)
    end = max(month for month, _ in points)
    scale, unit_key = _unit(highest, currency)
    top = (highest / scale or 1.0) * 1.12
    lowest = min(0.0, *(spent / scale for _, spent in points))
    ways = [line["way"] for line in lines]
    x = {
        "field": "month",
        "type": "quantitative",
        "scale": {"domain": [0, end * 1.17], "nice": False},
        "axis": {"values": month_ticks(end), "title": t("chart.spend.x"), "format": "d"},
    }
    y = {
        "field": "spent",
        "type": "quantitative",
        "scale": {"domain": [lowest, top], "nice": False},
        "axis": {
            "values": nice_ticks(top),
            "grid": True,
            "title": t(f"chart.spend.{unit_key}", currency=currency.code),
            **TITLE_ABOVE,
        },
    }

    def by_way(values: list[Any]) -> Spec:
        scale = {"type": "ordinal", "domain": ways, "range": values}  # widths are spaced evenly by themselves
        return {"field": "way", "type": "nominal", "scale": scale, "legend": None}

    rows = [
        {
            "way": line["way"],
            "month": month,
            "spent": spent / scale,
            "label": line["label"],
            "exact": formatting.money(spent, currency, fine=True),
        }
        for line in lines
        for month, spent in line["points"]
    ]
    tooltip = [
        _tip("label", "chart.tooltip.way"),
        _tip("month", "chart.spend.x"),
        _tip("exact", "chart.tooltip.spent"),
    ]
    layers: list[Spec] = [
        {
            "data": {"values": rows},
            "mark": {"type": "line", "interpolate": "linear"},
            "encoding": {
                "x": x,
                "y": y,
                "color": by_way([colours.way[way] for way in ways]),
                "strokeDash": by_way([DASH[way] for way in ways]),
                "strokeWidth": by_way([STROKE[way] for way in ways]),
                "tooltip": tooltip,
            },
        },
        {
            "data": {"values": _line_ends(lines, colours, scale, top)},
            "mark": _text(align="left", dx=8, fontWeight=600),
            "encoding": {"x": x, "y": y, "text": {"field": "label"}, "color": _ink("ink")},
        },
        *(_rings(rings, colours, x, y, scale, end) if rings else ()),
    ]
    return _themed(layers, colours, height=LINES_PX, faded=faded)


def _colours(*, dark: bool, faded: bool) -> Palette:
    """The palette; in a faded chart all words are grey, so that they can still be read beside the pale fills."""
    colours = palette(dark=dark)
    if not faded:
        return colours
    return replace(
        colours,
        text=colours.secondary,
        way_text=dict.fromkeys(colours.way_text, colours.secondary),
        text_on=dict.fromkeys(colours.text_on, colours.text),
    )


def _themed(layers: list[Spec], colours: Palette, *, height: int, faded: bool) -> Spec:
    """The one look of all charts: no frame, no ticks, no axis lines, grid along the value axis only.

    A faded chart shows an answer that is older than the inputs.
    """
    label = {"labelColor": colours.secondary, "labelFontSize": TEXT_PX, "labelFont": FONT}
    title = {"titleColor": colours.secondary, "titleFontSize": TEXT_PX, "titleFont": FONT, "titleFontWeight": 400}
    axis = {"domain": False, "ticks": False, "grid": False, "gridColor": colours.grid, "labelPadding": 6}
    return {
        "height": height,
        "layer": layers,
        "resolve": _APART,
        "config": {
            "background": "transparent",
            "font": FONT,
            "padding": 0,
            "view": {"stroke": None},
            "axis": {**axis, **label, **title, "titlePadding": 10},
            "legend": {**label, "symbolType": "square", "symbolSize": 90},
            "mark": {"aria": False, "tooltip": None},  # the chart has a text of its own; tooltips are chosen
            "rect": {"opacity": FADED if faded else 1},
            "line": {"opacity": FADED if faded else 1},
        },
    }


def cost_alt(bars: Sequence[CostBar], currency: Currency) -> str:
    """The cost chart in words."""
    return " ".join(
        t(
            "chart.cost.alt" if bar["low_usd"] is not None else "chart.cost.alt_plain",
            label=bar["label"],
            total=formatting.money(bar["total_usd"], currency),
            range=formatting.money_range(bar["low_usd"], bar["high_usd"], currency),
        )
        for bar in bars
    )


def spend_alt(lines: Sequence[SpendLine], rings: Sequence[Ring], currency: Currency) -> str:
    """The chart of money spent in words."""
    ends = [
        t("chart.spend.alt", label=line["label"], spent=formatting.money(line["points"][-1][1], currency))
        for line in lines
    ]
    return " ".join([*ends, *(ring["text"].replace("\n", " ") + "." for ring in rings)])


def nice_ticks(highest: float) -> list[float]:
    """Two to five round values from 0 to at most `highest`; none that axes would round."""
    if highest <= 0:
        return [0.0]
    power = 10 ** math.floor(math.log10(highest))
    factors = (0.2, 0.25, 0.5, 1.0, 2.0, 2.5, 5.0) if power >= _QUARTERS_FROM else (0.2, 0.5, 1.0, 2.0, 5.0)
    step = next(power * factor for factor in factors if highest / (power * factor) < 5)
    return [round(step * i, 10) for i in range(int(highest / step + 1e-9) + 1)]


def month_ticks(end: float) -> list[float]:
    """Months to label: steps that divide a year, five to seven of them."""
    step = next((step for step in (1, 2, 3, 6, 12, 24, 36, 60) if end / step <= 7), 120)
    return [float(month) for month in range(0, int(end) + 1, step)]


def _unit(highest_usd: float, currency: Currency) -> tuple[float, str]:
    """USD per axis unit, and the key of its title: plain, thousand or million."""
    highest = currency.of(highest_usd)
    factor, key = (1e6, "million") if highest >= 2e6 else (1e3, "thousand") if highest >= 2e3 else (1.0, "plain")
    return factor * currency.usd_per_unit, key


def _bar_rows(
    bars: Sequence[CostBar], colours: Palette, scale: float, currency: Currency
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    parts: list[dict[str, Any]] = []
    ways: list[dict[str, Any]] = []
    for index, bar in enumerate(bars):
        right = left = 0.0
        for role in COST_ROLES:
            amount = bar["parts_usd"].get(role, 0.0) / scale
            if not amount:
                continue
            start = right if amount > 0 else left
            right, left = (right + amount, left) if amount > 0 else (right, left + amount)
            parts.append(
                {
                    "way": bar["label"],
                    "role": t(f"role.{role}"),
                    "x0": min(start, start + amount),
                    "x1": max(start, start + amount),
                    "middle": start + amount / 2,
                    "top": index + 0.30,
                    "bottom": index + 0.56,
                    "centre": index + 0.43,
                    "number": formatting.plain(amount, 2),
                    "exact": formatting.price(amount * scale, currency),
                    "ink": colours.text_on[role],
                }
            )
        low, high = bar["low_usd"], bar["high_usd"]
        ranged = low is not None and high is not None
        ways.append(
            {
                "label": bar["label"],
                "total": bar["total_usd"] / scale,
                "end": right,
                "low": low / scale if low is not None and ranged else None,
                "high": high / scale if high is not None and ranged else None,
                "name_y": index + 0.16,
                "centre": index + 0.43,
                "whisker_y": index + 0.68,
                "cap_top": index + 0.64,
                "cap_bottom": index + 0.72,
                "total_text": formatting.money(bar["total_usd"], currency),
                "range_text": t(
                    "chart.cost.range",
                    low=formatting.plain((low or 0.0) / scale, 2),
                    high=formatting.plain((high or 0.0) / scale, 2),
                ),
            }
        )
    return parts, ways


def _whisker(way: Spec) -> list[Spec]:
    """A line from low to high with a cap at both ends."""
    low, high, y = way["low"], way["high"], way["whisker_y"]
    span = {"x0": low, "x1": high, "y0": y, "y1": y}
    caps = [{"x0": end, "x1": end, "y0": way["cap_top"], "y1": way["cap_bottom"]} for end in (low, high)]
    return [span, *caps]


def _bar_words(ways: Sequence[Spec], width: float, colours: Palette) -> list[Spec]:
    """Every text beside the bars as a row: name, total, and the range on the side where there is room for it.

    `room` is the share of the chart's width that a text may take, `need` the pixels it wants; it is left out where they
    do not fit, or where they fit at `other`.
    """
    plain = {"align": "left", "size": TEXT_PX, "weight": 600, "room": 1, "need": 0, "other": -1, "ink": colours.text}
    rows: list[Spec] = []
    for way in ways:
        total = {"size": 14, "weight": 700, "dx": 8, "x": way["end"], "y": way["centre"], "text": way["total_text"]}
        rows += [{**plain, "dx": 0, "x": 0, "y": way["name_y"], "text": way["label"]}, {**plain, **total}]
        if way["high"] is None:
            continue
        text = way["range_text"]
        need = 16 + _PX_PER_CHARACTER * len(text)
        note = {**plain, "size": 12, "weight": 400, "y": way["whisker_y"], "text": text, "need": need}
        note["ink"] = colours.secondary
        left, right = max(way["low"], 0.0) / width, 1 - way["high"] / width
        rows.append({**note, "x": way["low"], "align": "right", "dx": -7, "room": left})
        rows.append({**note, "x": way["high"], "dx": 7, "room": right, "other": left})
    return rows


def _line_ends(lines: Sequence[SpendLine], colours: Palette, scale: float, top: float) -> list[dict[str, Any]]:
    """Names at the line ends, pushed apart so that none covers another."""
    gap = top * 17 / LINES_PLOT_PX
    ends = sorted(((line["points"][-1], line) for line in lines if line["points"]), key=lambda pair: pair[0][1])
    rows: list[dict[str, Any]] = []
    floor = -math.inf
    for (month, spent), line in ends:
        position = max(spent / scale, floor + gap)
        floor = position
        rows.append({"month": month, "spent": position, "label": line["label"], "ink": colours.way_text[line["way"]]})
    return rows


def _rings(rings: Sequence[Ring], colours: Palette, x: Spec, y: Spec, scale: float, end: float) -> list[Spec]:
    """Rings with their words: below to the right in the first half, above to the left in the second."""
    rows = []
    for ring in rings:
        late, text = ring["month"] > end * 0.5, ring["text"].split("\n")
        side = {"align": "right", "baseline": "bottom", "dx": -6, "dy": -12 - 14 * (len(text) - 1)}
        if not late:
            side = {"align": "left", "baseline": "top", "dx": 10, "dy": 8}
        rows.append({"month": ring["month"], "spent": ring["spent_usd"] / scale, "text": ring["text"], **side})
    point = {"type": "point", "size": 90, "filled": True, "fill": colours.page, "opacity": 1}
    placed = {name: {"expr": f"datum.{name}"} for name in ("align", "baseline", "dx", "dy")}
    words = _text(fontSize=12, color=colours.text, lineHeight=15, lineBreak="\n", **placed)
    return [
        {
            "data": {"values": rows},
            "mark": {**point, "stroke": colours.text, "strokeWidth": 2},
            "encoding": {"x": x, "y": y},
        },
        {"data": {"values": rows}, "mark": words, "encoding": {"x": x, "y": y, "text": {"field": "text"}}},
    ]


def _text(**options: Any) -> Spec:
    return {"type": "text", "font": FONT, "fontSize": TEXT_PX, **options}


def _tip(field: str, key: str) -> Spec:
    return {"field": field, "type": "nominal", "title": t(key)}


def _ink(field: str) -> Spec:
    """Colour written in the row itself: every text mark says its own, or it would be black in the dark."""
    return {"field": field, "type": "nominal", "scale": None}


def _text_if(field: str, test: str) -> Spec:
    """A text only where it fits: an invisible one would still take room, and a screen reader would read it."""
    return {"condition": {"test": test, "field": field, "type": "nominal"}, "value": ""}


# for the charts of other pages
themed, text_mark, ink, tip, chart_colours, axis_unit = _themed, _text, _ink, _tip, _colours, _unit
