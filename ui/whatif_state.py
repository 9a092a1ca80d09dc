"""Scenarios kept for comparison, which of them is the baseline, and what is being tried: all of one session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from planner.errors import Problem, ScenarioError
from planner.scenario.load import read_document
from ui import state
from ui.i18n import t

PRESENT = "present"
"""Id of the scenario that the other pages show."""
MOST = 4
"""Scenarios side by side, the present one included."""
_KEPT, _BASELINE, _TRIED, _NOTE, _TIMES = (f"whatif_{name}" for name in ("kept", "baseline", "tried", "note", "times"))
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A scenario with the name of its card."""

    id: str
    name: str
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What became of the last action: what was done, or why it wasn't, with the problems of a file."""

    text: str
    problems: tuple[Problem, ...] = ()
    refused: bool = False


def kept() -> tuple[Kept, ...]:
    """The scenarios kept beside the present one."""
    return tuple(st.session_state.get(_KEPT, ()))


def present() -> Kept:
    """What the other pages show: the present inputs, or the last ones that could be planned."""
    last = state.last_good()
    document = state.document() if last is None else last.document
    return Kept(id=PRESENT, name=_name_of(document, t("whatif.present")), document=document)


def scenarios() -> tuple[Kept, ...]:
    """All that are compared, the baseline first."""
    found = (present(), *kept())
    chosen = baseline_id()
    return tuple(sorted(found, key=lambda one: one.id != chosen))


def baseline_id() -> str:
    """Id of the scenario that the others are compared with."""
    chosen = st.session_state.get(_BASELINE, PRESENT)
    return str(chosen) if any(one.id == chosen for one in kept()) else PRESENT


def has_room() -> bool:
    """Whether another scenario may be kept."""
    return len(kept()) + 1 < MOST


def tried() -> dict[str, float]:
    """Values of the levers that were moved, by id."""
    return dict(st.session_state.get(_TRIED, {}))


def slider_key(id: str) -> str:
    """Key of the slider of a lever; another one after each time that all are set back."""
    return f"whatif_slider_{id}_{st.session_state.get(_TIMES, 0)}"


def move(id: str, key: str, usd_per_unit: float) -> None:
    """Callback of a slider: try its value, which is in the currency shown."""
    if key in st.session_state:
        st.session_state[_TRIED] = {**tried(), id: st.session_state[key] * usd_per_unit}


def back() -> None:
    """Callback: all sliders to the values of the baseline."""
    st.session_state[_TRIED] = {}
    st.session_state[_TIMES] = st.session_state.get(_TIMES, 0) + 1


def keep(document: Mapping[str, Any], name: str) -> None:
    """Callback: a scenario more to compare with, and nothing being tried."""
    if _add(document, name):
        back()


def _add(document: Mapping[str, Any], name: str) -> bool:
    if not has_room():
        _say(Note(text=t("whatif.note.full", most=MOST), refused=True))
        return False
    number = st.session_state.get("whatif_number", 0) + 1
    st.session_state["whatif_number"] = number
    entry = Kept(id=f"kept-{number}", name=_free(name), document=dict(document))
    st.session_state[_KEPT] = [*kept(), entry]
    return True


def open_files(key: str) -> None:
    """Callback of the field for files: each that can be planned becomes a scenario; why others do not is said."""
    uploads = st.session_state.get(key) or []
    for upload in uploads:
        try:
            document = read_document(upload.getvalue(), file=upload.name)
        except ScenarioError as error:
            _say(_refusal(upload.name, error.problems))
            continue
        if not document.get("jobs"):
            _say(Note(text=t("whatif.note.no_jobs", file=upload.name), refused=True))
        elif problems := state.problems_of(document):
            _say(_refusal(upload.name, problems))
        elif _add(document, _name_of(document, upload.name.rpartition(".")[0])):
            back()
    st.session_state["whatif_files"] = st.session_state.get("whatif_files", 0) + 1  # an empty field again


def files_key() -> str:
    """Key of the field for files."""
    return f"whatif_open_{st.session_state.get('whatif_files', 0)}"


def _refusal(file: str, problems: Sequence[Problem]) -> Note:
    return Note(text=t("whatif.note.refused", file=file), problems=tuple(problems), refused=True)


def rename(id: str, key: str) -> None:
    """Callback: another name for a kept scenario; an empty one, or that of another, is refused."""
    name = str(st.session_state.get(key, "")).strip()[:_LONGEST_NAME]
    if not name:
        _say(Note(text=t("whatif.note.no_name"), refused=True))
    elif name in _names(but=id):
        _say(Note(text=t("whatif.note.same_name", name=name), refused=True))
    else:
        st.session_state[_KEPT] = [
            Kept(id=one.id, name=name if one.id == id else one.name, document=one.document) for one in kept()
        ]


def remove(id: str) -> None:
    """Callback: compare without a scenario."""
    st.session_state[_KEPT] = [one for one in kept() if one.id != id]


def set_baseline(id: str) -> None:
    """Callback: compare with this scenario from now on; what was tried belonged to the other."""
    st.session_state[_BASELINE] = id
    back()


def open_in_plan(id: str) -> None:
    """Callback: the other pages show this scenario; what they showed takes its place here."""
    chosen = next((one for one in kept() if one.id == id), None)
    if chosen is None:
        return
    before, was_baseline = present(), baseline_id()
    others = [one for one in kept() if one.id != id]
    state.begin({**chosen.document, "name": chosen.name})
    name = before.name if before.name not in [chosen.name, *(one.name for one in others)] else t("whatif.before")
    st.session_state[_KEPT] = [Kept(id=id, name=name, document=before.document), *others]
    swapped = {PRESENT: id, id: PRESENT}
    st.session_state[_BASELINE] = swapped.get(was_baseline, was_baseline)
    back()


def take_note() -> Note | None:
    """What is to be said of the last action, once."""
    found: Note | None = st.session_state.pop(_NOTE, None)
    return found


def _say(note: Note) -> None:
    st.session_state[_NOTE] = note


def _name_of(document: Mapping[str, Any], otherwise: str) -> str:
    name = document.get("name")
    return name.strip()[:_LONGEST_NAME] if isinstance(name, str) and name.strip() else otherwise


def _names(but: str = "") -> set[str]:
    return {one.name for one in (present(), *kept()) if one.id != but}


def _free(name: str) -> str:
    """The name, with a number where another scenario has it."""
    taken, wanted, number = _names(), name.strip()[:_LONGEST_NAME] or t("whatif.present"), 2
    found = wanted
    while found in taken:
        found, number = f"{wanted} ({number})", number + 1
    return found
