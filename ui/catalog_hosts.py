"""Hosts of the Catalog page: machines without GPUs, complete machines, and parts, with their prices."""

from __future__ import annotations

import datetime as dt
from typing import Any

import streamlit as st

from planner.catalog.query import prices_of
from planner.catalog.records import Catalog, Host, System
from ui import catalog_rows, catalog_tables, formatting
from ui.i18n import t

_TABLE_PX = 640
Row = dict[str, Any]


def show(catalog: Catalog, today: dt.date) -> None:
    """The whole view."""
    st.title(t("hosts.title", hosts=len(catalog.hosts), systems=len(catalog.systems)), anchor=False)
    st.markdown(t("catalog.about.hosts"))
    hosts = [_host(catalog, host, today) for host in catalog.hosts.values()]
    widths = {t("column.load"): 300, t("column.idle"): 150}
    catalog_tables.table(hosts, key="catalog_hosts", height=_TABLE_PX, widths=widths)
    if catalog.systems:
        st.subheader(t("hosts.systems", count=len(catalog.systems)), anchor=False)
        st.markdown(t("hosts.systems_about"))
        systems = [_system(catalog, system, today) for system in catalog.systems.values()]
        catalog_tables.table(
            systems, key="catalog_systems", height=_TABLE_PX, numbers={t("column.price_usd"): "localized"}
        )
        catalog_tables.export(lambda: systems, len(systems), "systems")
    if catalog.parts:
        st.subheader(t("hosts.parts", count=len(catalog.parts)), anchor=False)
        parts = [
            {
                t("column.part"): part.name,
                t("column.kind"): t(f"hosts.part.{part.kind}"),
                **_price(catalog, part.id, today),
                t("column.note"): part.note,
            }
            for part in catalog.parts.values()
        ]
        catalog_tables.table(parts, key="catalog_parts", height=_TABLE_PX, numbers={t("column.price_usd"): "localized"})


def _host(catalog: Catalog, host: Host, today: dt.date) -> Row:
    prices = prices_of(catalog, host.id)
    load = catalog_rows.text(host.load_w, "unit.w")
    if host.wall_w_per_gpu_tdp:
        load = t("catalog.whole_node", factor=catalog_rows.text(host.wall_w_per_gpu_tdp))
    idle = catalog_rows.text(host.idle_w, "unit.w")
    if host.idle_share_of_load:
        idle = t("catalog.idle_share", share=formatting.percent(host.idle_share_of_load.value))
    figures = [
        host.load_w,
        host.idle_w,
        host.wall_w_per_gpu_tdp,
        host.idle_share_of_load,
        *(price.price_usd for price in prices),
    ]
    return {
        t("column.host"): host.name,
        t("column.slots"): formatting.plain(host.gpu_slots),
        t("column.supplies"): formatting.power(host.psu_w),
        t("column.load"): load,
        t("column.idle"): idle,
        t("column.price"): "; ".join(
            t(f"catalog.{price.condition}", price=catalog_rows.price(price.price_usd)) for price in prices
        )
        or formatting.unknown(),
        **catalog_rows.origin(catalog, figures, today),
        t("column.note"): host.note,
    }


def _system(catalog: Catalog, system: System, today: dt.date) -> Row:
    gpu = catalog.gpus.get(system.gpu) or catalog.partial_gpus.get(system.gpu)
    memory = gpu.memory_gb if gpu else None
    return {
        t("column.system"): system.name,
        t("column.kind"): t(f"hosts.kind.{system.kind}"),
        t("column.gpus_inside"): f"{system.gpu_count} × {gpu.name if gpu else system.gpu}",
        t("column.memory_all"): formatting.unknown()
        if memory is None
        else catalog_rows.text(memory, "unit.gb")
        if system.gpu_count == 1
        else f"{formatting.plain(memory.value * system.gpu_count)}{formatting.NBSP}{t('unit.gb')}",
        t("column.max_w"): catalog_rows.text(system.max_w, "unit.w"),
        **_price(catalog, system.id, today),
        t("column.note"): system.note,
    }


def _price(catalog: Catalog, item: str, today: dt.date) -> Row:
    """The newest price of an item with its origin."""
    prices = prices_of(catalog, item)
    price = prices[0] if prices else None
    figure = None if price is None else price.price_usd
    return {
        t("column.price_usd"): catalog_rows.number(figure),
        t("column.price_is"): t(f"compare.{price.condition}") if price else formatting.unknown(),
        **catalog_rows.origin(catalog, [figure], today),
    }
