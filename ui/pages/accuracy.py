"""Accuracy: predicted against measured, errors by group, what the current plan rests on, and own measurements."""

from __future__ import annotations

import streamlit as st

from planner.errors import CatalogError
from planner.report.held_out import load_held_out
from ui import accuracy_blocks, accuracy_data, accuracy_plan, accuracy_tables, accuracy_upload, frame, state
from ui.formatting import escaped
from ui.i18n import t

state.start()
try:
    with st.spinner(t("accuracy.comparing")):
        shipped = accuracy_data.shipped()
        splits = load_held_out()
except CatalogError as error:
    problems = "\n".join(f"- {escaped(str(problem))}" for problem in error.problems)
    st.error(f"**{t('accuracy.faulty')}**\n\n{problems}", icon=":material/error:")
    st.stop()

accuracy_blocks.top(shipped)
accuracy_blocks.answer(shipped)
accuracy_blocks.figures(shipped)
accuracy_upload.results()
accuracy_blocks.panels(shipped)
accuracy_plan.show(shipped)
accuracy_tables.groups_and_worst(shipped)
accuracy_tables.held_out(splits)
accuracy_tables.skipped(shipped)
accuracy_blocks.foot()
frame.next_page("plan.py", t("next.plan"))
