"""Figures of the Claims page: the bar of verdicts, and how far a figure spreads by definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from planner.advise.claims.records import COMPUTED_DIGITS
from ui.charts import FONT, TEXT_PX, Spec
from ui.claims_rows import VERDICTS, Group, amount, amount_range, verdict_word
from ui.formatting import NBSP
from ui.i18n import t
from ui.palette import palette

ROLE = MappingProxyType(
    {"holds": "owned", "conditional": "electricity", "does_not_hold": "on_demand", "undecidable": "upkeep"}
)
"""Colour roles of the verdicts: blue, yellow, orange, grey."""

_BAR_PX = 34
_STEP_PX = 44
_TOP_PX = 30  # the name of the printed line, and half a line of words
_BELOW_WORDS_PX = 18
_AXIS_PX = 24
_NARROW_PX = 460
_PX_PER_CHARACTER = 7.6  # of the bold chart font
_GAP_PX = 2


def verdict_bar(counts: Mapping[str, int], *, dark: bool) -> Spec:
    """One bar in labelled parts; where a name doesn't fit over its part, the number alone stands there."""
    colours = palette(dark=dark)
    total = sum(counts.values()) or 1
    rows, start = [], 0
    for verdict in VERDICTS:
        count = counts[verdict]
        if count:
            label = t("claims.part", verdict=verdict_word(verdict), count=count)
            rows.append(
                {
                    "x0": start,
                    "x1": start + count,
                    "colour": colours.fill[ROLE[verdict]],
                    "label": label,
                    "short": str(count),
                    "room": len(label) * _PX_PER_CHARACTER * total,
                    "last": start + count == total,
                }
            )
        start += count
    x = {"type": "quantitative", "scale": {"domain": [0, total], "nice": False}, "axis": None}
    fits = "width*(datum.x1-datum.x0) > datum.room"
    # The name of a short last part may reach back over the end of its neighbour, whose own name stands at its start.
    words = f"{fits} || (datum.last && width > {_NARROW_PX}) ? datum.label : datum.short"
    text = {"type": "text", "baseline": "top", "font": FONT, "fontSize": TEXT_PX, "fontWeight": 600, "y": 0}
    return {
        "data": {"values": rows},
        "height": _BAR_PX,
        "width": "container",
        "padding": 0,
        "background": "transparent",
        "config": {"view": {"stroke": None}},
        "layer": [
            {
                "mark": {
                    "type": "bar",
                    "y": 21,
                    "height": 11,
                    "xOffset": 0,
                    "stroke": colours.page,
                    "strokeWidth": _GAP_PX,
                },
                "encoding": {
                    "x": {"field": "x0", **x},
                    "x2": {"field": "x1"},
                    "color": {"field": "colour", "type": "nominal", "scale": None, "legend": None},
                },
            },
            *(
                {
                    "transform": [{"filter": f"datum.last == {last}"}, {"calculate": words, "as": "words"}],
                    "mark": {**text, "align": align, "color": colours.text},
                    "encoding": {"x": {"field": field, **x}, "text": {"field": "words"}},
                }
                for last, align, field in (("false", "left", "x0"), ("true", "right", "x1"))
            ),
        ],
    }


def verdict_alt(counts: Mapping[str, int]) -> str:
    """The bar in words."""
    return ", ".join(t("claims.part", verdict=verdict_word(verdict), count=counts[verdict]) for verdict in VERDICTS)


def spread_chart(groups: Sequence[Group], printed: float | None, unit: str | None, *, dark: bool) -> Spec:
    """Range of each definition as a bar with every value as a tick, its name above, and the printed value as a line."""
    colours = palette(dark=dark)
    rows = [
        {
            "low": group.low,
            "high": group.high,
            "label": t(
                "claims.spread", label=group.label, range=amount_range(group.low, group.high, unit, COMPUTED_DIGITS)
            ),
            "words_px": _TOP_PX + _STEP_PX * index,
            "bar_px": _TOP_PX + _STEP_PX * index + _BELOW_WORDS_PX,
        }
        for index, group in enumerate(groups)
    ]
    ticks = [
        {"value": value, "bar_px": row["bar_px"]}
        for group, row in zip(groups, rows, strict=True)
        for value in group.values
    ]
    low = min(0.0, *(group.low for group in groups))
    high = max(100.0 if unit == "%" else 0.0, *(group.high for group in groups))
    labels = f"datum.label + '{NBSP}%'" if unit == "%" else "datum.label"
    x = {
        "type": "quantitative",
        "scale": {"domain": [low, high], "nice": False},
        "axis": {"title": None, "grid": True, "tickCount": 4, "labelExpr": labels},
    }
    bar = {"field": "bar_px", "type": "quantitative", "scale": None, "axis": None}
    text = {"type": "text", "font": FONT, "fontSize": TEXT_PX, "baseline": "middle"}
    layers: list[Spec] = [
        {
            "data": {"values": rows},
            "mark": {"type": "bar", "height": 10, "color": colours.secondary, "opacity": 0.3},
            "encoding": {"x": {"field": "low", **x}, "x2": {"field": "high"}, "y": bar},
        },
        {
            "data": {"values": ticks},
            "mark": {"type": "tick", "height": 10, "thickness": 1.5, "color": colours.secondary},
            "encoding": {"x": {"field": "value", **x}, "y": bar},
        },
        {
            "data": {"values": rows},
            "mark": {**text, "align": "left", "x": 2, "color": colours.text},
            "encoding": {"y": {**bar, "field": "words_px"}, "text": {"field": "label"}},
        },
    ]
    if printed is not None:
        ink = colours.way_text["cloud"]
        layers += [
            {
                "data": {"values": [{"value": printed}]},
                "mark": {"type": "rule", "color": ink, "strokeWidth": 2},
                "encoding": {"x": {"field": "value", **x}},
            },
            {
                "data": {"values": [{"value": printed, "label": spread_printed(printed, unit)}]},
                "mark": {**text, "align": "right", "dx": -6, "y": 8, "fontWeight": 600, "color": ink},
                "encoding": {"x": {"field": "value", **x}, "text": {"field": "label"}},
            },
        ]
    return {
        "height": _TOP_PX + _STEP_PX * len(groups) + _AXIS_PX,
        "width": "container",
        "background": "transparent",
        "padding": {"left": 2, "right": 12, "top": 4, "bottom": 4},
        "config": {
            "view": {"stroke": None},
            "axis": {
                "domain": False,
                "ticks": False,
                "gridColor": colours.grid,
                "labelColor": colours.secondary,
                "labelFont": FONT,
                "labelFontSize": TEXT_PX,
            },
        },
        "layer": layers,
    }


def spread_printed(value: float, unit: str | None) -> str:
    """Name of the line of the printed value."""
    return t("claims.spread_printed", value=amount(value, unit))


def spread_alt(groups: Sequence[Group], printed: float | None, unit: str | None) -> str:
    """The spread in words."""
    parts = [
        t("claims.spread", label=group.label, range=amount_range(group.low, group.high, unit, COMPUTED_DIGITS))
        for group in groups
    ]
    if printed is not None:
        parts.append(spread_printed(printed, unit))
    return "; ".join(parts)
