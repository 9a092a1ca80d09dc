"""One line while something long is looked for: what is done now, how long it has taken, and a button that leaves it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from planner.strategy.progress import Step
from ui import deferred
from ui.background import Work
from ui.i18n import t

_LEFT = "left_alone"  # keys of what is no longer looked for by itself


def is_left(key: str) -> bool:
    """Whether something is looked for only when it is asked for."""
    return key in st.session_state.get(_LEFT, ())


def leave(key: str) -> None:
    """Callback: stop looking, now and after later changes."""
    st.session_state[_LEFT] = {*st.session_state.get(_LEFT, ()), key}


def take_up(key: str) -> None:
    """Callback: look for it again."""
    st.session_state[_LEFT] = {*st.session_state.get(_LEFT, ())} - {key}


def look(key: str, work: Work[Any]) -> None:
    """Draw the line, and look at the end of the page; or that it was left, with a button to take it up."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"looking_{key}"):
        if is_left(key):
            st.markdown(f":gray-badge[:material/pause: {t(f'looking.{key}.left')}]", width="content")
            st.button(t("looking.start"), key=f"start_{key}", on_click=take_up, args=(key,), type="tertiary")
            return
        place = st.empty()
        st.button(
            t("looking.leave"),
            key=f"leave_{key}",
            on_click=leave,
            args=(key,),
            type="tertiary",
            icon=":material/close:",
            help=t("looking.leave_help"),
        )
    say = _said(key, place)
    say(Step(stage="begun", done=0, of=0), 0.0)
    deferred.later(lambda: work.result(say))


def _said(key: str, place: Any) -> Callable[[Step, float], None]:
    """Says a step in its place; the parts of a part, which have no number, are not said."""
    last = Step(stage="begun", done=0, of=0)

    def say(step: Step, seconds: float) -> None:
        nonlocal last
        if step.of or last.of == 0:
            last = step
        words = t(f"looking.{key}.begun")
        if last.of:
            words += t("looking.part", stage=t(f"looking.stage.{last.stage}"), number=last.done + 1, of=last.of)
        if seconds >= 1:
            words += t("looking.seconds", seconds=f"{seconds:.0f}")
        place.markdown(f":gray-badge[:material/hourglass_empty: {words}]", width="content")

    return say
