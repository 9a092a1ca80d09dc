"""The Gantt of a typical month, week or day of one simulated course: machines above each other, a bar an attempt."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from planner.units import H_PER_DAY, H_PER_MONTH
from ui import formatting
from ui.charts import Spec, chart_colours, ink, text_mark, themed, tip
from ui.i18n import t
from ui.palette import Palette, palette

MOST_MACHINES = 24
_GPU_PX = 16
_LEAST_GPU_PX, _MOST_MACHINE_PX = 5, 72
_NAME_PX, _GAP_PX = 22, 8
_ONLY_WIDTH = {
    "autosize": {"type": "fit-x", "contains": "padding"},
    "padding": {"left": 0, "right": 0, "top": 0, "bottom": 0},
}
_SHADES = (1.0, 0.5, 0.25)  # of the owned colour, by job
_PX_PER_CHARACTER = 6.6
_NARROW_PX = 700
_WIDEST_PX = 1600  # of a chart: names that wouldn't fit even there are left out

Course = Mapping[str, Any]


def span_key(course: Course) -> str:
    """How much of the course is shown: "year", "month", "week", "day" or "hour"."""
    hours = course["span_h"]
    if hours > H_PER_MONTH + 1:
        return "year"
    return "month" if hours > 7 * H_PER_DAY + 1 else "week" if hours > H_PER_DAY + 1 else "day" if hours > 1 else "hour"


def shown_machines(course: Course) -> int:
    """Machines that have a row."""
    return min(course["count"], MOST_MACHINES)


def gantt_chart(course: Course, *, dark: bool, faded: bool = False) -> Spec:
    """Bars by machine and GPU; failed attempts as outlines, jobs by shade."""
    colours = chart_colours(dark=dark, faded=faded)
    gpus, machines = course["gpus_per_machine"], shown_machines(course)
    gpu_px = max(_LEAST_GPU_PX, min(_GPU_PX, _MOST_MACHINE_PX / gpus))
    machine_px = _NAME_PX + gpus * gpu_px + _GAP_PX
    span_h, key = course["span_h"], span_key(course)
    unit_h = H_PER_MONTH if key == "year" else 1 / 60 if key == "hour" else 1.0 if key == "day" else H_PER_DAY
    end = span_h / unit_h
    step = next(step for step in (1, 2, 3, 5, 10, 15) if end / step <= 9)
    axis = {
        "values": [step * at for at in range(math.floor(end / step + 1e-9) + 1)],
        "grid": True,
        "title": t(f"timeline.gantt.x.{key}"),
        "format": "d",
    }
    x = {"type": "quantitative", "scale": {"domain": [0, end], "nice": False}, "axis": axis}
    height = machines * machine_px
    y = {"type": "quantitative", "scale": {"domain": [0, height], "reverse": True, "nice": False}, "axis": None}
    shades = _shades(course, colours)
    bars = [
        _bar(bar, course, unit_h, machine_px, gpu_px, shades) for bar in course["bars"] if bar["machine"] < machines
    ]
    names = [
        {"x": 0, "y": machine * machine_px + _NAME_PX / 2 + 2, "text": f"{course['machine']} {machine + 1}"}
        for machine in range(machines)
    ]
    box = {"x": {"field": "x0", **x}, "x2": {"field": "x1"}, "y": {"field": "y0", **y}, "y2": {"field": "y1"}}
    legend = {"title": None, "orient": "top", "columns": {"expr": "width<460?2:5"}, "columnPadding": 14, "offset": 6}
    several = len(course["jobs"]) > 1
    colour = {
        "field": "job",
        "type": "nominal",
        "scale": {"domain": list(shades), "range": list(shades.values())},
        "legend": legend if several else None,
    }
    lane = {"type": "rect", "fill": colours.grid, "opacity": 0.5}
    lanes = [
        {"x0": 0, "x1": end, "y0": at * machine_px + _NAME_PX, "y1": (at + 1) * machine_px - _GAP_PX}
        for at in range(machines)
    ]
    away = [
        {
            "x0": round(max(repair["failed_h"], 0.0) / unit_h, 4),
            "x1": round(min(repair["back_h"], span_h) / unit_h, 4),
            "y0": repair["machine"] * machine_px + _NAME_PX,
            "y1": (repair["machine"] + 1) * machine_px - _GAP_PX,
            "duration": formatting.duration(repair["back_h"] - repair["failed_h"]),
            "ending": t("timeline.gantt.repair"),
        }
        for repair in course["repairs"]
        if repair["machine"] < machines
    ]
    layers: list[Spec] = [
        {"data": {"values": lanes}, "mark": lane, "encoding": box},
        *([] if not away else [_away(away, colours, box)]),
        {
            "data": {"values": bars},
            "mark": "rect",
            "encoding": {
                **box,
                "color": {**_if_failed(colours.page), **colour},
                "stroke": {**_if_failed(colours.fill["owned"]), "value": colours.page},
                "strokeWidth": {**_if_failed(_thinner(0.8, 1.4)), "value": _thinner(0.0, 0.6)},
                "tooltip": {"field": "tip"},  # one object: a list of fields is put together anew for every bar
            },
        },
        {
            "data": {"values": names},
            "mark": text_mark(fontSize=12, align="left", baseline="middle", color=colours.secondary),
            "encoding": {"x": {"field": "x", **x}, "y": {"field": "y", **y}, "text": {"field": "text"}},
        },
    ]
    if several and gpu_px >= 12:
        layers.append(_labels(bars, palette(dark=dark), shades, x, y, end, faded=faded))
    # The height is that of the machines, axis and legend come on top: where a chart is fitted into one, every bar is
    # placed twice.
    return {**themed(layers, colours, height=int(height), faded=faded), **_ONLY_WIDTH}


def _away(away: list[dict[str, Any]], colours: Palette, box: Spec) -> Spec:
    """Machines under repair: their lanes filled."""
    tooltip = [tip("duration", "timeline.gantt.duration"), tip("ending", "timeline.gantt.ending")]
    mark = {"type": "rect", "fill": colours.secondary, "opacity": 0.35}
    return {"data": {"values": away}, "mark": mark, "encoding": {**box, "tooltip": tooltip}}


def _thinner(narrow: float, wide: float) -> Spec:
    """On a narrow chart bars are a pixel wide, and a gap between them would leave nothing."""
    return {"expr": f"width<{_NARROW_PX}?{narrow}:{wide}"}


def _if_failed(value: Any) -> Spec:
    return {"condition": {"test": "datum.failed", "value": value}}


def _shades(course: Course, colours: Palette) -> dict[str, str]:
    """A shade of the owned colour for each job, the one with most attempts darkest."""
    counts = {job: sum(bar["job"] == job for bar in course["bars"]) for job in course["jobs"]}
    order = sorted(counts, key=lambda job: -counts[job])
    return {
        job: blend(colours.fill["owned"], colours.page, _SHADES[min(at, len(_SHADES) - 1)])
        for at, job in enumerate(order)
    }


def blend(colour: str, ground: str, share: float) -> str:
    """A colour mixed with its ground.

    >>> blend("#1F6AA5", "#FFFFFF", 0.5)
    '#8FB4D2'
    """
    pairs = [(int(colour[at : at + 2], 16), int(ground[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{int(share * one + (1 - share) * other):02X}" for one, other in pairs)


def _bar(
    bar: Mapping[str, Any],
    course: Course,
    unit_h: float,
    machine_px: float,
    gpu_px: float,
    shades: Mapping[str, str],
) -> dict[str, Any]:
    top = bar["machine"] * machine_px + _NAME_PX + bar["first_gpu"] * gpu_px
    return {
        "x0": round(max(bar["started_h"], 0.0) / unit_h, 4),
        "x1": round(min(bar["ended_h"], course["span_h"]) / unit_h, 4),
        "y0": top + 0.5,
        "y1": top + bar["gpus"] * gpu_px - 0.5,
        "job": bar["job"],
        "failed": bar["failed"],
        "tip": {
            t("timeline.gantt.job"): bar["job"],
            t("timeline.gantt.submitted"): _moment(bar["submitted_h"]),
            t("timeline.gantt.wait"): formatting.duration(bar["started_h"] - bar["submitted_h"]),
            t("timeline.gantt.duration"): formatting.duration(bar["ended_h"] - bar["started_h"]),
            t("timeline.gantt.ending"): t("timeline.gantt.failed" if bar["failed"] else "timeline.gantt.done"),
        },
    }


def _moment(hours: float) -> str:
    """Day and hour within what is shown."""
    if hours < 0:
        return t("timeline.gantt.before", time=formatting.duration(-hours))
    day, hour = divmod(hours, H_PER_DAY)
    return t("timeline.gantt.moment", day=int(day) + 1, hour=f"{int(hour):02d}", minute=f"{int(hour % 1 * 60):02d}")


def _label_px(job: str) -> float:
    return 10 + _PX_PER_CHARACTER * len(job)


def _labels(
    bars: list[dict[str, Any]],
    colours: Palette,
    shades: Mapping[str, str],
    x: Spec,
    y: Spec,
    end: float,
    *,
    faded: bool,
) -> Spec:
    """Name of the job in bars that are wide enough."""
    darkest = next(iter(shades), "")
    rows = [
        {
            "x": bar["x0"],
            "x1": bar["x1"],
            "middle": (bar["y0"] + bar["y1"]) / 2,
            "text": bar["job"],
            "need": _label_px(bar["job"]),
            "ink": colours.text_on["owned"] if bar["job"] == darkest and not (bar["failed"] or faded) else colours.text,
        }
        for bar in bars
        if (bar["x1"] - bar["x0"]) / end * _WIDEST_PX > _label_px(bar["job"])
    ]
    fits = f"(datum.x1-datum.x)/{end}*width > datum.need"
    return {
        "data": {"values": rows},
        "mark": text_mark(fontSize=12, align="left", baseline="middle", dx=5),
        "encoding": {
            "x": {"field": "x", **x},
            "y": {"field": "middle", **y},
            "text": {"condition": {"test": fits, "field": "text", "type": "nominal"}, "value": ""},
            "color": ink("ink"),
        },
    }


def gantt_alt(course: Course) -> str:
    """The picture in words."""
    bars = course["bars"]
    return t(
        "timeline.gantt.alt",
        attempts=course["attempts"],
        failed=sum(bar["failed"] for bar in bars),
        count=course["count"],
        machine=course["machine"],
    )
