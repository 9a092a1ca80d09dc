"""Figures of the Work page: time of one attempt at each place, and memory of one GPU by part."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from planner.performance.memory_parts import PARTS, Part
from planner.units import H_PER_DAY, S_PER_H, S_PER_MIN
from ui import formatting
from ui.charts import Spec, chart_colours, ink, nice_ticks, text_mark, themed, tip
from ui.i18n import t
from ui.palette import Palette
from ui.work_data import CardMemory

TIME_STEP_PX, MEMORY_STEP_PX = 80, 64
_TIME_REST_PX, _MEMORY_REST_PX = 74, 96  # axis with its title, and the legend or the word of the limit
_BAR = 0.37  # of a row, where its bar lies
_NARROW_PX = 470  # below, a line of words under a bar is broken in two
_LOG_FROM = 6.0  # longest over shortest time
_FARTHEST_LIMIT = 20.0  # times the longest time: a limit beyond would leave no room for the times
_MOST_TICKS = 5
_DAY_S = H_PER_DAY * S_PER_H
_UNITS = ((_DAY_S, "unit.days"), (S_PER_H, "unit.h"), (S_PER_MIN, "unit.min"), (1.0, "unit.s"))
_TICKS_S = (
    *(1, 3, 10, 30, 60, 180, 600, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600),
    *(days * 86400 for days in (1, 3, 7, 14, 30, 60, 180, 365, 730, 3650)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRow:
    """A place as the chart of times shows it; `done_h` None where an attempt can't run there."""

    name: str
    role: str
    done_h: float | None
    low_h: float | None
    high_h: float | None
    notes: tuple[str, str]  # below the bar, one after the other or on a narrow screen below each other
    ruled_out: str  # why, else empty


def time_chart(rows: Sequence[TimeRow], limit_h: float | None, *, dark: bool, faded: bool = False) -> Spec:
    """Likely time of one attempt at each place as a band with a dot, and the limit as a line."""
    colours = chart_colours(dark=dark, faded=faded)
    ends = [end for row in rows for end in (row.low_h, row.done_h, row.high_h) if end is not None]
    limit = limit_h if limit_h is not None and limit_h <= _FARTHEST_LIMIT * max(ends, default=limit_h) else None
    x = _time_axis([*ends, *([limit] if limit is not None else [])] or [1.0])

    def y(field: str) -> Spec:
        domain = {"domain": [0, len(rows)], "reverse": True, "nice": False}
        return {"field": field, "type": "quantitative", "scale": domain, "axis": None}

    def at(field: str) -> Spec:
        return {"field": field, **x}

    known = [
        {
            "name": row.name,
            "low": (row.done_h if row.low_h is None else row.low_h) * S_PER_H,
            "high": (row.done_h if row.high_h is None else row.high_h) * S_PER_H,
            "done": row.done_h * S_PER_H,
            "y": index + _BAR,
            "colour": colours.fill[row.role],
            "edge": colours.broken if row.ruled_out else colours.fill[row.role],
            "time": formatting.duration(row.done_h),
            "likely": formatting.duration_range(row.low_h, row.high_h),
            "note": ", ".join(row.notes),
        }
        for index, row in enumerate(rows)
        if row.done_h is not None
    ]
    tooltip = [
        tip("name", "work_page.chart.place"),
        tip("time", "work_page.chart.time"),
        tip("likely", "column.likely"),
        tip("note", "work_page.chart.rests"),
    ]
    layers: list[Spec] = []
    if known:
        own = {"field": "colour", "type": "nominal", "scale": None}
        layers += [
            {
                "data": {"values": known},
                "mark": {"type": "rule", "strokeWidth": 12, "strokeCap": "round", "opacity": 0.35},
                "encoding": {"x": at("low"), "x2": {"field": "high"}, "y": y("y"), "color": own, "tooltip": tooltip},
            },
            {
                "data": {"values": known},
                "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1, "strokeWidth": 2},
                "encoding": {
                    "x": at("done"),
                    "y": y("y"),
                    "fill": own,
                    "stroke": {"field": "edge", "type": "nominal", "scale": None},
                    "tooltip": tooltip,
                },
            },
        ]
    if limit is not None:
        layers += _limit(limit, rows, x, y, colours)
    layers.append(
        {
            "data": {"values": _time_words(rows, colours)},
            "mark": text_mark(
                align="left",
                baseline="top",
                fontSize={"expr": "datum.size"},
                fontWeight={"expr": "datum.weight"},
                lineHeight=15,
                limit={"expr": "width"},
                text={"expr": f"width < {_NARROW_PX} ? datum.broken : datum.text"},
            ),
            "encoding": {"x": {"value": 0}, "y": y("y"), "color": ink("ink")},
        }
    )
    return themed(layers, colours, height=TIME_STEP_PX * len(rows) + _TIME_REST_PX, faded=faded)


def _time_words(rows: Sequence[TimeRow], colours: Palette) -> list[Spec]:
    words: list[Spec] = []
    for index, row in enumerate(rows):
        name = {"y": index + 0.02, "text": row.name, "broken": row.name, "size": 13, "weight": 600, "ink": colours.text}
        first, second = row.notes
        note = {"text": f"{first} · {second}" if second else first, "broken": [first, second] if second else first}
        place = {"y": index + (0.54 if row.done_h is not None else 0.26)}
        grey = colours.broken if row.ruled_out else colours.secondary
        words += [name, {**note, **place, "size": 12, "weight": 400, "ink": grey}]
    return words


def _limit(limit_h: float, rows: Sequence[TimeRow], x: Spec, y: Callable[[str], Spec], colours: Palette) -> list[Spec]:
    """A mark across each bar, not through the words between them, and what it is above the first."""
    limit_s = limit_h * S_PER_H
    marks = [
        {"limit": limit_s, "top": index + _BAR - 0.12, "bottom": index + _BAR + 0.12}
        for index, row in enumerate(rows)
        if row.done_h is not None
    ]
    low, high = x["scale"]["domain"]
    log = x["scale"]["type"] == "log"
    side = "right" if (math.log(limit_s / low) / math.log(high / low) if log else limit_s / high) > 0.5 else "left"
    words = [{"limit": limit_s, "text": t("work_page.chart.limit", limit=formatting.duration(limit_h))}]
    place = {"align": side, "baseline": "bottom", "dx": 5 if side == "right" else -5}
    return [
        {
            "data": {"values": marks},
            "mark": {"type": "rule", "color": colours.text, "strokeWidth": 2.5},
            "encoding": {"x": {"field": "limit", **x}, "y": y("top"), "y2": {"field": "bottom"}},
        },
        {
            "data": {"values": words},
            "mark": text_mark(fontSize=12, color=colours.secondary, **place),
            "encoding": {"x": {"field": "limit", **x}, "y": {"value": -4}, "text": {"field": "text"}},
        },
    ]


def _time_axis(hours: Sequence[float]) -> Spec:
    """From zero, or on a log scale where times lie far apart; ticks in words. [s]"""
    low, high = min(hours) * S_PER_H, max(hours) * S_PER_H
    if high > _LOG_FROM * low:
        domain = [low / 1.25, high * 1.25]
        ticks = [tick for tick in _TICKS_S if domain[0] <= tick <= domain[1]]
        ticks = ticks[:: -(-len(ticks) // _MOST_TICKS) or 1]
        words = [formatting.duration(tick / S_PER_H) for tick in ticks]
        scale = {"type": "log", "domain": domain, "nice": False}
    else:
        top = high * 1.08
        unit, name = next((seconds, name) for seconds, name in _UNITS if high >= 2 * seconds or seconds == 1.0)
        numbers = nice_ticks(top / unit)
        scale = {"type": "linear", "domain": [0, top], "nice": False}
        ticks = [round(number * unit, 6) for number in numbers]
        words = [f"{formatting.trimmed(number)}{formatting.NBSP}{t(name)}" if number else "0" for number in numbers]
    names = dict(zip((f"{tick:.2f}" for tick in ticks), words, strict=True))
    written = ",".join(f"'{tick}':'{name}'" for tick, name in names.items())
    return {
        "type": "quantitative",
        "scale": scale,
        "axis": {
            "values": ticks,
            "grid": True,
            "labelExpr": f"{{{written}}}[format(datum.value,'.2f')] || ''",
            "title": t("work_page.chart.x_log" if scale["type"] == "log" else "work_page.chart.x"),
        },
    }


def time_alt(rows: Sequence[TimeRow], limit_h: float | None) -> str:
    """The chart of times in words."""
    words = [
        t(
            "work_page.chart.alt" if row.done_h is not None else "work_page.chart.alt_none",
            name=row.name,
            time=formatting.duration(row.done_h),
            note=", ".join(note for note in row.notes if note),
        )
        for row in rows
    ]
    if limit_h is not None:
        words.append(t("work_page.chart.alt_limit", limit=formatting.duration(limit_h)))
    return " ".join(words)


def memory_chart(cards: Sequence[CardMemory], names: Mapping[str, str], *, dark: bool, faded: bool = False) -> Spec:
    """Memory of one GPU by part, each bar against the memory of its card; `names` are those of the GPUs."""
    colours = chart_colours(dark=dark, faded=faded)
    top = max(max(card.used_gb, card.whole_gb) for card in cards) * 1.04
    present = [part for part in PARTS if any(part in card.parts_gb for card in cards)]
    x = {
        "type": "quantitative",
        "scale": {"domain": [0, top], "nice": False},
        "axis": {"values": nice_ticks(top), "grid": True, "title": t("work_page.memory.x")},
    }

    def y(field: str) -> Spec:
        domain = {"domain": [0, len(cards)], "reverse": True, "nice": False}
        return {"field": field, "type": "quantitative", "scale": domain, "axis": None}

    def at(field: str) -> Spec:
        return {"field": field, **x}

    bars: list[Spec] = []
    lines: list[Spec] = []
    words: list[Spec] = []
    for index, card in enumerate(cards):
        start = 0.0
        for part in present:
            size = card.parts_gb.get(part, 0.0)
            bars.append(
                {
                    "part": t(f"work_page.part.{part}"),
                    "x0": start,
                    "x1": start + size,
                    "top": index + 0.36,
                    "bottom": index + 0.74,
                    "exact": formatting.memory(size),
                    "card": names[card.gpu],
                }
            )
            start += size
        lines.append(
            {
                "whole": card.whole_gb,
                "top": index + 0.28,
                "bottom": index + 0.82,
                "ink": colours.text if card.fits else colours.broken,
            }
        )
        name = t("work_page.memory.card", gpu=names[card.gpu], count=card.gpus)
        used = formatting.memory_of(card.used_gb, card.whole_gb)
        words.append(
            {
                "y": index + 0.02,
                "text": t("work_page.memory.fits" if card.fits else "work_page.memory.over", name=name, used=used),
                "ink": colours.text if card.fits else colours.broken,
            }
        )
    domain = [t(f"work_page.part.{part}") for part in present]
    layers: list[Spec] = [
        {
            "data": {"values": bars},
            "mark": {"type": "rect", "stroke": colours.page, "strokeWidth": 1},
            "encoding": {
                "x": at("x0"),
                "x2": {"field": "x1"},
                "y": y("top"),
                "y2": {"field": "bottom"},
                "color": {
                    "field": "part",
                    "type": "nominal",
                    "scale": {"domain": domain, "range": [colours.memory[part] for part in present]},
                    "legend": {
                        "title": None,
                        "orient": "top",
                        "columns": {"expr": "width<460?2:4"},
                        "columnPadding": 14,
                        "offset": 10,
                    },
                },
                "tooltip": [
                    tip("card", "column.gpu"),
                    tip("part", "work_page.memory.part"),
                    tip("exact", "work_page.memory.size"),
                ],
            },
        },
        {
            "data": {"values": lines},
            "mark": {"type": "rule", "strokeWidth": 2.5},
            "encoding": {
                "x": at("whole"),
                "y": y("top"),
                "y2": {"field": "bottom"},
                "color": {"field": "ink", "type": "nominal", "scale": None},
            },
        },
        {
            "data": {"values": words},
            "mark": text_mark(align="left", baseline="top", fontWeight=600, limit={"expr": "width"}),
            "encoding": {"x": {"value": 0}, "y": y("y"), "text": {"field": "text"}, "color": ink("ink")},
        },
    ]
    rest = _MEMORY_REST_PX + (22 if len(present) > 4 else 0)
    return themed(layers, colours, height=MEMORY_STEP_PX * len(cards) + rest, faded=faded)


def memory_alt(cards: Sequence[CardMemory], names: Mapping[str, str]) -> str:
    """The chart of memory in words."""
    return " ".join(
        t(
            "work_page.memory.alt",
            name=t("work_page.memory.card", gpu=names[card.gpu], count=card.gpus),
            used=formatting.memory_of(card.used_gb, card.whole_gb),
            parts=", ".join(f"{part_words(part)} {formatting.memory(size)}" for part, size in card.parts_gb.items()),
        )
        for card in cards
    )


def part_words(part: Part) -> str:
    """Name of a part of memory."""
    return t(f"work_page.part.{part}")
