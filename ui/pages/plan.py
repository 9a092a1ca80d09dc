"""Plan: what to do, what it costs, how long it takes, how much energy it draws, and why."""

from __future__ import annotations

import streamlit as st

from ui import (
    catalog_own,
    deferred,
    empty_state,
    frame,
    plan_band,
    plan_best_mix,
    plan_break_even,
    plan_front,
    plan_owned,
    plan_waiting,
    state,
)
from ui.groups import groups
from ui.i18n import t
from ui.plan_blocks import (
    answer,
    charts_and_reasons,
    details,
    figures,
    foot,
    impossible,
    input_groups,
    own_measurements,
    problem_box,
)
from ui.view import View

state.start()
deferred.begin()
outcome = state.outcome()
searching = state.refused() is None and not outcome.outdated and plan_best_mix.searching(outcome.plan)
frame.top(outcome, searching=searching)
refused = frame.refused_file()
outdated = outcome.outdated or refused
plan = outcome.plan

if state.is_empty():
    empty_state.show()
    st.stop()
if plan is None:
    st.title(t("title.broken"), anchor=False)
    asked = groups(state.document(), catalog_own.catalog())
    input_groups(asked, outcome.problems, None)
    problem_box(outcome.problems, asked)
    st.stop()

plan = plan.best_known
view = View(plan.report, plan.document, state.catalog(), frame.currency_of(plan.report))
answer(view, outdated=outdated, searching=searching)
figures(view)
asked = groups(state.document(), catalog_own.catalog(), view.figures, view.rented_gpus(), view.currency)
input_groups(asked, outcome.problems, view)
own_measurements(view)
if outcome.problems:  # below the groups, so that an open one does not jump away from the field being typed in
    problem_box(outcome.problems, asked)
if view.recommended is None:
    impossible(view)
if view.recommended is not None:
    charts_and_reasons(view, outdated=outdated)
searched, works = plan.with_best_mix.known, view.recommended is not None
if works if searched else not outdated:  # where no way works, the box above says why
    plan_best_mix.show(view, plan)
if view.recommended is not None:
    plan_band.show(view, plan, outdated=outdated)
details(view)
if view.recommended is not None:
    plan_break_even.show(view, plan, outdated=outdated)
plan_front.show(view, plan, outdated=outdated)
plan_owned.show(view)
plan_waiting.show(view, plan)
foot(view)
frame.next_page("whatif.py", t("next.whatif"))
frame.next_page("timeline.py", t("next.timeline"))
deferred.finish()
