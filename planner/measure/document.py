"""What was measured as plain data, for JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from planner.measure.results import Bandwidth, MatmulRate, Report, TrainingStep
from planner.measure.timing import SPREAD_LIMIT, Timing


def report_document(report: Report, files: Sequence[Path] = ()) -> dict[str, Any]:
    """The report with null wherever there is no figure."""
    device = report.device
    return {
        "schema_version": 1,
        "measured_on": report.date,
        "quick": report.quick,
        "interrupted": report.interrupted,
        "spread_limit": SPREAD_LIMIT,
        "device": {
            "torch_name": device.torch_name,
            "name": device.name,
            "gpu": device.gpu,
            "in_catalog": device.in_catalog,
            "memory_gb": device.memory_gb,
            "torch_version": device.torch_version,
            "cuda_version": device.cuda_version,
            "driver": report.driver,
        },
        "power": report.power,
        "matmul": [_matmul(found) for found in report.matmuls],
        "bandwidth": [_bandwidth(found) for found in report.bandwidths],
        "steps": [_step(found) for found in report.steps],
        "skipped": [
            {"workload": found.workload, "what": found.what, "reason": found.reason} for found in report.skipped
        ],
        "files": [str(path) for path in files],
    }


def _matmul(found: MatmulRate) -> dict[str, Any]:
    rate = {"precision": found.precision, "size": found.size, "tflop_per_s": found.tflop_per_s}
    return rate | _timing(found.timing)


def _bandwidth(found: Bandwidth) -> dict[str, Any]:
    rate = {"kind": found.kind, "array_gb": found.array_gb, "gb_per_s": found.gb_per_s}
    return rate | _timing(found.timing)


def _step(found: TrainingStep) -> dict[str, Any]:
    return {
        "workload": found.shape.workload,
        "model": found.shape.model,
        "parameters": found.shape.parameters,
        "framework": found.framework,
        "precision": found.precision,
        "amp": found.amp,
        "checkpointing": found.checkpointing,
        "batch": found.batch,
        "seq_len": found.shape.seq_len,
        "throughput": found.per_s,
        "throughput_unit": f"{found.shape.unit}_per_s",
        "allocated_gb": found.allocated_gb,
        "reserved_gb": found.reserved_gb,
        "mean_w": found.mean_w,
        "j_per_step": found.j_per_step,
    } | _timing(found.timing)


def _timing(timing: Timing) -> dict[str, Any]:
    return {
        "median_s": timing.median_s,
        "spread": timing.spread if math.isfinite(timing.spread) else None,
        "settled": timing.settled,
        "samples": timing.samples,
    }
