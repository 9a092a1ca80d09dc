"""Validated entries of data/gpus.yaml -> frozen records."""

from __future__ import annotations

from planner.catalog import records as r
from planner.catalog import schema_hardware as s
from planner.catalog.build import Builder, Origin
from planner.catalog.fields import FigureIn


def _rates(
    builder: Builder, entry: s.GpuIn | s.PartialGpuIn, origin: Origin
) -> tuple[dict[r.Precision, r.Figure], dict[r.Precision, r.Figure]]:
    """Dense peaks, and measured shares of them, by precision."""
    peaks: dict[r.Precision, r.Figure] = {}
    fractions: dict[r.Precision, r.Figure] = {}
    for precision in r.PRECISIONS:
        key = "fp32_tflop_per_s" if precision == "fp32" else f"{precision}_dense_tflop_per_s"
        peak: FigureIn | None = getattr(entry, key)
        if peak is not None:
            peaks[precision] = builder.figure(peak, origin, key)
        key = f"{precision}_matmul_fraction"
        fraction: FigureIn | None = getattr(entry, key)
        if fraction is not None:
            fractions[precision] = builder.figure(fraction, origin, key)
    return peaks, fractions


def _spec(builder: Builder, entry: s.GpuIn | s.PartialGpuIn, origin: Origin) -> r.GpuSpec:
    def fact(name: str) -> r.Fact | None:
        return builder.fact(getattr(entry, name), origin, name)

    def figure(name: str) -> r.Figure | None:
        return builder.optional(getattr(entry, name), origin, name)

    return r.GpuSpec(
        chip=fact("chip"),
        memory_type=fact("memory_type"),
        compute_capability=fact("compute_capability"),
        sm_count=figure("sm_count"),
        cuda_cores=figure("cuda_cores"),
        tensor_cores=figure("tensor_cores"),
        boost_mhz=figure("boost_mhz"),
        l2_mb=figure("l2_mb"),
        fp64_tflop_per_s=figure("fp64_tflop_per_s"),
        fp4_dense_tflop_per_s=figure("fp4_dense_tflop_per_s"),
        int8_dense_top_per_s=figure("int8_dense_top_per_s"),
        nvlink_generation=fact("nvlink_generation"),
        nvlink_bridge_gb_per_s=figure("nvlink_bridge_gb_per_s"),
        mig_instances=figure("mig_instances"),
        ecc=entry.ecc,
        min_cuda=fact("min_cuda"),
        min_driver_linux=fact("min_driver_linux"),
        features=tuple(entry.features),
        launch_price_usd=figure("launch_price_usd"),
    )


def gpu(builder: Builder, entry: s.GpuIn) -> r.Gpu:
    origin = Origin.of(entry)
    peaks, fractions = _rates(builder, entry, origin)
    return r.Gpu(
        id=entry.id,
        name=entry.name,
        vendor=entry.vendor,
        architecture=entry.architecture,
        segment=entry.segment,
        form_factor=entry.form_factor,
        launch_date=entry.launch_date,
        aliases=tuple(entry.aliases),
        memory_gb=builder.figure(entry.memory_gb, origin, "memory_gb"),
        memory_bandwidth_gb_per_s=builder.figure(entry.memory_bandwidth_gb_per_s, origin, "memory_bandwidth_gb_per_s"),
        tdp_w=builder.figure(entry.tdp_w, origin, "tdp_w"),
        idle_w=builder.optional(entry.idle_w, origin, "idle_w"),
        dense_tflop_per_s=peaks,
        matmul_fraction=fractions,
        nvlink_gb_per_s=builder.optional(entry.nvlink_gb_per_s, origin, "nvlink_gb_per_s"),
        pcie_gen=builder.optional(entry.pcie_gen, origin, "pcie_gen"),
        pcie_lanes=builder.optional(entry.pcie_lanes, origin, "pcie_lanes"),
        peer_to_peer=entry.peer_to_peer,
        spec=_spec(builder, entry, origin),
        note=entry.note,
    )


def partial_gpu(builder: Builder, entry: s.PartialGpuIn) -> r.PartialGpu:
    origin = Origin.of(entry)
    peaks, fractions = _rates(builder, entry, origin)
    return r.PartialGpu(
        id=entry.id,
        name=entry.name,
        vendor=entry.vendor,
        architecture=entry.architecture,
        segment=entry.segment,
        form_factor=entry.form_factor,
        launch_date=entry.launch_date,
        aliases=tuple(entry.aliases),
        memory_gb=builder.optional(entry.memory_gb, origin, "memory_gb"),
        memory_bandwidth_gb_per_s=builder.optional(
            entry.memory_bandwidth_gb_per_s, origin, "memory_bandwidth_gb_per_s"
        ),
        tdp_w=builder.optional(entry.tdp_w, origin, "tdp_w"),
        idle_w=builder.optional(entry.idle_w, origin, "idle_w"),
        nvlink_gb_per_s=builder.optional(entry.nvlink_gb_per_s, origin, "nvlink_gb_per_s"),
        pcie_gen=builder.optional(entry.pcie_gen, origin, "pcie_gen"),
        pcie_lanes=builder.optional(entry.pcie_lanes, origin, "pcie_lanes"),
        dense_tflop_per_s=peaks,
        matmul_fraction=fractions,
        spec=_spec(builder, entry, origin),
        missing=entry.missing,
        reason=entry.reason,
        note=entry.note,
    )


def ambiguous(entry: s.AmbiguousIn) -> r.AmbiguousLabel:
    return r.AmbiguousLabel(label=entry.label, could_be=tuple(entry.could_be), note=entry.note)


def system(builder: Builder, entry: s.SystemIn) -> r.System:
    origin = Origin.of(entry)
    return r.System(
        id=entry.id,
        name=entry.name,
        kind=entry.kind,
        vendor=entry.vendor,
        gpu=entry.gpu,
        gpu_count=entry.gpu_count,
        host=entry.host,
        launch_date=entry.launch_date,
        max_w=builder.optional(entry.max_w, origin, "max_w"),
        nvlink_gb_per_s=builder.optional(entry.nvlink_gb_per_s, origin, "nvlink_gb_per_s"),
        aliases=tuple(entry.aliases),
        note=entry.note,
    )


def part(entry: s.PartIn) -> r.Part:
    return r.Part(id=entry.id, name=entry.name, kind=entry.kind, note=entry.note)


def host(builder: Builder, entry: s.HostIn) -> r.Host:
    origin = Origin.of(entry)
    return r.Host(
        id=entry.id,
        name=entry.name,
        gpu_slots=entry.gpu_slots,
        psu_w=entry.psu_w,
        load_w=builder.optional(entry.load_w, origin, "load_w"),
        idle_w=builder.optional(entry.idle_w, origin, "idle_w"),
        wall_w_per_gpu_tdp=builder.optional(entry.wall_w_per_gpu_tdp, origin, "wall_w_per_gpu_tdp"),
        idle_share_of_load=builder.optional(entry.idle_share_of_load, origin, "idle_share_of_load"),
        note=entry.note,
    )
