"""Figure of a break-even: cost of two ways over how much the owned machines are used."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from ui import formatting
from ui.charts import (
    DASH,
    LINES_PLOT_PX,
    LINES_PX,
    STROKE,
    TITLE_ABOVE,
    Spec,
    axis_unit,
    ink,
    nice_ticks,
    text_mark,
    themed,
    tip,
)
from ui.formatting import Currency
from ui.i18n import t
from ui.palette import Palette, palette

_ROOM = 1.24  # of the axis, for the names at the line ends
_TALLEST = 4.0  # times the dearest cost of owning: what renting costs beyond would press the crossing to the floor
_NAME_PX = 17


class UseLine(TypedDict):
    """Cost of one way: (use of the owned machines in per cent of their hours, USD)."""

    way: str
    label: str
    points: list[tuple[float, float]]


class Meeting(TypedDict):
    """Where the two lines meet, with its words."""

    percent: float
    cost_usd: float
    text: str


def use_chart(
    owning: UseLine,
    renting: UseLine,
    meeting: Meeting | None,
    planned_percent: float,
    *,
    currency: Currency,
    dark: bool,
    faded: bool = False,
) -> Spec:
    """Both costs as lines with their names at the end, where they meet, and a rule at the use planned."""
    colours = palette(dark=dark)
    highest = top_usd([owning, renting], planned_percent)
    scale, unit_key = axis_unit(highest, currency)
    top = highest / scale * 1.1
    lines = [_below(line, highest) for line in (owning, renting)]
    lowest = min(0.0, *(cost / scale for line in lines for _, cost in line["points"]))
    end = max(percent for line in (owning, renting) for percent, _ in line["points"])
    x = {
        "field": "percent",
        "type": "quantitative",
        "scale": {"domain": [0, end * _ROOM], "nice": False},
        "axis": {"values": nice_ticks(end), "title": t("chart.use.x"), "format": "d"},
    }
    y = {
        "field": "cost",
        "type": "quantitative",
        "scale": {"domain": [lowest, top], "nice": False},
        "axis": {
            "values": nice_ticks(top),
            "grid": True,
            "title": t(f"chart.use.{unit_key}", currency=currency.code),
            **TITLE_ABOVE,
        },
    }
    ways = [line["way"] for line in lines]

    def by_way(values: Mapping[str, Any]) -> Spec:
        domain = {"type": "ordinal", "domain": ways, "range": [values[way] for way in ways]}
        return {"field": "way", "type": "nominal", "scale": domain, "legend": None}

    layers: list[Spec] = [
        {
            "data": {"values": _line_rows(lines, scale, currency)},
            "mark": {"type": "line", "interpolate": "linear"},
            "encoding": {
                "x": x,
                "y": y,
                "color": by_way(colours.way),
                "strokeDash": by_way(DASH),
                "strokeWidth": by_way(STROKE),
                "tooltip": [
                    tip("label", "chart.tooltip.way"),
                    tip("use", "chart.use.tooltip"),
                    tip("exact", "chart.tooltip.amount"),
                ],
            },
        },
        {
            "data": {"values": _names(lines, colours, scale, top)},
            "mark": text_mark(align="left", dx=8, fontWeight=600),
            "encoding": {"x": x, "y": y, "text": {"field": "label"}, "color": ink("ink")},
        },
        *_planned(planned_percent, end, lowest, top, x, y, colours),
        *(_meeting(meeting, end, scale, x, y, colours) if meeting else ()),
    ]
    return themed(layers, colours, height=LINES_PX, faded=faded)


def use_alt(
    owning: UseLine, renting: UseLine, meeting: Meeting | None, planned_percent: float, currency: Currency
) -> str:
    """The chart in words."""
    words = [
        t(
            "chart.use.alt",
            label=line["label"],
            start=formatting.money(line["points"][0][1], currency),
            end=formatting.money(line["points"][-1][1], currency),
            most=_percent(line["points"][-1][0]),
        )
        for line in (owning, renting)
    ]
    if meeting:
        words.append(meeting["text"].replace("\n", " ") + ".")
    words.append(t("chart.use.planned", percent=_percent(planned_percent)) + ".")
    return " ".join(words)


def cost_at(points: Sequence[tuple[float, float]], percent: float) -> float:
    """Height of a line between its points."""
    for (left, low), (right, high) in itertools.pairwise(points):
        if left <= percent <= right and right > left:
            return low + (high - low) * (percent - left) / (right - left)
    return points[-1][1]


def top_usd(lines: Sequence[UseLine], planned_percent: float) -> float:
    """Highest cost shown: of both lines, the dearer one up to some times the other only, and at the use planned."""
    tops = [max(cost for _, cost in line["points"]) for line in lines]
    planned = [cost_at(line["points"], planned_percent) for line in lines]
    return max(min(max(tops), _TALLEST * min(tops)), *planned) or 1.0


def _below(line: UseLine, highest: float) -> UseLine:
    """The part of a line that is shown, up to where it leaves the figure."""
    shown: list[tuple[float, float]] = []
    for percent, cost in line["points"]:
        if cost > highest and shown:
            (before, low), rise = shown[-1], cost - shown[-1][1]
            shown.append((before + (percent - before) * (highest - low) / rise, highest))
            break
        shown.append((percent, cost))
    return {**line, "points": shown}


def _line_rows(lines: Sequence[UseLine], scale: float, currency: Currency) -> list[dict[str, Any]]:
    return [
        {
            "way": line["way"],
            "label": line["label"],
            "percent": percent,
            "cost": cost / scale,
            "use": _percent(percent),
            "exact": formatting.money(cost, currency, fine=True),
        }
        for line in lines
        for percent, cost in line["points"]
    ]


def _names(lines: Sequence[UseLine], colours: Palette, scale: float, top: float) -> list[dict[str, Any]]:
    """Names at the line ends, pushed apart so that none covers the other."""
    rows: list[dict[str, Any]] = []
    floor = -float("inf")
    for line in sorted(lines, key=lambda line: line["points"][-1][1]):
        percent, cost = line["points"][-1]
        position = max(cost / scale, floor)
        floor = position + top * _NAME_PX / LINES_PLOT_PX
        rows.append(
            {"percent": percent, "cost": position, "label": line["label"], "ink": colours.way_text[line["way"]]}
        )
    return rows


def _planned(percent: float, end: float, lowest: float, top: float, x: Spec, y: Spec, colours: Palette) -> list[Spec]:
    """A thin rule at the use planned, its words at the foot, where both lines are above."""
    late = percent > end * 0.6
    row = {"percent": percent, "cost": lowest, "top": top, "text": t("chart.use.planned", percent=_percent(percent))}
    words = text_mark(
        fontSize=12, color=colours.secondary, baseline="bottom", dy=-5, align="right" if late else "left",
        dx=-5 if late else 5,
    )  # fmt: skip
    return [
        {
            "data": {"values": [row]},
            "mark": {"type": "rule", "color": colours.secondary, "strokeDash": [3, 3], "strokeWidth": 1},
            "encoding": {"x": x, "y": y, "y2": {"field": "top"}},
        },
        {"data": {"values": [row]}, "mark": words, "encoding": {"x": x, "y": y, "text": {"field": "text"}}},
    ]


def _meeting(meeting: Meeting, end: float, scale: float, x: Spec, y: Spec, colours: Palette) -> list[Spec]:
    """A ring, its words below to the right of it, or above to the left in the second half: there the lines part."""
    late, text = meeting["percent"] > end * 0.5, meeting["text"].split("\n")
    side = {"align": "left", "baseline": "top", "dx": 10, "dy": 8}
    if late:
        side = {"align": "right", "baseline": "bottom", "dx": -8, "dy": -10 - 15 * (len(text) - 1)}
    row = {"percent": meeting["percent"], "cost": meeting["cost_usd"] / scale, "text": text}
    ring = {"type": "point", "size": 90, "filled": True, "fill": colours.page, "opacity": 1}
    halo = {"stroke": colours.page, "strokeWidth": 4}  # the rule may run behind the words
    words = [text_mark(fontSize=12, color=colours.text, lineHeight=15, **side, **rim) for rim in (halo, {})]
    return [
        *(
            {"data": {"values": [row]}, "mark": mark, "encoding": {"x": x, "y": y, "text": {"field": "text"}}}
            for mark in words
        ),
        {
            "data": {"values": [row]},
            "mark": {**ring, "stroke": colours.text, "strokeWidth": 2},
            "encoding": {"x": x, "y": y},
        },
    ]


def _percent(percent: float) -> str:
    return formatting.percent(percent / 100.0)
