"""Figures of the Timeline page beside cash: load against the safe load, and waits, month by month."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ui import formatting
from ui.charts import TITLE_ABOVE, Spec, chart_colours, ink, nice_ticks, text_mark, themed, tip
from ui.i18n import t
from ui.timeline_cash import month_marks
from ui.timeline_data import Load

CHART_PX = 250
_DASHES = ([1, 0], [6, 4], [2, 3])
_ROOM = 1.16  # of the months: for names at the line ends
_BAND = 0.16

MonthRow = Mapping[str, Any]


def load_chart(loads: Sequence[Load], *, dark: bool, faded: bool = False) -> Spec:
    """Load of each type of machine, its safe load as a dashed line, months above it as triangles."""
    colours = chart_colours(dark=dark, faded=faded)
    months = len(loads[0].load)
    highest = max(max(load.load) for load in loads)
    top = max(100.0, highest * 108.0)
    x = _x(months)
    y = {
        "type": "quantitative",
        "scale": {"domain": [0, top], "nice": False},
        "axis": {"values": nice_ticks(top), "grid": True, "title": t("timeline.load.y"), **TITLE_ABOVE},
    }
    names = [load.machine for load in loads]
    rows = [
        {
            "machine": load.machine,
            "month": month,
            "load": share * 100.0,
            "exact": formatting.percent(share),
            "over": month in load.over,
        }
        for load in loads
        for month, share in enumerate(load.load, start=1)
    ]
    tooltip = [
        tip("machine", "timeline.load.machine"),
        tip("month", "chart.spend.x"),
        tip("exact", "timeline.load.load"),
    ]
    dash = {
        "field": "machine",
        "type": "nominal",
        "scale": {"domain": names, "range": [_DASHES[at % 3] for at in range(len(names))]},
        "legend": None,
    }
    dashes = {"strokeDash": dash} if len(names) > 1 else {}
    point = {"x": {"field": "month", **x}, "y": {"field": "load", **y}}
    safe = [
        {"load": share * 100.0, "month": 0.5, "end": months * _ROOM, "text": _safe_words(share)}
        for share in sorted({load.safe for load in loads})
    ]
    ends = [
        {"load": load.load[-1] * 100.0, "month": months, "text": load.machine, "ink": colours.way_text["local"]}
        for load in loads
    ]
    layers: list[Spec] = [
        {
            "data": {"values": safe},
            "mark": {"type": "rule", "color": colours.secondary, "strokeDash": [4, 4], "strokeWidth": 1.2},
            "encoding": {
                "x": {"field": "month", **x},
                "x2": {"field": "end"},
                "y": {"field": "load", **y},
            },
        },
        {
            "data": {"values": safe},
            "mark": text_mark(fontSize=12, align="right", baseline="bottom", dy=-4, color=colours.secondary),
            "encoding": {
                "x": {"field": "end", **x},
                "y": {"field": "load", **y},
                "text": {"field": "text"},
            },
        },
        {
            "data": {"values": rows},
            "mark": {"type": "line", "color": colours.fill["owned"], "strokeWidth": 2.5},
            "encoding": {**point, **dashes},
        },
        {  # wide invisible points, so that a line can be pointed at
            "data": {"values": rows},
            "mark": {"type": "point", "filled": True, "size": 140, "opacity": 0},
            "encoding": {**point, "tooltip": tooltip},
        },
    ]
    if over := [row for row in rows if row["over"]]:
        mark = {"type": "point", "shape": "triangle-up", "filled": True, "size": 70, "color": colours.broken}
        layers.append({"data": {"values": over}, "mark": {**mark, "opacity": 1}, "encoding": point})
    if len(loads) > 1:
        layers.append(
            {
                "data": {"values": ends},
                "mark": text_mark(fontSize=12, align="left", dx=6, fontWeight=600),
                "encoding": {**point, "text": {"field": "text"}, "color": ink("ink")},
            }
        )
    return themed(layers, colours, height=CHART_PX, faded=faded)


def _safe_words(share: float) -> str:
    return t("timeline.load.safe", share=formatting.percent(share))


def _x(months: int) -> Spec:
    return {
        "type": "quantitative",
        "scale": {"domain": [0.5, max(months * _ROOM, months + 0.5)], "nice": False},
        "axis": {"values": month_marks(months), "title": t("chart.spend.x"), "format": "d"},
    }


def load_alt(loads: Sequence[Load]) -> str:
    """The chart of loads in words."""
    return " ".join(
        t(
            "timeline.load.alt",
            machine=load.machine,
            mean=formatting.percent(load.mean),
            low=formatting.percent(min(load.load)),
            high=formatting.percent(max(load.load)),
            safe=formatting.percent(load.safe),
            over=len(load.over),
        )
        for load in loads
    )


def wait_unit(months: Sequence[MonthRow]) -> tuple[float, str]:
    """Hours of the unit in which the longest of the waits reads well, and its key."""
    highest = max((month["wait_p90_h"] for month in months if month["wait_p90_h"] is not None), default=0.0)
    return (24.0, "days") if highest > 72 else (1.0, "hours") if highest >= 1.5 else (1 / 60, "minutes")


def wait_chart(months: Sequence[MonthRow], *, job: str, dark: bool, faded: bool = False) -> Spec:
    """Median wait by month as a line, and a band up to the 90th percentile."""
    colours = chart_colours(dark=dark, faded=faded)
    unit_h, unit_key = wait_unit(months)
    rows = [
        {
            "month": month["month"],
            "p50": month["wait_p50_h"] / unit_h,
            "p90": month["wait_p90_h"] / unit_h,
            "median": formatting.duration(month["wait_p50_h"]),
            "ninth": formatting.duration(month["wait_p90_h"]),
        }
        for month in months
        if month["wait_p50_h"] is not None
    ]
    top = max((row["p90"] for row in rows), default=0.0) * 1.1 or 1.0
    x = _x(len(months))
    y = {
        "type": "quantitative",
        "scale": {"domain": [0, top], "nice": False},
        "axis": {
            "values": nice_ticks(top),
            "grid": True,
            "title": t(f"timeline.wait.y.{unit_key}", job=job),
            **TITLE_ABOVE,
        },
    }
    month = {"field": "month", **x}
    tooltip = [
        tip("month", "chart.spend.x"),
        tip("median", "timeline.wait.median"),
        tip("ninth", "timeline.wait.p90"),
    ]
    gap = top * 17 / (CHART_PX - 50)
    low, high = (rows[-1]["p50"], rows[-1]["p90"]) if rows else (0.0, 0.0)
    ends = (
        [
            {"month": rows[-1]["month"], "y": low, "text": t("timeline.wait.median"), "ink": colours.way_text["local"]},
            {
                "month": rows[-1]["month"],
                "y": max(high, low + gap),
                "text": t("timeline.wait.p90"),
                "ink": colours.secondary,
            },
        ]
        if rows
        else []
    )
    owned = colours.fill["owned"]
    layers: list[Spec] = [
        {
            "data": {"values": rows},
            "mark": {"type": "area", "color": owned, "opacity": _BAND},
            "encoding": {"x": month, "y": {"field": "p90", **y}, "y2": {"field": "p50"}},
        },
        {
            "data": {"values": rows},
            "mark": {"type": "line", "color": owned, "strokeWidth": 1, "opacity": 0.6},
            "encoding": {"x": month, "y": {"field": "p90", **y}},
        },
        {
            "data": {"values": rows},
            "mark": {"type": "line", "color": owned, "strokeWidth": 2.5},
            "encoding": {"x": month, "y": {"field": "p50", **y}},
        },
        {
            "data": {"values": rows},
            "mark": {"type": "point", "filled": True, "size": 140, "opacity": 0},
            "encoding": {"x": month, "y": {"field": "p90", **y}, "tooltip": tooltip},
        },
        {
            "data": {"values": ends},
            "mark": text_mark(fontSize=12, align="left", dx=6),
            "encoding": {"x": month, "y": {"field": "y", **y}, "text": {"field": "text"}, "color": ink("ink")},
        },
    ]
    return themed(layers, colours, height=CHART_PX, faded=faded)


def wait_alt(months: Sequence[MonthRow], job: str) -> str:
    """The chart of waits in words."""
    known = [month for month in months if month["wait_p90_h"] is not None]
    if not known:
        return t("timeline.wait.alt_none", job=job)
    longest = max(known, key=lambda month: month["wait_p90_h"])
    middle = sorted(month["wait_p50_h"] for month in known)[len(known) // 2]
    return t(
        "timeline.wait.alt",
        job=job,
        median=formatting.duration(middle),
        month=longest["month"],
        longest=formatting.duration(longest["wait_p90_h"]),
    )
