"""Catalog records -> rows of plain data, as `catalog list` prints them."""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from planner.catalog.records import PRECISIONS, Catalog, Figure
from planner.performance.evidence import Evidence, load_evidence
from planner.report.export import safe_cell
from planner.report.gpu_table import figures_of
from planner.report.gpu_values import Basis, purchase_price

Kind = Literal["gpus", "offers", "workloads", "sites"]
KINDS: tuple[Kind, ...] = ("gpus", "offers", "workloads", "sites")


_VALUES = (
    "usd_per_peak_fp32_tflop_per_s",
    "usd_per_dense_16_bit_tflop_per_s",
    "usd_per_achieved_16_bit_tflop_per_s",
    "usd_per_gb",
    "gb_per_s_per_usd",
    "dense_16_bit_tflop_per_s_per_w",
    "achieved_16_bit_tflop_per_s_per_w",
)
"""What a GPU gives for its price and its rated power."""


def list_rows(
    catalog: Catalog, kind: Kind, *, today: dt.date, evidence: Evidence | None = None, basis: Basis = "new"
) -> list[dict[str, Any]]:
    """Rows of one kind of record, sorted by id; unknown figures are None.

    `evidence` is what GPUs are compared by, the measurements shipped if omitted; `basis` which of their prices counts.
    """
    if kind == "gpus":
        return _gpus(catalog, load_evidence() if evidence is None else evidence, basis)
    makers = {"offers": _offers, "workloads": _workloads, "sites": _sites}
    return makers[kind](catalog, today)


def _value(figure: Figure | None) -> float | None:
    return None if figure is None else figure.value


def _source(figure: Figure) -> str:
    return "; ".join(figure.sources)


def _offers(catalog: Catalog, today: dt.date) -> list[dict[str, Any]]:
    return [
        {
            "id": offer.id,
            "provider": offer.provider,
            "instance_type": offer.instance_type,
            "region": offer.region,
            "gpu": offer.gpu,
            "gpu_label": offer.gpu_label,
            "gpu_count": offer.gpu_count,
            "term": offer.term,
            "market": offer.market,
            "price_usd_per_h": offer.price_usd_per_h.value,
            "price_usd_per_gpu_h": offer.price_usd_per_gpu_h,
            "status": offer.status(today),
            "as_of": offer.price_usd_per_h.as_of,
            "retired_on": None if offer.retired_on is None else offer.retired_on.isoformat(),
            "estimate": offer.price_usd_per_h.estimate,
            "source": _source(offer.price_usd_per_h),
            "note": offer.note,
        }
        for offer in sorted(catalog.offers.values(), key=lambda offer: offer.id)
    ]


def _gpus(catalog: Catalog, evidence: Evidence, basis: Basis) -> list[dict[str, Any]]:
    rows = []
    for gpu in sorted(catalog.gpus.values(), key=lambda gpu: gpu.id):
        row: dict[str, Any] = {
            "id": gpu.id,
            "name": gpu.name,
            "vendor": gpu.vendor,
            "architecture": gpu.architecture,
            "segment": gpu.segment,
            "form_factor": gpu.form_factor,
            "launch_date": gpu.launch_date,
            "memory_gb": gpu.memory_gb.value,
            "memory_bandwidth_gb_per_s": gpu.memory_bandwidth_gb_per_s.value,
            "tdp_w": gpu.tdp_w.value,
            "idle_w": _value(gpu.idle_w),
            "nvlink_gb_per_s": _value(gpu.nvlink_gb_per_s),
            "pcie_gen": _value(gpu.pcie_gen),
            "peer_to_peer": gpu.peer_to_peer,
        }
        row |= {f"{name}_dense_tflop_per_s": _value(gpu.dense_tflop_per_s.get(name)) for name in PRECISIONS}
        row |= {f"{name}_matmul_fraction": _value(gpu.matmul_fraction.get(name)) for name in PRECISIONS}
        row |= {"as_of": gpu.memory_gb.as_of, "source": _source(gpu.memory_gb)}
        price = purchase_price(catalog, gpu, basis)
        figures = figures_of(catalog, evidence, gpu, basis)
        row |= {
            "price_usd": None if price is None else price.usd.value,
            "price_condition": None if price is None else price.condition,
            "price_as_of": None if price is None else price.usd.as_of,
            "price_estimate": None if price is None else price.usd.estimate,
            "price_source": None if price is None else _source(price.usd),
        }
        row |= {name: _value(figures[name]) for name in _VALUES}
        rows.append(row)
    return rows


def _workloads(catalog: Catalog, today: dt.date) -> list[dict[str, Any]]:
    return [
        {
            "id": workload.id,
            "name": workload.name,
            "unit": workload.unit,
            "parameters": workload.parameters.value,
            "precision": workload.precision,
            "global_batch": workload.global_batch,
            "seq_len": None if workload.transformer is None else workload.transformer.seq_len,
            "samples": _value(workload.samples),
            "epochs": workload.epochs,
            "tokens": _value(workload.tokens),
            "as_of": workload.parameters.as_of,
            "source": _source(workload.parameters),
        }
        for workload in sorted(catalog.workloads.values(), key=lambda workload: workload.id)
    ]


def _sites(catalog: Catalog, today: dt.date) -> list[dict[str, Any]]:
    rows = []
    for site in sorted(catalog.sites.values(), key=lambda site: site.id):
        default = site.tariffs[site.default_tariff]
        grid = catalog.grids[site.grid].kg_co2e_per_kwh
        rows.append(
            {
                "id": site.id,
                "name": site.name,
                "electricity_usd_per_kwh": default.usd_per_kwh.value,
                "tariff": site.default_tariff,
                "includes_tax": default.includes_tax,
                "tariffs_usd_per_kwh": {name: tariff.usd_per_kwh.value for name, tariff in site.tariffs.items()},
                "pue": site.pue.value,
                "grid_kg_co2e_per_kwh": grid.value,
                "estimate": default.usd_per_kwh.estimate,
                "as_of": default.usd_per_kwh.as_of,
                "source": "; ".join(dict.fromkeys((*default.usd_per_kwh.sources, *grid.sources))),
            }
        )
    return rows


def rows_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows of one kind as CSV in full precision; unknown is empty, and no cell is a formula to a spreadsheet."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if rows:
        writer.writerow(rows[0])
    for row in rows:
        writer.writerow([safe_cell(_cell(value)) for value in row.values()])
    return stream.getvalue()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {inner}" for key, inner in value.items())
    return value
