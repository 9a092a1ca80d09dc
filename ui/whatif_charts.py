"""Charts of the What-if page: what each input does to the total, and the range of every way in every scenario."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ui import formatting
from ui.charts import Spec, axis_unit, chart_colours, ink, nice_ticks, text_mark, themed, tip
from ui.formatting import Currency
from ui.i18n import t

BAR_STEP_PX = 46
AXIS_PX = 52
RANGE_STEP_PX = 30
GROUP_PX = 34
_ROOM = 0.16  # of the width, on both sides, for the values at the ends of bars
_NAME_ROOM = 0.24  # right of the ranges, for the names of ways


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Where another way becomes the best: total there, the way, and the value of the input in words."""

    usd: float
    way: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """What an input does: totals at its likely ends, with the values there as text."""

    label: str
    low: str
    high: str
    low_usd: float
    high_usd: float
    turns: tuple[Turn, ...] = ()

    @property
    def span_usd(self) -> float:
        """How far it moves the total."""
        return abs(self.high_usd - self.low_usd)


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """A way in a scenario: likely range and middle of its total, None where unknown, and its words."""

    way: str
    label: str
    low_usd: float | None
    high_usd: float | None
    middle_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A scenario with its ways."""

    name: str
    ranges: tuple[Range, ...]


def tornado_chart(
    bars: Sequence[Bar], base_usd: float, *, title_key: str, currency: Currency, dark: bool, faded: bool = False
) -> Spec:
    """A bar for each input around the plan, its name above; diamonds where another way becomes the best."""
    colours = chart_colours(dark=dark, faded=faded)
    ends = [end for bar in bars for end in (bar.low_usd, bar.high_usd)] + [base_usd]
    scale, unit_key = axis_unit(max(ends), currency)
    least, most = min(ends) / scale, max(ends) / scale
    room = (most - least or 1.0) * _ROOM
    domain = [least - room, most + room]
    axis = {
        "values": ticks_between(*domain),
        "grid": True,
        "title": t(f"whatif.chart.{title_key}.{unit_key}", currency=currency.code),
        "titleAnchor": "start",
    }

    x = partial(_x, domain=domain, axis=axis)

    def y(field: str) -> Spec:
        domain_y = {"domain": [0, len(bars)], "reverse": True, "nice": False}
        return {"field": field, "type": "quantitative", "scale": domain_y, "axis": None}

    parts, words, turns = _tornado_rows(
        bars, base_usd, scale, currency, (colours.fill["upkeep"], colours.fill["people"])
    )
    tooltip = [
        tip("input", "whatif.chart.input"),
        tip("value", "whatif.chart.value"),
        tip("total", "whatif.chart.total"),
    ]
    layers: list[Spec] = [
        {
            "data": {"values": parts},
            "mark": {"type": "rect"},
            "encoding": {
                "x": x("x0"),
                "x2": {"field": "x1"},
                "y": y("top"),
                "y2": {"field": "bottom"},
                "color": ink("colour"),
                "tooltip": tooltip,
            },
        },
        {
            "data": {"values": [{"x": base_usd / scale, "y0": at + 0.36, "y1": at + 0.84} for at in range(len(bars))]},
            "mark": {"type": "rule", "color": colours.text, "strokeWidth": 1.5},
            "encoding": {"x": x("x"), "y": y("y0"), "y2": {"field": "y1"}},
        },
        {
            "data": {"values": words},
            "mark": text_mark(
                align={"expr": "datum.align"},
                dx={"expr": "datum.dx"},
                fontSize=12,
                baseline="middle",
                color=colours.text,
            ),
            "encoding": {"x": x("x"), "y": y("y"), "text": {"field": "text"}, "color": ink("ink")},
        },
    ]
    for row in words:
        row["ink"] = colours.text if row["name"] else colours.secondary
    if turns:
        for row in turns:
            row["colour"] = colours.way[row["way"]]
        layers.append(
            {
                "data": {"values": turns},
                "mark": {"type": "point", "shape": "diamond", "filled": True, "size": 110, "opacity": 1},
                "encoding": {
                    "x": x("x"),
                    "y": y("y"),
                    "fill": ink("colour"),
                    "stroke": {"value": colours.page},
                    "tooltip": [tip("text", "whatif.chart.turn")],
                },
            }
        )
    return themed(layers, colours, height=BAR_STEP_PX * len(bars) + AXIS_PX, faded=faded)


def _x(field: str, *, domain: list[float], axis: Spec) -> Spec:
    """A field along a chart's value axis, which needn't begin at zero."""
    scale = {"domain": domain, "nice": False, "zero": False}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis}


def _tornado_rows(
    bars: Sequence[Bar], base_usd: float, scale: float, currency: Currency, fills: tuple[str, str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    parts: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    turns: list[dict[str, Any]] = []
    for index, bar in enumerate(bars):
        names = {"x": base_usd / scale, "y": index + 0.2, "text": bar.label, "align": "center", "dx": 0, "name": True}
        words.append(names)
        ends = sorted(((bar.low_usd, bar.low), (bar.high_usd, bar.high)))
        for end_usd, value in ends:
            left = end_usd < base_usd or (end_usd == base_usd and (end_usd, value) == ends[0])
            parts.append(
                {
                    "x0": min(end_usd, base_usd) / scale,
                    "x1": max(end_usd, base_usd) / scale,
                    "top": index + 0.38,
                    "bottom": index + 0.82,
                    "colour": fills[value == bar.high],
                    "input": bar.label,
                    "value": value,
                    "total": formatting.money(end_usd, currency, fine=True),
                }
            )
            side = {"align": "right", "dx": -6} if left else {"align": "left", "dx": 6}
            words.append({"x": end_usd / scale, "y": index + 0.6, "text": value, "name": False, **side})
        turns += [
            {"x": turn.usd / scale, "y": index + 0.6, "way": turn.way, "text": turn.text, "colour": ""}
            for turn in bar.turns
        ]
    return parts, words, turns


def ticks_between(low: float, high: float) -> list[float]:
    """Two to five round values from `low` to `high`.

    >>> ticks_between(61.0, 139.0)
    [80.0, 100.0, 120.0]
    """
    steps = nice_ticks(high - low)
    step = steps[1] if len(steps) > 1 else high - low or 1.0
    first = -(-low // step)
    found = [round((first + count) * step, 10) for count in range(8)]
    return [value for value in found if value <= high]


def ranges_chart(
    groups: Sequence[Group],
    *,
    horizon: str,
    currency: Currency,
    dark: bool,
    faded: bool = False,
    title_key: str = "ranges",
) -> Spec:
    """The likely range and the middle of every way, scenario by scenario, each named at its end."""
    colours = chart_colours(dark=dark, faded=faded)
    ranges = [one for group in groups for one in group.ranges]
    highest = max(one.high_usd if one.high_usd is not None else one.middle_usd for one in ranges)
    lowest = min(one.low_usd if one.low_usd is not None else one.middle_usd for one in ranges)
    scale, unit_key = axis_unit(highest, currency)
    least, most = min(lowest / scale, 0.0), highest / scale or 1.0
    if lowest > 0.35 * highest:
        least = max(0.0, lowest / scale - 0.08 * (most - lowest / scale))
    domain = [least, most + (most - least) * _NAME_ROOM]
    rows, heads, height = _range_rows(groups, scale, currency)
    axis = {
        "values": ticks_between(least, most),
        "grid": True,
        "title": t(f"whatif.chart.{title_key}.{unit_key}", currency=currency.code, horizon=horizon),
        "titleAnchor": "start",
    }

    x = partial(_x, domain=domain, axis=axis)

    y = {
        "field": "y",
        "type": "quantitative",
        "scale": {"domain": [0, height], "reverse": True, "nice": False},
        "axis": None,
    }
    for row in rows:
        row |= {"colour": colours.way[row["way"]], "ink": colours.way_text[row["way"]]}
    heads = [{**head, "x": least} for head in heads]
    tooltip = [tip("label", "chart.tooltip.way"), tip("span", "whatif.row.likely"), tip("exact", "whatif.chart.middle")]
    spans = [row for row in rows if row["low"] is not None]
    layers: list[Spec] = [
        {
            "data": {"values": spans},
            "mark": {"type": "rule", "strokeWidth": 6, "strokeCap": "round", "opacity": 0.38},
            "encoding": {"x": x("low"), "x2": {"field": "high"}, "y": y, "color": ink("colour"), "tooltip": tooltip},
        },
        {
            "data": {"values": rows},
            "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
            "encoding": {"x": x("middle"), "y": y, "color": ink("colour"), "tooltip": tooltip},
        },
        {
            "data": {"values": rows},
            "mark": text_mark(align="left", dx=9, fontWeight=600, baseline="middle"),
            "encoding": {"x": x("end"), "y": y, "text": {"field": "label"}, "color": ink("ink")},
        },
        {
            "data": {"values": heads},
            "mark": text_mark(align="left", fontWeight=700, baseline="middle", color=colours.text),
            "encoding": {"x": x("x"), "y": y, "text": {"field": "name"}},
        },
    ]
    return themed(layers, colours, height=height + AXIS_PX, faded=faded)


def _range_rows(
    groups: Sequence[Group], scale: float, currency: Currency
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], float]:
    rows: list[dict[str, Any]] = []
    heads: list[dict[str, Any]] = []
    y = 0.0
    for group in groups:
        heads.append({"name": group.name, "y": y + GROUP_PX / 2})
        y += GROUP_PX
        for one in group.ranges:
            known = one.low_usd is not None and one.high_usd is not None
            rows.append(
                {
                    "way": one.way,
                    "label": one.label,
                    "low": one.low_usd / scale if known and one.low_usd is not None else None,
                    "high": one.high_usd / scale if known and one.high_usd is not None else None,
                    "end": max(one.high_usd or one.middle_usd, one.middle_usd) / scale,
                    "middle": one.middle_usd / scale,
                    "span": formatting.money_range(one.low_usd, one.high_usd, currency),
                    "exact": formatting.money(one.middle_usd, currency, fine=True),
                    "y": y + RANGE_STEP_PX / 2,
                }
            )
            y += RANGE_STEP_PX
    return rows, heads, y


def ranges_alt(groups: Sequence[Group], currency: Currency) -> str:
    """The ranges in words."""
    return " ".join(
        t(
            "whatif.chart.ranges.alt",
            scenario=group.name,
            way=one.label,
            middle=formatting.money(one.middle_usd, currency),
            range=formatting.money_range(one.low_usd, one.high_usd, currency),
        )
        for group in groups
        for one in group.ranges
    )


def tornado_alt(bars: Sequence[Bar], currency: Currency) -> str:
    """What the inputs do, in words."""
    lines = []
    for bar in bars:
        low, high = (formatting.money(usd, currency) for usd in (bar.low_usd, bar.high_usd))
        lines.append(
            t("whatif.chart.tornado_alt", input=bar.label, low=bar.low, high=bar.high, low_total=low, high_total=high)
        )
        lines += [turn.text for turn in bar.turns]
    return " ".join(lines)
