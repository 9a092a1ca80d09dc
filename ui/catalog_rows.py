"""Rows of the Catalog page: what each table shows of a record, always with its source, date and age."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any

from planner.catalog.records import Catalog, Figure
from ui import formatting
from ui.i18n import t
from ui.names import tariff_name

Row = dict[str, Any]


def gpus(catalog: Catalog, today: dt.date) -> list[Row]:
    """One row a GPU."""
    rows = []
    for gpu in catalog.gpus.values():
        rate = gpu.dense_tflop_per_s
        half = rate.get("bf16") or rate.get("fp16")
        links = ""
        if gpu.nvlink_gb_per_s:
            link = "catalog.nvlink" if gpu.vendor == "NVIDIA" else "catalog.own_link"
            links = t(link, rate=formatting.plain(gpu.nvlink_gb_per_s.value))
        prices = [price for price in catalog.hardware.values() if price.item == gpu.id]
        rows.append(
            {
                t("column.gpu"): gpu.name,
                t("column.card_memory"): formatting.memory(gpu.memory_gb.value),
                t("column.bandwidth"): _number(gpu.memory_bandwidth_gb_per_s, "unit.gb_per_s"),
                t("column.half"): _number(half, "unit.tflop_per_s"),
                t("column.fp32"): _number(rate.get("fp32"), "unit.tflop_per_s"),
                t("column.tdp"): formatting.power(gpu.tdp_w.value),
                t("column.links"): links or t("catalog.pcie_p2p" if gpu.peer_to_peer else "catalog.pcie_no_p2p"),
                t("column.price"): "; ".join(_purchase(price.price_usd, price.condition) for price in prices)
                or formatting.unknown(),
                **_origin(catalog, [gpu.memory_gb, *(price.price_usd for price in prices)], today),
            }
        )
    return rows


def offers(catalog: Catalog, today: dt.date) -> list[Row]:
    """One row an offer, per GPU-hour and per instance-hour together."""
    rows = []
    for offer in catalog.offers.values():
        gpu = catalog.gpus[offer.gpu].name if offer.gpu else offer.gpu_label
        provider = catalog.providers.get(offer.provider)
        rows.append(
            {
                t("column.instance"): offer.instance_type,
                t("column.provider"): provider.name if provider else offer.provider,
                t("column.region"): offer.region or formatting.unknown(),
                t("column.gpu"): f"{formatting.plain(offer.gpu_count)} × {gpu}",
                t("column.term"): t(f"term.{offer.term}"),
                t("column.usd_per_gpu_h"): formatting.exact(offer.price_usd_per_gpu_h, 3),
                t("column.usd_per_h"): formatting.exact(offer.price_usd_per_h.value, 3),
                t("column.market"): t(f"market.{offer.market}"),
                t("column.status"): t(f"status.{offer.status(today)}"),
                **_origin(catalog, [offer.price_usd_per_h], today),
            }
        )
    return rows


def hosts(catalog: Catalog, today: dt.date) -> list[Row]:
    """One row a host."""
    rows = []
    for host in catalog.hosts.values():
        prices = [price for price in catalog.hardware.values() if price.item == host.id]
        load = formatting.power(host.load_w.value) if host.load_w else ""
        if host.wall_w_per_gpu_tdp:
            load = t("catalog.whole_node", factor=formatting.plain(host.wall_w_per_gpu_tdp.value))
        idle = formatting.power(host.idle_w.value) if host.idle_w else ""
        if host.idle_share_of_load:
            idle = t("catalog.idle_share", share=formatting.percent(host.idle_share_of_load.value))
        figures = [host.load_w, host.idle_w, host.wall_w_per_gpu_tdp, *(price.price_usd for price in prices)]
        rows.append(
            {
                t("column.host"): host.name,
                t("column.slots"): formatting.plain(host.gpu_slots),
                t("column.load"): load or formatting.unknown(),
                t("column.idle"): idle or formatting.unknown(),
                t("column.price"): "; ".join(_purchase(price.price_usd, price.condition) for price in prices)
                or formatting.unknown(),
                **_origin(catalog, figures, today),
            }
        )
    return rows


def sites(catalog: Catalog, today: dt.date) -> list[Row]:
    """One row a tariff of a site."""
    rows = []
    for site in catalog.sites.values():
        grid = catalog.grids[site.grid]
        for id, tariff in site.tariffs.items():
            rows.append(
                {
                    t("column.site"): site.name,
                    t("column.tariff"): tariff_name(id),
                    t("column.usd_per_kwh"): formatting.exact(tariff.usd_per_kwh.value, 4),
                    t("column.tax_in"): t("word.yes" if tariff.includes_tax else "word.no"),
                    t("column.pue"): formatting.plain(site.pue.value),
                    t("column.grid"): formatting.carbon_intensity(grid.kg_co2e_per_kwh.value),
                    **_origin(catalog, [tariff.usd_per_kwh, grid.kg_co2e_per_kwh, site.pue], today),
                }
            )
    return rows


def _number(figure: Figure | None, unit: str) -> str:
    if figure is None:
        return formatting.unknown()
    return f"{formatting.plain(figure.value)}{formatting.NBSP}{t(unit)}"


def _purchase(figure: Figure, condition: str) -> str:
    return t(f"catalog.{condition}", price=formatting.price(figure.value))


def _origin(catalog: Catalog, figures: Iterable[Figure | None], today: dt.date) -> Row:
    """Source, date and age of a row: the oldest date counts, and an estimate among the figures is said."""
    known = [figure for figure in figures if figure is not None]
    ids = list(dict.fromkeys(id for figure in known for id in figure.sources))
    dates = [figure.as_of for figure in known]
    oldest = None if None in dates or not dates else min(str(date) for date in dates)
    notes = [formatting.age(oldest, today)]
    if any(figure.estimate for figure in known):
        notes.append(t("word.estimate"))
    return {
        t("column.as_of"): formatting.date(oldest),
        t("column.age"): ", ".join(note for note in notes if note),
        t("column.sources"): "; ".join(catalog.sources[id].title if id in catalog.sources else id for id in ids),
    }
