"""Pydantic mirror of data/gpus.yaml: accelerators, hosts, complete machines, parts."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from planner.catalog.fields import (
    AsOf,
    Count,
    Factor,
    NonNegative,
    PeakFraction,
    Positive,
    RecordIn,
    Share,
    Strict,
    Text,
    TextFact,
    fault,
)
from planner.catalog.hardware import Feature, PartKind, Segment, SystemKind
from planner.yaml_scalars import as_given


class AcceleratorIn(RecordIn):
    """Keys that known and partly known accelerators share."""

    name: Text
    vendor: Text
    architecture: Text
    segment: Segment
    form_factor: Text
    launch_date: AsOf | None = None
    aliases: list[Text] = Field(default=[])
    idle_w: Positive | None = None
    tf32_dense_tflop_per_s: Positive | None = None
    fp16_dense_tflop_per_s: Positive | None = None
    bf16_dense_tflop_per_s: Positive | None = None
    fp8_dense_tflop_per_s: Positive | None = None
    fp32_matmul_fraction: PeakFraction | None = None
    tf32_matmul_fraction: PeakFraction | None = None
    fp16_matmul_fraction: PeakFraction | None = None
    bf16_matmul_fraction: PeakFraction | None = None
    fp8_matmul_fraction: PeakFraction | None = None
    nvlink_gb_per_s: Positive | None = None
    pcie_gen: Positive | None = None
    pcie_lanes: Positive | None = None
    chip: TextFact | None = None
    memory_type: TextFact | None = None
    compute_capability: TextFact | None = None
    sm_count: Positive | None = None
    cuda_cores: Positive | None = None
    tensor_cores: Positive | None = None
    boost_mhz: Positive | None = None
    l2_mb: Positive | None = None
    fp64_tflop_per_s: Positive | None = None
    fp4_dense_tflop_per_s: Positive | None = None
    int8_dense_top_per_s: Positive | None = None
    nvlink_generation: TextFact | None = None
    nvlink_bridge_gb_per_s: Positive | None = None
    mig_instances: NonNegative | None = None
    ecc: bool | None = None
    min_cuda: TextFact | None = None
    min_driver_linux: TextFact | None = None
    features: list[Feature] = Field(default=[])
    launch_price_usd: Positive | None = None

    @model_validator(mode="after")
    def _fractions_have_peaks(self) -> AcceleratorIn:
        for precision in ("tf32", "fp16", "bf16", "fp8"):
            has_peak = getattr(self, f"{precision}_dense_tflop_per_s") is not None
            if getattr(self, f"{precision}_matmul_fraction") is not None and not has_peak:
                raise fault(f"{precision}_matmul_fraction alone", f"{precision}_dense_tflop_per_s beside it")
        return self


class GpuIn(AcceleratorIn):
    """An entry of `gpus`: everything a plan needs is there."""

    peer_to_peer: bool
    memory_gb: Positive
    memory_bandwidth_gb_per_s: Positive
    tdp_w: Positive
    fp32_tflop_per_s: Positive

    @model_validator(mode="after")
    def _idle_below_rated(self) -> GpuIn:
        if self.idle_w is not None and self.idle_w.value >= self.tdp_w.value:
            raise fault(
                f"idle_w {as_given(self.idle_w.value)} at tdp_w {as_given(self.tdp_w.value)}", "idle_w below tdp_w"
            )
        return self


class PartialGpuIn(AcceleratorIn):
    """An entry of `partial_gpus`: it lacks a figure that a plan needs, or has a `reason` to be left out of plans."""

    memory_gb: Positive | None = None
    memory_bandwidth_gb_per_s: Positive | None = None
    tdp_w: Positive | None = None
    fp32_tflop_per_s: Positive | None = None
    reason: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """Keys of the figures that a plan would need."""
        needed = ("memory_gb", "memory_bandwidth_gb_per_s", "tdp_w", "fp32_tflop_per_s")
        return tuple(key for key in needed if getattr(self, key) is None)

    @model_validator(mode="after")
    def _is_partial(self) -> PartialGpuIn:
        if not self.missing and not self.reason:
            raise fault(
                "every figure that a plan needs", "the entry under gpus, or the reason it can't be planned with"
            )
        return self


class AmbiguousIn(Strict):
    """An entry of `ambiguous`."""

    label: Text
    could_be: Annotated[list[Text], Field(min_length=2)]
    note: str = ""


class HostIn(RecordIn):
    """An entry of `hosts`: a PC by its own draw, or a server by the draw of the whole loaded node."""

    name: Text
    gpu_slots: Count
    psu_w: Annotated[float, Field(gt=0)] | None = None
    load_w: Positive | None = None
    idle_w: Positive | None = None
    wall_w_per_gpu_tdp: Factor | None = None
    idle_share_of_load: Share | None = None

    @model_validator(mode="after")
    def _one_power_model(self) -> HostIn:
        own = (self.load_w is not None, self.idle_w is not None)
        node = (self.wall_w_per_gpu_tdp is not None, self.idle_share_of_load is not None)
        if (own, node) not in (((True, True), (False, False)), ((False, False), (True, True))):
            keys = ("load_w", "idle_w", "wall_w_per_gpu_tdp", "idle_share_of_load")
            found = ", ".join(key for key, given in zip(keys, own + node, strict=True) if given)
            raise fault(found or "no draw", "load_w and idle_w, or wall_w_per_gpu_tdp and idle_share_of_load")
        return self


class SystemIn(RecordIn):
    """An entry of `systems`."""

    name: Text
    kind: SystemKind
    vendor: Text
    gpu: Text
    gpu_count: Count
    host: Text | None = None
    launch_date: AsOf | None = None
    max_w: Positive | None = None
    nvlink_gb_per_s: Positive | None = None
    aliases: list[Text] = Field(default=[])


class PartIn(RecordIn):
    """An entry of `parts`."""

    name: Text
    kind: PartKind
