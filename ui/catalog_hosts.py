"""Hosts of the Catalog page: machines without GPUs, complete machines, and parts, with their prices."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from planner.catalog.query import prices_of
from planner.catalog.records import Catalog, HardwarePrice, Host, System
from ui import catalog_rows, catalog_tables, formatting
from ui.i18n import t

_TABLE_PX = 640
_PRICE_PX = {"price_usd": 90, "price_is": 80, "as_of": 100, "age": 110, "sources": 260}
Row = dict[str, Any]


def show(catalog: Catalog, today: dt.date) -> None:
    """The whole view."""
    st.title(t("hosts.title", hosts=len(catalog.hosts), systems=len(catalog.systems)), anchor=False)
    st.markdown(t("catalog.about.hosts"))
    hosts = [_host(catalog, host, today) for host in catalog.hosts.values()]
    widths = {"host": 400, "slots": 55, "supplies": 92, "load": 120, "idle": 95, "new_usd": 100, "used_usd": 85}
    widths |= {"as_of": 85, "age": 155}
    catalog_tables.table(
        hosts, key="catalog_hosts", height=_TABLE_PX, numbers=_heads("slots", "supplies"), widths=_px(widths)
    )
    if catalog.systems:
        st.subheader(t("hosts.systems", count=len(catalog.systems)), anchor=False)
        st.markdown(t("hosts.systems_about"))
        systems = [_system(catalog, system, today) for system in catalog.systems.values()]
        widths = {"system": 365, "kind": 100, "gpus_inside": 180, "memory_all": 95, "max_w": 85, **_PRICE_PX}
        numbers = _heads("memory_all", "max_w", "price_usd")
        catalog_tables.table(systems, key="catalog_systems", height=_TABLE_PX, numbers=numbers, widths=_px(widths))
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
        widths = {"part": 380, "kind": 110, **_PRICE_PX}
        numbers = _heads("price_usd")
        catalog_tables.table(parts, key="catalog_parts", height=_TABLE_PX, numbers=numbers, widths=_px(widths))


def _heads(*columns: str) -> list[str]:
    return [t(f"column.{column}") for column in columns]


def _px(widths: Mapping[str, int]) -> dict[str, int]:
    return {t(f"column.{column}"): px for column, px in widths.items()}


def _host(catalog: Catalog, host: Host, today: dt.date) -> Row:
    prices = prices_of(catalog, host.id)
    load = catalog_rows.text(host.load_w)
    if host.wall_w_per_gpu_tdp:
        load = t("catalog.whole_node", factor=catalog_rows.text(host.wall_w_per_gpu_tdp))
    idle = catalog_rows.text(host.idle_w)
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
        t("column.slots"): host.gpu_slots,
        t("column.supplies"): host.psu_w,
        t("column.load"): load,
        t("column.idle"): idle,
        t("column.new_usd"): _prices(prices, "new"),
        t("column.used_usd"): _prices(prices, "used"),
        **catalog_rows.origin(catalog, figures, today),
        t("column.note"): host.note,
    }


def _prices(prices: Sequence[HardwarePrice], condition: str) -> str:
    """All prices in one condition, the newest first."""
    found = [catalog_rows.usd(price.price_usd) for price in prices if price.condition == condition]
    return "; ".join(formatting.trimmed(usd) for usd in found) or formatting.unknown()


def _system(catalog: Catalog, system: System, today: dt.date) -> Row:
    gpu = catalog.gpus.get(system.gpu) or catalog.partial_gpus.get(system.gpu)
    memory = gpu.memory_gb if gpu else None
    return {
        t("column.system"): system.name,
        t("column.kind"): t(f"hosts.kind.{system.kind}"),
        t("column.gpus_inside"): f"{system.gpu_count} × {gpu.name if gpu else system.gpu}",
        t("column.memory_all"): None if memory is None else memory.value * system.gpu_count,
        t("column.max_w"): catalog_rows.number(system.max_w),
        **_price(catalog, system.id, today),
        t("column.note"): system.note,
    }


def _price(catalog: Catalog, item: str, today: dt.date) -> Row:
    """The newest price of an item with its origin."""
    prices = prices_of(catalog, item)
    price = prices[0] if prices else None
    figure = None if price is None else price.price_usd
    return {
        t("column.price_usd"): catalog_rows.usd(figure),
        t("column.price_is"): t(f"compare.{price.condition}") if price else formatting.unknown(),
        **catalog_rows.origin(catalog, [figure], today),
    }
