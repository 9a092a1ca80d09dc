"""Blocks of the Work page from top to bottom: answer, figures, one job's times and memory, all candidates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

import streamlit as st

from planner.report.job_places import JobPlace
from ui import catalog_tables, formatting, frame, work_charts, work_words
from ui.formatting import dollars, escaped
from ui.i18n import t
from ui.plan_rows import role_of_term
from ui.plans import Plan
from ui.view import View
from ui.work_charts import TimeRow
from ui.work_data import cards, shown, used_by

_WIDE = [1.65, 1]
_FEW_JOBS, _SHORT_NAMES = 4, 40  # up to here all names stand beside each other, on a phone too
_TABLE_PX = 460


def answer(view: View, *, outdated: bool) -> None:
    """Title, sentence and four figures."""
    title, words = work_words.title(view), dollars(work_words.sentence(view))
    if outdated:
        st.badge(t("answer.outdated"), icon=":material/history:", color="gray")
    st.title(f":gray[{title}]" if outdated else title, anchor=False)
    st.markdown(f":gray[{words}]" if outdated else words)
    if view.recommended is None:
        return
    left, right = frame.columns("work_figures", 2)
    with left:
        places = list(st.columns(2, wrap=False))
    with right:
        places += st.columns(2, wrap=False)
    for place, (label, value, pill) in zip(places, work_words.figures(view, view.recommended), strict=True):
        place.metric(label, value, pill, delta_color="off", delta_arrow="off", border=True)


def job(view: View, plan: Plan, *, outdated: bool) -> None:
    """One job: its time and cost at each place, and its memory; another job is drawn without the rest of the page."""
    st.fragment(partial(_job, view, plan, outdated=outdated))()


def _job(view: View, plan: Plan, *, outdated: bool) -> None:
    chosen = _choice(plan.places.jobs)
    places = plan.places.of(chosen)
    way = None if view.recommended is None else view.recommended["kind"]
    compared, used = shown(places, way), used_by(places, way)
    names = work_words.card_names(view, compared)
    if not compared:
        st.markdown(t("work_page.nowhere", job=escaped(chosen)))
        return
    dark = bool(st.context.theme.type == "dark")
    left, right = frame.columns("work_job", _WIDE, gap="large")
    impossible = [
        f"- **{escaped(work_words.place_words(view, place, names))}**: {escaped(work_words.reason_words(view, place))}"
        for place in compared
        if not place.runs
    ]
    with left:
        st.markdown(f"### {dollars(work_words.time_heading(view, places, compared, names))}", anchors=False)
        named = work_words.heading_place(view, compared)
        if named is not None:
            st.markdown(dollars(work_words.known_words(view, named, plan.places.full_usd(named))))
            rows = [_time_row(view, plan, place, names) for place in compared]
            limit_h = compared[0].limit_h
            chart = work_charts.time_chart(rows, limit_h, dark=dark, faded=outdated)
            st.vega_lite_chart(chart, theme=None, key="work_time_chart", alt=work_charts.time_alt(rows, limit_h))
        if impossible:
            st.markdown("\n".join(impossible))
    with right:
        on_cards = cards(compared)
        if on_cards:
            st.markdown(f"### {work_words.memory_heading(on_cards, used, names)}", anchors=False)
            chart = work_charts.memory_chart(on_cards, names, dark=dark, faded=outdated)
            alt = work_charts.memory_alt(on_cards, names)
            st.vega_lite_chart(chart, theme=None, key="work_memory_chart", alt=alt)
            st.markdown(f":small[:gray[{t('work_page.memory.note')}]]")
        else:
            st.markdown(t("work_page.memory.unknown"))
        if used is not None and (limit := plan.places.bottleneck(used)):
            place = escaped(work_words.place_words(view, used, names))
            st.markdown(t("work_page.bottleneck", place=place, text=escaped(str(limit["text"]))))
    st.markdown(f":small[:gray[{t('work_page.note')}]]")


def _choice(jobs: tuple[str, ...]) -> str:
    """The job that is looked at: of few beside each other, else from a list."""
    if len(jobs) == 1:
        return jobs[0]
    if len(jobs) <= _FEW_JOBS and sum(map(len, jobs)) <= _SHORT_NAMES:
        chosen = st.segmented_control(
            t("work_page.job"),
            jobs,
            default=jobs[0],
            key=f"work_job_{'_'.join(jobs)}",
            required=True,
            persist_state="session",
        )
    else:
        chosen = st.selectbox(t("work_page.job"), jobs, key="work_job_list", persist_state="session")
    return chosen if chosen in jobs else jobs[0]


def _time_row(view: View, plan: Plan, place: JobPlace, names: Mapping[str, str]) -> TimeRow:
    used = view.recommended is not None and view.recommended["kind"] in place.ways
    ruled_out = work_words.short_reason(place) if place.reasons else ""
    notes = (ruled_out, "")
    if place.done_h is not None:
        span = formatting.duration_range(place.done_low_h, place.done_high_h)
        first = (
            t("work_page.status.used") if used else "",
            t(f"term.{view.offer(place.resource).term}") if place.rented else "",
            t("work_page.likely", span=span) if place.done_low_h is not None else formatting.duration(place.done_h),
            work_words.basis_words(place),
        )
        second = (ruled_out, work_words.cost_words(view, place, plan.places.full_usd(place)))
        notes = (_joined(first), _joined(second))
    return TimeRow(
        name=work_words.place_words(view, place, names),
        role=role_of_term(view.offer(place.resource).term) if place.rented else "owned",
        done_h=place.done_h,
        low_h=place.done_low_h,
        high_h=place.done_high_h,
        notes=notes,
        ruled_out=ruled_out,
    )


def _joined(words: Iterable[str]) -> str:
    return " · ".join(word for word in words if word)


def candidates(view: View, plan: Plan) -> None:
    """Folded: every job on every machine and offer."""
    st.fragment(partial(_candidates, view, plan))()


def _candidates(view: View, plan: Plan) -> None:
    folded = st.expander(t("work_page.all"), key="work_candidates", on_change="rerun")
    if not folded.open:
        return
    found = [place for job in plan.places.jobs for place in _in_order(plan.places.of(job))]
    rows = [
        work_words.candidate_row(view, place, plan.places.full_usd(place), plan.places.bottleneck(place))
        for place in found
    ]
    with folded:
        catalog_tables.table(
            rows,
            key="work_candidates_table",
            height=_TABLE_PX,
            numbers=work_words.numbers(),
            widths={t("work_page.column.bottleneck"): 420, t("work_page.column.reason"): 420},
        )
        st.markdown(f":small[:gray[{t('work_page.all_note', count=len(rows))}]]")


def _in_order(places: tuple[JobPlace, ...]) -> list[JobPlace]:
    """Those that are on time first, the cheapest first."""
    return sorted(places, key=lambda one: (bool(one.reasons), one.marginal_usd is None, one.marginal_usd or 0.0))


def foot(view: View) -> None:
    """What "likely" means, and how old the catalog is."""
    date = formatting.date(view.report["catalog_as_of"])
    st.markdown(f":small[:gray[{t('foot', date=date)}]]")
