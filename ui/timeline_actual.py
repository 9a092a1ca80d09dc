"""Folded at the foot of the Timeline page: hours and invoices of past months against the way, and its rest anew."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from planner.actual.carried import Replan, scenario_yaml
from planner.actual.document import actual_document
from planner.actual.drift import Comparison
from planner.actual.planned import PlannedWay
from planner.actual.replan import replan
from planner.actual.rows import HOURS_COLUMNS, INVOICE_COLUMNS
from planner.actual.templates import hours_template, invoice_template
from planner.errors import PlannerError, Problem
from planner.scenario.load import check_document
from ui import actual_chart, actual_files, actual_rows, frame, short_tables, state
from ui.actual_files import KINDS, Kind
from ui.actual_rows import Document
from ui.formatting import dollars, escaped
from ui.i18n import t
from ui.plans import Plan
from ui.timeline_data import Timeline
from ui.view import View

_COLUMNS = {"hours": HOURS_COLUMNS, "invoice": INVOICE_COLUMNS}
_TEMPLATE_MONTHS = (1, 3, 6, 12)
_TIMES = "actual_upload_times"
_MOST_LINES = 20  # of faults; how many more there are is said


def show(timeline: Timeline, plan: Plan) -> None:
    """Read and compared only for those who look."""
    folded = st.expander(t("actual.title"), key="timeline_actual", on_change="rerun")
    if not folded.open:
        return
    with folded:
        st.markdown(t("actual.about"))
        _files(timeline, plan)
        if not actual_files.files():
            return
        found = actual_files.compared(plan, timeline.way["id"])
        for kind, problems in found.problems.items():
            _refused(kind, problems)
        if found.comparison is not None:
            _compared(timeline, plan, found.comparison)


def _files(timeline: Timeline, plan: Plan) -> None:
    """Choose, see and remove files; tables to fill in."""
    months = [count for count in _TEMPLATE_MONTHS if count < timeline.horizon_months] or [timeline.horizon_months]
    for kind, place in zip(KINDS, frame.columns("actual_files", 2, gap="large"), strict=True):
        with place:
            _upload(kind)
            st.download_button(
                t("actual.template"),
                partial(_template, timeline, plan, kind),
                file_name=f"{kind}.csv",
                mime="text/csv",
                key=f"actual_template_{kind}",
                on_click="ignore",
                icon=":material/description:",
                type="tertiary",
            )
    if len(months) > 1:
        st.segmented_control(
            t("actual.template_months"),
            months,
            default=months[min(1, len(months) - 1)],
            key="actual_months",
            required=True,
        )


def _template(timeline: Timeline, plan: Plan, kind: Kind) -> str:
    strategy = next(found for found in plan.result.strategies if found.id == timeline.way["id"])
    way, months = PlannedWay(plan.result, strategy), int(st.session_state.get("actual_months") or 1)
    make = hours_template if kind == "hours" else invoice_template
    return make(way, min(months, timeline.horizon_months))


def _upload(kind: Kind) -> None:
    """The chooser, or the file that was chosen, which stays over pages."""
    file = actual_files.files().get(kind)
    label = t(f"actual.{kind}")
    if file is not None:
        with st.container(horizontal=True, vertical_alignment="center", key=f"actual_kept_{kind}"):
            st.markdown(f"**{label}** :material/description: {escaped(file.file)}", width="content")
            st.button(
                t("actual.remove"),
                key=f"actual_remove_{kind}",
                type="tertiary",
                on_click=actual_files.remove,
                args=(kind,),
            )
        return
    key = (
        f"actual_upload_{kind}_{st.session_state.get(_TIMES, 0)}"  # a new one each time: what was taken is gone from it
    )
    st.file_uploader(
        label,
        type=["csv", "txt", "tsv"],
        key=key,
        on_change=_take,
        args=(kind, key),
        help=t("actual.help", columns=", ".join(_COLUMNS[kind])),
        max_upload_size=8,
    )


def _take(kind: Kind, key: str) -> None:
    """Callback: keep the file that was chosen."""
    upload = st.session_state[key]
    if upload is not None:
        actual_files.put(kind, upload.name, upload.getvalue())
        st.session_state[_TIMES] = st.session_state.get(_TIMES, 0) + 1


def _refused(kind: Kind, problems: tuple[Problem, ...]) -> None:
    """What is wrong with a file, row by row; it stays attached."""
    lines = [f"- {escaped(_fault(problem))}" for problem in problems[:_MOST_LINES]]
    if len(problems) > _MOST_LINES:
        lines.append(f"- {t('actual.more', count=len(problems) - _MOST_LINES)}")
    title = t("actual.refused", file=escaped(actual_files.files()[kind].file))
    st.error(f"**{title}**\n\n" + "\n".join(lines), icon=":material/error:")


def _fault(problem: Problem) -> str:
    where = [t("actual.line", line=problem.line)] if problem.line is not None else []
    place = ", ".join([*where, *([problem.field] if problem.field else [])])
    words = t("actual.fault", found=problem.found, expected=problem.expected)
    return f"{place}: {words}" if place else words


def _compared(timeline: Timeline, plan: Plan, comparison: Comparison) -> None:
    view = timeline.view
    scenario = check_document(plan.document)
    document = actual_document(scenario, plan.result, comparison)
    st.markdown(f"### {dollars(actual_rows.heading(document, view.currency))}", anchors=False)
    st.markdown(dollars(actual_rows.sentence(document, view.currency)))
    if comparison.bills:
        left, right = frame.columns("actual_money", [1.65, 1], gap="large")
        with left:
            chart = actual_chart.actual_chart(
                document["months"], currency=view.currency, dark=st.context.theme.type == "dark"
            )
            alt = actual_chart.actual_alt(document["months"], view.currency)
            st.vega_lite_chart(chart, theme=None, key="actual_chart", alt=alt)
        with right:
            st.markdown(f"#### {t('actual.money')}", anchors=False)
            short_tables.show(actual_rows.bridge_rows(document, view.currency))
        short_tables.show(actual_rows.money_rows(document, view))
        st.markdown(f":small[:gray[{t('actual.effects_note')}]]")
    if document["jobs"]:
        st.markdown(f"#### {t('actual.jobs')}", anchors=False)
        st.dataframe(pd.DataFrame(actual_rows.job_rows(document, view)), hide_index=True, key="actual_jobs")
    _notes(t("actual.notes"), actual_rows.notes(document["flags"], view))
    _rest(timeline, plan, comparison)


def _notes(title: str, sentences: list[str]) -> None:
    if sentences:
        lines = "\n".join(f"- {escaped(sentence)}" for sentence in sentences)
        st.markdown(f"**{title}**\n\n{lines}")


def _rest(timeline: Timeline, plan: Plan, comparison: Comparison) -> None:
    """The remaining months planned anew, beside what the plan had for them."""
    st.markdown(f"#### {t('actual.replan.title')}", anchors=False)
    if timeline.horizon_months < 2:
        st.markdown(t("actual.replan.over"))
        return
    usual = min(comparison.last_month + 1, timeline.horizon_months)
    month = st.number_input(
        t("actual.replan.month"), 2, timeline.horizon_months, usual, key=f"actual_month_{usual}", width=160
    )
    st.markdown(f":small[:gray[{t('actual.replan.about')}]]")
    try:
        found = replan(plan.document, check_document(plan.document), comparison, int(month))
        problems = state.problems_of(found.document)
    except PlannerError as error:
        _impossible(month, str(error))
        return
    new = state.plan_with(found.document)
    if new is None:
        _impossible(month, "; ".join(str(problem.expected) for problem in problems))
        return
    document = actual_document(check_document(plan.document), plan.result, comparison, (found, new.result))
    _planned(timeline.view, document, found)


def _impossible(month: float, reason: str) -> None:
    st.warning(escaped(t("actual.replan.refused", month=int(month), reason=reason)), icon=":material/error:")


def _planned(view: View, document: Document, found: Replan) -> None:
    short_tables.show(actual_rows.rest_rows(document, view))
    answer = document["replan"]
    _notes(t("actual.replan.carried"), actual_rows.notes(answer["carried"], view))
    _notes(t("actual.replan.left"), actual_rows.notes(answer["not_carried"], view))
    st.button(
        t("actual.replan.open", month=found.month),
        key="actual_open",
        type="primary",
        icon=":material/arrow_forward:",
        on_click=state.open_text,
        args=(scenario_yaml(found), f"from-month-{found.month}.yaml"),
    )
