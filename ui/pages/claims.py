"""Claims: sentences printed in guides and shops, put to the test against the catalog and the measurements."""

from __future__ import annotations

import streamlit as st

from planner.errors import CatalogError
from ui import claims_blocks, claims_data, frame, state
from ui.formatting import escaped
from ui.i18n import t

state.start()
try:
    with st.spinner(t("claims.testing")):
        document = claims_data.document()
except CatalogError as error:
    problems = "\n".join(f"- {escaped(str(problem))}" for problem in error.problems)
    st.error(f"**{t('claims.faulty')}**\n\n{problems}", icon=":material/error:")
    st.stop()

claims_blocks.top(document)
claims_blocks.answer(document)
claims_blocks.claims(document)
claims_blocks.foot(document)
frame.next_page("catalog.py", t("next.catalog"))
