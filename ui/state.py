"""The scenario a session works on: the opened document, what was typed over it, and the plan that follows."""

from __future__ import annotations

import datetime as dt
import gc
import json
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import streamlit as st
import yaml

from planner.catalog.load import load_catalog
from planner.catalog.records import Catalog
from planner.errors import PlannerError, Problem, ScenarioError
from planner.performance.evidence import load_evidence
from planner.scenario.load import check_document, read_document
from planner.scenario.own_gpus import with_own_gpus
from planner.scenario.own_models import with_own_models
from planner.scenario.paths import with_overrides
from planner.scenario.schema import SCHEMA_VERSION
from planner.strategy.evaluate import evaluate
from ui import formatting, own_rows
from ui.plans import Plan, plan_of

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
FIRST_EXAMPLE = "hybrid-lab"
NEW_HORIZON_MONTHS = 36
WIDGET = "in:"
PAST_FILES = "actual_files"
"""Hours and invoice of the months that are past, of this scenario."""

Kind = Literal["number", "percent", "money", "text", "word", "by_month", "by_name", "choice", "choice_or_none"]
"""What a field takes: a number, a number or a word, text alone, or pairs such as "0: 2, 12: 2"."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the page shows: the plan of the current inputs, or the last good one with the problems of the new ones."""

    plan: Plan | None
    problems: tuple[Problem, ...]

    @property
    def outdated(self) -> bool:
        """Whether the plan shown is older than the inputs."""
        return bool(self.problems)


@st.cache_resource(max_entries=2, show_spinner=False)
def _catalog(stamp: tuple[tuple[str, int, int], ...]) -> Catalog:
    found = load_catalog()
    load_evidence()
    _freeze()
    return found


def _freeze() -> None:
    """Leave what is loaded now out of garbage collection.

    Streamlit collects in full after every run and answers only then: tens of milliseconds for modules and records that
    stay for good anyway.
    """
    gc.collect()
    gc.freeze()


@st.cache_resource(show_spinner=False)
def keep_loaded_modules() -> None:
    """After the first page of a server: what it loaded on the way stays too."""
    _freeze()


def catalog() -> Catalog:
    """The catalog of the data files, shared by all sessions and read again when a file changes."""
    with os.scandir(ROOT / "data") as found:
        files = [(file.name, file.stat()) for file in found if file.name.endswith(".yaml")]
    return _catalog(tuple(sorted((name, state.st_mtime_ns, state.st_size) for name, state in files)))


def start() -> None:
    """Open the first example in a new session."""
    if "base" not in st.session_state:
        open_example(FIRST_EXAMPLE)


def example_ids() -> list[str]:
    """Ids of the examples, the first-visit one first."""
    ids = sorted(path.stem for path in EXAMPLES.glob("*.yaml"))
    return sorted(ids, key=lambda id: id != FIRST_EXAMPLE)


def open_example(id: str) -> None:
    """Replace the scenario by an example."""
    _open((EXAMPLES / f"{id}.yaml").read_text(encoding="utf-8"), f"{id}.yaml")
    st.session_state["example"] = id


def open_text(text: str | bytes, file: str) -> None:
    """Replace the scenario by the text of a file; a faulty one is reported and the scenario stays."""
    try:
        _open(text, file)
        st.session_state["example"] = ""
    except ScenarioError as error:
        st.session_state["refused"] = (file, error.problems)


def start_from_nothing() -> None:
    """Callback: a scenario without jobs, to be filled in."""
    _begin({"schema_version": SCHEMA_VERSION, "horizon_months": NEW_HORIZON_MONTHS, "jobs": {}})
    st.session_state["example"] = ""


def is_empty() -> bool:
    """Whether the scenario has no jobs yet, so that there is nothing to plan."""
    return not st.session_state["base"].get("jobs")


def _open(text: str | bytes, file: str) -> None:
    document = read_document(text, file=file)
    if document.get("jobs") in (None, {}) and not _faults_but_for_jobs(document):
        _begin({**document, "jobs": {}})
        return
    check_document(document, file=file)
    found = _plan(document)
    if not isinstance(found, Plan):
        raise ScenarioError("scenario_invalid", found)
    _begin(document)


def _faults_but_for_jobs(document: Mapping[str, Any]) -> tuple[Problem, ...]:
    try:
        check_document(document)
    except ScenarioError as error:
        return tuple(problem for problem in error.problems if problem.field != "jobs")
    return ()


def begin(document: Mapping[str, Any]) -> None:
    """Replace the scenario by a document that can be planned."""
    _begin(document)
    st.session_state["example"] = ""


def _begin(document: Mapping[str, Any]) -> None:
    st.session_state["base"] = dict(document)
    st.session_state["typed"] = {}
    st.session_state["refused"] = None
    st.session_state.pop("shown_total", None)
    st.session_state.pop("last_good", None)
    st.session_state.pop("last_answer", None)
    st.session_state.pop(PAST_FILES, None)
    _replace_widgets()


def refused() -> tuple[str, tuple[Problem, ...]] | None:
    """File name and problems of a file that could not be opened, until that is dismissed."""
    return st.session_state.get("refused")


def dismiss_refused() -> None:
    """Go on with the scenario as it was."""
    st.session_state["refused"] = None


def widget_key(path: str) -> str:
    """Key of the widget at a path, another one after each time that values were set.

    The browser keeps what was typed into a popover that is now closed, whatever is set here, and sends it with the next
    change: under the same key it would come back, even in another scenario.
    """
    times = st.session_state.get("times_set", 0)
    return f"{WIDGET}{path}#{times}" if times else f"{WIDGET}{path}"


def remember(path: str, kind: Kind, key: str | None = None) -> None:
    """Callback of an input: keep what was typed, exactly; a widget that was replaced has nothing more to say."""
    if key in (None, widget_key(path)):
        st.session_state["typed"][path] = (st.session_state[widget_key(path)], kind)


def reset(paths: tuple[str, ...]) -> None:
    """Callback: back to the values of the opened scenario."""
    for path in paths:
        st.session_state["typed"].pop(path, None)
    _replace_widgets()


def put(values: Mapping[str, tuple[Any, Kind]]) -> None:
    """Callback: values as if they had been typed."""
    st.session_state["typed"].update(values)
    _replace_widgets()


def problems_with_jobs(jobs: Mapping[str, Any]) -> tuple[Problem, ...]:
    """What would be wrong with the scenario if these were its jobs."""
    return problems_of({**document(), "jobs": dict(jobs)})


def report_with(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Report of the plan of a changed scenario, None where that is not a sound one."""
    found = plan_with(document)
    return None if found is None else found.report


def plan_with(document: Mapping[str, Any]) -> Plan | None:
    """Plan of a changed scenario, None where that is not a sound one."""
    found = _plan(dict(document))
    return found if isinstance(found, Plan) else None


def set_jobs(jobs: Mapping[str, Any]) -> None:
    """Make these the jobs of the scenario, what was typed for the earlier ones included in them."""
    st.session_state["base"] = {**st.session_state["base"], "jobs": dict(jobs)}
    for path in [path for path in st.session_state["typed"] if path.startswith("jobs.")]:
        del st.session_state["typed"][path]
    _replace_widgets()


def typed_paths(belongs: Callable[[str], bool]) -> tuple[str, ...]:
    """Those of the paths that were typed over since the scenario was opened."""
    return tuple(path for path in st.session_state["typed"] if belongs(path))


def document() -> dict[str, Any]:
    """The scenario document with everything typed over it."""
    typed = {path: typed_value(raw, kind) for path, (raw, kind) in st.session_state["typed"].items()}
    result = with_overrides(st.session_state["base"], typed)
    for path, value in typed.items():
        if value is None:
            _drop_empty(result, path.split(".")[:-1])
    return result


def _drop_empty(document: dict[str, Any], keys: list[str]) -> None:
    """Take out what a row of fields leaves when all of them are emptied, such as a credit without amount and month."""
    for depth in range(len(keys), 0, -1):
        parent = document
        for key in keys[: depth - 1]:
            parent = parent[key]
        if parent.get(keys[depth - 1]) != {}:
            return
        del parent[keys[depth - 1]]


def scenario_yaml(document: Mapping[str, Any]) -> str:
    """The scenario as a file that opens again here and on the command line."""
    return yaml.safe_dump(dict(document), sort_keys=False, allow_unicode=True, width=120)


def typed_value(raw: Any, kind: Kind) -> Any:
    """What a typed text means: a number, or the text itself where it is none, so that the check can explain it."""
    if kind == "choice_or_none":
        return raw or None
    if not isinstance(raw, str) or kind == "choice":
        return raw
    text = raw.strip().replace(formatting.MINUS, "-").replace(formatting.NBSP, " ")
    if text == "":
        return None
    if kind == "text":
        return text
    if kind in ("by_month", "by_name"):
        return pairs(text, by_month=kind == "by_month") or raw
    if kind == "percent":
        text = text.removesuffix("%").strip()
    if _NUMBER.fullmatch(text):
        value = float(text)
        if kind == "percent":
            return round(value / 100.0, 12)
        return int(value) if math.isfinite(value) and value.is_integer() and abs(value) < 2**53 else value
    return text if kind in ("money", "word") else raw


def pairs(text: str, *, by_month: bool) -> dict[Any, Any] | None:
    """Keys with their numbers from text such as "0: 2, 12: 2"; None where it isn't that, or has a key twice.

    >>> pairs("0: 2, 12: 2", by_month=True), pairs("aws: 8", by_month=False), pairs("2 now", by_month=True)
    ({0: 2, 12: 2}, {'aws': 8}, None)
    """
    found: dict[Any, Any] = {}
    for part in re.split(r"[,;\n]", text):
        name, colon, number = (piece.strip() for piece in part.partition(":"))
        key = int(name) if by_month and name.isascii() and name.isdigit() else name
        if not part.strip():
            continue
        if not (colon and name and number) or key in found:
            return None
        found[key] = typed_value(number, "number")
    return found or None


def shown_text(value: Any, kind: Kind) -> str:
    """A document value as text of its input field."""
    if value is None:
        return ""
    if isinstance(value, Mapping) and kind in ("by_month", "by_name"):
        return ", ".join(f"{key}: {number}" for key, number in value.items())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value * 100.0:.10g}" if kind == "percent" else f"{value:.15g}" if isinstance(value, float) else str(value)


@st.cache_resource(max_entries=64, show_spinner=False)
def _computed(
    document_key: str,
    content_hash: str,
    today: dt.date,
    own: tuple[tuple[str, str], ...],
    _document: dict[str, Any],
    _catalog: Catalog,
    _own: tuple[tuple[str, bytes], ...],
) -> Plan | tuple[Problem, ...]:
    try:
        scenario = check_document(_document)
        evidence = load_evidence()
        if own:
            known = with_own_models(with_own_gpus(_catalog, scenario.gpus), scenario.models)
            evidence, _ = own_rows.evidence_with(_own, known)
        result = evaluate(scenario, _catalog, evidence, today=today)
    except ScenarioError as error:
        return error.problems
    except PlannerError as error:
        return (Problem(file="", record="", field=error.field, found="", expected=str(error)),)
    return plan_of(result, _document)


def _plan(asked: dict[str, Any]) -> Plan | tuple[Problem, ...]:
    data, own = catalog(), own_rows.in_use()
    key = json.dumps(asked, default=str)
    return _computed(key, data.content_hash, dt.date.today(), own_rows.stamp(own), asked, data, own)


def problems_of(asked: dict[str, Any]) -> tuple[Problem, ...]:
    """What keeps a document from being planned; nothing where it can be, or where it has no jobs yet."""
    if not asked.get("jobs"):
        return _faults_but_for_jobs(asked)
    found = _plan(asked)
    return () if isinstance(found, Plan) else found


def with_entries(document: Mapping[str, Any], part: str, entries: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a document with named entries of a part (offers, machines, gpus) set; None removes one."""
    kept = {**document.get(part, {}), **entries}
    kept = {id: entry for id, entry in kept.items() if entry is not None}
    return {**{key: value for key, value in document.items() if key != part}, **({part: kept} if kept else {})}


def put_entries(part: str, entries: Mapping[str, Any]) -> None:
    """Write named entries into the opened scenario; what was typed over them is forgotten."""
    st.session_state["base"] = with_entries(st.session_state["base"], part, entries)
    gone = tuple(f"{part}.{id}." for id in entries)
    typed = st.session_state["typed"]
    st.session_state["typed"] = {path: value for path, value in typed.items() if not path.startswith(gone)}
    _replace_widgets()


def outcome() -> Outcome:
    """The plan of the current inputs; where they are faulty, the last good plan and what is wrong."""
    found = _plan(document())
    if isinstance(found, Plan):
        st.session_state["last_good"] = found
        if found.report["recommended"]:
            st.session_state["last_answer"] = found
        return Outcome(plan=found, problems=())
    return Outcome(plan=last_good(), problems=found)


def last_good() -> Plan | None:
    """The last plan of this scenario whose inputs were sound."""
    return st.session_state.get("last_good")


def last_answer() -> Plan | None:
    """The last plan of this scenario in which some way works."""
    return st.session_state.get("last_answer")


def _replace_widgets() -> None:
    """New widgets with the values of scenario and typed texts."""
    for key in [key for key in st.session_state if isinstance(key, str) and key.startswith(WIDGET)]:
        del st.session_state[key]
    st.session_state["times_set"] = st.session_state.get("times_set", -1) + 1


@st.cache_data(show_spinner=False)
def example_name(id: str) -> str:
    """The name an example gives itself."""
    return str(read_document((EXAMPLES / f"{id}.yaml").read_text(encoding="utf-8")).get("name", id))
