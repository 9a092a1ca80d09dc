"""Blocks of the Plan page from top to bottom: answer, figures, inputs, charts with reasons, folded tables, foot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from planner.errors import Problem
from ui import chart_view, charts, formatting, frame, inputs, number_columns, own_rows, plan_rows, short_tables, state
from ui.formatting import dollars, escaped
from ui.group_parts import Group, group_of
from ui.i18n import t
from ui.plan_spot import spot_lines
from ui.remedies import remedies
from ui.view import View, way_name

_BADGE = {"hybrid": "green", "local": "blue", "cloud": "orange", "optimal": "violet"}


def problem_box(problems: Sequence[Problem], groups: Sequence[Group]) -> None:
    """What is wrong with the inputs: field, value, what is expected. Fields on the page repeat it in place."""
    cells = [cell for group in groups for cell in group.inputs]
    lines = "\n".join(f"- {_problem_line(problem, cells)}" for problem in problems)
    st.error(f"**{t('problem.title')}**\n\n{lines}", icon=":material/error:")


def answer(view: View, *, outdated: bool, searching: bool = False) -> None:
    """Title, sentence, what the last change moved, and whether something better is still looked for."""
    title, sentence = view.title(), dollars(view.sentence())
    if outdated:
        st.badge(t("answer.outdated"), icon=":material/history:", color="gray")
        st.title(f":gray[{title}]", anchor=False)
        st.markdown(f":gray[{sentence}]")
        return
    st.title(title, anchor=False)
    more = f" :gray[{t('best.under_way')}]" if searching else ""
    st.markdown(f"{sentence}{_moved(view)}{more}")


def _moved(view: View) -> str:
    """What the total was before the last change, until the next one."""
    if view.recommended is None:
        return ""
    total = formatting.money(view.recommended["tco_usd"], view.currency, fine=True)
    code, asked = view.currency.code, json.dumps(view.document, default=str)
    shown = st.session_state.get("shown_total", (code, total, "", asked))
    if shown[0] != code:  # the same money in another currency has not moved
        shown = (code, total, "", asked)
    elif shown[3] == asked:  # what the best mix makes of it was not moved by a change
        shown = (code, total, shown[2], asked)
    elif shown[1] != total:
        shown = (code, total, shown[1], asked)
    st.session_state["shown_total"] = shown
    return f" :gray[{dollars(t('answer.was', total=shown[2]))}]" if shown[2] else ""


def figures(view: View) -> None:
    """Total, cash at the start, when the key run is done, energy."""
    way, currency = view.recommended, view.currency
    if way is None:
        return
    months = view.report["horizon_months"]
    places = frame.grid("four_figures")
    _metric(
        places,
        t("figure.total", months=months),
        formatting.money(way["tco_usd"], currency),
        _likely(way, view),
    )
    _metric(
        places,
        t("figure.cash"),
        formatting.money(way["cash_at_start_usd"], currency, fine=True),
        t("figure.monthly", amount=formatting.money(_monthly_usd(way), currency)),
    )
    job = view.longest_run(way)
    _metric(
        places,
        t("figure.key_run" if view.is_key(job) else "figure.long_run"),
        formatting.duration(job["time_to_train_h"]),
        limit_words(job),
    )
    _metric(
        places,
        t("figure.energy"),
        formatting.energy(way["energy_kwh"]),
        formatting.carbon(way["kg_co2e"]),
    )


def _metric(places: Any, label: str, value: str, pill: str) -> None:
    places.metric(label, value, pill, delta_color="off", delta_arrow="off", border=True)


def _monthly_usd(way: Mapping[str, Any]) -> float:
    """Running costs, instalments and lease payments of a median month."""
    running = sorted(month["opex_usd"] + month["financing_usd"] for month in way["months"])
    return float(running[len(running) // 2])


def _likely(way: Mapping[str, Any], view: View) -> str:
    if way["tco_low_usd"] is None:
        return t("figure.no_range")
    return t("figure.likely", range=formatting.money_range(way["tco_low_usd"], way["tco_high_usd"], view.currency))


def limit_words(job: Mapping[str, Any]) -> str:
    """Likely time of a job of the report, and its limit where it has one."""
    low_h, high_h, deadline_h = job["low_h"], job["high_h"], job["deadline_h"]
    if deadline_h is None:
        return t("figure.span", span=formatting.duration_range(low_h, high_h))
    return formatting.duration_within(low_h, high_h, deadline_h)


def impossible(view: View) -> None:
    """One red box: why no way works, a button that makes it possible, and the last answer that worked."""
    lines = []
    for way in view.strategies:
        lines += [f"- **{way_name(way)}**: {escaped(reason)}" for reason in view.problem_words(way)]
    st.error(f"**{t('impossible.title')}**\n\n" + "\n".join(lines), icon=":material/error:")
    _ways_out(view)
    last = state.last_answer()
    if last is not None:
        earlier = View(last.report, last.document, view.catalog, view.currency)
        st.badge(t("answer.outdated"), icon=":material/history:", color="gray")
        st.markdown(f":gray[**{earlier.title()}** · {dollars(earlier.sentence()).replace('**', '')}]")


def _ways_out(view: View) -> None:
    """A button for each change that was found to make the plan possible, with what then comes out."""
    for number, remedy in enumerate(remedies(view.report, view.document, state.report_with)):
        then = View(remedy.report, remedy.document, view.catalog, view.currency)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                remedy.label(),
                key=f"remedy_{number}",
                on_click=state.put,
                args=(remedy.typed(),),
                type="secondary" if number else "primary",
            )
            st.markdown(f":gray[{dollars(remedy.sentence(_outcome_words(then)))}]", width="content")


def _outcome_words(view: View) -> str:
    way = view.recommended
    total = formatting.money(way["tco_usd"], view.currency) if way else ""
    return t("remedy.result", title=view.title(), total=total)


def input_groups(groups: Sequence[Group], problems: Sequence[Problem], view: View | None) -> None:
    """The four groups as popovers, each ending with the answer, because on a phone it covers the page."""
    with frame.grid("fours_groups"):
        for group in groups:
            _group(group, problems, view)


def _group(group: Group, problems: Sequence[Problem], view: View | None) -> None:
    label = dollars(t("group.label", name=t(f"group.{group.id}"), summary=group.summary))
    with st.popover(label, icon=group.icon, width="stretch", key=f"group_{group.id}"):
        st.markdown(f"**{t(f'group.{group.id}')}** :gray[{t(f'group.{group.id}_about')}]")
        inputs.show(group.main, problems)
        advanced = st.expander(t("group.advanced"), key=f"advanced_{group.id}", on_change="rerun")
        if advanced.open:  # two dozen fields that nobody sees would be drawn after every change
            with advanced:
                inputs.show(group.advanced, problems)
                _more(group, problems)
        if group.id == "work":
            st.page_link(frame.PAGES / "work.py", label=t("jobs.link"), icon=":material/table:")
        paths = state.typed_paths(lambda path: group_of(path) == group.id)
        if paths:
            st.button(
                t("group.reset"),
                key=f"reset_{group.id}",
                on_click=state.reset,
                args=(paths,),
                type="tertiary",
                icon=":material/undo:",
            )
        st.markdown(_answer_line(problems, view))


def _more(group: Group, problems: Sequence[Problem]) -> None:
    """Subjects to choose from: one at a time is drawn, and any in which something is wrong."""
    if not group.more:
        return
    titles = {subject.id: subject.title for subject in group.more}
    key = f"more_{group.id}"
    if st.session_state.get(key) not in titles:  # another scenario may lack the subject that was open
        st.session_state.pop(key, None)
    chosen = st.pills(t("group.more"), list(titles), format_func=titles.__getitem__, key=key)
    for subject in group.more:
        if subject.id == chosen or problems:
            cells = subject.inputs
            if subject.id == chosen or any(inputs.cell_of(filter(None, cells), problem) for problem in problems):
                st.markdown(f"**{subject.title}** :gray[{t(f'more_about.{subject.id}')}]")
                inputs.show(cells, problems)


def _answer_line(problems: Sequence[Problem], view: View | None) -> str:
    if problems:
        return f":red-badge[:material/error: {t('answer.faulty')}]"
    if view is None or view.recommended is None:
        return f":red-badge[:material/error: {t('answer.none')}]"
    way = view.recommended
    total = formatting.money(way["tco_usd"], view.currency)
    return dollars(f":{_BADGE[way['kind']]}-badge[{way_name(way)}] **{total}** :gray[{_likely(way, view)}]")


def own_measurements(view: View) -> None:
    """A line where own measurements are in use: how many jobs rest on them, and where they are compared."""
    files = own_rows.used()
    if not files:
        return
    jobs = {
        job["id"]
        for way in view.strategies
        for job in way["jobs"]
        if any(source.startswith(own_rows.MARK) for source in job["sources"])
    }
    words = {"files": escaped(", ".join(files))}
    if len(jobs) > 1:
        line = t("accuracy.own.plan.many", count=len(jobs), **words)
    else:
        line = t("accuracy.own.plan.one", **words) if jobs else t("accuracy.own.plan.none", **words)
    with st.container(horizontal=True, vertical_alignment="center", key="own_measurements"):
        st.markdown(f":small[:gray[{line}]]", width="content")
        frame.next_page("accuracy.py", t("accuracy.own.link"))


def charts_and_reasons(view: View, *, outdated: bool) -> None:
    """Two rows: a chart with its finding on the left, words or a small table on the right."""
    st.space("small")
    dark = st.context.theme.type == "dark"
    months = view.report["horizon_months"]
    left, right = frame.columns("costs", [1.65, 1], gap="large")
    bars = plan_rows.cost_bars(view)
    with left:
        st.markdown(f"### {dollars(view.cost_heading())}", anchors=False)
        chart = charts.cost_chart(bars, horizon_months=months, currency=view.currency, dark=dark, faded=outdated)
        chart_view.show(chart, key="cost_chart", title=t("chart.cost.name"), alt=charts.cost_alt(bars, view.currency))
    with right, st.container(border=True, key="why"):
        st.markdown(f"### {t('why.title')}", anchors=False)
        st.markdown("\n".join(f"- {dollars(reason)}" for reason in view.reasons()))
        share = formatting.percent(view.recommended["estimated_share"]) if view.recommended else ""
        pills = [f":gray-badge[:material/query_stats: {t('why.estimated', share=share)}]"]
        if overlapping := view.overlapping():
            words = t("why.overlap", ways=overlapping)
            pills.append(f":gray-badge[:material/compare_arrows: {words}]")
        st.markdown("  \n".join(pills))
    lines, rings = plan_rows.spend_lines(view), plan_rows.rings(view)
    left, right = frame.columns("spent", [1.65, 1], gap="large")
    with left:
        st.markdown(f"### {dollars(plan_rows.spend_heading(view))}", anchors=False)
        chart = charts.spend_chart(lines, rings, currency=view.currency, dark=dark, faded=outdated)
        chart_view.show(
            chart, key="spend_chart", title=t("chart.spend.name"), alt=charts.spend_alt(lines, rings, view.currency)
        )
    with right:
        st.markdown(f"### {t('ways.title')}", anchors=False)
        short_tables.show(plan_rows.ways_table(view))
        rate = formatting.rate(view.figures.get("discount_rate"))
        st.markdown(f":small[:gray[{t('ways.note', rate=rate)}]]")
        years = plan_rows.cash_table(view)
        if len(years) > 1:
            st.markdown(f"### {t('cash.title')}", anchors=False)
            short_tables.show(years)
            st.markdown(f":small[:gray[{t('cash.note')}]]")


def details(view: View) -> None:
    """Folded: every job and where it runs, every cost line and figure with its sources, what was not chosen."""
    tables = [
        ("jobs", plan_rows.job_rows, t("details.jobs_note")),
        ("lines", plan_rows.line_rows, t("details.lines_note")),
        ("figures", plan_rows.figure_rows, ""),
    ]
    for id, rows, note in tables if view.feasible else tables[2:]:  # where no way works, its costs mean nothing
        folded = st.expander(t(f"details.{id}"), key=f"details_{id}", on_change="rerun")
        if folded.open:  # long tables are made only for those who look at them
            with folded:
                found = rows(view)
                columns = number_columns.right(found)
                st.dataframe(pd.DataFrame(found), hide_index=True, key=f"{id}_table", column_config=columns)
                st.markdown(f":small[:gray[{note}]]" if note else "")
                if id == "jobs" and (interrupted := spot_lines(view)):
                    st.markdown(f"**{t('details.spot')}**\n" + "".join(f"\n- {line}" for line in interrupted))
                if id == "jobs" and (limits := plan_rows.bottleneck_lines(view)):
                    st.markdown(f"**{t('details.bottlenecks')}**\n" + "".join(f"\n- {line}" for line in limits))
    if view.feasible:
        folded = st.expander(t("details.alternatives"), key="details_alternatives", on_change="rerun")
        if folded.open:
            folded.markdown("\n".join(f"- {dollars(sentence)}" for sentence in view.alternatives()))
    warnings = view.report["warnings"]
    if warnings:
        folded = st.expander(t("details.warnings", count=len(warnings)), key="details_warnings", on_change="rerun")
        if folded.open:
            folded.markdown("\n".join(f"- {note}" for note in plan_rows.note_lines(view)))


def foot(view: View) -> None:
    """What "likely" means, and how old the catalog is."""
    date = formatting.date(view.report["catalog_as_of"])
    st.markdown(f":small[:gray[{t('foot', date=date)}]]")


def _problem_line(problem: Problem, cells: Sequence[inputs.Input]) -> str:
    cell = inputs.cell_of(cells, problem)
    if cell is not None:
        return t("problem.labelled", label=escaped(cell.label), sentence=inputs.sentence(cell, problem))
    if not problem.found:
        return escaped(problem.expected)
    return t("problem.line", field=problem.field, found=escaped(problem.found), expected=escaped(problem.expected))
