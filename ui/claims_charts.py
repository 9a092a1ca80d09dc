"""Figures of the Claims page: the bar of verdicts, and how far a figure spreads by definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ui.charts import FONT, TEXT_PX, Spec
from ui.claims_rows import VERDICTS, Group, amount, amount_range, verdict_word
from ui.i18n import t
from ui.palette import palette

ROLE = MappingProxyType(
    {"holds": "owned", "conditional": "electricity", "does_not_hold": "on_demand", "undecidable": "upkeep"}
)
"""Colour roles of the verdicts: blue, yellow, orange, grey."""

_BAR_PX = 34
_STEP_PX = 44
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
            "y": index,
            "low": group.low,
            "high": group.high,
            "label": t("claims.spread", label=group.label, range=amount_range(group.low, group.high, unit)),
        }
        for index, group in enumerate(groups)
    ]
    dots = [{"y": index, "value": value} for index, group in enumerate(groups) for value in group.values]
    low = min(0.0, *(group.low for group in groups))
    high = max(100.0 if unit == "%" else 0.0, *(group.high for group in groups))
    height = _STEP_PX * len(groups)
    x = {
        "type": "quantitative",
        "scale": {"domain": [low, high], "nice": False},
        "axis": {"title": None, "grid": True, "tickCount": 5},
    }

    def y(offset: float) -> Spec:
        scale = {"domain": [0, len(groups)], "range": [offset, height + offset]}
        return {"field": "y", "type": "quantitative", "scale": scale, "axis": None}

    text = {"type": "text", "font": FONT, "fontSize": TEXT_PX, "align": "left"}
    layers: list[Spec] = [
        {
            "data": {"values": rows},
            "mark": {"type": "bar", "height": 10, "color": colours.secondary, "opacity": 0.3},
            "encoding": {"x": {"field": "low", **x}, "x2": {"field": "high"}, "y": y(30)},
        },
        {
            "data": {"values": dots},
            "mark": {"type": "tick", "height": 10, "thickness": 1.5, "color": colours.secondary},
            "encoding": {"x": {"field": "value", **x}, "y": y(30)},
        },
        {
            "data": {"values": rows},
            "mark": {**text, "color": colours.text, "baseline": "middle"},
            "encoding": {"x": {"datum": low, **x}, "y": y(14), "text": {"field": "label"}},
        },
    ]
    if printed is not None:
        label = t("claims.spread_printed", value=amount(printed, unit))
        layers += [
            {
                "data": {"values": [{}]},
                "mark": {"type": "rule", "color": colours.way_text["cloud"], "strokeWidth": 2},
                "encoding": {"x": {"datum": printed, **x}},
            },
            {
                "data": {"values": [{}]},
                "mark": {
                    **text,
                    "align": {"expr": "'right'"},
                    "dx": -5,
                    "y": 6,
                    "baseline": "middle",
                    "fontWeight": 600,
                    "color": colours.way_text["cloud"],
                },
                "encoding": {"x": {"datum": printed, **x}, "text": {"value": label}},
            },
        ]
    return {
        "height": height,
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


def spread_alt(groups: Sequence[Group], printed: float | None, unit: str | None) -> str:
    """The spread in words."""
    parts = [t("claims.spread", label=group.label, range=amount_range(group.low, group.high, unit)) for group in groups]
    if printed is not None:
        parts.append(t("claims.spread_printed", value=amount(printed, unit)))
    return "; ".join(parts)
