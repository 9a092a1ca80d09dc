"""Predicted against measured, both on log axes: points, the line where they are equal, and the usual 80 % band."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from planner.report.errors_by_group import ErrorGroup
from planner.validate.score import ScoredRow
from ui import charts, formatting
from ui.accuracy_words import percent, signed
from ui.charts import Spec
from ui.i18n import t
from ui.palette import Palette, palette

HEIGHT_PX = 300
_ROOM = 1.25  # between the outermost points and the edge, as a factor
_DIGITS = 4  # of what is drawn and hovered over
_BAND_OPACITY = 0.14


class Point(TypedDict):
    """A row as it is drawn; short keys, because there are thousands."""

    m: float  # measured
    p: float  # predicted
    l: float | None  # noqa: E741 - lower end of the prediction's interval
    h: float | None  # upper end
    g: str  # GPU
    i: str  # run
    n: str  # model
    e: str  # error
    s: str  # source


def point(row: ScoredRow, *, gpu: str, source: str) -> Point | None:
    """The point of a row; None of one that doesn't count."""
    if not row.counts or row.measured is None or row.predicted is None:
        return None
    return Point(
        m=_rounded(row.measured),
        p=_rounded(row.predicted),
        l=None if row.low is None else _rounded(row.low),
        h=None if row.high is None else _rounded(row.high),
        g=gpu,
        i=row.id,
        n=row.model,
        e=signed(row.error),
        s=source,
    )


def band(rows: Sequence[ScoredRow]) -> tuple[float, float] | None:
    """Lower and upper end of the usual 80 % interval over its prediction: medians of all rows that have one."""
    shares = [
        (row.low / row.predicted, row.high / row.predicted)
        for row in rows
        if row.counts and row.predicted and row.low is not None and row.high is not None
    ]
    if not shares:
        return None
    low, high = np.median(np.array(shares), axis=0)
    return float(low), float(high)


def agreement_chart(
    points: Sequence[Point],
    usual: tuple[float, float] | None,
    *,
    unit: str,
    chosen: str | None,
    dark: bool,
    height: int = HEIGHT_PX,
) -> Spec:
    """Points of a kind of table, those of the chosen GPU in ink with their own intervals.

    `unit` is in words; with `chosen` None all are alike.
    """
    colours = palette(dark=dark)
    values = [value for one in points for value in (one["m"], one["p"])]
    domain = [min(values) / _ROOM, max(values) * _ROOM]
    ticks = log_ticks(*domain)
    scale = {"type": "log", "domain": domain, "nice": False}
    axis = {"values": ticks, "format": "~s" if domain[1] >= 1000 else "~g", "grid": True}
    x = {
        "field": "m",
        "type": "quantitative",
        "scale": scale,
        "axis": {**axis, "title": t("accuracy.chart.measured", unit=unit)},
    }
    above = {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "end", "titleX": 0, "titleY": -14}
    y = {
        "field": "p",
        "type": "quantitative",
        "scale": scale,
        "axis": {**axis, **above, "title": t("accuracy.chart.predicted", unit=unit)},
    }
    layers: list[Spec] = [*_band(domain, usual, x, y, colours), _line(domain, x, y, colours)]
    tooltip = [
        charts.tip("i", "accuracy.chart.run"),
        charts.tip("g", "column.gpu"),
        charts.tip("n", "accuracy.column.model"),
        {"field": "p", "type": "quantitative", "title": t("accuracy.column.predicted"), "format": ",~r"},
        {"field": "m", "type": "quantitative", "title": t("accuracy.column.measured"), "format": ",~r"},
        charts.tip("e", "accuracy.column.error"),
        charts.tip("s", "accuracy.column.source"),
    ]
    others = [one for one in points if one["g"] != chosen]
    mine = [one for one in points if one["g"] == chosen]
    dot = {"type": "point", "filled": True, "stroke": None}
    layers.append(
        {
            "data": {"values": others},
            "mark": {**dot, "size": 22, "color": colours.secondary, "opacity": 0.5 if chosen is None else 0.25},
            "encoding": {"x": x, "y": y, "tooltip": tooltip},
        }
    )
    if mine:
        whisker = {"y": {**y, "field": "l"}, "y2": {"field": "h"}}
        rule = {"type": "rule", "color": colours.text, "opacity": 0.35, "strokeWidth": 1, "clip": True}
        mark = {**dot, "size": 40, "color": colours.text, "opacity": 0.9}
        layers.append(
            {
                "data": {"values": mine},
                "layer": [
                    {"mark": rule, "encoding": {"x": x, **whisker}},
                    {"mark": mark, "encoding": {"x": x, "y": y, "tooltip": tooltip}},
                ],
            }
        )
    return charts.themed(layers, colours, height=height, faded=False)


def log_ticks(low: float, high: float) -> list[float]:
    """Three to five round values within a range on a log axis, evenly apart where the range is wide."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    powers = list(range(first, last + 1))
    if len(powers) >= 3:
        step = math.ceil(len(powers) / 5)
        return [10.0**power for power in powers[(len(powers) - 1) % step :: step]]
    for steps in ((1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        found = [
            step * 10.0**power
            for power in range(first - 1, last + 1)
            for step in steps
            if low <= step * 10.0**power <= high
        ]
        if len(found) >= 3:
            return found[:: math.ceil(len(found) / 5)]
    return [low, high]


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _line(domain: Sequence[float], x: Spec, y: Spec, colours: Palette) -> Spec:
    """Predicted as measured."""
    ends = [{"m": value, "p": value} for value in domain]
    mark = {"type": "line", "color": colours.text, "strokeWidth": 1.2, "opacity": 0.8}
    return {"data": {"values": ends}, "mark": mark, "encoding": {"x": x, "y": y}}


def _band(
    domain: Sequence[float], usual: tuple[float, float] | None, x: Spec, y: Spec, colours: Palette
) -> tuple[Spec, ...]:
    """Where a prediction lies whose measured value is just at an end of its interval."""
    if usual is None:
        return ()
    low, high = usual
    ends = [{"m": value, "p": value / high, "t": value / low} for value in domain]
    mark = {"type": "area", "color": colours.secondary, "opacity": _BAND_OPACITY, "clip": True}
    return ({"data": {"values": ends}, "mark": mark, "encoding": {"x": x, "y": y, "y2": {"field": "t"}}},)


def agreement_alt(what: str, errors: ErrorGroup, points: Sequence[Point], unit: str) -> str:
    """The chart in words."""
    measured = [one["m"] for one in points]
    return t(
        "accuracy.chart.alt",
        what=what,
        count=formatting.plain(errors.n),
        low=formatting.plain(min(measured)),
        high=formatting.plain(max(measured)),
        unit=unit,
        median=percent(errors.median_ape),
        p90=percent(errors.p90_ape),
        coverage=formatting.percent(errors.coverage_80),
    )
