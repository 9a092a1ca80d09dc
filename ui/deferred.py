"""Simulated parts of a page: it is drawn without them, they are computed at its end, and it is drawn once more.

No timers: what a browser asks for by a timer can be lost when another run of the page ends at that moment, and a part
would then wait for ever.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

_TO_COMPUTE = "deferred_to_compute"


def begin() -> None:
    """At the top of a page: what an interrupted run left to compute is forgotten."""
    st.session_state[_TO_COMPUTE] = []


def later(compute: Callable[[], object]) -> None:
    """Leave to the end of the page what finds and keeps an answer."""
    st.session_state[_TO_COMPUTE].append(compute)


def show(part: Callable[[bool], None], *, ready: bool, compute: Callable[[], object]) -> None:
    """Draw a part as a fragment that is told whether its answer is there; if not, `compute` finds and keeps it."""
    if not ready:
        later(compute)
    st.fragment(part)(ready)


def finish() -> None:
    """At the end of a page: compute the first answer that is missing, and draw the page with it."""
    missing = st.session_state[_TO_COMPUTE]
    if missing:
        missing[0]()
        st.rerun()
