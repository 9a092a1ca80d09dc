"""The frame of every page: scenario, saving, the grey line, and the way on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from planner.errors import Problem
from ui import formatting, state
from ui.i18n import t
from ui.plans import Plan
from ui.state import Outcome
from ui.view import View

PAGES = Path(__file__).parent / "pages"


def top(outcome: Outcome, *, searching: bool = False) -> None:
    """Row 1: which scenario, saving, and what all figures have in common.

    A file that waits for what the page searches for would be lost when that redraws the page.
    """
    state.start()
    with st.container(horizontal=True, vertical_alignment="center", key="frame_top"):
        _scenario_popover()
        _save_popover(None if outcome.plan is None else outcome.plan.best_known, searching=searching)
        st.markdown(_grey_line(outcome.plan), width="content")
        if st.session_state["example"]:
            st.badge(t("frame.example"), icon=":material/school:", color="gray")


def refused_file() -> bool:
    """The problems of a file that could not be opened; says whether there is one."""
    refused = state.refused()
    if refused is None:
        return False
    file, problems = refused
    lines = "\n".join(f"- {formatting.escaped(_refusal(problem))}" for problem in problems)
    title = t("frame.refused", file=formatting.escaped(file))
    st.error(f"**{title}**\n\n{lines}", icon=":material/error:")
    st.button(t("frame.dismiss"), key="dismiss_refused", on_click=state.dismiss_refused)
    return True


def _refusal(problem: Problem) -> str:
    return str(problem) if problem.found else problem.expected


def next_page(file: str, label: str) -> None:
    """Link to the page that usually comes next."""
    st.page_link(PAGES / file, label=label, icon=":material/arrow_forward:")


def columns(key: str, spec: int | Sequence[float], **options: Any) -> list[DeltaGenerator]:
    """Columns that stand below each other where they would be narrow: see the style rules in `app.py`."""
    with st.container(key=f"columns_{key}"):
        return st.columns(spec, **options)


def grid(key: str) -> DeltaGenerator:
    """Places beside each other without a container for each, as the key begins: see the style rules in `app.py`.

    "four_": four, two by two where they would be narrow; "fours_" also below each other on a phone. Columns in columns
    cost a quarter of a millisecond each at every change.
    """
    return st.container(key=key)


def currency_of(report: dict[str, Any]) -> formatting.Currency:
    """The currency in which a plan is shown."""
    currency = report["currency"]
    return formatting.Currency(code=currency["code"], usd_per_unit=currency["usd_per_unit"])


def _is_estimated(currency: dict[str, Any]) -> bool:
    """Whether a plan's rate is the catalog's and that is an estimate; a rate of the scenario is the user's word."""
    known = state.catalog().fx.get(currency["code"])
    if known is None or known.usd_per_unit.value != currency["usd_per_unit"]:
        return False
    return known.usd_per_unit.estimate


def rate_words(currency: dict[str, Any]) -> str:
    """The exchange rate of the grey line, with its date and a mark where it is an estimate."""
    shown = formatting.Currency(code=currency["code"], usd_per_unit=currency["usd_per_unit"])
    key = "frame.line_rate_estimate" if currency["estimate"] else "frame.line_rate"
    return t(key, rate=formatting.exchange_rate(shown), date=formatting.date(currency["as_of"]))


def file_stem(name: str) -> str:
    """A file name from a scenario's name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "plan"


def _scenario_popover() -> None:
    name = str(st.session_state["base"].get("name", t("frame.unnamed")))
    with st.popover(f"**{formatting.escaped(name)}**", icon=":material/folder_open:", key="scenario_popover"):
        st.markdown(t("frame.open.example"))
        for id in state.example_ids():
            st.button(
                t("frame.open.named", name=formatting.escaped(state.example_name(id))),
                key=f"open_{id}",
                on_click=state.open_example,
                args=(id,),
                type="tertiary",
                icon=":material/description:",
            )
        st.button(
            t("frame.open.nothing"),
            key="open_nothing",
            on_click=state.start_from_nothing,
            type="tertiary",
            icon=":material/note_add:",
        )
        st.file_uploader(
            t("frame.open.file"),
            type=["yaml", "yml"],
            key="open_file",
            on_change=_open_uploaded,
            help=t("frame.open.file_help"),
        )


def _open_uploaded() -> None:
    upload = st.session_state["open_file"]
    if upload is not None:
        state.open_text(upload.getvalue(), upload.name)


def _save_popover(plan: Plan | None, *, searching: bool) -> None:
    with st.popover(t("frame.save.label"), icon=":material/download:", key="save_popover", disabled=plan is None):
        if plan is None:
            return
        stem = file_stem(str(plan.report["name"]))
        st.download_button(
            t("frame.save.csv"),
            plan.csv,
            file_name=f"{stem}-plan.csv",
            mime="text/csv",
            key="save_csv",
            disabled=searching,
            help=t("best.under_way") if searching else None,
            on_click="ignore",
            icon=":material/table:",
        )
        st.download_button(
            t("frame.save.scenario"),
            partial(state.scenario_yaml, plan.document),
            file_name=f"{stem}.yaml",
            mime="application/yaml",
            key="save_scenario",
            on_click="ignore",
            icon=":material/description:",
        )
        if plan.report["recommended"]:
            st.download_button(
                t("frame.save.why_not"),
                partial(_why_not, plan),
                file_name=f"{stem}-why-not.md",
                mime="text/markdown",
                key="save_why_not",
                on_click="ignore",
                icon=":material/balance:",
            )
        st.markdown(f":small[:gray[{t('frame.save.note')}]]")


def _why_not(plan: Plan) -> str:
    """The page against the next best way, offers by their names."""
    return View(plan.report, plan.document, state.catalog(), currency_of(plan.report)).named(plan.why_not(None))


def _grey_line(plan: Plan | None) -> str:
    if plan is None:
        return ""
    report = plan.report
    currency = report["currency"]
    words = t(
        "frame.line",
        months=report["horizon_months"],
        currency=currency["code"],
        date=formatting.date(report["catalog_as_of"]),
    )
    if currency["code"] != "USD":
        words += rate_words({"estimate": _is_estimated(currency), **currency})
    return formatting.dollars(f":gray[{words}]")
