"""Timeline: cash, load and waits of one way by month, a typical month, and what more people or machines change."""

from __future__ import annotations

import streamlit as st

from ui import deferred, frame, state, timeline_actual, timeline_blocks, timeline_finance, timeline_groups
from ui.i18n import t
from ui.timeline_data import Timeline
from ui.view import View

state.start()
deferred.begin()
outcome = state.outcome()
frame.top(outcome)
refused = frame.refused_file()
plan = outcome.plan

if state.is_empty():
    timeline_blocks.nothing()
    st.stop()
if plan is None:
    timeline_blocks.broken(shown=False)
    st.stop()
if outcome.outdated:
    timeline_blocks.broken(shown=True)

outdated = outcome.outdated or refused
view = View(plan.report, plan.document, state.catalog(), frame.currency_of(plan.report))
head = st.container(key="timeline_head")
way, period = timeline_blocks.switches(view)
timeline = Timeline(view, way)
if not way["feasible"]:
    timeline_blocks.impossible(view, way)
if timeline.costed:
    with head:
        timeline_blocks.answer(timeline, plan, outdated=outdated)
    timeline_blocks.cash(timeline, period, outdated=outdated)
    box = st.container()
    place = timeline_blocks.machines(timeline, plan, outdated=outdated)
    if place is not None:
        timeline_blocks.course(timeline, plan, place)
        with box:
            timeline_blocks.questions(timeline, plan, place)
    timeline_finance.show(timeline, plan, outdated=outdated)
    timeline_groups.show(timeline, plan)
    timeline_blocks.tables(timeline, plan, place)
    timeline_actual.show(timeline, plan)
    timeline_blocks.foot(timeline)
else:
    with head:
        st.title(t("timeline.title.none"), anchor=False)
frame.next_page("catalog.py", t("next.catalog"))
deferred.finish()
