"""What the speeds of the current plan rest on, and how far predictions like them were off."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from planner.report.candidates import Candidate
from planner.report.errors_by_group import FEWEST, rows_alike
from ui import catalog_own, formatting, state
from ui.accuracy_data import GpuNames, Shipped
from ui.accuracy_words import percent
from ui.formatting import NBSP, escaped
from ui.i18n import t
from ui.palette import WAYS

_MEASURED = ("given", "own", "measured")
_SCHEMA = {"tokens_per_s": "llm_throughput", "samples_per_s": "dl_throughput"}
_HEAD_PX, _ROW_PX, _TABLE_PX = 38, 35, 390
_MOST_ROWS = 6  # ids named; of more, how many


@st.fragment
def show(shipped: Shipped) -> None:
    """A row for each job and each GPU it may run on, those that a way uses first."""
    st.space("small")
    plan = state.outcome().plan
    found = () if plan is None or state.is_empty() else plan.candidates()
    if plan is None or not found:
        st.markdown(f"### {t('accuracy.plan.title_none')}", anchors=False)
        st.markdown(t("accuracy.plan.none"))
        return
    used = [one for one in found if one.ways] or list(found)
    measured = sum(one.basis in _MEASURED for one in used)
    name = escaped(str(plan.report["name"]))
    title = t("accuracy.plan.title", name=name, measured=measured, count=len(used))
    st.markdown(f"### {title}", anchors=False)
    shown = used
    if len(used) < len(found) and st.toggle(t("accuracy.plan.all"), key="accuracy_all", persist_state="session"):
        shown = list(found)
    names = GpuNames(catalog_own.catalog())
    rows = [candidate_row(shipped, names, one) for one in shown]
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        key="accuracy_plan_table",
        column_config={t("column.job"): st.column_config.TextColumn(pinned=True)},
        height=min(_HEAD_PX + _ROW_PX * len(rows), _TABLE_PX),
    )
    st.markdown(f":small[:gray[{t('accuracy.plan.note', fewest=formatting.number_word(FEWEST))}]]")


def candidate_row(shipped: Shipped, names: GpuNames, one: Candidate) -> dict[str, Any]:
    """A job on a kind and number of GPUs, in words."""
    unit = t(f"unit.{one.unit}")
    ways = [way for way in WAYS if way in one.ways]
    return {
        t("column.job"): one.job,
        t("column.resource"): f"{formatting.plain(one.gpus)} × {names.name_of(one.gpu)}",
        t("column.speed"): f"{formatting.plain(one.throughput)}{NBSP}{unit}",
        t("column.likely"): _range(one),
        t("column.basis"): _basis_words(one),
        t("accuracy.column.like"): like_words(shipped, one),
        t("accuracy.column.rows"): _row_words(one),
        t("accuracy.column.ways"): ", ".join(t(f"way.{way}") for way in ways) or t("accuracy.plan.no_way"),
    }


def _basis_words(one: Candidate) -> str:
    basis = t(f"accuracy.plan.basis.{one.basis}")
    return t("accuracy.plan.moved", basis=basis) if one.moved_by_own else basis


def _range(one: Candidate) -> str:
    if one.low is None or one.high is None:
        return formatting.unknown()
    return f"{formatting.plain(one.low)}{formatting.EN_DASH}{formatting.plain(one.high)}"


def _row_words(one: Candidate) -> str:
    if one.basis == "given":
        return t("accuracy.plan.given_rows")
    shown, more = ", ".join(one.rows[:_MOST_ROWS]), len(one.rows) - _MOST_ROWS
    if more > 0:
        return t("accuracy.plan.more_rows", rows=shown, count=formatting.plain(more))
    return shown or t("accuracy.plan.no_rows")


def like_words(shipped: Shipped, one: Candidate) -> str:
    """Errors of the shipped runs most like a prediction; a measured speed is none."""
    if one.basis in _MEASURED:
        return t("accuracy.plan.not_predicted")
    alike = rows_alike(shipped.of_schema(_SCHEMA[one.unit]), one.gpu, one.models, shipped.gpus.id)
    if alike is None:
        return t("accuracy.plan.like_none")
    return t(
        "accuracy.plan.like_words",
        how=t(f"accuracy.plan.like.{alike.likeness}"),
        count=formatting.plain(alike.errors.n),
        median=percent(alike.errors.median_ape),
        p90=percent(alike.errors.p90_ape),
    )
