"""Where two ways of a plan cost the same: a chart over the use of owned machines, and what would turn the order."""

from __future__ import annotations

import streamlit as st

from ui import formatting, frame
from ui.break_even_chart import Meeting, UseLine, cost_at, use_alt, use_chart
from ui.formatting import dollars, escaped
from ui.i18n import t
from ui.plans import Plan
from ui.view import Row, View, way_name


def show(view: View, plan: Plan, *, outdated: bool) -> None:
    """Folded: computed only for those who look."""
    if len(view.distinct) < 2:
        return
    folded = st.expander(t("details.break_even"), key="details_break_even", on_change="rerun")
    if not folded.open:
        return
    shown = {way["id"] for way in view.distinct}
    pairs = [entry for entry in plan.break_even() if {entry["owning"], entry["renting"]} <= shown]
    with folded:
        _switches_and_pair(view, {f"{entry['owning']} {entry['renting']}": entry for entry in pairs}, outdated)


def _switches_and_pair(view: View, pairs: dict[str, Row], outdated: bool) -> None:
    chosen = first = _first(view, pairs)
    left, right = frame.columns("break_even_switches", [1.65, 1])
    if len(pairs) > 1:
        chosen = left.radio(
            t("break_even.pair"),
            list(pairs),
            index=list(pairs).index(first),
            format_func=lambda pair: t("break_even.and", **_names(view, pairs[pair])) if pair in pairs else pair,
            key="break_even_pair",
            horizontal=True,
        )
    discounted = right.toggle(t("break_even.discounted"), value=True, key="break_even_discounted")
    entry = pairs.get(chosen, pairs[first])
    left, right = frame.columns("break_even", [1.65, 1], gap="large")
    with left:
        _chart(view, entry, discounted, outdated)
    with right:
        st.markdown("\n".join(f"- {dollars(line)}" for line in sentences(view, entry, discounted=discounted)))
    st.markdown(f":small[:gray[{t('break_even.note')}]]")


def _first(view: View, pairs: dict[str, Row]) -> str:
    """The pair of the recommended way and the next best, or any with the recommended one."""
    recommended, next_best = view.report["recommended"], view.report["runner_up"]
    sides = {name: {entry["owning"], entry["renting"]} for name, entry in pairs.items()}
    both = [name for name, pair in sides.items() if pair == {recommended, next_best}]
    return (both + [name for name, pair in sides.items() if recommended in pair] + list(pairs))[0]


def _names(view: View, entry: Row) -> dict[str, str]:
    ways = {way["id"]: way_name(way) for way in view.strategies}
    return {"owning": ways[entry["owning"]], "renting": ways[entry["renting"]]}


def lines_of(view: View, entry: Row, *, discounted: bool) -> tuple[UseLine, UseLine]:
    """Both sides' cost over the use of the owned machines."""
    kinds = {way["id"]: way["kind"] for way in view.strategies}
    names = _names(view, entry)
    owning, renting = (
        UseLine(
            way=kinds[entry[side]],
            label=names[side],
            points=[
                (round(100.0 * point["utilisation"], 9), point[f"{side}_{'present_value_' if discounted else ''}usd"])
                for point in entry["curve"]
            ],
        )
        for side in ("owning", "renting")
    )
    return owning, renting


def _chart(view: View, entry: Row, discounted: bool, outdated: bool) -> None:
    if not entry["curve"]:
        st.markdown(f":gray[{_use_sentence(view, entry, entry['use'][int(discounted)])}]")
        return
    owning, renting = lines_of(view, entry, discounted=discounted)
    meeting = meeting_of(entry, owning, discounted=discounted)
    planned = 100.0 * entry["planned_utilisation"]
    dark = st.context.theme.type == "dark"
    chart = use_chart(owning, renting, meeting, planned, currency=view.currency, dark=dark, faded=outdated)
    alt = use_alt(owning, renting, meeting, planned, view.currency)
    st.vega_lite_chart(chart, theme=None, key="break_even_chart", alt=alt)


def meeting_of(entry: Row, owning: UseLine, *, discounted: bool) -> Meeting | None:
    """The point where the lines meet with its words; None where they don't."""
    use = entry["use"][int(discounted)]
    if use["scale"] is None:
        return None
    percent = 100.0 * use["utilisation"]
    text = t("chart.use.same", percent=formatting.percent(use["utilisation"]), runs=_runs(use))
    return Meeting(percent=percent, cost_usd=cost_at(owning["points"], percent), text=text)


def sentences(view: View, entry: Row, *, discounted: bool) -> list[str]:
    """What turns the order of two ways: use, rental price and month; or that nothing does."""
    use, price, payback = (entry[part][int(discounted)] for part in ("use", "rental_price", "payback"))
    return [
        _use_sentence(view, entry, use),
        _price_sentence(view, entry, price),
        _payback_sentence(view, entry, payback),
    ]


def _use_sentence(view: View, entry: Row, use: Row) -> str:
    """Where the lines meet, and which is lower beyond."""
    names = _names(view, entry)
    if use["reason"] is not None:
        most = _most(entry)
        within = use["reason"] == "owning_never" and most < 1
        key = "break_even.use.owning_never_within" if within else f"break_even.use.{use['reason']}"
        return t(key, **names, most=formatting.percent(most))
    line = t(
        "break_even.use.same",
        **names,
        percent=formatting.percent(use["utilisation"]),
        runs=_runs(use),
        hours=formatting.plain(use["busy_h"]),
        months=view.report["horizon_months"],
        planned=formatting.percent(entry["planned_utilisation"]),
        cheaper=names[_cheaper_beyond(entry, use)],
    )
    further = [formatting.percent(scale * entry["planned_utilisation"]) for scale in use["further_scales"]]
    return line + (t("break_even.use.further", percents=formatting.listed(further)) if further else "")


def _cheaper_beyond(entry: Row, use: Row) -> str:
    """The side that costs less at the next point of the curve."""
    kind = "present_value_usd" if use["discounted"] else "usd"
    beyond = next((point for point in entry["curve"] if point["scale"] > use["scale"]), entry["curve"][-1])
    return "owning" if beyond[f"owning_{kind}"] <= beyond[f"renting_{kind}"] else "renting"


def _most(entry: Row) -> float:
    """How busy the machines are when one of either way has no hours left; the last binary digit is none."""
    return round(entry["curve"][-1]["utilisation"], 9) if entry["curve"] else 1.0


def _runs(use: Row) -> str:
    """Runs a month of the one job, or how many times the planned runs of all."""
    if len(use["runs"]) == 1:
        return t("break_even.runs", runs=formatting.trimmed(use["runs"][0]["runs_per_month"], 3))
    return t("break_even.scale", scale=formatting.plain(use["scale"], 2))


def _price_sentence(view: View, entry: Row, price: Row) -> str:
    names = _names(view, entry)
    if price["reason"] is not None:
        return t(f"break_even.price.{price['reason']}", **names)
    offers = [
        t(
            "break_even.price.offer",
            price=formatting.price(offer["price_usd_per_h"], view.currency),
            now=formatting.price(offer["price_usd_per_h"] / price["factor"], view.currency),
            offer=escaped(view.offer_words(offer["id"])),
        )
        for offer in price["offers"]
    ]
    if len(offers) == 1:
        return t("break_even.price.one", **names, offer=offers[0])
    factor = formatting.plain(price["factor"], 2)
    return t("break_even.price.many", **names, factor=factor, offers="; ".join(offers))


def _payback_sentence(view: View, entry: Row, payback: Row) -> str:
    names = _names(view, entry)
    if payback["reason"] is not None:
        return t(f"break_even.payback.{payback['reason']}", **names, months=view.report["horizon_months"])
    return t("break_even.payback.month", **names, month=payback["month"])
