"""How sure the baseline is, what moves it most and what would turn it: computed after the page is drawn, and kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import streamlit as st

from planner.report.certainty import nearest_flips
from planner.strategy.movers import RENTAL_LEVEL, SPEED_LEVEL
from ui import formatting, frame, progress_line, short_tables, whatif_charts
from ui.formatting import dollars, escaped
from ui.i18n import t
from ui.view import View, way_name
from ui.whatif_charts import Bar
from ui.whatif_rows import Card

_BARS, _FLIPS = 8, 5
_WORDS = {
    RENTAL_LEVEL: "rental_level",
    SPEED_LEVEL: "speed_level",
    "discount_rate": "discount_rate",
    r"jobs\.(?P<subject>[^.]+)\.runs_per_month": "runs",
    r"jobs\.(?P<subject>[^.]+)\.attempts_per_run": "attempts",
    r"machines\.(?P<subject>.+)\.gpu_price_usd": "gpu_price",
    r"machines\.(?P<subject>.+)\.host_price_usd": "host_price",
    r"machines\.(?P<subject>.+)\.residual_(gpu|host)\.\d+": "residual",
    r"machines\.(?P<subject>.+)\.load_w": "load_w",
    r"machines\.(?P<subject>.+)\.installation_usd": "installation",
    r"machines\.(?P<subject>.+)\.maintenance_share_per_year": "maintenance",
    r"site\.electricity_usd_per_kwh": "electricity",
    r"site\.pue": "pue",
    r"staff\.cost_usd_per_fte_year": "wage",
    r"staff\.fte_per_machine": "fte_machine",
    r"staff\.fte_cloud": "fte_cloud",
    r"providers\.(?P<subject>.+)\.storage_usd_per_gb_month": "storage",
    r"(offers|providers)\.(?P<subject>.+)\.startup_s": "startup",
}
"""Inputs by their path, and what they are called; others are shown by their path."""
_SHARES = re.compile(r"discount_rate|.*\.(residual_(gpu|host)\.\d+|maintenance_share_per_year)")


def show(baseline: Card) -> None:
    """Of the baseline, where some way works; until it is found, how far that is."""
    if baseline.plan is None or baseline.view is None or baseline.view.recommended is None:
        return
    view, found = baseline.view, baseline.plan.certainty.answer
    if found is None:
        progress_line.look("certainty", baseline.plan.certainty)
        return
    left, right = frame.columns("whatif_certainty", [1.65, 1], gap="large")
    with left:
        _tornado(view, found["sensitivity"])
    with right:
        _chances(view, found["uncertainty"])
        _turns(view, found)


def _tornado(view: View, entries: list[dict[str, Any]]) -> None:
    st.markdown(f"### {t('whatif.tornado.title')}", anchors=False)
    bars = [_bar(view, entry) for entry in entries[:_BARS]]
    if not bars or view.recommended is None:
        st.markdown(t("whatif.tornado.none"))
        return
    base_usd = view.recommended["present_value_usd"]
    dark = st.context.theme.type == "dark"
    chart = whatif_charts.tornado_chart(bars, base_usd, title_key="tornado", currency=view.currency, dark=dark)
    alt = whatif_charts.tornado_alt(bars, view.currency)
    st.vega_lite_chart(chart, theme=None, key="whatif_tornado", alt=alt, width="stretch")
    assumed = t("whatif.tornado.assumed") if any(entry["assumed"] for entry in entries[:_BARS]) else ""
    st.markdown(f":small[:gray[{t('whatif.tornado.note')} {assumed}]]")


def _bar(view: View, entry: Mapping[str, Any]) -> Bar:
    ends = {}
    for end in ("low", "high"):
        becomes = entry[f"recommended_{end}"]
        usd = entry[f"present_value_{end}_usd"]
        if becomes is not None and becomes != view.report["recommended"]:
            text = t("whatif.tornado.turn", way=_way(view, becomes), input=label(entry), value=_value(view, entry, end))
            ends[end] = whatif_charts.Turn(usd=usd, way=_kind(view, becomes), text=text)
    return Bar(
        label=f"{label(entry)}{' *' if entry['assumed'] else ''}",
        low=_value(view, entry, "low"),
        high=_value(view, entry, "high"),
        low_usd=entry["present_value_low_usd"],
        high_usd=entry["present_value_high_usd"],
        turns=tuple(ends.values()),
    )


def _chances(view: View, entry: Mapping[str, Any]) -> None:
    st.markdown(f"### {t('whatif.chances.title')}", anchors=False)
    short_tables.show(chance_rows(view, entry))
    samples = f"{entry['samples']:,}"
    st.markdown(f":small[:gray[{t('whatif.chances.note', samples=samples)}]]")


def distinct_ways(view: View, entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Ways of an entry that a page shows, the likeliest first: of those that are the same plan only one."""
    ways = [way for way in entry["strategies"] if any(one["id"] == way["id"] for one in view.distinct)]
    return sorted(ways, key=lambda way: -float(way["cheapest_probability"]))


def chance_rows(view: View, entry: Mapping[str, Any]) -> list[dict[str, str]]:
    """How often each way is the cheapest, and its likely present value."""
    return [
        {
            t("whatif.chances.way"): _way(view, way["id"]),
            t("whatif.chances.cheapest"): futures(way["cheapest_probability"]),
            t("whatif.chances.likely"): formatting.dollars(
                formatting.money_range(way["present_value_usd_p10"], way["present_value_usd_p90"], view.currency)
            ),
        }
        for way in distinct_ways(view, entry)
    ]


def futures(share: float) -> str:
    """Futures of 100, in which few and most are never none and all.

    >>> futures(0.894), futures(0.001), futures(1.0)
    ('89', 'under 1', '100')
    """
    if 0 < share < 0.005:
        return t("whatif.chances.few")
    if 0.995 <= share < 1:
        return t("whatif.chances.most")
    return f"{100 * share:.0f}"


def _turns(view: View, found: Mapping[str, Any]) -> None:
    st.markdown(f"### {t('whatif.flips.title')}", anchors=False)
    nearest = nearest_flips(found, _FLIPS)
    if not nearest:
        st.markdown(t("whatif.flips.none", least=found["flips"]["least_factor"], most=found["flips"]["most_factor"]))
        return
    st.markdown("\n".join(f"- {dollars(_flip_words(view, flip))}" for flip in nearest))
    st.markdown(f":small[:gray[{t('whatif.flips.named')}]]")


def _flip_words(view: View, flip: Mapping[str, Any]) -> str:
    planned = "" if flip["input"] in (RENTAL_LEVEL, SPEED_LEVEL) else _value(view, flip, "value")
    words = t(
        f"whatif.flips.{flip['direction']}{'_nothing' if flip['becomes'] is None else ''}",
        way="" if flip["becomes"] is None else _way(view, flip["becomes"]),
        input=label(flip),
        at=_value(view, flip, "at"),
    )
    return words if not planned else t("whatif.flips.planned", words=words, value=planned)


def label(entry: Mapping[str, Any]) -> str:
    """What an input is called."""
    for path, name in _WORDS.items():
        if match := re.fullmatch(path, entry["input"]):
            return t(f"whatif.input.{name}", subject=escaped(match.groupdict().get("subject") or ""))
    return escaped(entry["input"])


def _value(view: View, entry: Mapping[str, Any], key: str) -> str:
    """A value of an input with its unit."""
    value, unit = float(entry[key]), entry["unit"]
    if entry["input"] in (RENTAL_LEVEL, SPEED_LEVEL):
        return t("whatif.input.times", value=formatting.percent(value))
    if _SHARES.fullmatch(entry["input"]):
        return formatting.percent(value)
    if unit.startswith("USD"):
        return formatting.money(value, view.currency, fine=True)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _way(view: View, id: str) -> str:
    return way_name(next(way for way in view.report["strategies"] if way["id"] == id))


def _kind(view: View, id: str) -> str:
    return str(next(way["kind"] for way in view.report["strategies"] if way["id"] == id))
