"""Cleaner and quicker plans than the best mix, and what each costs: looked for only for those who look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import streamlit as st

from ui import formatting, frame, progress_line, short_tables
from ui.formatting import NBSP, dollars, escaped
from ui.front_chart import Point, front_alt, front_chart
from ui.i18n import t
from ui.plans import Plan
from ui.view import Row, View

KEY = "front"
_LEAST_SHARE = 0.005  # of a job's runs, from which a place is named
Front = Literal["co2", "turnaround"]


def show(view: View, plan: Plan, *, outdated: bool) -> None:
    """Folded; of the plan with the best mix, from which the search goes on."""
    if not plan.with_best_mix.known or not plan.report["optimal"]["found"]:
        return
    folded = st.expander(t("front.title"), key="details_front", on_change="rerun")
    if not folded.open:
        return
    with folded:
        if not plan.front.known:
            progress_line.look(KEY, plan.front)
            return
        fronts: Mapping[str, Any] = plan.front.answer or {}
        _front(view, "turnaround", fronts["turnaround"], outdated=outdated)
        _front(view, "co2", fronts["co2"], outdated=outdated)
        st.markdown(f":small[:gray[{t('front.note')}]]")


def _front(view: View, front: Front, entries: Sequence[Row], *, outdated: bool) -> None:
    st.markdown(f"### {dollars(heading(view, front, entries))}", anchors=False)
    if len(entries) < 2:
        return
    points = points_of(view, front, entries)
    dark = st.context.theme.type == "dark"
    title = t(f"front.{front}.axis", unit=_carbon(entries).name)
    chart = front_chart(points, title=title, currency=view.currency, dark=dark, faded=outdated)
    left, right = frame.columns(f"front_{front}", [1, 1.65], gap="large")
    left.vega_lite_chart(chart, theme=None, key=f"front_{front}", alt=front_alt(points, view.currency))
    with right:
        short_tables.show(rows(view, front, entries))


def heading(view: View, front: Front, entries: Sequence[Row]) -> str:
    """How much the best of the front gains, and what it costs."""
    if len(entries) < 2:
        return t(f"front.{front}.none")
    first, last = entries[0], entries[-1]
    amount = formatting.money(last["present_value_usd"] - first["present_value_usd"], view.currency, fine=True)
    if front == "co2":
        less = 1 - last["kg_co2e"] / first["kg_co2e"]
        return t("front.co2.heading", amount=amount, share=formatting.percent(less))
    times = formatting.plain(first["slowdown"] / last["slowdown"], 2)
    return t("front.turnaround.heading", amount=amount, times=times)


def points_of(view: View, front: Front, entries: Sequence[Row]) -> list[Point]:
    """The plans of a front as points, ways by their names, others by their numbers."""
    kinds = {way["id"]: way["kind"] for way in view.report["strategies"]}
    carbon = _carbon(entries)
    return [
        Point(
            cost_usd=entry["present_value_usd"],
            value=entry["kg_co2e"] / carbon.base_units if front == "co2" else entry["slowdown"],
            words=_value(front, entry),
            label=_name(view, number, entry),
            way=kinds.get(entry["strategy"] or ""),
        )
        for number, entry in enumerate(entries, start=1)
    ]


def _carbon(entries: Sequence[Row]) -> formatting.Scale:
    return formatting.carbon_scale(max(entry["kg_co2e"] for entry in entries))


def _value(front: Front, entry: Row) -> str:
    if front == "co2":
        return formatting.carbon(entry["kg_co2e"])
    return t("front.times", times=formatting.plain(entry["slowdown"], 3))


def _name(view: View, number: int, entry: Row) -> str:
    ways = {way["id"]: way["kind"] for way in view.report["strategies"]}
    return t(f"way.{ways[entry['strategy']]}") if entry["strategy"] in ways else str(number)


def rows(view: View, front: Front, entries: Sequence[Row]) -> list[dict[str, str]]:
    """Each plan of a front: what it costs, what it gains, machines and places."""
    return [
        {
            t("front.plan"): _name(view, number, entry),
            t("ways.value"): dollars(formatting.money(entry["present_value_usd"], view.currency, fine=True)),
            t(f"front.{front}.column"): _value(front, entry) if front == "co2" else f"{entry['slowdown']:.2f}",
            t("front.own"): escaped(", ".join(_machines(entry))) or t("front.nothing"),
            t("front.where"): escaped("; ".join(_places(view, job) for job in entry["jobs"])),
        }
        for number, entry in enumerate(entries, start=1)
    ]


def _machines(entry: Row) -> list[str]:
    return [f"{machine['count']}{NBSP}×{NBSP}{machine['id']}" for machine in entry["machines"]]


def _places(view: View, job: Row) -> str:
    shown = sorted((place for place in job["places"] if place["share"] >= _LEAST_SHARE), key=lambda one: -one["share"])
    names = [view.offer(place["resource"]).instance if place["rented"] else place["resource"] for place in shown]
    if len(shown) > 1:
        shares = [formatting.percent(place["share"]) for place in shown]
        names = [t("front.share", share=share, place=name) for share, name in zip(shares, names, strict=True)]
    return t("front.job", job=job["id"], places=", ".join(names))
