"""Simulated parts of a page: fragments that begin when the rest has drawn, and end by drawing the page once more."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

_AFTER_S = 0.25


class Deferred:
    """Whether a part has its answer already; if not, the page is drawn without it first."""

    def __init__(self, *, ready: bool) -> None:
        self.ready = ready
        self._drawn = False

    def page_first(self) -> bool:
        """True once, while the page draws; after that there is time to compute."""
        first, self._drawn = not self.ready and not self._drawn, True
        return first

    def done(self) -> None:
        """The answer is kept now: the page is drawn with it, and without a timer."""
        if not self.ready:
            st.rerun()


def show(part: Callable[[Deferred], None], *, ready: bool) -> None:
    """Draw a part as a fragment, which runs again by itself while it isn't ready."""
    st.fragment(part, run_every=None if ready else _AFTER_S)(Deferred(ready=ready))
