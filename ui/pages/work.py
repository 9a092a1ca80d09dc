"""Work: the jobs as a table, what they fill, and for one job its memory, time and cost wherever it could run."""

from __future__ import annotations

import streamlit as st

from ui import frame, jobs_table, plan_blocks, state, work_blocks
from ui.i18n import t
from ui.view import View

state.start()
outcome = state.outcome()
frame.top(outcome)
refused = frame.refused_file()
plan = outcome.plan

if state.is_empty():
    st.title(t("work_page.empty.title"), anchor=False)
    st.markdown(t("work_page.empty.sentence"))
    jobs_table.show(outcome.problems)
    st.button(
        t("empty.example"),
        key="work_example",
        on_click=state.open_example,
        args=(state.FIRST_EXAMPLE,),
        icon=":material/description:",
    )
    st.stop()
if plan is None:
    st.title(t("title.broken"), anchor=False)
    jobs_table.show(outcome.problems)
    frame.next_page("plan.py", t("timeline.to_plan"))
    st.stop()

outdated = outcome.outdated or refused
view = View(plan.report, plan.document, state.catalog(), frame.currency_of(plan.report))
work_blocks.answer(view, outdated=outdated)
jobs_table.show(outcome.problems)
if outcome.outdated:
    st.warning(t("work_page.broken"), icon=":material/history:")
    frame.next_page("plan.py", t("timeline.to_plan"))
if view.recommended is None:
    plan_blocks.impossible(view)
work_blocks.job(view, plan, outdated=outdated)
work_blocks.candidates(view, plan)
work_blocks.foot(view)
frame.next_page("timeline.py", t("next.timeline"))
frame.next_page("plan.py", t("next.plan"))
