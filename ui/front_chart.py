"""Figure of a front: plans by what they cost and by what they emit, or how long their runs take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ui import formatting
from ui.charts import TITLE_ABOVE, Spec, axis_unit, chart_colours, ink, nice_ticks, text_mark, themed, tip
from ui.formatting import Currency
from ui.i18n import t
from ui.whatif_charts import ticks_between

HEIGHT_PX = 230
_ROOM = 0.15  # of the width, on both sides, for the names of points
_LEAST_SPAN = 0.2  # of the dearest, below which amounts aren't stretched over the width


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One plan: its cost, its value with that in words, and the way that it is."""

    cost_usd: float
    value: float
    words: str
    label: str  # of a way, else the number of the plan
    way: str | None


def front_chart(points: Sequence[Point], *, title: str, currency: Currency, dark: bool, faded: bool = False) -> Spec:
    """Points with a line down the steps between them: to have less of the one, more of the other has to be paid."""
    colours = chart_colours(dark=dark, faded=faded)
    costs = [point.cost_usd for point in points]
    scale, unit_key = axis_unit(max(costs), currency)
    low, high = min(costs) / scale, max(costs) / scale
    span = max(high - low, _LEAST_SPAN * abs(high)) or 1.0
    most = max(point.value for point in points)
    x_axis = {
        "values": ticks_between(low, low + span),
        "grid": False,
        "title": t(f"front.cost.{unit_key}", currency=currency.code),
        "titleAnchor": "start",
    }
    domain = [low - _ROOM * span, low + (1 + _ROOM) * span]
    x = {
        "field": "cost",
        "type": "quantitative",
        "scale": {"domain": domain, "nice": False, "zero": False},
        "axis": x_axis,
    }
    y = {
        "field": "value",
        "type": "quantitative",
        "scale": {"domain": [0, 1.12 * most or 1.0], "nice": False},
        "axis": {"values": nice_ticks(1.12 * most), "grid": True, "title": title, **TITLE_ABOVE},
    }
    rows = [
        {
            "cost": point.cost_usd / scale,
            "value": point.value,
            "exact": formatting.money(point.cost_usd, currency, fine=True),
            "words": point.words,
            "label": point.label,
            "colour": colours.secondary if point.way is None else colours.way[point.way],
            "ink": colours.secondary if point.way is None else colours.way_text[point.way],
        }
        for point in points
    ]
    tooltip = [tip("label", "front.plan"), tip("exact", "ways.value"), tip("words", "front.value")]
    layers: list[Spec] = [
        {
            "data": {"values": rows},
            "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.5, "color": colours.secondary},
            "encoding": {"x": x, "y": y, "order": {"field": "cost", "type": "quantitative"}},
        },
        {
            "data": {"values": rows},
            "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": ink("colour"), "tooltip": tooltip},
        },
        {
            "data": {"values": rows},
            "mark": text_mark(align="left", dx=8, dy=-9, fontWeight=600),
            "encoding": {"x": x, "y": y, "text": {"field": "label"}, "color": ink("ink")},
        },
    ]
    return themed(layers, colours, height=HEIGHT_PX, faded=faded)


def front_alt(points: Sequence[Point], currency: Currency) -> str:
    """The front in words."""
    return " ".join(
        t("front.alt", label=point.label, cost=formatting.money(point.cost_usd, currency, fine=True), value=point.words)
        for point in points
    )
