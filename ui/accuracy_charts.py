"""Predicted against measured, both on log axes: points, the line where they are equal, and the usual 80 % band."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

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
_ALL, _IN_INK = "runs", "in_ink"
_RATIOS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Ticks and ends of the axis of predicted over measured."""


COLUMNS = ("m", "p", "l", "h", "g", "i", "n", "e", "s")
"""Of the points, short for there are thousands: measured, predicted, its interval, GPU, run, model, error, source."""


def points_of(
    rows: Sequence[ScoredRow], gpu_of: Callable[[ScoredRow], str], source_of: Callable[[ScoredRow], str]
) -> pd.DataFrame:
    """A point for each row that counts."""
    found = [
        (
            _rounded(row.measured),
            _rounded(row.predicted),
            _rounded(row.low),
            _rounded(row.high),
            gpu_of(row),
            row.id,
            row.model,
            signed(row.error),
            source_of(row),
        )
        for row in rows
        if row.counts
    ]
    return pd.DataFrame(found, columns=list(COLUMNS))


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
    points: pd.DataFrame,
    usual: tuple[float, float] | None,
    *,
    unit: str,
    chosen: str | None,
    dark: bool,
    as_errors: bool = False,
    all_in_ink: bool = False,
    height: int = HEIGHT_PX,
) -> Spec:
    """Points of a kind of table, those of the chosen GPU in ink with their own intervals.

    `unit` is in words; with `chosen` None all are alike, grey among thousands or in ink where there are few.
    `as_errors` draws predicted over measured instead of predicted, so that small errors can be told apart; what lies
    beyond the axis stands at its edge. Points are named data sets, so that the browser exchanges only those in ink
    when another GPU is chosen.
    """
    colours = palette(dark=dark)
    domain = _domain(points)
    x, y = _axes(domain, unit, as_errors=as_errors)
    tooltip = [
        charts.tip("i", "accuracy.chart.run"),
        charts.tip("g", "column.gpu"),
        charts.tip("n", "accuracy.column.model"),
        {"field": "p", "type": "quantitative", "title": t("accuracy.column.predicted"), "format": ",~r"},
        {"field": "m", "type": "quantitative", "title": t("accuracy.column.measured"), "format": ",~r"},
        charts.tip("e", "accuracy.column.error"),
        charts.tip("s", "accuracy.column.source"),
    ]
    mine = points if all_in_ink else points[points["g"] == chosen]
    dot = {"type": "point", "filled": True, "stroke": None}
    rule = {"type": "rule", "color": colours.text, "opacity": 0.35, "strokeWidth": 1, "clip": True}
    drawn = [{"calculate": _drawn(field, as_errors=as_errors), "as": f"{field}y"} for field in ("p", "l", "h")]
    layers: list[Spec] = [
        *_band(domain, usual, x, y, colours, as_errors=as_errors),
        _line(domain, x, y, colours, as_errors=as_errors),
        {
            "data": {"name": _ALL},
            "transform": drawn[:1],
            "mark": {**dot, "size": 22, "color": colours.secondary, "opacity": 0.4},
            "encoding": {"x": x, "y": y, "tooltip": tooltip},
        },
        {
            "data": {"name": _IN_INK},
            "transform": drawn,
            "layer": [
                {"mark": rule, "encoding": {"x": x, "y": {**y, "field": "ly"}, "y2": {"field": "hy"}}},
                {
                    "mark": {**dot, "size": 40, "color": colours.text, "opacity": 0.9},
                    "encoding": {"x": x, "y": y, "tooltip": tooltip},
                },
            ],
        },
    ]
    return {
        **charts.themed(layers, colours, height=height, faded=False),
        "datasets": {_ALL: points, _IN_INK: mine},
        "usermeta": {"embedOptions": {"renderer": "canvas"}},  # thousands of SVG nodes would be slow
    }


def _domain(points: pd.DataFrame) -> list[float]:
    values = points[["m", "p"]].to_numpy()
    return [float(values.min()) / _ROOM, float(values.max()) * _ROOM]


def _axes(domain: Sequence[float], unit: str, *, as_errors: bool) -> tuple[Spec, Spec]:
    """Both axes, log: measured, and predicted or predicted over measured."""
    scale = {"type": "log", "domain": domain, "nice": False}
    axis = {"values": log_ticks(*domain), "format": "~s" if domain[1] >= 1000 else "~g", "grid": True}
    x_title = t("accuracy.chart.measured", unit=unit)
    x = {"field": "m", "type": "quantitative", "scale": scale, "axis": {**axis, "title": x_title}}
    y = {"field": "py", "type": "quantitative"}
    if not as_errors:
        return x, {
            **y,
            "scale": scale,
            "axis": {**axis, **charts.TITLE_ABOVE, "title": t("accuracy.chart.predicted", unit=unit)},
        }
    least, most = _RATIOS[0], _RATIOS[-1]
    percent_of = f"abs(datum.value - 1) < 0.001 ? '0' : format(100*(datum.value-1), '+.0f') + '{formatting.NBSP}%'"
    errors = {"values": list(_RATIOS), "labelExpr": f"replace({percent_of}, '-', '{formatting.MINUS}')", "grid": True}
    shown = {"type": "log", "domain": [least, most], "nice": False}
    return x, {**y, "scale": shown, "axis": {**errors, **charts.TITLE_ABOVE, "title": t("accuracy.chart.errors")}}


def _drawn(field: str, *, as_errors: bool) -> str:
    """Expression for the height at which a value is drawn."""
    value = f"datum.{field}"
    return f"clamp({value}/datum.m, {_RATIOS[0]}, {_RATIOS[-1]})" if as_errors else value


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


def _rounded(value: float | None) -> float:
    """With as many digits as are shown; NaN where there is none."""
    return math.nan if value is None else float(f"{value:.{_DIGITS}g}")


def _line(domain: Sequence[float], x: Spec, y: Spec, colours: Palette, *, as_errors: bool) -> Spec:
    """Predicted as measured."""
    ends = [{"m": value, "py": 1.0 if as_errors else value} for value in domain]
    mark = {"type": "line", "color": colours.text, "strokeWidth": 1.2, "opacity": 0.8}
    return {"data": {"values": ends}, "mark": mark, "encoding": {"x": x, "y": y}}


def _band(
    domain: Sequence[float], usual: tuple[float, float] | None, x: Spec, y: Spec, colours: Palette, *, as_errors: bool
) -> tuple[Spec, ...]:
    """Where a prediction lies whose measured value is just at an end of its interval."""
    if usual is None:
        return ()
    low, high = usual
    ends = [
        {"m": value, "py": base / high, "t": base / low} for value in domain for base in [1.0 if as_errors else value]
    ]
    mark = {"type": "area", "color": colours.secondary, "opacity": _BAND_OPACITY, "clip": True}
    return ({"data": {"values": ends}, "mark": mark, "encoding": {"x": x, "y": y, "y2": {"field": "t"}}},)


def agreement_alt(what: str, errors: ErrorGroup, points: pd.DataFrame, unit: str) -> str:
    """The chart in words."""
    return t(
        "accuracy.chart.alt",
        what=what,
        count=formatting.plain(errors.n),
        low=formatting.plain(float(points["m"].min())),
        high=formatting.plain(float(points["m"].max())),
        unit=unit,
        median=percent(errors.median_ape),
        p90=percent(errors.p90_ape),
        coverage=formatting.percent(errors.coverage_80),
    )
