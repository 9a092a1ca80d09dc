"""What of a card decides how fast a measured model runs on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from planner.catalog.records import Catalog, Gpu, PartialGpu, Precision
from planner.performance.constants import Constants
from planner.performance.device import device_of
from planner.units import BYTES_PER_GB, FLOP_PER_TFLOP

PrecisionClass = Literal["16-bit", "tf32", "fp32"]

_CANDIDATES: dict[PrecisionClass, tuple[Precision, ...]] = {
    "16-bit": ("fp16", "bf16", "fp32"),  # Pascal multiplies mixed precision at its fp32 rate
    "tf32": ("tf32",),
    "fp32": ("fp32",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """Rates of a card in one class of precision."""

    matmul_tflop_per_s: float
    vector_tflop_per_s: float
    bandwidth_gb_per_s: float


def card_of(catalog: Catalog, gpu_id: str, precision: PrecisionClass, constants: Constants) -> Card | None:
    """A card's rates; None where the catalog lacks it, its bandwidth or a matmul rate."""
    gpu = catalog.gpus.get(gpu_id) or catalog.partial_gpus.get(gpu_id)
    return None if gpu is None else card_of_gpu(gpu, precision, constants)


def card_of_gpu(gpu: Gpu | PartialGpu, precision: PrecisionClass, constants: Constants) -> Card | None:
    """Rates of a GPU, of the catalog or not; None where its bandwidth or a matmul rate isn't known."""
    if gpu.memory_bandwidth_gb_per_s is None:
        return None
    used = next((kind for kind in _CANDIDATES[precision] if kind in gpu.dense_tflop_per_s), None)
    if used is None:
        return None
    device = device_of(gpu, used, constants)
    return Card(
        matmul_tflop_per_s=device.matmul_flop_per_s / FLOP_PER_TFLOP,
        vector_tflop_per_s=device.vector_flop_per_s / FLOP_PER_TFLOP,
        bandwidth_gb_per_s=device.bandwidth_bytes_per_s / BYTES_PER_GB,
    )
