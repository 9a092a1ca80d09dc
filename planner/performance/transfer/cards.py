"""What of a card decides how fast a measured model runs on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from planner.catalog.records import Catalog, Gpu, PartialGpu, Precision
from planner.performance.constants import Constants
from planner.performance.device import device_of
from planner.units import BYTES_PER_GB, BYTES_PER_MIB, FLOP_PER_TFLOP

PrecisionClass = Literal["16-bit", "tf32", "fp32"]

_CANDIDATES: dict[PrecisionClass, tuple[Precision, ...]] = {
    "16-bit": ("fp16", "bf16", "fp32"),  # Pascal multiplies mixed precision at its fp32 rate
    "tf32": ("tf32",),
    "fp32": ("fp32",),
}
_USUAL_CACHE_MB, _USUAL_MEMORY_GB = 6.0, 24.0  # where the catalog doesn't say: those of most cards that were measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """Rates of a card in one class of precision, and its sizes."""

    matmul_tflop_per_s: float
    vector_tflop_per_s: float
    bandwidth_gb_per_s: float
    memory_gb: float = _USUAL_MEMORY_GB
    cache_mb: float = _USUAL_CACHE_MB

    @property
    def features(self) -> tuple[float, ...]:
        """What tells how alike two cards are: logs of rates and sizes."""
        sizes = (self.bandwidth_gb_per_s, self.matmul_tflop_per_s, self.memory_gb, self.vector_tflop_per_s)
        return tuple(math.log(value) for value in (*sizes, self.cache_mb))

    @classmethod
    def of_features(cls, features: Sequence[float]) -> Card:
        """The card that has these features."""
        bandwidth, matmul, memory, vector, cache = (math.exp(value) for value in features)
        return cls(
            matmul_tflop_per_s=matmul,
            vector_tflop_per_s=vector,
            bandwidth_gb_per_s=bandwidth,
            memory_gb=memory,
            cache_mb=cache,
        )


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
    bandwidth = device.bandwidth_bytes_per_s / BYTES_PER_GB
    return Card(
        matmul_tflop_per_s=device.matmul_flop_per_s / FLOP_PER_TFLOP,
        vector_tflop_per_s=device.vector_flop_per_s / FLOP_PER_TFLOP,
        bandwidth_gb_per_s=bandwidth * (constants.ecc_bandwidth_share if _corrects_in_line(gpu) else 1.0),
        memory_gb=_USUAL_MEMORY_GB if gpu.memory_gb is None else gpu.memory_gb.value,
        cache_mb=device.cache_bytes / BYTES_PER_MIB or _USUAL_CACHE_MB,
    )


def _corrects_in_line(gpu: Gpu | PartialGpu) -> bool:
    """Whether errors are corrected as delivered, by bits kept in the memory itself: GDDR in data-centre cards."""
    memory = gpu.spec.memory_type
    return gpu.segment == "datacenter" and memory is not None and memory.value.upper().startswith("GDDR")
