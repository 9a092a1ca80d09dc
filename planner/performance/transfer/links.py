"""Exchange of gradients between several cards in training code of models counted in samples."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final, Literal

from planner.catalog.records import Gpu, PartialGpu
from planner.performance.constants import Constants
from planner.performance.device import SINGLE_ISSUE, generation_of
from planner.performance.scaling import REFERENCE_PCIE, Link, exposed_s, is_switched
from planner.performance.transfer.cards import PrecisionClass
from planner.performance.transfer.terms import ELEMENT_BYTES
from planner.units import BYTES_PER_GB, MILLION

Kind = Literal["nvlink", "pcie", "geforce"]

_PCIE_BEFORE_AMPERE = 3
_WITH_PEERS: Final = frozenset({"Kepler", "Maxwell", "Pascal"})
"""Generations whose consumer cards still reached each other over PCIe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRates:
    """What links carry, and how much a step waits; fitted, see the assumptions `estimator_sample_...`."""

    nvlink_share: float
    pcie_gb_per_s_professional: float
    pcie_gb_per_s_geforce: float
    pcie_generation_gain: float
    geforce_contention: float
    sync_share: float


def kind_of(gpu: Gpu | PartialGpu) -> Kind:
    """Whether gradients travel by NVLink, by PCIe from card to card, or by PCIe through the host's memory."""
    if is_switched(gpu):
        return "nvlink"
    reaches_peers = gpu.peer_to_peer or gpu.segment != "consumer" or generation_of(gpu) in _WITH_PEERS
    return "pcie" if reaches_peers else "geforce"


def pcie_steps(gpu: Gpu | PartialGpu) -> float:
    """Generations of PCIe above the fourth. [-]"""
    if gpu.pcie_gen is not None:
        return gpu.pcie_gen.value - REFERENCE_PCIE
    return _PCIE_BEFORE_AMPERE - REFERENCE_PCIE if generation_of(gpu) in SINGLE_ISSUE else 0.0


def rate_inside(gpu: Gpu | PartialGpu, gpus: int, rates: LinkRates, constants: Constants) -> float:
    """What sums of gradients reach within a node, one direction. [bytes/s]

    NVLink by its rated speed; PCIe between peers whatever their number; through the host's memory the less, the more
    share it.
    """
    kind = kind_of(gpu)
    if kind == "nvlink":
        assert gpu.nvlink_gb_per_s is not None
        return rates.nvlink_share * gpu.nvlink_gb_per_s.value * BYTES_PER_GB
    steps = pcie_steps(gpu)
    if kind == "pcie":
        gain = rates.pcie_generation_gain if steps < 0 else constants.pcie_generation_gain
        return float(rates.pcie_gb_per_s_professional * gain**steps) * BYTES_PER_GB
    # Hosts of GeForce with PCIe 3 weren't measured: their gain is the one expected of the others.
    gain = constants.sample_pcie_generation_gain if steps < 0 else constants.pcie_generation_gain
    shared = (2 / max(gpus, 2)) ** rates.geforce_contention
    return float(rates.pcie_gb_per_s_geforce * gain**steps * shared) * BYTES_PER_GB


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What several cards add to the step of one. [s]"""

    communication_s: float
    waiting_s: float


def exchange(
    compute_s: float,
    exchanged_m_parameters: float,
    waits: float,
    precision: PrecisionClass,
    gpu: Gpu | PartialGpu,
    link: Link,
    rates: LinkRates,
    constants: Constants,
) -> Exchange:
    """Time that a data-parallel step takes beyond that of one card.

    Parameters
    ----------
    compute_s : float
        Step of one card alone. [s]
    exchanged_m_parameters : float
        Parameters whose gradients are summed once a step. [millions]
    waits : float
        Share of the compute that this model waits for each doubling of cards, beyond the usual. [-]
    precision : PrecisionClass
        For the bytes of a gradient.
    gpu, link : Gpu, Link
        Its bus, and on how many of them in how many nodes.
    rates, constants : LinkRates, Constants
        Inside a node, and between nodes.
    """
    if link.gpus == 1:
        return Exchange(communication_s=0.0, waiting_s=0.0)
    local = min(link.gpus, link.gpus_per_node)
    rate = rate_inside(gpu, local, rates, constants)
    if link.nodes > 1:
        rate = min(rate, link.fabric_bytes_per_s * constants.network_share)
    payload = exchanged_m_parameters * MILLION * ELEMENT_BYTES[precision]
    hops = 2 * (link.gpus - 1)
    transfer_s = hops / link.gpus * payload / rate + hops * link.latency_s
    communication_s = exposed_s(compute_s, transfer_s, link, constants)
    factor = 1 + max(rates.sync_share + waits, 0.0) * math.log2(local)
    factor *= 1 + constants.node_jitter_per_doubling * math.log2(link.nodes)
    return Exchange(communication_s=communication_s, waiting_s=(compute_s + communication_s) * (factor - 1))


def units_of_sample(unit: str, size: str, sentence_tokens: float) -> float:
    """Units that a speed counts in one sample of a batch: tokens of a text, values of a sound. [-]"""
    if unit == "sample":
        return 1.0
    length = re.search(r"(?:tgt_len|segment|seq)=?(\d+)", size)
    return float(length[1]) if length else sentence_tokens
