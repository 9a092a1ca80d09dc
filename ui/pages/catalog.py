"""Catalog: GPUs side by side, offers, hosts and sites, every figure with source and date; and what a user adds."""

from __future__ import annotations

import datetime as dt

import streamlit as st

from ui import (
    catalog_add,
    catalog_gpus,
    catalog_hosts,
    catalog_offers,
    catalog_own,
    catalog_sites,
    formatting,
    frame,
    state,
)
from ui.i18n import t

KINDS = ("gpus", "offers", "hosts", "sites")

state.start()
catalog = catalog_own.catalog()
with st.container(horizontal=True, vertical_alignment="center", key="catalog_top"):
    kind = st.segmented_control(
        t("catalog.switch"),
        KINDS,
        default="gpus",
        format_func=lambda kind: t(f"catalog.{kind}"),
        key="catalog_kind",
        on_change=catalog_add.leave,
        required=True,
        label_visibility="collapsed",
        persist_state="session",
    )
    catalog_add.menu()
    counts = t(
        "catalog.line",
        gpus=len(catalog.gpus) + len(catalog.partial_gpus),
        offers=len(catalog.offers),
        date=formatting.date(catalog.as_of),
    )
    st.markdown(f":gray[{counts}]", width="content")
catalog_add.panel(catalog)
views = {
    "gpus": catalog_gpus.show,
    "offers": catalog_offers.show,
    "hosts": catalog_hosts.show,
    "sites": catalog_sites.show,
}
views[kind](catalog, dt.date.today())
catalog_add.added()
st.markdown(f":small[:gray[{t('catalog.note')}]]")
frame.next_page("plan.py", t("next.plan"))
