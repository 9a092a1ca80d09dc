"""Links between GPUs: what a direction carries, and the time that gradients of replicas take on it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.catalog.records import Gpu, PartialGpu
from planner.performance.constants import Constants
from planner.performance.device import generation_of
from planner.units import BITS_PER_BYTE, BYTES_PER_GB, US_PER_S

BITS_PER_GBIT = 1e9
REFERENCE_PCIE = 4
RACK_FORM = "superchip"
GPUS_OF_RACK = 72  # of GB200 and GB300 NVL72, one switch for all of them
GPUS_OF_BOARD = 8  # for which the default networks stand


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Effective link of one GPU of a run, the slower of its node's bus and its share of the node's network."""

    all_reduce_bytes_per_s: float  # gradient buckets over all GPUs of the run, one direction
    node_all_reduce_bytes_per_s: float  # the same inside a node
    nvlink_bytes_per_s: float  # rated, one direction; 0 where there is no switch between all GPUs of a node
    bus_bytes_per_s: float  # of PCIe cards, one direction; without limit with a switch
    fabric_bytes_per_s: float  # rated network of a node
    latency_s: float
    node_latency_s: float
    overlaps: bool  # whether transfers run beside the compute (NVLink) or in its way (host memory, PCIe)
    gpus: int
    gpus_per_node: int
    nodes: int


def node_count(gpus: int, gpus_per_node: int) -> int:
    """Nodes that a run occupies, the last one perhaps partly."""
    return -(-gpus // gpus_per_node)


def default_network_gbit_per_s(gpu: Gpu | PartialGpu, constants: Constants) -> float:
    """Node network assumed where none is given: the fabric its generation was built with, or that of an office."""
    if gpu.segment != "datacenter":
        return constants.office_network_gbit_per_s
    if not is_switched(gpu):
        return constants.node_network_gbit_per_s
    return {
        "Volta": constants.node_network_gbit_per_s_volta,
        "Ampere": constants.node_network_gbit_per_s_ampere,
    }.get(generation_of(gpu), constants.node_network_gbit_per_s_hopper)


def switch_domain(gpu: Gpu | PartialGpu, gpus_per_node: int) -> int:
    """GPUs that one NVLink switch joins: those of a node, or of a whole rack of superchips."""
    return max(gpus_per_node, GPUS_OF_RACK) if gpu.form_factor == RACK_FORM else gpus_per_node


def is_switched(gpu: Gpu | PartialGpu) -> bool:
    """Whether every GPU of a node reaches every other at full rate: boards with NVLink, not bridges between pairs."""
    return gpu.nvlink_gb_per_s is not None and not gpu.form_factor.startswith("PCIe")


def _pcie_gain(gpu: Gpu | PartialGpu, constants: Constants) -> float:
    """Rate of the bus over PCIe 4, for which the constants stand. [-]"""
    generation = REFERENCE_PCIE if gpu.pcie_gen is None else gpu.pcie_gen.value
    return float(constants.pcie_generation_gain ** (generation - REFERENCE_PCIE))


def link_of(
    gpu: Gpu | PartialGpu, gpus: int, gpus_per_node: int, network_gbit_per_s: float | None, constants: Constants
) -> Link:
    """Link of a GPU among `gpus` in nodes of `gpus_per_node`.

    SXM boards have NVLink to every GPU of the node. PCIe cards with peer-to-peer exchange over PCIe at a rate flat in
    their number; without it (GeForce) everything goes through host memory, and the rate falls as (2/n)^contention. A
    bridge between pairs is not counted: it doesn't reach beyond the pair. A rack of superchips counts as one node.
    """
    domain = switch_domain(gpu, gpus_per_node)
    if domain > gpus_per_node:
        of_gpu = default_network_gbit_per_s(gpu, constants) / GPUS_OF_BOARD
        if network_gbit_per_s is not None:
            of_gpu = network_gbit_per_s / gpus_per_node
        network_gbit_per_s, gpus_per_node = domain * of_gpu, domain
    local = min(gpus, gpus_per_node)
    nodes = node_count(gpus, gpus_per_node)
    switched = is_switched(gpu)
    rated, bus = 0.0, math.inf
    if switched:
        assert gpu.nvlink_gb_per_s is not None
        both_directions = gpu.nvlink_gb_per_s.value * BYTES_PER_GB
        rated = both_directions / 2
        inside = both_directions * constants.nvlink_share_ddp
    elif gpu.peer_to_peer:
        inside = bus = constants.pcie_gb_per_s_professional * _pcie_gain(gpu, constants) * BYTES_PER_GB
    else:
        contention = (2 / max(local, 2)) ** constants.geforce_contention
        inside = bus = constants.pcie_gb_per_s_geforce * _pcie_gain(gpu, constants) * contention * BYTES_PER_GB
    gbit = network_gbit_per_s if network_gbit_per_s is not None else default_network_gbit_per_s(gpu, constants)
    fabric = gbit * BITS_PER_GBIT / BITS_PER_BYTE
    # A payload enters a node once, spread over its network ports, and travels on inside it.
    everywhere = min(inside, fabric * constants.network_share) if nodes > 1 else inside
    return Link(
        all_reduce_bytes_per_s=everywhere,
        node_all_reduce_bytes_per_s=inside,
        nvlink_bytes_per_s=rated,
        bus_bytes_per_s=bus,
        fabric_bytes_per_s=fabric,
        latency_s=constants.link_latency_us / US_PER_S,
        node_latency_s=constants.node_latency_us / US_PER_S,
        overlaps=switched,
        gpus=gpus,
        gpus_per_node=gpus_per_node,
        nodes=nodes,
    )


def all_reduce_s(payload_bytes: float, link: Link) -> float:
    """Time of a ring all-reduce, each GPU sending 2 (n-1)/n of the payload. [s]"""
    if link.gpus == 1:
        return 0.0
    share = 2 * (link.gpus - 1) / link.gpus
    return share * payload_bytes / link.all_reduce_bytes_per_s + 2 * (link.gpus - 1) * link.latency_s


def exposed_s(compute_s: float, transfer_s: float, link: Link, constants: Constants) -> float:
    """Part of a transfer that lengthens the step. [s]

    Overlapping links hide the shorter of the two but for a share of it; others add the whole transfer.
    """
    if not link.overlaps:
        return transfer_s
    hidden = min(compute_s, transfer_s)
    return max(compute_s, transfer_s) + constants.overlap_exposed * hidden - compute_s


def data_parallel_step_s(compute_s: float, gradient_bytes: float, link: Link, constants: Constants) -> float:
    """Time of a data-parallel step from the time of one GPU alone: gradients reduced once, and waiting. [s]"""
    transfer = all_reduce_s(gradient_bytes, link)
    return (compute_s + exposed_s(compute_s, transfer, link, constants)) * jitter_factor(link, constants)


def jitter_factor(link: Link, constants: Constants) -> float:
    """How much waiting for the slowest GPU lengthens a step, by doublings inside and across nodes. [-]"""
    local = min(link.gpus, link.gpus_per_node)
    inside = constants.sync_share_per_doubling * math.log2(local)
    return (1 + inside) * (1 + constants.node_jitter_per_doubling * math.log2(link.nodes))
