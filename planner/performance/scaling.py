"""Links between GPUs: what a direction carries, and the time that gradients and sharded weights take on it."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from planner.catalog.records import Gpu
from planner.performance.constants import Constants
from planner.units import BITS_PER_BYTE, BYTES_PER_GB, US_PER_S

BITS_PER_GBIT = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Effective link of one GPU of a run, the slower of its node's bus and its share of the node's network."""

    all_reduce_bytes_per_s: float  # gradient buckets, one direction
    sharded_bytes_per_s: float  # large gathers and scatters of sharded training, one direction
    latency_s: float
    overlaps: bool  # whether transfers run beside the compute (NVLink) or in its way (host memory, PCIe)
    gpus: int
    gpus_per_node: int
    nodes: int


def node_count(gpus: int, gpus_per_node: int) -> int:
    """Nodes that a run occupies, the last one perhaps partly."""
    return -(-gpus // gpus_per_node)


def default_network_gbit_per_s(gpu: Gpu, constants: Constants) -> float:
    """Node network assumed where none is given: a data-centre fabric, or an office network for other cards."""
    return constants.node_network_gbit_per_s if gpu.segment == "datacenter" else constants.office_network_gbit_per_s


def link_of(gpu: Gpu, gpus: int, gpus_per_node: int, network_gbit_per_s: float | None, constants: Constants) -> Link:
    """Link of a GPU among `gpus` in nodes of `gpus_per_node`.

    SXM boards have NVLink to every GPU of the node. PCIe cards with peer-to-peer exchange over PCIe at a rate flat in
    their number; without it (GeForce) everything goes through host memory, and the rate falls as (2/n)^contention. A
    bridge between pairs is not counted: it doesn't reach beyond the pair.
    """
    local = min(gpus, gpus_per_node)
    nodes = node_count(gpus, gpus_per_node)
    switched = gpu.nvlink_gb_per_s is not None and not gpu.form_factor.startswith("PCIe")
    if switched:
        assert gpu.nvlink_gb_per_s is not None
        both_directions = gpu.nvlink_gb_per_s.value * BYTES_PER_GB
        all_reduce = both_directions * constants.nvlink_share_ddp
        sharded = both_directions / 2 * constants.nvlink_share_fsdp
    elif gpu.peer_to_peer:
        all_reduce = sharded = constants.pcie_gb_per_s_professional * BYTES_PER_GB
    else:
        contention = (2 / max(local, 2)) ** constants.geforce_contention
        all_reduce = sharded = constants.pcie_gb_per_s_geforce * contention * BYTES_PER_GB
    if nodes > 1:
        gbit = network_gbit_per_s if network_gbit_per_s is not None else default_network_gbit_per_s(gpu, constants)
        # A payload enters a node once, spread over its network ports, and travels on inside it.
        network = gbit * BITS_PER_GBIT / BITS_PER_BYTE * constants.nvlink_share_fsdp
        all_reduce, sharded = min(all_reduce, network), min(sharded, network)
    return Link(
        all_reduce_bytes_per_s=all_reduce,
        sharded_bytes_per_s=sharded,
        latency_s=constants.link_latency_us / US_PER_S,
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


def sharded_s(payload_bytes: float, link: Link) -> float:
    """Time to gather or scatter a payload that is sharded over the run, each GPU moving (n-1)/n of it. [s]"""
    if link.gpus == 1:
        return 0.0
    return (link.gpus - 1) / link.gpus * payload_bytes / link.sharded_bytes_per_s


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
    inside = constants.sync_share_per_doubling * log2(local)
    return (1 + inside) * (1 + constants.node_jitter_per_doubling * log2(link.nodes))
