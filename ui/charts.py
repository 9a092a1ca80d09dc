"""Figures of the Plan page from plain rows: stacked cost of the ways, and money spent month by month."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypedDict

import altair as alt

from ui import formatting
from ui.formatting import Currency
from ui.i18n import t
from ui.palette import COST_ROLES, Palette, palette

FONT = "'Source Sans', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', 'WenQuanYi Zen Hei', sans-serif"
TEXT_PX = 13
BAR_STEP_PX = 92
BAR_REST_PX = 96  # legend, axis and its title
LINES_PX = 270
FADED = 0.45
_DASH = {"hybrid": [1, 0], "local": [6, 4], "cloud": [2, 3]}
_STROKE = {"hybrid": 3.0, "local": 2.0, "cloud": 2.0}
_PX_PER_CHARACTER = 5.8  # of the chart font at 12 px: says whether a label fits


class CostBar(TypedDict):
    """One way with its cost by role; amounts in USD, `low_usd` and `high_usd` None where no range is known."""

    way: str
    label: str
    parts_usd: dict[str, float]
    total_usd: float
    low_usd: float | None
    high_usd: float | None


class SpendLine(TypedDict):
    """Money spent so far by one way: (month, USD) from month 0 on."""

    way: str
    label: str
    points: list[tuple[float, float]]


class Ring(TypedDict):
    """A crossing of two lines with its sentence."""

    month: float
    spent_usd: float
    text: str


def themed(chart: alt.LayerChart, colours: Palette, *, faded: bool) -> alt.LayerChart:
    """The one look of all charts: no frame, no ticks, no axis lines, grid along the value axis only.

    A faded chart shows an answer that is older than the inputs.
    """
    label = {"labelColor": colours.secondary, "labelFontSize": TEXT_PX, "labelFont": FONT}
    title = {"titleColor": colours.secondary, "titleFontSize": TEXT_PX, "titleFont": FONT, "titleFontWeight": 400}
    axis = {"domain": False, "ticks": False, "grid": False, "gridColor": colours.grid, "labelPadding": 6}
    return chart.configure(
        background="transparent",
        font=FONT,
        padding=0,
        view=alt.ViewConfig(stroke=None),
        mark=alt.MarkConfig(opacity=FADED) if faded else alt.Undefined,
        axis=alt.AxisConfig(**axis, **label, **title, titlePadding=10),
        legend=alt.LegendConfig(
            labelColor=colours.secondary, labelFontSize=TEXT_PX, labelFont=FONT, symbolType="square", symbolSize=90
        ),
    )


def cost_chart(
    bars: Sequence[CostBar], *, horizon_months: int, currency: Currency, dark: bool, faded: bool = False
) -> alt.LayerChart:
    """Stacked cost lines of each way from zero, its name above, its likely range as a whisker below."""
    colours = palette(dark=dark)
    scale, unit_key = _unit(max(max(bar["total_usd"], bar["high_usd"] or 0.0) for bar in bars), currency)
    parts, ways = _bar_rows(bars, colours, scale, currency)
    lowest = min(0.0, *(row["x0"] for row in parts)) if parts else 0.0
    top = max(max(way["total"] * 1.2, (way["high"] or 0.0) * 1.03) for way in ways) or 1.0
    ticks = nice_ticks(top)
    x_scale = alt.Scale(domain=[lowest, top], nice=False, zero=True)
    title = t(f"chart.cost.{unit_key}", currency=currency.code, months=horizon_months)
    x_axis = alt.Axis(values=ticks, grid=True, title=title, titleAnchor="start")
    height = BAR_STEP_PX * len(ways) + BAR_REST_PX
    y_scale = alt.Scale(domain=[0, len(ways)], reverse=True, nice=False)
    roles = [role for role in COST_ROLES if any(bar["parts_usd"].get(role) for bar in bars)]
    labels = [t(f"role.{role}") for role in roles]

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", scale=y_scale, axis=None)

    def px(length: str) -> str:
        return f"({length})/{top - lowest}*width"

    bar_base = alt.Chart(alt.Data(values=parts))
    rect = bar_base.mark_rect(stroke=colours.page, strokeWidth=1).encode(
        x=alt.X("x0:Q", scale=x_scale, axis=x_axis),
        x2="x1:Q",
        y=y("top"),
        y2="bottom:Q",
        color=alt.Color(
            "role:N",
            scale=alt.Scale(domain=labels, range=[colours.fill[role] for role in roles]),
            legend=alt.Legend(
                title=None, orient="top", columns=alt.ExprRef(expr="width<460?2:5"), columnPadding=14, offset=10
            ),
        ),
        tooltip=[
            alt.Tooltip("way:N", title=t("chart.tooltip.way")),
            alt.Tooltip("role:N", title=t("chart.tooltip.part")),
            alt.Tooltip("exact:N", title=t("chart.tooltip.amount")),
        ],
    )
    inside = bar_base.mark_text(fontSize=12, fontWeight=600, font=FONT).encode(
        x=alt.X("middle:Q", scale=x_scale),
        y=y("centre"),
        text="number:N",
        color=alt.Color("ink:N", scale=None),
        opacity=alt.condition(
            f"{px('abs(datum.x1-datum.x0)')} > 8 + 7*length(datum.number)", alt.value(1), alt.value(0)
        ),
    )
    base = alt.Chart(alt.Data(values=ways))
    name = base.mark_text(
        align="left", fontSize=TEXT_PX, fontWeight=600, font=FONT, color=colours.text, limit=alt.ExprRef(expr="width")
    ).encode(x=alt.value(0), y=y("name_y"), text="label:N")
    total = base.mark_text(align="left", dx=8, fontSize=14, fontWeight=700, font=FONT, color=colours.text).encode(
        x=alt.X("end:Q", scale=x_scale), y=y("centre"), text="total_text:N"
    )
    layers = [rect, inside, name, total]
    if any(way["high"] is not None for way in ways):
        layers += _whiskers(base, colours, x_scale, y, px)
    chart = alt.layer(*layers).resolve_scale(color="independent").properties(height=height)
    return themed(chart, colours, faded=faded)


def spend_chart(
    lines: Sequence[SpendLine],
    rings: Sequence[Ring],
    *,
    horizon_months: int,
    currency: Currency,
    dark: bool,
    faded: bool = False,
) -> alt.LayerChart:
    """Money spent so far by each way, names at the line ends, a ring where one becomes dearer than another."""
    colours = palette(dark=dark)
    highest = max((spent for line in lines for _, spent in line["points"]), default=1.0)
    scale, unit_key = _unit(highest, currency)
    top = (highest / scale or 1.0) * 1.12
    rows = [
        {
            "way": line["way"],
            "month": month,
            "spent": spent / scale,
            "label": line["label"],
            "exact": formatting.money(spent, currency, 3),
        }
        for line in lines
        for month, spent in line["points"]
    ]
    ways = [line["way"] for line in lines]
    end = max((month for line in lines for month, _ in line["points"]), default=float(horizon_months))
    x_scale = alt.Scale(domain=[0, end * 1.17], nice=False)
    y_scale = alt.Scale(domain=[min(0.0, *(row["spent"] for row in rows)), top], nice=False)
    x = alt.X("month:Q", scale=x_scale, axis=alt.Axis(values=month_ticks(end), title=t("chart.spend.x"), format="d"))
    y = alt.Y(
        "spent:Q",
        scale=y_scale,
        axis=alt.Axis(
            values=nice_ticks(top),
            grid=True,
            title=t(f"chart.spend.{unit_key}", currency=currency.code),
            titleAngle=0,
            titleAlign="left",
            titleAnchor="end",
            titleX=0,
            titleY=-14,
        ),
    )
    colour = alt.Color("way:N", scale=alt.Scale(domain=ways, range=[colours.way[way] for way in ways]), legend=None)
    line_layer = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(interpolate="linear")
        .encode(
            x=x,
            y=y,
            color=colour,
            strokeDash=alt.StrokeDash(
                "way:N", scale=alt.Scale(domain=ways, range=[_DASH[way] for way in ways]), legend=None
            ),
            strokeWidth=alt.StrokeWidth(
                "way:N", scale=alt.Scale(domain=ways, range=[_STROKE[way] for way in ways]), legend=None
            ),
            tooltip=[
                alt.Tooltip("label:N", title=t("chart.tooltip.way")),
                alt.Tooltip("month:Q", title=t("chart.spend.x")),
                alt.Tooltip("exact:N", title=t("chart.tooltip.spent")),
            ],
        )
    )
    names = (
        alt.Chart(alt.Data(values=_line_ends(lines, colours, scale, top)))
        .mark_text(align="left", dx=8, fontSize=TEXT_PX, fontWeight=600, font=FONT)
        .encode(
            x=alt.X("month:Q", scale=x_scale),
            y=alt.Y("spent:Q", scale=y_scale),
            text="label:N",
            color=alt.Color("ink:N", scale=None),
        )
    )
    layers: list[alt.Chart] = [line_layer, names, *_rings(rings, colours, x_scale, y_scale, scale, end)]
    chart = alt.layer(*layers).resolve_scale(color="independent").properties(height=LINES_PX)
    return themed(chart, colours, faded=faded)


def cost_alt(bars: Sequence[CostBar], currency: Currency) -> str:
    """The cost chart in words."""
    return " ".join(
        t(
            "chart.cost.alt" if bar["low_usd"] is not None else "chart.cost.alt_plain",
            label=bar["label"],
            total=formatting.money(bar["total_usd"], currency),
            range=formatting.money_range(bar["low_usd"], bar["high_usd"], currency),
        )
        for bar in bars
    )


def spend_alt(lines: Sequence[SpendLine], rings: Sequence[Ring], currency: Currency) -> str:
    """The chart of money spent in words."""
    ends = [
        t("chart.spend.alt", label=line["label"], spent=formatting.money(line["points"][-1][1], currency))
        for line in lines
    ]
    return " ".join([*ends, *(ring["text"].replace("\n", " ") + "." for ring in rings)])


def nice_ticks(highest: float) -> list[float]:
    """Three to five round values from 0 to at most `highest`."""
    if highest <= 0:
        return [0.0]
    power = 10 ** math.floor(math.log10(highest))
    step = next(power * factor for factor in (0.2, 0.25, 0.5, 1.0, 2.0, 2.5, 5.0) if highest / (power * factor) < 5)
    return [round(step * i, 10) for i in range(int(highest / step + 1e-9) + 1)]


def month_ticks(end: float) -> list[float]:
    """Months to label: steps that divide a year, five to seven of them."""
    step = next((step for step in (1, 2, 3, 6, 12, 24, 36, 60) if end / step <= 7), 120)
    return [float(month) for month in range(0, int(end) + 1, step)]


def _unit(highest_usd: float, currency: Currency) -> tuple[float, str]:
    """USD per axis unit, and the key of its title: plain, thousand or million."""
    highest = currency.of(highest_usd)
    factor, key = (1e6, "million") if highest >= 2e6 else (1e3, "thousand") if highest >= 2e3 else (1.0, "plain")
    return factor * currency.usd_per_unit, key


def _bar_rows(
    bars: Sequence[CostBar], colours: Palette, scale: float, currency: Currency
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    parts: list[dict[str, Any]] = []
    ways: list[dict[str, Any]] = []
    for index, bar in enumerate(bars):
        right = left = 0.0
        for role in COST_ROLES:
            amount = bar["parts_usd"].get(role, 0.0) / scale
            if not amount:
                continue
            start = right if amount > 0 else left
            right, left = (right + amount, left) if amount > 0 else (right, left + amount)
            parts.append(
                {
                    "way": bar["label"],
                    "role": t(f"role.{role}"),
                    "x0": min(start, start + amount),
                    "x1": max(start, start + amount),
                    "middle": start + amount / 2,
                    "top": index + 0.30,
                    "bottom": index + 0.56,
                    "centre": index + 0.43,
                    "number": formatting.plain(round(amount, 1 if abs(amount) < 10 else 0), 2),
                    "exact": formatting.price(amount * scale, currency),
                    "ink": colours.text_on[role],
                }
            )
        low, high = bar["low_usd"], bar["high_usd"]
        ranged = low is not None and high is not None
        ways.append(
            {
                "label": bar["label"],
                "total": bar["total_usd"] / scale,
                "end": right,
                "low": low / scale if low is not None and ranged else None,
                "high": high / scale if high is not None and ranged else None,
                "name_y": index + 0.16,
                "centre": index + 0.43,
                "whisker_y": index + 0.68,
                "cap_top": index + 0.64,
                "cap_bottom": index + 0.72,
                "total_text": formatting.money(bar["total_usd"], currency),
                "range_text": t(
                    "chart.cost.range",
                    low=formatting.plain((low or 0.0) / scale, 2),
                    high=formatting.plain((high or 0.0) / scale, 2),
                ),
            }
        )
    return parts, ways


def _whiskers(base: alt.Chart, colours: Palette, x_scale: alt.Scale, y: Any, px: Any) -> list[alt.Chart]:
    ranged = base.transform_filter("isValid(datum.high)")
    rule = ranged.mark_rule(color=colours.text, strokeWidth=1.5).encode(
        x=alt.X("low:Q", scale=x_scale), x2="high:Q", y=y("whisker_y")
    )
    caps = [
        ranged.mark_rule(color=colours.text, strokeWidth=1.5).encode(
            x=alt.X(f"{end}:Q", scale=x_scale), y=y("cap_top"), y2="cap_bottom:Q"
        )
        for end in ("low", "high")
    ]
    needed = f"(16 + {_PX_PER_CHARACTER}*length(datum.range_text))"
    left_fits = f"{px('datum.low')} > {needed}"
    right_fits = f"width - {px('datum.high')} > {needed}"
    texts = [
        ranged.mark_text(
            align=align, dx=dx, fontSize=TEXT_PX - 1, font=FONT, color=colours.secondary, baseline="middle"
        ).encode(
            x=alt.X(f"{end}:Q", scale=x_scale),
            y=y("whisker_y"),
            text="range_text:N",
            opacity=alt.condition(shown, alt.value(1), alt.value(0)),
        )
        for end, align, dx, shown in (
            ("low", "right", -7, left_fits),
            ("high", "left", 7, f"!({left_fits}) && {right_fits}"),
        )
    ]
    return [rule, *caps, *texts]


def _line_ends(lines: Sequence[SpendLine], colours: Palette, scale: float, top: float) -> list[dict[str, Any]]:
    """Names at the line ends, pushed apart so that none covers another."""
    gap = top * 17 / LINES_PX
    ends = sorted(((line["points"][-1], line) for line in lines if line["points"]), key=lambda pair: pair[0][1])
    rows: list[dict[str, Any]] = []
    floor = -math.inf
    for (month, spent), line in ends:
        position = max(spent / scale, floor + gap)
        floor = position
        rows.append({"month": month, "spent": position, "label": line["label"], "ink": colours.way_text[line["way"]]})
    return rows


def _rings(
    rings: Sequence[Ring], colours: Palette, x_scale: alt.Scale, y_scale: alt.Scale, scale: float, end: float
) -> list[alt.Chart]:
    layers: list[alt.Chart] = []
    for ring in rings:
        late = ring["month"] > end * 0.5
        row = {"month": ring["month"], "spent": ring["spent_usd"] / scale, "text": ring["text"].split("\n")}
        base = alt.Chart(alt.Data(values=[row])).encode(
            x=alt.X("month:Q", scale=x_scale), y=alt.Y("spent:Q", scale=y_scale)
        )
        layers.append(
            base.mark_point(size=90, filled=True, fill=colours.page, stroke=colours.text, strokeWidth=2, opacity=1)
        )
        layers.append(
            base.mark_text(
                align="right" if late else "left",
                baseline="bottom" if late else "top",
                dx=-6 if late else 10,
                dy=-12 - 14 * (len(row["text"]) - 1) if late else 8,
                fontSize=TEXT_PX - 1,
                font=FONT,
                color=colours.text,
                lineHeight=15,
            ).encode(text="text:N")
        )
    return layers
