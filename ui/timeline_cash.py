"""Cash by month, quarter or year as a chart: stacked by role, a bar that dwarfs the others cut, resale as outline."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ui import formatting
from ui.charts import FADED, TITLE_ABOVE, Spec, axis_unit, chart_colours, ink, nice_ticks, text_mark, themed, tip
from ui.formatting import Currency
from ui.i18n import t
from ui.palette import COST_ROLES, Palette
from ui.timeline_data import Period

CHART_PX = 380
_DWARFS = 2.5  # times the next higher bar, from which a bar is cut
_CUT_AT = 1.6  # times the highest of the others
_RESALE_CUT_AT = 0.6  # times the highest bar, where resale is more than that bar
_HALF = 0.4  # of a bar's width, where periods are 1 apart
_GAP = 0.012  # of the axis: the white gap in a bar that is cut
_MOST_TICKS = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Ends of the axis. Bars beyond them are cut. [USD]"""

    top_usd: float
    bottom_usd: float  # negative, or 0


def cut_of(periods: Sequence[Period]) -> Cut:
    """Where to cut, so that a few bars don't flatten the others: above at most a quarter of them."""
    paid = sorted((period.paid_usd for period in periods), reverse=True)
    top = paid[0]
    for index in range(max(1, len(paid) // 4)):
        if index + 1 < len(paid) and paid[index + 1] > 0 and paid[index] > _DWARFS * paid[index + 1]:
            top = paid[index + 1] * _CUT_AT
    lowest = min(period.resale_usd for period in periods)
    bottom = -top * _RESALE_CUT_AT if -lowest > top else lowest
    return Cut(top_usd=top, bottom_usd=min(bottom, 0.0))


def cash_chart(
    periods: Sequence[Period],
    *,
    period: str,
    horizon_months: int,
    currency: Currency,
    dark: bool,
    faded: bool = False,
) -> Spec:
    """Bars of what is paid, by role; what comes in from resale as outline below zero."""
    colours = chart_colours(dark=dark, faded=faded)
    cut = cut_of(periods)
    scale, unit_key = axis_unit(max(cut.top_usd, -cut.bottom_usd), currency)
    top, bottom = cut.top_usd / scale * 1.06 or 1.0, cut.bottom_usd / scale * 1.08
    rows = [row for entry in periods for row in _parts(entry, cut, scale, period, currency)]
    roles = [role for role in COST_ROLES if any(role in entry.parts_usd for entry in periods)]
    domain = [0.5, len(periods) + 0.5]
    x = {"type": "quantitative", "scale": {"domain": domain, "nice": False}, "axis": _x_axis(periods, period)}
    ticks = nice_ticks(top)
    below = [-tick for tick in ticks[1:] if tick <= -bottom]
    y = {
        "type": "quantitative",
        "scale": {"domain": [bottom, top], "nice": False},
        "axis": {
            "values": [*reversed(below), *ticks],
            "grid": True,
            "title": t(f"timeline.cash.y.{unit_key}", currency=currency.code, period=t(f"timeline.a.{period}")),
            **TITLE_ABOVE,
        },
    }
    colour = {
        "field": "role",
        "type": "nominal",
        "scale": {
            "domain": [part_name(role) for role in COST_ROLES],
            "range": [colours.fill[role] for role in COST_ROLES],
        },
        "legend": {
            "values": [part_name(role) for role in roles],
            "title": None,
            "orient": "top",
            "columns": {"expr": "width<460?2:5"},
            "columnPadding": 14,
            "offset": 34,
        },
    }
    box = {"x": {"field": "x0", **x}, "x2": {"field": "x1"}, "y": {"field": "y0", **y}, "y2": {"field": "y1"}}
    tooltip = [
        tip("when", "timeline.cash.when"),
        tip("role", "chart.tooltip.part"),
        tip("exact", "chart.tooltip.amount"),
    ]
    layers: list[Spec] = [
        *_afterwards(periods, horizon_months, colours, x),
        {
            "data": {"values": rows},
            "mark": {"type": "rect", "stroke": colours.page, "strokeWidth": {"expr": f"width>{len(periods)}*9?1:0"}},
            "encoding": {**box, "color": colour, "tooltip": tooltip},
        },
    ]
    if gaps := [gap for entry in periods for gap in _gaps(entry, cut, scale, top - bottom)]:
        mark = {"type": "rect", "color": colours.page, "opacity": 1}
        layers.append({"data": {"values": gaps}, "mark": mark, "encoding": box})
    if resale := [_resale(entry, cut, scale, period, currency) for entry in periods if entry.resale_usd < 0]:
        outline = {
            "type": "rect",
            "fill": colours.fill["owned"],
            "fillOpacity": 0,
            "stroke": colours.fill["owned"],
            "strokeWidth": 1.8,
            "strokeOpacity": FADED if faded else 1,
        }
        layers.append({"data": {"values": resale}, "mark": outline, "encoding": {**box, "tooltip": tooltip}})
    zero = {"type": "rule", "color": colours.secondary, "strokeWidth": 1}
    layers.append({"data": {"values": [{"y0": 0}]}, "mark": zero, "encoding": {"y": {"field": "y0", **y}}})
    if words := _words(periods, cut, scale, currency, colours):
        mark = text_mark(fontSize=12, align={"expr": "datum.align"}, dx={"expr": "datum.dx"}, baseline="middle")
        encoding = {
            "x": {"field": "x", **x},
            "y": {"field": "y", **y},
            "text": {"field": "text"},
            "color": ink("ink"),
        }
        layers.append({"data": {"values": words}, "mark": mark, "encoding": encoding})
    return themed(layers, colours, height=CHART_PX, faded=faded)


def part_name(role: str) -> str:
    """Words for a role where resale stands apart."""
    return t("timeline.purchase") if role == "owned" else t(f"role.{role}")


def period_name(entry: Period, period: str) -> str:
    """ "Month 5", "Quarter 2 (months 4–6)"."""
    key = f"timeline.name.{period}"
    return t(key, number=entry.number) if period == "month" else t(key, number=entry.label, months=months_of(entry))


def months_of(entry: Period) -> str:
    """ "4–6", or "4" where it is one month."""
    return str(entry.first) if entry.first == entry.last else f"{entry.first}{formatting.EN_DASH}{entry.last}"


def _parts(entry: Period, cut: Cut, scale: float, period: str, currency: Currency) -> list[dict[str, Any]]:
    rows, start = [], 0.0
    for role, amount in entry.parts_usd.items():
        end = start + _drawn(entry, role, cut) / scale
        rows.append(
            {
                "x0": entry.number - _HALF,
                "x1": entry.number + _HALF,
                "y0": start,
                "y1": end,
                "role": part_name(role),
                "when": period_name(entry, period),
                "exact": formatting.price(amount, currency),
            }
        )
        start = end
    return rows


def _largest(entry: Period) -> str:
    return max(entry.parts_usd, key=lambda role: entry.parts_usd[role])


def _is_cut(entry: Period, cut: Cut) -> bool:
    return entry.paid_usd > cut.top_usd * (1 + 1e-9)


def _drawn(entry: Period, role: str, cut: Cut) -> float:
    """Height of a part: of a bar that is cut the largest part is shorter, all others are as they are. [USD]"""
    amount = entry.parts_usd[role]
    if not _is_cut(entry, cut) or role != _largest(entry):
        return amount
    return max(amount - (entry.paid_usd - cut.top_usd), cut.top_usd * 0.15)


def _gaps(entry: Period, cut: Cut, scale: float, span: float) -> list[dict[str, float]]:
    """A gap in the part that is shortened, and in a resale that is."""
    sides = {"x0": entry.number - 0.48, "x1": entry.number + 0.48}
    gaps = []
    if _is_cut(entry, cut):
        below = 0.0
        for role in entry.parts_usd:
            if role == _largest(entry):
                break
            below += entry.parts_usd[role]
        middle = (below + _drawn(entry, _largest(entry), cut) * 0.75) / scale
        gaps.append({**sides, "y0": middle - _GAP * span, "y1": middle + _GAP * span})
    if entry.resale_usd < cut.bottom_usd * (1 + 1e-9):
        middle = cut.bottom_usd * 0.75 / scale
        gaps.append({**sides, "y0": middle - _GAP * span, "y1": middle + _GAP * span})
    return gaps


def _resale(entry: Period, cut: Cut, scale: float, period: str, currency: Currency) -> dict[str, Any]:
    return {
        "x0": entry.number - _HALF,
        "x1": entry.number + _HALF,
        "y0": 0.0,
        "y1": max(entry.resale_usd, cut.bottom_usd) / scale,
        "role": t("timeline.resale"),
        "when": period_name(entry, period),
        "exact": formatting.price(entry.resale_usd, currency),
    }


def _words(
    periods: Sequence[Period], cut: Cut, scale: float, currency: Currency, colours: Palette
) -> list[dict[str, Any]]:
    """What a bar that is cut, and what resale, comes to; of several the largest, so that no words meet."""
    words = []
    cuts = [entry for entry in periods if _is_cut(entry, cut)]
    if cuts:
        entry = max(cuts, key=lambda entry: entry.paid_usd)
        role = _largest(entry)
        amount = formatting.money(entry.parts_usd[role], currency, fine=True)
        text = t("timeline.cash.cut", part=part_name(role), amount=amount)
        words.append(_beside(entry, len(periods), cut.top_usd / scale, text, colours.text))
    sold = [entry for entry in periods if entry.resale_usd < 0]
    if sold:
        entry = min(sold, key=lambda entry: entry.resale_usd)
        amount = formatting.money(entry.resale_usd, currency, fine=True)
        key = "timeline.cash.resale_cut" if entry.resale_usd < cut.bottom_usd * (1 + 1e-9) else "timeline.cash.resale"
        bottom = max(entry.resale_usd, cut.bottom_usd) / scale
        words.append(_beside(entry, len(periods), bottom * 0.85, t(key, amount=amount), colours.text))
    return words


def _beside(entry: Period, count: int, y: float, text: str, colour: str) -> dict[str, Any]:
    right = entry.number > count / 2
    x = entry.number + (-_HALF if right else _HALF)
    return {
        "x": x,
        "y": y,
        "text": text,
        "align": "right" if right else "left",
        "dx": -6 if right else 6,
        "ink": colour,
    }


def _afterwards(periods: Sequence[Period], horizon_months: int, colours: Palette, x: Spec) -> list[Spec]:
    """A ground behind the periods after the horizon, and what it means."""
    after = [entry for entry in periods if entry.after]
    if not after:
        return []
    first, last = after[0].number - 0.5, after[-1].number + 0.5
    ground = {"type": "rect", "color": colours.grid, "opacity": 0.6}
    words = text_mark(fontSize=12, align="right", baseline="top", dx=-6, dy=6, color=colours.secondary, y=0)
    return [
        {
            "data": {"values": [{"x0": first, "x1": last}]},
            "mark": ground,
            "encoding": {"x": {"field": "x0", **x}, "x2": {"field": "x1"}},
        },
        {
            "data": {"values": [{"x0": last, "text": t("timeline.cash.after", months=horizon_months)}]},
            "mark": words,
            "encoding": {"x": {"field": "x0", **x}, "text": {"field": "text"}},
        },
    ]


def _x_axis(periods: Sequence[Period], period: str) -> Spec:
    count = len(periods)
    if period == "month":
        return {"values": month_marks(count), "title": t("chart.spend.x"), "format": "d"}
    step = math.ceil(count / _MOST_TICKS)
    axis = {"values": list(range(1, count + 1, step)), "title": t(f"timeline.x.{period}"), "format": "d"}
    labels = [entry.label for entry in periods]
    if any(label != str(number) for number, label in enumerate(labels, start=1)):  # those of a fiscal calendar
        return {**axis, "title": None, "labelExpr": f"split({json.dumps(labels)}[datum.value - 1], ' ')"}
    return {**axis, "labelExpr": "'Q' + datum.label"} if period == "quarter" else axis


def month_marks(count: int) -> list[int]:
    """Months to label: the first, and steps that divide a year."""
    step = next((step for step in (1, 2, 3, 6, 12) if count / step <= 8), 12)
    return [1, *range(step, count + 1, step)] if step > 1 else list(range(1, count + 1))


def cash_alt(periods: Sequence[Period], period: str, currency: Currency) -> str:
    """The chart in words: every year or quarter, of months the highest and the usual."""
    listed = periods if len(periods) <= 8 else sorted(periods, key=lambda entry: -entry.paid_usd)[:3]
    return " ".join(
        t(
            "timeline.cash.alt",
            when=period_name(entry, period),
            amount=formatting.money(entry.cash_usd, currency, fine=True),
        )
        for entry in listed
    )
