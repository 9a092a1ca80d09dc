"""Input fields of the Plan page: each writes what was typed to a path of the scenario and explains what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from planner.errors import Problem
from planner.scenario.money import money_aliases
from planner.scenario.paths import get_value
from ui import formatting, state
from ui.i18n import t
from ui.state import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A text field: `default` is shown, faint, while it is empty.

    `expected` says what it takes where the engine's words don't fit what is typed here, `expected_missing` why it is
    needed; problems of the paths `also` are shown here too.
    """

    path: str
    label: str
    kind: Kind = "number"
    help: str | None = None
    default: str = ""
    expected: str = ""
    expected_missing: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A choice of one or `many` of `options`; None, or no choice where `empty_is_default`, stands for the default.

    `clears` names the paths that a choice leaves without meaning: they are emptied with it.
    """

    path: str
    label: str
    options: Sequence[Any]
    words: Callable[[Any], str]
    many: bool = False
    empty_is_default: bool = False
    default: Any = None
    help: str | None = None
    expected: str = ""
    expected_missing: str = ""
    also: tuple[str, ...] = ()
    clears: Callable[[Any], Sequence[str]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A yes or no."""

    path: str
    label: str
    default: bool
    help: str | None = None
    expected: str = ""
    expected_missing: str = ""
    also: tuple[str, ...] = ()


Input = Field | Choice | Switch
_NOTHING = "nothing"  # what the check finds where a key is missing
_NUMBERS = ("a number", "a share", "a finite number")


def show(inputs: Iterable[Input | None], problems: Sequence[Problem]) -> None:
    """Draw inputs in rows of two, each with its problems under it; None leaves a place empty."""
    cells = list(inputs)
    named = next((cell.path for cell in cells if cell is not None), "")
    with st.container(key=f"pairs_{named}"):
        for cell in cells:
            if cell is None:
                st.markdown(formatting.NBSP)
            elif any(_concerns(problem, cell) for problem in problems):
                with st.container():
                    _draw(cell)
                    _explain(cell, problems)
            else:
                _draw(cell)


def _draw(cell: Input) -> None:
    key = state.widget_key(cell.path)
    kind: Kind = cell.kind if isinstance(cell, Field) else "choice"
    if isinstance(cell, Choice) and cell.empty_is_default:
        kind = "choice_or_none"
    if not _seeded(key):
        st.session_state[key] = _seed(cell)
    if isinstance(cell, Field):
        st.text_input(
            cell.label,
            key=key,
            help=cell.help,
            placeholder=cell.default or None,
            on_change=state.remember,
            args=(cell.path, kind, key),
            persist_state="session",
        )
    elif isinstance(cell, Switch):
        st.toggle(
            cell.label,
            key=key,
            help=cell.help,
            on_change=state.remember,
            args=(cell.path, kind, key),
            persist_state="session",
        )
    else:
        current = st.session_state[key]
        given = current if cell.many else [current]
        options = [*cell.options, *(value for value in given if value not in cell.options)]
        (st.multiselect if cell.many else st.selectbox)(
            cell.label,
            options,
            placeholder=None if cell.many or None not in cell.options else cell.words(None),
            format_func=cell.words,
            key=key,
            help=cell.help,
            on_change=_choose if cell.clears else state.remember,
            args=(cell, kind, key) if cell.clears else (cell.path, kind, key),
            persist_state="session",
        )


def _choose(cell: Choice, kind: Kind, key: str) -> None:
    """Callback of a choice that leaves other inputs without meaning."""
    if key != state.widget_key(cell.path) or cell.clears is None:
        return
    chosen, document = st.session_state[key], state.document()
    gone = [path for path in cell.clears(chosen) if _given(document, path) is not None]
    if gone:
        state.put({cell.path: (chosen, kind), **dict.fromkeys(gone, ("", "number"))})
    else:
        state.remember(cell.path, kind, key)


def _given(document: Mapping[str, Any], path: str) -> Any:
    """Value of a document under a path or, for money, another spelling of its key."""
    start, _, last = path.rpartition(".")
    names = [last, *(money_aliases(last) if "_usd" in last else ())]
    values = (get_value(document, f"{start}.{name}" if start else name) for name in names)
    return next((value for value in values if value is not None), None)


def _seeded(key: str) -> bool:
    """Whether a widget has a value; asking `in st.session_state` would copy the whole state for every field."""
    try:
        st.session_state[key]
    except KeyError:
        return False
    return True


def _seed(cell: Input) -> Any:
    """First value of a widget: what was typed before, else what the scenario says."""
    typed = st.session_state["typed"].get(cell.path)
    if typed is not None:
        return typed[0]
    given = _given(st.session_state["base"], cell.path)
    if isinstance(cell, Field):
        return state.shown_text(given, cell.kind)
    return cell.default if given is None else given


def _explain(cell: Input, problems: Sequence[Problem]) -> None:
    for problem in problems:
        if _concerns(problem, cell):
            st.markdown(f":red[:material/error: {sentence(cell, problem)}]")


def sentence(cell: Input, problem: Problem) -> str:
    """What is wrong with an input, in the words of the page."""
    if not problem.found:  # the engine's own sentence names value and expectation
        return formatting.escaped(problem.expected.removeprefix(f"{problem.field}: "))
    raw = st.session_state["typed"].get(cell.path, (problem.found, ""))[0]
    empty = raw in ("", None, _NOTHING)
    found = t("field.empty") if empty else t("field.found", value=formatting.escaped(str(raw)))
    return t("field.problem", found=found, expected=formatting.escaped(_expected(cell, problem)))


def _expected(cell: Input, problem: Problem) -> str:
    if problem.found == _NOTHING and cell.expected_missing:
        return cell.expected_missing
    percent = isinstance(cell, Field) and cell.kind == "percent"
    if percent and not problem.expected.startswith(_NUMBERS):  # not about how much, but about what stands beside it
        return problem.expected
    return cell.expected or (t("field.percent") if percent else problem.expected)


def cell_of(inputs: Iterable[Input], problem: Problem) -> Input | None:
    """The input that a problem is about, if the page has one."""
    return next((cell for cell in inputs if _concerns(problem, cell)), None)


def _concerns(problem: Problem, cell: Input) -> bool:
    return problem.field == cell.path or problem.field in cell.also or problem.field.startswith(f"{cell.path}.")
