"""Charts of the Catalog page: what speed costs under several measures, and how a rental price went."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from math import log
from typing import Any, TypedDict

from ui import charts
from ui.charts import Spec
from ui.i18n import t
from ui.palette import Palette, palette

MEASURE_PX = 96
_REST_PX = 44  # axis and its title
_PLOT_PX = 330.0  # the narrowest plot: labels are kept apart for it
_CHARACTER_PX = 6.6
_HISTORY_PX = 230
_TICKS = (1, 2, 5, 10, 20, 50, 100)


class Dot(TypedDict):
    """Price of a unit of speed of one GPU under a measure; `index` is 100 for the dearest."""

    measure: str
    name: str
    index: float
    exact: str
    chosen: bool


class PricePoint(TypedDict):
    """A rental price on the day it was seen."""

    day: str
    usd_per_gpu_h: float
    text: str


def speed_price_chart(dots: Sequence[Dot], *, reference: str, dark: bool) -> Spec:
    """A row a measure, a dot a GPU, on a log axis that ends at the dearest; the chosen GPU in colour."""
    colours = palette(dark=dark)
    measures = list(dict.fromkeys(dot["measure"] for dot in dots))
    lowest = min(dot["index"] for dot in dots)
    first = max((tick for tick in _TICKS if tick <= lowest * 0.9), default=_TICKS[0])
    domain = [min(first, lowest * 0.9), 125]
    x = {
        "field": "index",
        "type": "quantitative",
        "scale": {"type": "log", "domain": domain, "nice": False},
        "axis": {
            "values": [tick for tick in _TICKS if tick >= domain[0]],
            "grid": True,
            "title": t("chart.speed.x", gpu=reference),
            "format": "d",
        },
    }
    y_scale = {"domain": [0, len(measures)], "reverse": True, "nice": False}

    def y(field: str) -> Spec:
        return {"field": field, "type": "quantitative", "scale": y_scale, "axis": None}

    rows, spans, heads = [], [], []
    for position, measure in enumerate(measures):
        here = [dot for dot in dots if dot["measure"] == measure]
        rows += _placed(here, position, domain, colours)
        ends = [dot["index"] for dot in here]
        spans.append({"index": min(ends), "end": max(ends), "y": position + 0.58})
        heads.append({"index": domain[0], "y": position + 0.12, "text": measure, "ink": colours.text})
    tooltip = [charts.tip("name", "chart.speed.gpu"), charts.tip("measure", "chart.speed.measure")]
    tooltip.append(charts.tip("exact", "chart.speed.price"))
    layers = [
        {
            "data": {"values": spans},
            "mark": {"type": "rule", "strokeWidth": 4, "color": colours.grid},
            "encoding": {"x": x, "x2": {"field": "end"}, "y": y("y")},
        },
        {
            "data": {"values": rows},
            "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
            "encoding": {"x": x, "y": y("y"), "color": charts.ink("fill"), "tooltip": tooltip},
        },
        {
            "data": {"values": rows},
            "mark": charts.text_mark(
                fontSize=12,
                dy={"expr": "datum.dy"},
                align={"expr": "datum.align"},
                fontWeight={"expr": "datum.weight"},
                baseline="middle",
            ),
            "encoding": {"x": x, "y": y("y"), "text": {"field": "label"}, "color": charts.ink("ink")},
        },
        {
            "data": {"values": heads},
            "mark": charts.text_mark(align="left", fontWeight=600, baseline="middle"),
            "encoding": {"x": x, "y": y("y"), "text": {"field": "text"}, "color": charts.ink("ink")},
        },
    ]
    return charts.themed(layers, colours, height=MEASURE_PX * len(measures) + _REST_PX, faded=False)


def speed_price_alt(dots: Sequence[Dot]) -> str:
    """The chart of speed prices in words."""
    return " ".join(
        t("chart.speed.alt", gpu=dot["name"], measure=dot["measure"], index=f"{dot['index']:.3g}") for dot in dots
    )


def _placed(dots: Sequence[Dot], position: int, domain: Sequence[float], colours: Palette) -> list[dict[str, Any]]:
    """Dots of one measure with their labels: the chosen one below with its value, the others where there is room."""
    width = log(domain[1] / domain[0])
    taken: dict[int, list[tuple[float, float]]] = {}
    rows = []
    for dot in sorted(dots, key=lambda dot: (not dot["chosen"], dot["index"])):
        label = f"{dot['name']} {dot['index']:.2g}" if dot["chosen"] else dot["name"]
        px = log(dot["index"] / domain[0]) / width * _PLOT_PX
        long = _CHARACTER_PX * len(label)
        align, left = "center", px - long / 2
        if left < 0:
            align, left = "left", px - 6
        elif left + long > _PLOT_PX:
            align, left = "right", px - long + 6
        levels = (20, 35) if dot["chosen"] else (-18, 20, -32, 35)
        dy = next((dy for dy in levels if _free(taken.get(dy, []), left, left + long)), levels[-1])
        taken.setdefault(dy, []).append((left, left + long))
        rows.append(
            {
                **dot,
                "label": label,
                "y": position + 0.58,
                "dy": dy,
                "align": align,
                "weight": 700 if dot["chosen"] else 400,
                "fill": colours.way["local"] if dot["chosen"] else colours.fill["upkeep"],
                "ink": colours.way_text["local"] if dot["chosen"] else colours.secondary,
            }
        )
    return rows[::-1]


def _free(taken: Sequence[tuple[float, float]], left: float, right: float) -> bool:
    return all(right + 6 < start or left - 6 > end for start, end in taken)


def history_chart(points: Sequence[PricePoint], *, today: str, dark: bool) -> Spec:
    """A rental price over the years, held until the next one was seen."""
    colours = palette(dark=dark)
    top = max(point["usd_per_gpu_h"] for point in points) * 1.2
    x = {
        "field": "day",
        "type": "temporal",
        "scale": {"domain": [points[0]["day"], today]},
        "axis": {"tickCount": 4, "title": None, "format": "%b %Y", "labelOverlap": True},
    }
    y = {
        "field": "usd_per_gpu_h",
        "type": "quantitative",
        "scale": {"domain": [0, top], "nice": False},
        "axis": {
            "values": charts.nice_ticks(top),
            "grid": True,
            "title": t("chart.history.y"),
            **charts.TITLE_ABOVE,
        },
    }
    fill = colours.way["cloud"]
    held = [*points, {**points[-1], "day": today}]
    layers = [
        {
            "data": {"values": held},
            "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2, "color": fill},
            "encoding": {"x": x, "y": y},
        },
        {
            "data": {"values": list(points)},
            "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1, "color": fill},
            "encoding": {"x": x, "y": y, "tooltip": [charts.tip("text", "chart.history.price")]},
        },
        {
            "data": {"values": _changes(points, today, colours)},
            "mark": charts.text_mark(fontSize=12, fontWeight=600, dx=4, dy=-14, align={"expr": "datum.align"}),
            "encoding": {"x": x, "y": y, "text": {"field": "text"}, "color": charts.ink("ink")},
        },
    ]
    return charts.themed(layers, colours, height=_HISTORY_PX, faded=False)


def _changes(points: Sequence[PricePoint], today: str, colours: Palette) -> list[dict[str, Any]]:
    """Words for each price that differs from the one before; near the right end they stand to the left."""
    pairs = zip([None, *points], points, strict=False)
    new = [point for before, point in pairs if before is None or before["text"] != point["text"]]
    first, last = dt.date.fromisoformat(points[0]["day"]), dt.date.fromisoformat(today)
    late = first + 0.85 * (last - first)
    return [
        {
            **point,
            "ink": colours.way_text["cloud"],
            "align": "right" if dt.date.fromisoformat(point["day"]) > late else "left",
        }
        for point in new
    ]
