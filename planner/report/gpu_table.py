"""Figures of GPUs as rows: side by side for a comparison, or one GPU a row for a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from planner.catalog.records import Catalog, Figure
from planner.performance.evidence import Evidence
from planner.report.gpu_values import (
    Accelerator,
    Basis,
    Price,
    accelerators,
    gb_per_s_per_usd,
    purchase_price,
    speed,
    tflop_per_s_per_w,
    usd_per_gb,
    usd_per_speed,
)
from planner.strategy.resolve.figures import oldest

Better = Literal["high", "low", ""]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRow:
    """One figure of several GPUs; `best` are the positions of its best values, if it can be ranked."""

    id: str
    figures: tuple[Figure | None, ...]
    best: tuple[int, ...]


def compare_rows(
    catalog: Catalog, evidence: Evidence, gpus: Sequence[Accelerator], basis: Basis
) -> tuple[CompareRow, ...]:
    """Figures of GPUs side by side, best ones marked."""
    columns = [figures_of(catalog, evidence, gpu, basis) for gpu in gpus]
    return tuple(
        CompareRow(id=id, figures=figures, best=_best(figures, better))
        for id, better in BETTER.items()
        for figures in [tuple(column[id] for column in columns)]
    )


BETTER: dict[str, Better] = {
    "memory_gb": "high",
    "memory_bandwidth_gb_per_s": "high",
    "peak_fp32_tflop_per_s": "high",
    "dense_16_bit_tflop_per_s": "high",
    "achieved_16_bit_tflop_per_s": "high",
    "dense_fp8_tflop_per_s": "high",
    "bert_large_samples_per_s": "high",
    "tdp_w": "low",
    "idle_w": "low",
    "nvlink_gb_per_s": "high",
    "nvlink_bridge_gb_per_s": "",
    "price_new_usd": "low",
    "price_used_usd": "low",
    "price_usd": "low",
    "usd_per_peak_fp32_tflop_per_s": "low",
    "usd_per_dense_16_bit_tflop_per_s": "low",
    "usd_per_achieved_16_bit_tflop_per_s": "low",
    "usd_per_gb": "low",
    "gb_per_s_per_usd": "high",
    "dense_16_bit_tflop_per_s_per_w": "high",
    "achieved_16_bit_tflop_per_s_per_w": "high",
}
"""Figures of a comparison in their order, with the direction that is better; `price_usd` is that of the basis."""


def figures_of(catalog: Catalog, evidence: Evidence, gpu: Accelerator, basis: Basis) -> dict[str, Figure | None]:
    """All figures of a comparison for one GPU, None where unknown."""
    price = purchase_price(catalog, gpu, basis)
    peak = speed(gpu, "peak_fp32", evidence)
    dense = speed(gpu, "dense_16_bit", evidence)
    achieved = speed(gpu, "achieved_16_bit", evidence)
    return {
        "memory_gb": gpu.memory_gb,
        "memory_bandwidth_gb_per_s": gpu.memory_bandwidth_gb_per_s,
        "peak_fp32_tflop_per_s": peak,
        "dense_16_bit_tflop_per_s": dense,
        "achieved_16_bit_tflop_per_s": achieved,
        "dense_fp8_tflop_per_s": gpu.dense_tflop_per_s.get("fp8"),
        "bert_large_samples_per_s": speed(gpu, "bert_large", evidence),
        "tdp_w": gpu.tdp_w,
        "idle_w": gpu.idle_w,
        "nvlink_gb_per_s": gpu.nvlink_gb_per_s,
        "nvlink_bridge_gb_per_s": gpu.spec.nvlink_bridge_gb_per_s,
        "price_new_usd": _usd(purchase_price(catalog, gpu, "new")),
        "price_used_usd": _usd(purchase_price(catalog, gpu, "used")),
        "price_usd": _usd(price),
        "usd_per_peak_fp32_tflop_per_s": usd_per_speed(price, peak),
        "usd_per_dense_16_bit_tflop_per_s": usd_per_speed(price, dense),
        "usd_per_achieved_16_bit_tflop_per_s": usd_per_speed(price, achieved),
        "usd_per_gb": usd_per_gb(price, gpu),
        "gb_per_s_per_usd": gb_per_s_per_usd(price, gpu),
        "dense_16_bit_tflop_per_s_per_w": tflop_per_s_per_w(gpu, "dense_16_bit", evidence),
        "achieved_16_bit_tflop_per_s_per_w": tflop_per_s_per_w(gpu, "achieved_16_bit", evidence),
    }


def _usd(price: Price | None) -> Figure | None:
    return None if price is None else price.usd


def is_derived(id: str) -> bool:
    """Whether a figure is computed from others, and so shown with three digits."""
    return id.startswith(("usd_per", "achieved")) or id.endswith("per_w") or id == "gb_per_s_per_usd"


def _best(figures: Sequence[Figure | None], better: Better) -> tuple[int, ...]:
    known = [figure.value for figure in figures if figure is not None]
    if not better or len(known) < 2 or len(set(known)) == 1:
        return ()
    best = max(known) if better == "high" else min(known)
    return tuple(index for index, figure in enumerate(figures) if figure is not None and figure.value == best)


def gpu_rows(catalog: Catalog, evidence: Evidence, *, basis: Basis) -> list[dict[str, Any]]:
    """One row a GPU, also the partly known ones, with what it gives for price and power; unknown figures are None.

    `price_usd` and all that is computed from a price go by `basis`, so that no rank mixes new cards with used ones.
    """
    rows = []
    for id, gpu in sorted(accelerators(catalog).items()):
        price = purchase_price(catalog, gpu, basis)
        figures = figures_of(catalog, evidence, gpu, basis)
        known = [figure for figure in figures.values() if figure is not None]
        rows.append(
            {
                "id": id,
                "name": gpu.name,
                "vendor": gpu.vendor,
                "architecture": gpu.architecture,
                "segment": gpu.segment,
                "launch_date": gpu.launch_date,
                **{name: None if figure is None else figure.value for name, figure in figures.items()},
                **_price_row(price),
                "can_be_planned": id in catalog.gpus,
                "estimate": any(figure.estimate for figure in known),
                "as_of": oldest([figure.as_of for figure in known]),
                "source": "; ".join(dict.fromkeys(id for figure in known for id in figure.sources)),
            }
        )
    return rows


def _price_row(price: Price | None) -> dict[str, Any]:
    if price is None:
        return {"price_condition": None, "price_as_of": None}
    return {"price_condition": price.condition, "price_as_of": price.usd.as_of}
