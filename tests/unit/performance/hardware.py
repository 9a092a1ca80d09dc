"""GPUs with round numbers and the shipped constants, for cases that can be checked by hand."""

from __future__ import annotations

from dataclasses import replace

from planner.catalog.load import load_catalog
from planner.catalog.records import Figure, Gpu
from planner.performance.constants import Constants, constants_of


def figure(value: float) -> Figure:
    return Figure(value=value, sources=("by-hand",))


def gpu(**changes: object) -> Gpu:
    """A data-centre card: 100 TFLOP/s in 16 bit, 1 TB/s, 80 GB, NVLink of 600 GB/s."""
    base = Gpu(
        id="round-numbers",
        name="Round numbers",
        vendor="By hand",
        architecture="Ampere",
        segment="datacenter",
        form_factor="SXM4",
        launch_date=None,
        aliases=(),
        memory_gb=figure(80),
        memory_bandwidth_gb_per_s=figure(1000),
        tdp_w=figure(400),
        idle_w=None,
        dense_tflop_per_s={"fp32": figure(20), "fp16": figure(100), "bf16": figure(100)},
        matmul_fraction={"fp16": figure(0.8)},
        nvlink_gb_per_s=figure(600),
        pcie_gen=None,
        pcie_lanes=None,
        peer_to_peer=True,
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def geforce(**changes: object) -> Gpu:
    """The same without NVLink or peer-to-peer."""
    plain = {"form_factor": "PCIe", "nvlink_gb_per_s": None, "peer_to_peer": False, "segment": "consumer"}
    return gpu(**{**plain, **changes})


def workstation_card(**changes: object) -> Gpu:
    """The same with peer-to-peer over PCIe."""
    return geforce(**{"peer_to_peer": True, "segment": "workstation", **changes})


def shipped_constants(**changes: float) -> Constants:
    return replace(constants_of(load_catalog().assumptions), **changes)
