"""Catalog: GPUs, offers, hosts and sites as plain tables, every row with its source and date."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import streamlit as st

from ui import catalog_rows, formatting, frame, state
from ui.i18n import t

KINDS = ("gpus", "offers", "hosts", "sites")

state.start()
catalog = state.catalog()
rows_of = {
    "gpus": catalog_rows.gpus,
    "offers": catalog_rows.offers,
    "hosts": catalog_rows.hosts,
    "sites": catalog_rows.sites,
}
with st.container(horizontal=True, vertical_alignment="center", key="catalog_top"):
    chosen = st.segmented_control(
        t("catalog.switch"),
        KINDS,
        default="gpus",
        format_func=lambda kind: t(f"catalog.{kind}"),
        key="catalog_kind",
        required=True,
        label_visibility="collapsed",
        persist_state="session",
    )
    counts = t(
        "catalog.line",
        gpus=len(catalog.gpus),
        offers=len(catalog.offers),
        date=formatting.date(catalog.as_of),
    )
    st.markdown(f":gray[{counts}]", width="content")
kind = str(chosen)
rows = rows_of[kind](catalog, dt.date.today())
st.title(t(f"catalog.title.{kind}", count=len(rows)), anchor=False)
st.markdown(t(f"catalog.about.{kind}"))
columns = list(rows[0]) if rows else []
st.dataframe(
    pd.DataFrame(rows),
    hide_index=True,
    key=f"catalog_{kind}",
    column_config={columns[0]: st.column_config.TextColumn(pinned=True)} if columns else None,
    height=min(38 + 35 * len(rows), 720),
)
st.markdown(f":small[:gray[{t('catalog.note')}]]")
frame.next_page("plan.py", t("next.plan"))
