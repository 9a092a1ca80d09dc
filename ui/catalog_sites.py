"""Sites of the Catalog page: electricity prices, grids, cooling, and the carbon of making hardware."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from planner.catalog.records import Catalog, Tariff
from planner.units import G_PER_KG
from ui import catalog_rows, catalog_tables
from ui.i18n import t
from ui.names import tariff_name

TOPICS = ("tariffs", "grids", "cooling", "making")
_TABLE_PX = 640
_WIDTHS_PX = {"site": 175, "use": 165, "as_of": 100, "age": 170, "sources": 420}
Row = dict[str, Any]


def show(catalog: Catalog, today: dt.date) -> None:
    """The whole view."""
    title = st.container()
    topic = st.segmented_control(
        t("sites.switch"),
        TOPICS,
        default="tariffs",
        format_func=lambda topic: t(f"sites.{topic}"),
        key="sites_topic",
        required=True,
        label_visibility="collapsed",
        persist_state="session",
    )
    rows_of: Mapping[str, Callable[[Catalog, dt.date], list[Row]]] = {
        "tariffs": _tariffs,
        "grids": _grids,
        "cooling": _cooling,
        "making": _making,
    }
    rows = rows_of[topic](catalog, today)
    title.title(t(f"sites.title.{topic}", count=len(rows)), anchor=False)
    st.markdown(t(f"sites.about.{topic}"))
    numbers = [t(f"column.{column}") for column in ("usd_per_kwh", "pue", "g_per_kwh", "kg_co2e")]
    present = [column for column in numbers if rows and column in rows[0]]
    widths = {t(f"column.{column}"): px for column, px in _WIDTHS_PX.items()}
    catalog_tables.table(rows, key=f"catalog_{topic}", height=_TABLE_PX, numbers=present, widths=widths)
    catalog_tables.export(lambda: rows, len(rows), topic)


def _tariffs(catalog: Catalog, today: dt.date) -> list[Row]:
    """One row a published price: those of the sites, their other prices, and averages of regions."""
    rows = []
    for site in catalog.sites.values():
        for id, tariff in site.tariffs.items():
            use = t("sites.usual") if id == site.default_tariff else t("sites.choosable")
            rows.append(_tariff(catalog, site.name, id, tariff, use, today))
            rows += [_tariff(catalog, site.name, id, other, t("sites.other"), today) for other in tariff.others]
    for region in catalog.region_tariffs.values():
        for id, tariff in region.tariffs.items():
            rows.append(_tariff(catalog, region.name, id, tariff, t("sites.average"), today))
    return rows


def _tariff(catalog: Catalog, place: str, id: str, tariff: Tariff, use: str, today: dt.date) -> Row:
    return {
        t("column.site"): place,
        t("column.tariff"): tariff_name(id),
        t("column.usd_per_kwh"): catalog_rows.number(tariff.usd_per_kwh),
        t("column.tax_in"): t("word.yes" if tariff.includes_tax else "word.no"),
        t("column.use"): use,
        **catalog_rows.origin(catalog, [tariff.usd_per_kwh], today),
        t("column.note"): tariff.note,
    }


def _grids(catalog: Catalog, today: dt.date) -> list[Row]:
    return [
        {
            t("column.grid"): grid.name,
            t("column.kind"): t(f"sites.grid.{grid.kind}"),
            t("column.g_per_kwh"): None
            if (kg := catalog_rows.number(grid.kg_co2e_per_kwh)) is None
            else round(kg * G_PER_KG, 6),
            **catalog_rows.origin(catalog, [grid.kg_co2e_per_kwh], today),
            t("column.note"): grid.note,
        }
        for grid in catalog.grids.values()
    ]


def _cooling(catalog: Catalog, today: dt.date) -> list[Row]:
    return [
        {
            t("column.facility"): facility.name,
            t("column.kind"): t(f"sites.facility.{facility.kind}"),
            t("column.pue"): catalog_rows.number(facility.pue),
            **catalog_rows.origin(catalog, [facility.pue], today),
            t("column.note"): facility.note,
        }
        for facility in catalog.facilities.values()
    ]


def _making(catalog: Catalog, today: dt.date) -> list[Row]:
    return [
        {
            t("column.thing"): thing.name,
            t("column.kg_co2e"): catalog_rows.number(thing.kg_co2e),
            t("column.per"): t(f"sites.per.{thing.per}"),
            **catalog_rows.origin(catalog, [thing.kg_co2e], today),
            t("column.note"): thing.note,
        }
        for thing in catalog.embodied.values()
    ]
