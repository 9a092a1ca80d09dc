"""What a predicted speed rests on, as ids of sources: figures of the GPU, assumptions, measurements."""

from __future__ import annotations

from collections.abc import Sequence

from planner.catalog.records import Figure
from planner.catalog.source_ids import ASSUMPTIONS, MEASUREMENTS
from planner.performance.constants import assumption_id
from planner.performance.request import Request

_TRANSFORMER_CONSTANTS = (
    "gemm_efficiency",
    "gemm_bytes_factor",
    "attention_efficiency",
    "elementwise_factor_fused",
    "elementwise_factor_unfused",
    "kernel_launch_us",
    "optimizer_factor",
    "logit_bytes_cached",
)
_VISION_CONSTANTS = (
    "vision_efficiency",
    "vision_bytes_factor",
    "vision_cycles",
    "vision_patch_share",
    "vision_plain_share",
    "vision_launch_ms",
    "vision_parameter_bytes",
)
_LINK_CONSTANTS = {
    "switched": ("nvlink_share_ddp", "nvlink_share_fsdp", "overlap_exposed"),
    "peer": ("pcie_gb_per_s_professional",),
    "host": ("pcie_gb_per_s_geforce", "geforce_contention"),
}


def formula_sources(request: Request) -> tuple[str, ...]:
    """Sources of the figures a formula used: the GPU's rates, the model's size, and the constants by assumption."""
    vision = request.setup.workload.transformer is None
    names = (*(_VISION_CONSTANTS if vision else _TRANSFORMER_CONSTANTS), *_link_constants(request))
    cited = (*_figure_sources(request), *(f"{ASSUMPTIONS}{assumption_id(name)}" for name in names))
    return tuple(dict.fromkeys(cited))


def transfer_sources(request: Request, ids: Sequence[str]) -> tuple[str, ...]:
    """The measurements a speed was taken over from, the GPU's rates, and the constants of its links by assumption."""
    constants = (f"{ASSUMPTIONS}{assumption_id(name)}" for name in _link_constants(request))
    cited = (*(f"{MEASUREMENTS}{id}" for id in ids), *_figure_sources(request), *constants)
    return tuple(dict.fromkeys(cited))


def _figure_sources(request: Request) -> list[str]:
    gpu = request.setup.gpu
    figures: list[Figure | None] = [
        gpu.dense_tflop_per_s[request.precision],
        gpu.matmul_fraction.get(request.precision),
        gpu.memory_bandwidth_gb_per_s,
        request.setup.workload.parameters,
    ]
    if request.setup.gpus > 1:
        figures.append(gpu.nvlink_gb_per_s)
    return [source for figure in figures if figure is not None for source in figure.sources]


def _link_constants(request: Request) -> tuple[str, ...]:
    gpu = request.setup.gpu
    if request.setup.gpus == 1:
        return ()
    return _LINK_CONSTANTS["switched" if gpu.nvlink_gb_per_s else "peer" if gpu.peer_to_peer else "host"]
