"""All jobs as one editable table: a row is a job, and what is wrong is said by row and column."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import pandas as pd
import streamlit as st
from pydantic import TypeAdapter, ValidationError

from planner.errors import Problem
from planner.scenario.values import PLANNED_TERMS, Id
from planner.workload.job import Arrivals
from planner.workload.settings import METHODS, OPTIMIZERS
from ui import catalog_own, state
from ui.formatting import escaped
from ui.i18n import t
from ui.model_order import model_order
from ui.names import group_name
from ui.recipe_inputs import ADAPTER_KEYS, optimizer_words
from ui.state import Kind

Cell = Kind | Literal["switch", "list"]

NAME = "name"
COLUMNS: dict[str, Cell] = {
    NAME: "choice",
    "workload": "choice_or_none",
    "runs_per_month": "number",
    "tokens": "number",
    "samples": "number",
    "epochs": "number",
    "class": "choice_or_none",
    "group": "choice_or_none",
    "deadline_h": "number",
    "attempts_per_run": "number",
    "local_share": "percent",
    "in_house": "switch",
    "only_on": "list",
    "not_on": "list",
    "regions": "list",
    "terms": "list",
    "priority": "number",
    "submitted_together": "number",
    "arrivals": "choice_or_none",
    "precision": "choice_or_none",
    "method": "choice_or_none",
    "optimizer": "choice_or_none",
    "gpus": "number",
}
"""Keys of a job that have a column, in order, after its name."""
_WIDTHS = {
    "runs_per_month": 118,
    "tokens": 115,
    "samples": 92,
    "epochs": 85,
    "deadline_h": 82,
    "attempts_per_run": 98,
    "local_share": 85,
    "only_on": 130,
    "not_on": 130,
    "regions": 130,
    "terms": 130,
    "priority": 82,
    "submitted_together": 100,
    "gpus": 70,
}
CLASSES = ("development", "key")
ARRIVALS: tuple[str, ...] = get_args(Arrivals)
_ON, _OFF = "true", "false"
_DEFAULTS = {"class": CLASSES[0], "in_house": _OFF, "arrivals": ARRIVALS[0], "method": METHODS[0]}
_PROBLEMS = "jobs_table_problems"
_NOTHING = dict.fromkeys(COLUMNS, "")
_ID = TypeAdapter(Id)

Document = Mapping[str, Any]
Row = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong in a row (counted from 1), in a column or, where `column` is empty, in the whole row.

    `typed` is None where `expected` is a sentence of its own.
    """

    row: int
    column: str
    typed: str | None
    expected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """A row after editing: the job it came from, empty for a new one, and its texts."""

    was: str
    seed: Row
    row: Row


def rows_of(jobs: Mapping[str, Any]) -> list[Row]:
    """Jobs of a scenario as rows of text, numbers with all their digits."""
    return [
        {column: id if column == NAME else _seed(job, column, kind) for column, kind in COLUMNS.items()}
        for id, job in jobs.items()
    ]


def _seed(job: Mapping[str, Any], column: str, kind: Cell) -> str:
    value = job.get(column, _DEFAULTS.get(column))
    if kind == "switch" and isinstance(value, bool):
        return _ON if value else _OFF
    if kind == "list":
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")
    return str(value) if kind == "switch" else state.shown_text(value, kind)


def _value(text: str, kind: Cell) -> Any:
    """What a cell means to the scenario; None takes the key out."""
    if kind == "switch":
        return {_ON: True, _OFF: False}.get(text, text or None)
    if kind == "list":
        return [part.strip() for part in text.split(",") if part.strip()] or None
    return state.typed_value(text, kind)


def edited(jobs: Mapping[str, Any], changes: Mapping[str, Any]) -> list[Edited]:
    """Rows after what an editor reports as `edited_rows`, `added_rows` and `deleted_rows`; blank ones are left out.

    Rows keep their place; added ones follow.
    """
    deleted = set(changes.get("deleted_rows", ()))
    changed = {int(index): cells for index, cells in changes.get("edited_rows", {}).items()}
    rows = [
        Edited(was=id, seed=seed, row={**seed, **_texts(changed.get(index, {}))})
        for index, (id, seed) in enumerate(zip(jobs or [""], shown_rows(jobs), strict=True))
        if index not in deleted
    ]
    rows += [
        Edited(was="", seed=_NOTHING, row={**_NOTHING, **_texts(cells)}) for cells in changes.get("added_rows", ())
    ]
    return [edit for edit in rows if edit.was or any(edit.row[column] for column in COLUMNS if column not in _DEFAULTS)]


def shown_rows(jobs: Mapping[str, Any]) -> list[Row]:
    """Rows that the table begins with: the jobs, or one to fill in."""
    return rows_of(jobs) or [{**_NOTHING, **_DEFAULTS}]


def _texts(cells: Mapping[str, Any]) -> Row:
    return {column: "" if text is None else str(text).strip() for column, text in cells.items() if column in COLUMNS}


def job_keys(rows: Sequence[Edited]) -> tuple[list[str], list[Fault]]:
    """A key for every row, its name where that can be one, and what is wrong with the names."""
    keys: list[str] = []
    faults = []
    for number, edit in enumerate(rows, start=1):
        name = edit.row[NAME]
        fault = ""
        if not name:
            fault = t("jobs.name_missing")
        elif name in keys:
            fault = t("jobs.name_twice")
        else:
            try:
                _ID.validate_python(name)
            except ValidationError:
                fault = t("jobs.name_rule")
        if fault:
            faults.append(Fault(row=number, column=NAME, typed=None, expected=fault))
            name = next(key for key in _spare(number) if key not in keys and all(key != e.row[NAME] for e in rows))
        keys.append(name)
    return keys, faults


def _spare(number: int) -> Iterator[str]:
    name = f"row-{number}"
    while True:
        yield name
        name += "-"


def jobs_from(jobs: Mapping[str, Any], rows: Sequence[Edited], keys: Sequence[str]) -> dict[str, Any]:
    """Jobs of the scenario after editing: only cells that were changed are written, everything else stays."""
    result: dict[str, Any] = {}
    for edit, key in zip(rows, keys, strict=True):
        job: dict[str, Any] = copy.deepcopy(dict(jobs[edit.was])) if edit.was else {}
        for column, kind in COLUMNS.items():
            if column == NAME or edit.row[column] == edit.seed[column]:
                continue
            value = _value(edit.row[column], kind)
            if value is None:
                job.pop(column, None)
            else:
                job[column] = value
        if edit.row["method"] != edit.seed["method"] and job.get("method", METHODS[0]) == METHODS[0]:
            job = {name: value for name, value in job.items() if name not in ADAPTER_KEYS}
        result[key] = job
    return result


def faults_of(problems: Sequence[Problem], rows: Sequence[Edited], keys: Sequence[str]) -> list[Fault]:
    """Problems of a scenario that lie in its jobs, by row and column."""
    faults = []
    for problem in problems:
        if not problem.field.startswith("jobs."):
            continue
        number, column = _place(problem.field, keys)
        if not problem.found:  # the engine's own sentence names value and expectation
            expected, typed = problem.expected.removeprefix(f"{problem.field}: "), None
        elif column in COLUMNS:
            expected = t("field.percent") if column == "local_share" else problem.expected
            typed = rows[number - 1].row[column]
        else:  # of the whole job, or of a key that has no column
            expected, typed = t("jobs.expected", field=column, expected=problem.expected).removeprefix(": "), None
        faults.append(Fault(row=number, column=column if column in COLUMNS else "", typed=typed, expected=expected))
    return sorted(faults, key=lambda fault: fault.row)


def _place(field: str, keys: Sequence[str]) -> tuple[int, str]:
    for number, key in enumerate(keys, start=1):
        if field == f"jobs.{key}":
            return number, ""
        if field.startswith(f"jobs.{key}."):
            return number, field.removeprefix(f"jobs.{key}.").split(".")[0]
    return 0, ""


def sentence(fault: Fault, rows: Sequence[Edited]) -> str:
    """A fault in words: row, name, column, what was typed, what is expected."""
    place = [t("jobs.row", number=fault.row)] if fault.row else []
    name = rows[fault.row - 1].row[NAME] if fault.row else ""
    if name:
        place.append(escaped(name))
    if fault.column:
        place.append(t(f"jobs.column.{fault.column}"))
    expected = escaped(fault.expected)
    if fault.typed is not None:
        found = t("field.found", value=escaped(fault.typed)) if fault.typed else t("field.empty")
        expected = t("field.problem", found=found, expected=expected)
    return t("jobs.problem", place=", ".join(place), sentence=expected)


def show(problems: Sequence[Problem]) -> None:
    """The table with what is wrong below it: in what was to be applied, or else in the jobs as they are."""
    jobs = state.document().get("jobs") or {}
    key = editor_key(jobs)
    if key not in st.session_state:
        st.session_state[_PROBLEMS] = []
    with st.form("jobs_form", border=False, enter_to_submit=False):
        st.data_editor(
            pd.DataFrame(shown_rows(jobs), columns=list(COLUMNS), dtype=object),
            key=key,
            num_rows="dynamic",
            hide_index=True,
            column_config=_columns(jobs),
            placeholder="",
            alt=t("jobs.title"),
        )
        messages = st.container()
        with st.container(horizontal=True, vertical_alignment="center"):
            st.form_submit_button(
                t("jobs.apply"), key="apply_jobs", type="primary", icon=":material/check:", on_click=_apply, args=(key,)
            )
            st.markdown(f":small[:gray[{t('jobs.about')}]]", width="stretch")
    title, lines = t("jobs.faulty"), st.session_state[_PROBLEMS]
    if not lines and problems:
        rows = edited(jobs, {})
        title = t("jobs.faulty_now")
        lines = [sentence(fault, rows) for fault in faults_of(problems, rows, [edit.was for edit in rows])]
    if lines:
        listed = "\n".join(f"- {line}" for line in lines)
        messages.error(f"**{title}**\n\n{listed}", icon=":material/error:")


def editor_key(jobs: Mapping[str, Any]) -> str:
    """Key of the table's widget: other jobs, from wherever, are another table, without edits."""
    return f"jobs_editor_{hashlib.sha256(json.dumps(jobs, default=str).encode()).hexdigest()[:12]}"


def _apply(key: str) -> None:
    """Callback: before the page is drawn, so that its title already speaks of the new jobs."""
    st.session_state[_PROBLEMS] = apply(state.document().get("jobs") or {}, st.session_state[key])


def apply(jobs: Mapping[str, Any], changes: Mapping[str, Any]) -> list[str]:
    """Write what was edited into the scenario; where some of it can't be, write nothing and say what and where."""
    rows = edited(jobs, changes)
    keys, faults = job_keys(rows)
    asked = jobs_from(jobs, rows, keys)
    faults = sorted([*faults, *faults_of(state.problems_with_jobs(asked), rows, keys)], key=lambda fault: fault.row)
    if not faults:
        state.set_jobs(asked)
    return [sentence(fault, rows) for fault in faults]


def _columns(jobs: Mapping[str, Any]) -> dict[str, Any]:
    workloads = catalog_own.catalog().workloads
    groups = state.document().get("groups") or {}
    models = model_order(workloads, own=state.document().get("models") or {})
    given = {str(job.get("workload", "")) for job in jobs.values()} - {"", *models}
    precisions = ("fp32", "tf32", "fp16", "bf16", "fp8")
    terms = {"terms": t("jobs.help.terms", terms=", ".join(PLANNED_TERMS))}
    text = {
        column: st.column_config.TextColumn(
            t(f"jobs.column.{column}"),
            help=terms.get(column) or t(f"jobs.help.{column}"),
            width=_WIDTHS[column],
            alignment="left" if kind == "list" else "right",
        )
        for column, kind in COLUMNS.items()
        if kind in ("number", "percent", "list")
    }
    return text | {
        NAME: st.column_config.TextColumn(t(f"jobs.column.{NAME}"), help=t(f"jobs.help.{NAME}"), pinned=True, width=90),
        "workload": st.column_config.SelectboxColumn(
            t("jobs.column.workload"),
            help=t("jobs.help.workload"),
            options=[*models, *sorted(given)],
            format_func=lambda id: workloads[id].name if id in workloads else id,
            width=205,
        ),
        "class": st.column_config.SelectboxColumn(
            t("jobs.column.class"),
            help=t("jobs.help.class"),
            options=CLASSES,
            format_func=lambda id: t(f"jobs.class.{id}"),
            default=CLASSES[0],
            width=95,
        ),
        "group": st.column_config.SelectboxColumn(
            t("jobs.column.group"),
            help=t("jobs.help.group"),
            options=sorted({*groups, *(str(job["group"]) for job in jobs.values() if job.get("group"))}),
            format_func=lambda id: group_name(groups, id),
            width=110,
        ),
        "in_house": st.column_config.SelectboxColumn(
            t("jobs.column.in_house"),
            help=t("jobs.help.in_house"),
            options=(_OFF, _ON),
            format_func=lambda choice: t(f"jobs.in_house.{choice}"),
            default=_OFF,
            width=120,
        ),
        "arrivals": st.column_config.SelectboxColumn(
            t("jobs.column.arrivals"),
            help=t("jobs.help.arrivals"),
            options=ARRIVALS,
            format_func=lambda choice: t(f"jobs.arrivals.{choice}"),
            default=ARRIVALS[0],
            width=120,
        ),
        "precision": st.column_config.SelectboxColumn(
            t("jobs.column.precision"), help=t("jobs.help.precision"), options=precisions, width=98
        ),
        "method": st.column_config.SelectboxColumn(
            t("jobs.column.method"),
            help=t("jobs.help.method"),
            options=METHODS,
            format_func=lambda id: t(f"jobs.method.{id}"),
            default=METHODS[0],
            width=95,
        ),
        "optimizer": st.column_config.SelectboxColumn(
            t("jobs.column.optimizer"),
            help=t("jobs.help.optimizer"),
            options=OPTIMIZERS,
            format_func=optimizer_words,
            width=190,
        ),
    }
