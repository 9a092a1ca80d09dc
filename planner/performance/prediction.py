"""What an estimate says of one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from planner.catalog.records import Precision
from planner.performance.layout import Layout
from planner.performance.request import Warning_
from planner.workload.settings import Checkpointing, Optimizer

Basis = Literal["measured", "transferred", "estimated"]
Unit = Literal["tokens_per_s", "samples_per_s"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Speed and memory of one run. Throughput counts all its GPUs; low to high is an 80 % interval."""

    throughput: float
    throughput_low: float
    throughput_high: float
    throughput_unit: Unit
    basis: Basis
    memory_gb: float  # peak per GPU, 1e9 bytes
    capacity_gb: float
    fits: bool
    min_gpus: int | None
    precision: Precision
    seq_len: int | None
    micro_batch: int
    global_batch: int
    checkpointing: Checkpointing
    layout: Layout
    software: str  # of a measurement its framework, else what the formulas assume
    optimizer: Optimizer | None  # None for vision models
    trained_parameters: float
    breakdown_s: Mapping[str, float]
    sources: tuple[str, ...]
    estimate: bool
    warnings: tuple[Warning_, ...]
