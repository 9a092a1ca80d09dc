"""GPUs of the Catalog page: the comparison, and all of them in one table."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

import streamlit as st

from planner.catalog.records import Catalog, Figure
from planner.performance.evidence import Evidence, load_evidence
from planner.report.gpu_table import figures_of, gpu_rows, is_derived
from planner.report.gpu_values import BASES, Accelerator, Basis, accelerators
from ui import catalog_compare, catalog_offers, catalog_rows, catalog_tables, formatting
from ui.i18n import t

_TABLE_PX = 560
_RATES = (
    ("column.card_memory_gb", "memory_gb", 95),
    ("column.bandwidth", "memory_bandwidth_gb_per_s", 75),
    ("column.fp32", "peak_fp32_tflop_per_s", 100),
    ("column.half", "dense_16_bit_tflop_per_s", 105),
    ("column.achieved", "achieved_16_bit_tflop_per_s", 125),
    ("column.tdp_w", "tdp_w", 80),
)
_PRICES = (("column.new_usd", "price_new_usd", 85), ("column.used_usd", "price_used_usd", 85))
_OF_PRICE = (
    ("column.usd_per_half", "usd_per_dense_16_bit_tflop_per_s", 155),
    ("column.usd_per_gb", "usd_per_gb", 118),
    ("column.usd_per_achieved", "usd_per_achieved_16_bit_tflop_per_s", 190),
)
_OF_POWER = (
    ("column.per_w", "dense_16_bit_tflop_per_s_per_w", 110),
    ("column.achieved_per_w", "achieved_16_bit_tflop_per_s_per_w", 165),
)
_NAME_PX = 170


def show(catalog: Catalog, today: dt.date) -> None:
    """The whole view: a comparison, then all GPUs."""
    catalog_compare.show(catalog, today)
    st.button(t("offers.all_of"), key="offers_of_compared", on_click=_open_offers, icon=":material/filter_list:")
    _all_gpus(catalog, today)


@st.fragment  # another price redraws this table alone
def _all_gpus(catalog: Catalog, today: dt.date) -> None:
    """All GPUs with what their speed costs at prices of one condition."""
    evidence = load_evidence()
    gpus = sorted(accelerators(catalog).values(), key=lambda gpu: gpu.name.casefold())
    st.subheader(t("catalog.all_gpus", count=len(gpus)), anchor=False)
    st.markdown(f"{t('catalog.about.gpus')} {t('catalog.partial', count=len(catalog.partial_gpus))}")
    basis: Basis = st.segmented_control(
        t("catalog.ranked_by"),
        BASES,
        default="new",
        format_func=lambda basis: t(f"compare.basis_{basis}"),
        key="gpus_basis",
        required=True,
        persist_state="session",
    )
    columns = [*_columns(_RATES), *_columns(_PRICES), *_columns(_OF_PRICE, basis), *_columns(_OF_POWER)]
    catalog_tables.table(
        _table_rows(catalog, evidence, gpus, basis, today),
        key="catalog_gpus",
        height=_TABLE_PX,
        numbers=[head for head, _, _ in columns],
        widths={t("column.gpu"): _NAME_PX, **{head: px for head, _, px in columns}},
    )
    catalog_tables.export(lambda: gpu_rows(catalog, evidence, basis=basis), len(gpus), "gpus")


def _columns(columns: Sequence[tuple[str, str, int]], basis: Basis | None = None) -> list[tuple[str, str, int]]:
    """Head, figure and width; what rests on a price says in its head which one."""
    of = {} if basis is None else {"of": t(f"compare.of.{basis}")}
    return [(t(key, **of), id, px) for key, id, px in columns]


def _open_offers() -> None:
    """Callback: all offers of the compared GPUs."""
    catalog_offers.open_for(st.session_state["compare_gpus"])


def _table_rows(
    catalog: Catalog, evidence: Evidence, gpus: Sequence[Accelerator], basis: Basis, today: dt.date
) -> list[dict[str, Any]]:
    """Rows of GPUs, each made once for a version of the data; an own GPU is another object once it is changed."""
    made = _row_cache(catalog.content_hash, evidence.content_hash, basis, today)
    for gpu in gpus:
        if gpu.id not in made or made[gpu.id][0] is not gpu:
            made[gpu.id] = gpu, _table_row(catalog, evidence, gpu, basis, today)
    return [made[gpu.id][1] for gpu in gpus]


@st.cache_resource(max_entries=6, show_spinner=False)
def _row_cache(
    catalog_hash: str, evidence_hash: str, basis: Basis, today: dt.date
) -> dict[str, tuple[Accelerator, dict[str, Any]]]:
    return {}


def _table_row(catalog: Catalog, evidence: Evidence, gpu: Accelerator, basis: Basis, today: dt.date) -> dict[str, Any]:
    figures = figures_of(catalog, evidence, gpu, basis)
    origin = catalog_rows.origin(catalog, figures.values(), today)
    if gpu.id not in catalog.gpus:
        marks = [origin[t("column.age")], t("catalog.not_planned")]
        origin[t("column.age")] = ", ".join(mark for mark in marks if mark != t("word.none"))
    known = [*_columns(_RATES), *_columns(_OF_PRICE, basis), *_columns(_OF_POWER)]
    cells = {head: catalog_rows.number(figures[id], 3 if is_derived(id) else 6) for head, id, _ in known}
    prices = {head: catalog_rows.usd(figures[id]) for head, id, _ in _columns(_PRICES)}
    heads = [head for head, _, _ in _columns(_RATES)]
    return {
        t("column.gpu"): gpu.name,
        **{head: cells[head] for head in heads},
        **prices,
        **{head: cell for head, cell in cells.items() if head not in heads},
        t("column.bridge"): catalog_rows.link(gpu),
        t("column.new_seen"): _seen(figures["price_new_usd"]),
        t("column.used_seen"): _seen(figures["price_used_usd"]),
        t("column.unknown"): ", ".join(head for head, cell in {**cells, **prices}.items() if cell is None),
        **origin,
    }


def _seen(price: Figure | None) -> str:
    return formatting.unknown() if price is None else formatting.date(price.as_of)
