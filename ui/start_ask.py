"""The question of the Start page: fields -> an ask of the engine, its answer, and what is wrong with each field."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import streamlit as st

from planner.advise.recommend.answer import recommend
from planner.advise.recommend.ask import Ask, parse_budget, parse_months, parse_size
from planner.advise.recommend.uses import FILE
from planner.catalog.records import Catalog
from planner.errors import InputError, PlannerError, UnknownIdError
from planner.performance.evidence import Evidence, load_evidence
from planner.report.recommendation import recommendation_document
from planner.scenario.money import Money
from planner.strict_yaml import shorten
from ui import state
from ui.formatting import escaped
from ui.i18n import t

KEY = "start_"
FIRST = MappingProxyType(
    {"budget": "8000 CNY", "use": "teaching", "parameters": "", "samples": "", "months": "", "site": None}
)
"""Fields with what they hold on a first visit."""

LONGEST_SHOWN = 60
"""Characters of a faulty text that are repeated under its field."""

_ANY_BUDGET = Money(amount=1.0, currency="USD")  # stands in while other fields are checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to the current question, or the last good one with what is wrong, by field."""

    document: dict[str, Any] | None
    problems: Mapping[str, str]

    @property
    def outdated(self) -> bool:
        """Whether the answer is older than the question."""
        return bool(self.problems)


def seed() -> None:
    """Fill the fields of a new session."""
    for name, value in FIRST.items():
        if KEY + name not in st.session_state:
            st.session_state[KEY + name] = value


def fill(**values: Any) -> None:
    """Callback: put another question into the fields."""
    for name, first in FIRST.items():
        st.session_state[KEY + name] = values.get(name, first)


def first_visit() -> bool:
    """Whether the fields still hold the example."""
    return all(st.session_state[KEY + name] == value for name, value in FIRST.items())


def typed(name: str) -> str:
    """What stands in a field."""
    return str(st.session_state[KEY + name] or "").strip()


def answer() -> Answer:
    """The answer to what stands in the fields.

    Raises
    ------
    CatalogError
        The file of uses is faulty.
    """
    ask, problems = _ask()
    if not problems:
        try:
            found = _answered(ask)
        except (InputError, UnknownIdError) as error:
            name = error.field.removeprefix("--")
            problems = {name: _sentence(name, error)}
        else:
            st.session_state["start_last_good"] = found
            return Answer(document=found, problems={})
    return Answer(document=st.session_state.get("start_last_good"), problems=problems)


def _ask() -> tuple[Ask, dict[str, str]]:
    problems: dict[str, str] = {}
    read: dict[str, Any] = {}
    readers: dict[str, Callable[[str], Any]] = {
        "budget": lambda text: parse_budget(text, field="budget"),
        "parameters": lambda text: parse_size(text, field="parameters"),
        "samples": lambda text: parse_size(text, field="samples"),
        "months": lambda text: parse_months(text, field="months"),
    }
    for name, reader in readers.items():
        text = typed(name)
        if not text and name != "budget":
            read[name] = None
            continue
        try:
            read[name] = reader(text)
        except InputError as error:
            problems[name] = _sentence(name, error)
    ask = Ask(
        budget=read.get("budget", _ANY_BUDGET),
        use=st.session_state[KEY + "use"],
        parameters=read.get("parameters"),
        samples=read.get("samples"),
        months=read.get("months"),
        site=st.session_state[KEY + "site"],
    )
    return ask, problems


@st.cache_resource(max_entries=64, show_spinner=False)
def _document(
    key: str, content: tuple[str, str, int, int], today: dt.date, _ask: Ask, _catalog: Catalog, _evidence: Evidence
) -> dict[str, Any]:
    return recommendation_document(recommend(_ask, _catalog, _evidence, today=today))


def _answered(ask: Ask) -> dict[str, Any]:
    catalog, evidence = state.catalog(), load_evidence()
    uses = (state.ROOT / "data" / FILE).stat()
    content = (catalog.content_hash, evidence.content_hash, uses.st_mtime_ns, uses.st_size)
    return _document(repr(ask), content, dt.date.today(), ask, catalog, evidence)


def _sentence(name: str, error: PlannerError) -> str:
    text = typed(name)
    found = t("field.found", value=escaped(shorten(text, LONGEST_SHOWN))) if text else t("field.empty")
    return t("field.problem", found=found, expected=escaped(str(error.params.get("expected", error))))
