"""What a user adds for the scenario at hand: quotes, machines and GPUs, checked by planning with them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal

import streamlit as st
from pydantic import ValidationError

from planner.catalog.records import Catalog
from planner.errors import InputError, Problem
from planner.scenario.jobs import ModelInput
from planner.scenario.machines import GpuInput
from planner.scenario.own_gpus import with_own_gpus
from planner.scenario.own_models import with_own_models
from ui import formatting, frame, state
from ui.i18n import t

Part = Literal["offers", "machines", "gpus"]
PARTS: tuple[Part, ...] = ("offers", "machines", "gpus")
_NOTE = "own_note"
_PROBLEMS = "own_problems"


def catalog() -> Catalog:
    """The catalog with the scenario's own GPUs and models; without them where they can't be read."""
    known = state.catalog()
    for part, model, merge in (("gpus", GpuInput, with_own_gpus), ("models", ModelInput, with_own_models)):
        own = state.document().get(part)
        if isinstance(own, Mapping):
            with suppress(ValidationError, InputError):
                known = merge(known, {str(id): model.model_validate(entry) for id, entry in own.items()})
    return known


def entries() -> list[tuple[Part, str, Mapping[str, Any]]]:
    """All own entries of the scenario that this page can add: those of the catalog's offers are values, not quotes."""
    document = state.document()
    return [
        (part, str(id), entry)
        for part in PARTS
        for id, entry in (document.get(part) or {}).items()
        if isinstance(entry, Mapping)
    ]


def slug(name: str) -> str:
    """An id from a name: "Campus cluster" is campus-cluster; empty where no letter or digit is left."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", name.strip()).strip("-_").lower()[:64]


def add(part: Part, new: Mapping[str, Mapping[str, Any]], words: str) -> bool:
    """Take entries into the scenario if it can still be planned; says whether it did, and keeps what is wrong.

    `words` names what was added for the note above the tables.
    """
    before, before_problems = total(), state.problems_of(state.document())
    problems = state.problems_of(state.with_entries(state.document(), part, new))
    fields = tuple(f"{part}.{id}" for id in new)
    if problems and (not before_problems or any(problem.field.startswith(fields) for problem in problems)):
        st.session_state[_PROBLEMS] = problems
        return False
    state.put_entries(part, new)
    st.session_state[_PROBLEMS] = ()
    _note("own.added", words, before)
    return True


def remove(part: Part, id: str) -> None:
    """Callback: take an own entry out again, unless the scenario can't be planned without it."""
    before = total()
    problems = state.problems_of(state.with_entries(state.document(), part, {id: None}))
    if problems and not state.problems_of(state.document()):
        st.session_state[_PROBLEMS] = problems
        return
    state.put_entries(part, {id: None})
    st.session_state[_PROBLEMS] = ()
    _note("own.removed", id, before)


def problems() -> tuple[Problem, ...]:
    """What kept the last entry out."""
    found: tuple[Problem, ...] = st.session_state.get(_PROBLEMS, ())
    return found


def refuse(found: tuple[Problem, ...]) -> None:
    """Keep what is wrong with an entry, to be shown beside it."""
    st.session_state[_PROBLEMS] = found


def note() -> str:
    """What the last change did to the plan, until the next one; empty at first."""
    return str(st.session_state.get(_NOTE, ""))


def _note(key: str, words: str, before: str) -> None:
    after = total()
    moved = t("own.same", total=after) if before == after else t("own.moved", total=after, was=before)
    st.session_state[_NOTE] = f"{t(key, what=words)} {moved}"


def total() -> str:
    """Total of the recommended way as the Plan page shows it."""
    plan = state.outcome().plan
    if plan is None or plan.report["recommended"] is None:
        return t("own.no_plan")
    way = next(way for way in plan.report["strategies"] if way["id"] == plan.report["recommended"])
    return formatting.money(way["tco_usd"], frame.currency_of(plan.report), fine=True)
