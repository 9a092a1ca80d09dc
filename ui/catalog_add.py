"""The panel in which a user adds a quote, a machine or a GPU to the scenario, and lists what was added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from planner.catalog.records import Catalog
from planner.errors import Problem
from ui import catalog_import, catalog_own, formatting, frame, state
from ui.catalog_forms import FORMS, Entry, Form, Input
from ui.formatting import dollars, escaped
from ui.i18n import t

KINDS = ("offers", "machines", "gpus", "csv")
_ADDING = "adding"
_FIELD = "add:"


def menu() -> None:
    """The button that opens the panel."""
    st.menu_button(
        t("own.add"),
        KINDS,
        format_func=lambda kind: t(f"own.kind.{kind}"),
        key="add_own",
        on_click=_open,
        icon=":material/add:",
    )


def panel(catalog: Catalog) -> None:
    """The open form, or what the last one did to the plan."""
    adding = st.session_state.get(_ADDING)
    if adding == "csv":
        with st.container(border=True, key="add_panel"):
            catalog_import.show(catalog, close)
    elif adding in FORMS:
        with st.container(border=True, key="add_panel"):
            _form(catalog, FORMS[adding])
    elif catalog_own.problems():
        _problem_list(catalog_own.problems())
    note = catalog_own.note()
    if note and not adding:
        with st.container(border=True, key="own_note"):
            st.markdown(f":material/check: {dollars(note)}")
            frame.next_page("plan.py", t("own.see_plan"))


def leave() -> None:
    """Callback: shut the panel; what was typed in it is there when it opens again."""
    st.session_state[_ADDING] = None
    catalog_own.refuse(())


def close() -> None:
    """Callback: shut the panel and forget what was typed in it."""
    leave()
    for key in [key for key in st.session_state if isinstance(key, str) and key.startswith(_FIELD)]:
        del st.session_state[key]


def _open() -> None:
    leave()
    st.session_state[_ADDING] = st.session_state["add_own"]


def _form(catalog: Catalog, form: Form) -> None:
    st.markdown(f"**{t(f'own.kind.{form.part}')}** :gray[{t(f'own.about.{form.part}')}]")
    found = catalog_own.problems()
    entry_id = catalog_own.slug(str(st.session_state.get(f"{_FIELD}{form.part}.name") or ""))
    # No st.form: it would hold back what is typed until it is sent, and lose it when another view is opened.
    _pairs(catalog, form, [field for field in form.inputs if not field.folded], entry_id, found)
    folded = [field for field in form.inputs if field.folded]
    if folded:
        with st.expander(t("group.advanced"), key=f"add_more_{form.part}"):
            _pairs(catalog, form, folded, entry_id, found)
    shown = {f"{form.part}.{entry_id}.{path}" for field in form.inputs for path in (field.name, *field.also)}
    rest = [problem for problem in found if problem.field not in shown]
    if rest:
        _problem_list(rest)
    with st.container(horizontal=True):
        st.button(t("own.keep"), key=f"keep_{form.part}", type="primary", on_click=_submit, args=(form.part,))
        st.button(t("own.cancel"), key=f"cancel_{form.part}", type="tertiary", on_click=close)


def _pairs(catalog: Catalog, form: Form, fields: Sequence[Input], entry_id: str, found: Sequence[Problem]) -> None:
    """Two fields a row, so that a narrow screen stacks them in their order."""
    for first in range(0, len(fields), 2):
        for column, field in zip(st.columns(2), fields[first : first + 2], strict=False):
            with column:
                _input(catalog, form, field, entry_id, found)


def _input(catalog: Catalog, form: Form, field: Input, entry_id: str, found: Sequence[Problem]) -> None:
    key = f"{_FIELD}{form.part}.{field.name}"
    label = t(f"own.{form.part}.{field.name}")
    help = t(f"own.help.{field.help}") if field.help else None
    if field.kind == "choice":
        options = form.options[field.name](catalog)
        st.selectbox(
            label,
            list(options),
            index=None if field.optional else 0,
            format_func=lambda id: options.get(id, id),
            key=key,
            help=help,
            placeholder=t("own.choose"),
            persist_state="session",
        )
    elif field.kind == "switch":
        st.toggle(label, key=key, help=help, persist_state="session")
    else:
        st.text_input(label, key=key, help=help, placeholder=field.example or None, persist_state="session")
    for problem in found:
        paths = {f"{form.part}.{entry_id}.{name}" for name in (field.name, *field.also)}
        if problem.field in paths or (field.name == "name" and problem.field == f"{form.part}.name"):
            raw = st.session_state.get(key)
            st.markdown(f":red[:material/error: {_words(problem, raw)}]")


def _words(problem: Problem, raw: Any) -> str:
    """What was typed and what is expected; the engine's own sentence where it has one."""
    if not problem.found:
        return escaped(problem.expected.removeprefix(f"{problem.field}: "))
    typed = t("field.empty") if raw in ("", None) else t("field.found", value=escaped(str(raw)))
    return t("field.problem", found=typed, expected=escaped(problem.expected))


def _submit(part: str) -> None:
    """Callback: check the form and take it over."""
    form = FORMS[part]
    typed = {field.name: st.session_state.get(f"{_FIELD}{part}.{field.name}") for field in form.inputs}
    name = str(typed.pop("name") or "").strip()
    id = catalog_own.slug(name)
    if not id:
        problem = Problem(file="", record="", field=f"{part}.name", found="nothing", expected=t("own.name_expected"))
        catalog_own.refuse((problem,))
        return
    if catalog_own.add(form.part, {id: form.entry(name, _values(form, typed))}, name):
        close()


def _values(form: Form, typed: Mapping[str, Any]) -> Entry:
    """What was filled in: numbers as numbers, texts that are none as they are, so that the check can explain them."""
    values: Entry = {}
    for field in form.inputs:
        raw = typed.get(field.name)
        if raw in ("", None, False):
            continue
        value = raw if field.kind in ("choice", "switch", "text") else state.typed_value(raw, field.kind)
        if value is not None:
            values[field.name] = value
    return values


def _problem_list(found: Sequence[Problem]) -> None:
    lines = "\n".join(f"- {escaped(str(problem) if problem.found else problem.expected)}" for problem in found)
    st.error(f"**{t('own.refused')}**\n\n{lines}", icon=":material/error:")


def added() -> None:
    """Everything of the scenario's own, each with a button that takes it out."""
    found = catalog_own.entries()
    if not found:
        return
    folded = st.expander(
        t("own.list", count=len(found)), key="own_list", icon=":material/edit_note:", on_change="rerun"
    )
    if not folded.open:
        return
    with folded:
        st.markdown(f":small[:gray[{t('own.list_about')}]]")
        for part, id, entry in found:
            with st.container(horizontal=True, vertical_alignment="center"):
                words = escaped(f"{id}: {_summary(entry)}")
                st.markdown(f"**{t(f'own.kind.{part}')}** {words}", width="stretch")
                st.button(
                    t("own.remove"),
                    key=f"remove_{part}_{id}",
                    on_click=catalog_own.remove,
                    args=(part, id),
                    type="tertiary",
                    icon=":material/delete:",
                )


def _summary(entry: Mapping[str, Any]) -> str:
    shown = [
        f"{key} {formatting.trimmed(value) if isinstance(value, float) else value}" for key, value in entry.items()
    ]
    return ", ".join(shown) if len(shown) <= 6 else ", ".join([*shown[:6], "…"])
