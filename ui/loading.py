"""What a page shows before its first answer. Imports nothing of the planner, which is part of what is waited for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from ui.i18n import t


@contextmanager
def waiting() -> Iterator[None]:
    """Says what a new session waits for; once it has an answer, that one stays, greyed, during changes instead."""
    if "base" in st.session_state:
        yield
        return
    with st.spinner(t("loading")):
        yield
