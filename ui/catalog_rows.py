"""Cells of the Catalog page: figures with unit, mark and age, and where each row comes from."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any

from planner.catalog.records import Catalog, Fact, Figure, Gpu, Offer
from planner.performance.evidence import load_evidence
from planner.report.gpu_values import Accelerator
from planner.strategy.resolve.figures import oldest
from ui import formatting
from ui.i18n import t

Row = dict[str, Any]
ESTIMATE_DIGITS = 3


def number(figure: Figure | None, digits: int = 6) -> float | None:
    """A value for a table that sorts; an estimate has at most three significant digits."""
    if figure is None:
        return None
    return float(f"{figure.value:.{ESTIMATE_DIGITS if figure.estimate else digits}g}")


def usd(figure: Figure | None) -> float | None:
    """A price for a table that sorts, in whole dollars from 1,000 up."""
    value = number(figure)
    return None if value is None else round(value) + 0.0 if value >= 1000 else round(value, 2)


def text(figure: Figure | None, unit: str = "", digits: int = 6) -> str:
    """A value in words with its unit, exact unless it is an estimate."""
    if figure is None:
        return formatting.unknown()
    shown = formatting.trimmed(number(figure, digits), digits)
    return f"{shown}{formatting.NBSP}{t(unit)}" if unit else shown


def link(gpu: Accelerator) -> str:
    """Rate of the NVLink between cards [GB/s]; one by bridge joins two only."""
    bridge = gpu.spec.nvlink_bridge_gb_per_s
    if gpu.nvlink_gb_per_s is None and bridge is not None:
        return t("compare.in_pairs", rate=text(bridge))
    if gpu.nvlink_gb_per_s is None and isinstance(gpu, Gpu):
        return t("word.none")
    return text(gpu.nvlink_gb_per_s)


def mark(figures: Iterable[Figure | Fact | None], today: dt.date) -> str:
    """Words of a mark: how old the oldest figure is from 18 months on, and whether any is an estimate."""
    known = [figure for figure in figures if figure is not None]
    notes = [formatting.age(_oldest(known), today)] if known else []  # neither old nor estimated: no mark
    if any(figure.estimate for figure in known):
        notes.append(t("word.estimate"))
    return ", ".join(note for note in notes if note) or t("word.none")


def origin(catalog: Catalog, figures: Iterable[Figure | Fact | None], today: dt.date) -> Row:
    """Date, mark and sources of a row: the oldest date counts."""
    known = [figure for figure in figures if figure is not None]
    ids = dict.fromkeys(id for figure in known for id in figure.sources)
    return {
        t("column.as_of"): formatting.date(_oldest(known)),
        t("column.age"): mark(known, today),
        t("column.sources"): "; ".join(_title(catalog, id) for id in ids) or t("word.not_stated"),
    }


def _title(catalog: Catalog, id: str) -> str:
    """Title of a source: of the catalog, of the measurements, or the scenario itself."""
    if id == "scenario":
        return t("own.source")
    source = catalog.sources.get(id) or load_evidence().sources.get(id)
    return source.title if source else id


def gpu_of(catalog: Catalog, offer: Offer) -> str:
    """Name of what an offer rents: a GPU, a partly known one, or the label as printed."""
    if offer.gpu is not None:
        return catalog.gpus[offer.gpu].name
    if offer.partial_gpu is not None:
        return catalog.partial_gpus[offer.partial_gpu].name
    return offer.gpu_label


def provider_of(catalog: Catalog, offer: Offer) -> str:
    """Name of a provider, or its id where it has none."""
    known = catalog.providers.get(offer.provider)
    return known.name if known else offer.provider


def _oldest(figures: Iterable[Figure | Fact]) -> str | None:
    """The oldest date, or none as soon as one figure has none."""
    dates = [figure.as_of for figure in figures]
    return None if None in dates else oldest(dates)
