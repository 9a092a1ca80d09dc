"""What the Plan page shows while there is nothing to plan."""

from __future__ import annotations

import streamlit as st

from ui import frame, state
from ui.i18n import t


def show() -> None:
    """One sentence and the ways on; nothing is filled in by guess."""
    st.space("small")
    with st.container(border=True, key="empty"):
        st.title(t("empty.title"), anchor=False)
        st.markdown(t("empty.sentence"))
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button(t("empty.first_job"), key="first_job", type="primary", icon=":material/add:"):
                st.switch_page(frame.PAGES / "work.py")
            st.button(
                t("empty.example"),
                key="first_example",
                on_click=state.open_example,
                args=(state.FIRST_EXAMPLE,),
                icon=":material/description:",
            )
            st.page_link(frame.PAGES / "start.py", label=t("empty.budget"))
