"""Blocks of the Timeline page from top to bottom: switches, answer, cash, load, waits, a typical month, tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from ui import (
    chart_view,
    deferred,
    formatting,
    frame,
    number_columns,
    short_tables,
    state,
    timeline_box,
    timeline_cash,
    timeline_charts,
    timeline_gantt,
    timeline_tables,
    timeline_words,
)
from ui.fiscal import PERIODS
from ui.formatting import dollars, escaped
from ui.i18n import t
from ui.plan_waiting import overflow_sentences
from ui.plans import Plan
from ui.timeline_data import Timeline
from ui.view import Row, View, way_name

_WIDE = [1.65, 1]

Place = tuple[str, str]
"""A type of machine and a job on it."""


def nothing() -> None:
    """There are no jobs yet."""
    st.title(t("timeline.empty.title"), anchor=False)
    st.markdown(t("timeline.empty.sentence"))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            t("empty.example"),
            key="timeline_example",
            on_click=state.open_example,
            args=(state.FIRST_EXAMPLE,),
            icon=":material/description:",
        )
        frame.next_page("plan.py", t("timeline.to_plan"))


def broken(*, shown: bool) -> None:
    """The inputs are faulty: the Plan page says where; what is shown, if anything, is the last good plan."""
    if not shown:
        st.title(t("title.broken"), anchor=False)
    st.warning(t("timeline.broken_shown" if shown else "timeline.broken"), icon=":material/history:")
    frame.next_page("plan.py", t("timeline.to_plan"))


def switches(view: View) -> tuple[Row, str]:
    """Which way, and by month, quarter or year."""
    ways = {way["id"]: way for way in view.strategies}
    usual = view.recommended or next((way for way in view.strategies if way["months"]), view.strategies[0])
    with st.container(horizontal=True, vertical_alignment="center", key="timeline_switches"):
        chosen = st.segmented_control(
            t("timeline.way"),
            list(ways),
            default=usual["id"],
            format_func=lambda id: way_name(ways[id]),
            key=f"timeline_way_{usual['id']}",  # a recommendation that changes is followed
            required=True,
            label_visibility="collapsed",
            persist_state="session",
        )
        period = st.segmented_control(
            t("timeline.period"),
            list(PERIODS),
            default="month",
            format_func=lambda period: t(f"timeline.by.{period}"),
            key="timeline_period",
            required=True,
            label_visibility="collapsed",
            persist_state="session",
        )
    return ways[chosen or usual["id"]], period or "month"


def impossible(view: View, way: Row) -> None:
    """Why a way doesn't work; its numbers, where it has some, stand below."""
    reasons = "\n".join(f"- {escaped(reason)}" for reason in view.problem_words(way))
    key = "timeline.impossible_shown" if way["months"] else "timeline.impossible"
    st.warning(f"**{t(key, way=way_name(way))}**\n\n{reasons}", icon=":material/error:")


def answer(timeline: Timeline, plan: Plan, *, outdated: bool) -> None:
    """Title, sentence and four figures."""
    way = timeline.way["id"]
    waits = plan.simulations.waits(way) if plan.simulations.known(way) else None
    title = timeline_words.title(timeline, waits)
    st.title(f":gray[{title}]" if outdated else title, anchor=False)
    st.markdown(dollars(timeline_words.sentence(timeline, waits)))
    places = frame.grid("four_timeline_figures")
    for label, value, pill in timeline_words.figures(timeline, waits):
        places.metric(label, value, pill, delta_color="off", delta_arrow="off", border=True)


def cash(timeline: Timeline, period: str, *, outdated: bool) -> None:
    """Cash as a chart, beside it by fiscal year."""
    view = timeline.view
    left, right = frame.columns("timeline_cash", _WIDE, gap="large")
    periods = timeline.cash(period)
    with left:
        st.markdown(f"### {dollars(timeline_words.cash_heading(timeline, period))}", anchors=False)
        chart = timeline_cash.cash_chart(
            periods,
            period=period,
            horizon_months=timeline.horizon_months,
            currency=view.currency,
            dark=_dark(),
            faded=outdated,
        )
        alt = timeline_cash.cash_alt(periods, period, view.currency)
        chart_view.show(chart, key="timeline_cash_chart", title=t("timeline.cash.name"), alt=alt)
    with right:
        st.markdown(f"### {t('timeline.years.title')}", anchors=False)
        short_tables.show(timeline_tables.year_rows(timeline))
        st.markdown(f":small[:gray[{timeline_words.years_note(timeline)}]]")


def machines(timeline: Timeline, plan: Plan, *, outdated: bool) -> Place | None:
    """Load beside waits; says which job on which machines was chosen, None where nothing is owned."""
    loads = timeline.loads()
    if not loads:
        if timeline.way["machines"]:
            st.markdown(f":gray[{t('timeline.idle')}]")
        return None
    places = _places(timeline)
    left, right = frame.columns("timeline_machines", _WIDE, gap="large")
    with left:
        st.markdown(f"### {timeline_words.load_heading(loads)}", anchors=False)
        chart = timeline_charts.load_chart(loads, dark=_dark(), faded=outdated)
        alt = timeline_charts.load_alt(loads)
        chart_view.show(chart, key="timeline_load_chart", title=t("timeline.load.name"), alt=alt)
    with right:
        place = places[0]
        choice = st.container()  # stays where it isn't needed, so that the chart below keeps its place
        if len(places) > 1:
            place = choice.selectbox(
                t("timeline.wait.of"),
                places,
                format_func=lambda place: t("timeline.wait.place", job=place[1], machine=place[0]),
                key=f"timeline_place_{timeline.way['id']}",
                label_visibility="collapsed",
                persist_state="session",
            )
        known = plan.simulations.known(timeline.way["id"])
        simulate = partial(plan.simulations.waits, timeline.way["id"])
        deferred.show(partial(_waits, timeline, plan, place), ready=known, compute=simulate)
    return place


def _places(timeline: Timeline) -> list[Place]:
    jobs = [job for job in timeline.way["jobs"] if not job["rented"]]
    return [(job["resource"], job["id"]) for job in sorted(jobs, key=lambda job: -job["runs"])]


def _waits(timeline: Timeline, plan: Plan, place: Place, known: bool) -> None:
    """Waits by month. Until they are simulated, those of before stand there in grey."""
    way, simulations = timeline.way["id"], plan.simulations
    if not known:
        st.markdown(f":gray-badge[:material/hourglass_empty: {t('timeline.simulating')}]")
        last = _last(timeline)
        if last is not None and last["place"] == place:
            _wait_chart(last["job"], faded=True)
        return
    jobs = simulations.waits(way).get(place[0], {"jobs": []})["jobs"]
    job = next((job for job in jobs if job["id"] == place[1]), None)
    if job is None:
        st.markdown(t("timeline.wait.not_simulated", job=escaped(place[1]), machine=escaped(place[0])))
        return
    st.markdown(f"### {timeline_words.wait_heading(job, timeline.loads())}", anchors=False)
    _wait_chart(job, faded=False)
    only = {place[0]: {"jobs": [job]}}
    for line in overflow_sentences(timeline.view, [timeline.way], {way: only}):
        st.markdown(dollars(line))
    st.session_state["timeline_last"] = {
        "of": _of(timeline),
        "place": place,
        "job": job,
        "course": simulations.courses(way)[place[0]],
    }


def _of(timeline: Timeline) -> tuple[str, str]:
    return str(timeline.view.report["name"]), str(timeline.way["id"])


def _last(timeline: Timeline) -> Mapping[str, Any] | None:
    """What was simulated before the last change of the same scenario and way."""
    last: Mapping[str, Any] | None = st.session_state.get("timeline_last")
    return last if last is not None and last["of"] == _of(timeline) else None


def _wait_chart(job: Mapping[str, Any], *, faded: bool) -> None:
    chart = timeline_charts.wait_chart(job["by_month"], job=job["id"], dark=_dark(), faded=faded)
    alt = timeline_charts.wait_alt(job["by_month"], job["id"])
    chart_view.show(chart, key="timeline_wait_chart", title=t("timeline.wait.name"), alt=alt)


def course(timeline: Timeline, plan: Plan, place: Place) -> None:
    """One simulated course of a typical month."""
    way, simulations = timeline.way["id"], plan.simulations
    if simulations.known(way):
        found = simulations.courses(way).get(place[0])
        faded = False
    else:
        last = _last(timeline)
        found, faded = (last["course"], True) if last is not None and last["place"] == place else (None, True)
    if found is None:
        return
    heading = timeline_words.gantt_heading(found)
    st.markdown(f"### :gray[{heading}]" if faded else f"### {heading}", anchors=False)
    if found["bars"]:
        chart = timeline_gantt.gantt_chart(found, dark=_dark(), faded=faded)
        st.vega_lite_chart(chart, theme=None, key="timeline_gantt", alt=timeline_gantt.gantt_alt(found))
    words = [t("timeline.gantt.note")]
    if found["repairs"]:
        words.append(t("timeline.gantt.repairs"))
    if found["count"] > timeline_gantt.MOST_MACHINES:
        words.append(t("timeline.gantt.more_machines", shown=timeline_gantt.MOST_MACHINES, count=found["count"]))
    if not found["complete"]:
        words.append(t("timeline.gantt.more_attempts"))
    if any(job["rented"] for job in timeline.way["jobs"]):
        words.append(t("timeline.gantt.rented"))
    st.markdown(f":small[:gray[{' '.join(words)}]]")


def questions(timeline: Timeline, plan: Plan, place: Place) -> None:
    """Two more people, one more machine."""
    way = timeline.way["id"]
    if plan.simulations.known(way) and not plan.simulations.waits(way).get(place[0], {"jobs": []})["jobs"]:
        return
    timeline_box.show(timeline, plan, place[0])


def tables(timeline: Timeline, plan: Plan, place: Place | None) -> None:
    """Folded: the rows behind the charts."""
    folded = st.expander(t("timeline.table.title"), key="timeline_table", on_change="rerun")
    if not folded.open:
        return
    way = timeline.way["id"]
    waits = plan.simulations.waits(way) if place is not None and plan.simulations.known(way) else {}
    rows = timeline_tables.month_rows(timeline, waits, place)
    columns = number_columns.right(rows)
    folded.dataframe(pd.DataFrame(rows), hide_index=True, key="timeline_months", column_config=columns)
    folded.download_button(
        t("timeline.table.jobs"),
        plan.jobs_csv,
        file_name=f"{frame.file_stem(str(plan.report['name']))}-jobs.csv",
        mime="text/csv",
        key="timeline_jobs_csv",
        on_click="ignore",
        icon=":material/table:",
    )


def foot(timeline: Timeline) -> None:
    """Where the figures come from."""
    date = formatting.date(timeline.view.report["catalog_as_of"])
    foot = t("timeline.foot_simulated" if timeline.loads() else "timeline.foot", date=date)
    st.markdown(f":small[:gray[{foot}]]")


def _dark() -> bool:
    return bool(st.context.theme.type == "dark")
