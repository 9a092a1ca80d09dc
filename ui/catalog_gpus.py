"""GPUs of the Catalog page: the comparison, and all of them in one table."""

from __future__ import annotations

import datetime as dt
from typing import Any

import streamlit as st

from planner.catalog.records import Catalog
from planner.performance.evidence import Evidence, load_evidence
from planner.report.gpu_table import figures_of, gpu_rows, is_derived
from planner.report.gpu_values import Accelerator, accelerators, purchase_price
from ui import catalog_compare, catalog_offers, catalog_rows, catalog_tables, formatting
from ui.i18n import t

_TABLE_PX = 560
_NUMBERS = (
    ("column.card_memory_gb", "memory_gb"),
    ("column.bandwidth_gb_per_s", "memory_bandwidth_gb_per_s"),
    ("column.fp32", "peak_fp32_tflop_per_s"),
    ("column.half", "dense_16_bit_tflop_per_s"),
    ("column.achieved", "achieved_16_bit_tflop_per_s"),
    ("column.tdp_w", "tdp_w"),
    ("column.price_usd", "price_usd"),
    ("column.usd_per_half", "usd_per_dense_16_bit_tflop_per_s"),
    ("column.usd_per_achieved", "usd_per_achieved_16_bit_tflop_per_s"),
    ("column.usd_per_gb", "usd_per_gb"),
    ("column.per_w", "dense_16_bit_tflop_per_s_per_w"),
    ("column.achieved_per_w", "achieved_16_bit_tflop_per_s_per_w"),
)


def show(catalog: Catalog, today: dt.date) -> None:
    """The whole view: a comparison, then all GPUs."""
    catalog_compare.show(catalog, today)
    st.button(t("offers.all_of"), key="offers_of_compared", on_click=_open_offers, icon=":material/filter_list:")
    evidence = load_evidence()
    gpus = sorted(accelerators(catalog).values(), key=lambda gpu: gpu.name.casefold())
    st.subheader(t("catalog.all_gpus", count=len(gpus)), anchor=False)
    st.markdown(f"{t('catalog.about.gpus')} {t('catalog.partial', count=len(catalog.partial_gpus))}")
    catalog_tables.table(
        [_table_row(catalog, evidence, gpu, today) for gpu in gpus],
        key="catalog_gpus",
        height=_TABLE_PX,
        numbers=dict.fromkeys((t(column) for column, _ in _NUMBERS), "localized"),
    )
    catalog_tables.export(lambda: gpu_rows(catalog, evidence, today=today), len(gpus), "gpus")


def _open_offers() -> None:
    """Callback: all offers of the compared GPUs."""
    catalog_offers.open_for(st.session_state["compare_gpus"])


def _table_row(catalog: Catalog, evidence: Evidence, gpu: Accelerator, today: dt.date) -> dict[str, Any]:
    figures = figures_of(catalog, evidence, gpu, "today", today)
    price = purchase_price(catalog, gpu, "today", today)
    origin = catalog_rows.origin(catalog, figures.values(), today)
    if gpu.id not in catalog.gpus:
        marks = [origin[t("column.age")], t("catalog.not_planned")]
        origin[t("column.age")] = ", ".join(mark for mark in marks if mark)
    return {
        t("column.gpu"): gpu.name,
        **{t(column): catalog_rows.number(figures[id], 3 if is_derived(id) else 6) for column, id in _NUMBERS},
        t("column.unknown"): ", ".join(t(column) for column, id in _NUMBERS if figures[id] is None),
        t("column.price_is"): t(f"compare.{price.condition}") if price else formatting.unknown(),
        t("column.price_seen"): formatting.date(price.usd.as_of) if price else formatting.unknown(),
        **origin,
    }
