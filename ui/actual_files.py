"""Hours and invoice that the user attached: kept until another scenario is opened, and compared with a way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from planner.actual.compare import strategy_to_follow
from planner.actual.drift import Comparison
from planner.actual.run import RowsFile, against_plan
from planner.errors import Problem, TableError
from planner.scenario.load import check_document
from ui import state
from ui.plans import Plan

Kind = Literal["hours", "invoice"]
KINDS: tuple[Kind, ...] = ("hours", "invoice")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What the files say of a way, or what is wrong with one of them."""

    comparison: Comparison | None
    problems: Mapping[Kind, tuple[Problem, ...]]


def files() -> Mapping[Kind, RowsFile]:
    """The attached files by kind."""
    found: Mapping[Kind, RowsFile] = st.session_state.get(state.PAST_FILES, {})
    return found


def put(kind: Kind, file: str, content: bytes) -> None:
    """Keep a file; it takes the place of another of its kind."""
    st.session_state[state.PAST_FILES] = {**files(), kind: RowsFile(content=content, file=file)}


def remove(kind: Kind) -> None:
    """Callback: forget a file."""
    st.session_state[state.PAST_FILES] = {other: file for other, file in files().items() if other != kind}


def compared(plan: Plan, way: str) -> Compared:
    """The files against a way of the plan; a faulty one is left out, and what is wrong with it is said."""
    scenario, found = check_document(plan.document), dict(files())
    strategy = strategy_to_follow(plan.result, way)
    problems: dict[Kind, tuple[Problem, ...]] = {}
    for kind in KINDS:
        if kind in found:
            try:
                one = {"hours": None, "invoice": None, kind: found[kind]}
                against_plan(scenario, plan.result, strategy, hours=one["hours"], invoice=one["invoice"])
            except TableError as error:
                problems[kind] = error.problems
                del found[kind]
    if not found:
        return Compared(comparison=None, problems=problems)
    comparison = against_plan(scenario, plan.result, strategy, hours=found.get("hours"), invoice=found.get("invoice"))
    return Compared(comparison=comparison, problems=problems)
