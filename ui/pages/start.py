"""Start: what to buy or rent for a budget, as a card that opens as a plan."""

from __future__ import annotations

import streamlit as st

from planner.errors import CatalogError
from ui import frame, start_ask, start_blocks, state
from ui.formatting import dollars, escaped
from ui.i18n import t
from ui.start_view import StartView

state.start()
start_ask.seed()
catalog = state.catalog()
try:
    answer = start_ask.answer()
except CatalogError as error:
    problems = "\n".join(f"- {escaped(str(problem))}" for problem in error.problems)
    st.error(f"**{t('start.faulty')}**\n\n{problems}", icon=":material/error:")
    st.stop()

view = StartView(answer.document, catalog) if answer.document is not None else None
with st.container(horizontal=True, vertical_alignment="center", key="start_top"):
    st.markdown(dollars(f":gray[{view.grey_line() if view else t('start.line_alone')}]"), width="content")
    if start_ask.first_visit():
        st.badge(t("frame.example"), icon=":material/school:", color="gray")
use = st.session_state[f"{start_ask.KEY}use"]
st.title(t(f"start.title.{use}"), anchor=False)
start_blocks.fields(catalog, answer.problems)
if view is not None:
    start_blocks.answered(answer, view)
start_blocks.examples()
frame.next_page("plan.py", t("next.plan_from_start"))
