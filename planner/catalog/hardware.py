"""What can be bought besides single known GPUs: partly known accelerators, complete machines, parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from planner.catalog.figures import Fact, Figure

Segment = Literal["consumer", "workstation", "datacenter"]
Precision = Literal["fp32", "tf32", "fp16", "bf16", "fp8"]
Feature = Literal["bf16", "tf32", "fp8", "fp4", "flash-attention-2", "mig"]
SystemKind = Literal["server", "baseboard", "pc"]
PartKind = Literal["network", "nvlink_bridge", "power_supply", "storage", "chassis", "cooling"]

PRECISIONS: tuple[Precision, ...] = ("fp32", "tf32", "fp16", "bf16", "fp8")


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuSpec:
    """The rest of a spec sheet, for reading and comparing; None is unknown. Rates are dense."""

    chip: Fact | None = None
    memory_type: Fact | None = None
    compute_capability: Fact | None = None  # AMD: the gfx target
    sm_count: Figure | None = None  # compute units at AMD
    cuda_cores: Figure | None = None  # stream processors at AMD
    tensor_cores: Figure | None = None
    boost_mhz: Figure | None = None  # as rated; tensor peaks may be stated at another clock
    l2_mb: Figure | None = None
    fp64_tflop_per_s: Figure | None = None
    fp4_dense_tflop_per_s: Figure | None = None
    int8_dense_top_per_s: Figure | None = None
    nvlink_generation: Fact | None = None
    nvlink_bridge_gb_per_s: Figure | None = None  # between two bridged cards, both directions summed
    mig_instances: Figure | None = None
    ecc: bool | None = None
    min_cuda: Fact | None = None
    min_driver_linux: Fact | None = None
    features: tuple[Feature, ...] = ()
    launch_price_usd: Figure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialGpu:
    """An accelerator that prices or measurements name, with too few figures to plan with.

    `missing` names the figures a plan would need; `reason` says why it can't be planned with where figures aren't why.
    """

    id: str
    name: str
    vendor: str
    architecture: str
    segment: Segment
    form_factor: str
    launch_date: str | None
    aliases: tuple[str, ...]
    memory_gb: Figure | None
    memory_bandwidth_gb_per_s: Figure | None
    tdp_w: Figure | None
    idle_w: Figure | None
    dense_tflop_per_s: Mapping[Precision, Figure]
    matmul_fraction: Mapping[Precision, Figure]
    nvlink_gb_per_s: Figure | None
    pcie_gen: Figure | None
    pcie_lanes: Figure | None
    spec: GpuSpec
    missing: tuple[str, ...]
    reason: str = ""
    note: str = ""
    peer_to_peer: bool = False  # not known of any of them


@dataclass(frozen=True, slots=True, kw_only=True)
class AmbiguousLabel:
    """A spelling that several accelerators share: it is never resolved by itself."""

    label: str
    could_be: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A complete machine, or a board of GPUs, sold as one: `gpu` is the id of what is inside.

    `max_w` is the rated power of the whole; `host` a host of the catalog that draws about as much beside its GPUs.
    """

    id: str
    name: str
    kind: SystemKind
    vendor: str
    gpu: str
    gpu_count: int
    host: str | None
    launch_date: str | None
    max_w: Figure | None
    nvlink_gb_per_s: Figure | None  # of all GPUs together, both directions summed
    aliases: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A component that is bought by the piece."""

    id: str
    name: str
    kind: PartKind
    note: str = ""
