"""Time that the GPUs of a run spend on exchanging activations, weights and gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.performance.constants import Constants
from planner.performance.step_compute import SIXTEEN_BIT_BYTES, pass_tokens, stage_layers
from planner.performance.step_inputs import StepInputs, Vector
from planner.units import US_PER_S

MAIN_GRADIENT_BYTES = 4.0  # Megatron's, added up in fp32
QUANTIZED_GATHER_BYTES = 0.6  # 4-bit weights and their scales


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Effective rates of one GPU's links, one direction, in bytes/s."""

    inside: Vector  # to the other GPUs of its node
    node: Vector  # of a whole node to the others
    own_network: Vector  # one GPU's part of that


def rates_of(x: StepInputs, constants: Constants) -> Rates:
    """What the links carry."""
    inside = np.where(x.switched, x.nvlink_bytes_per_s * constants.nvlink_share_fsdp, x.bus_bytes_per_s)
    node = x.fabric_bytes_per_s * constants.network_share
    return Rates(inside=inside, node=node, own_network=node / np.minimum(x.gpus, x.gpus_per_node))


def pass_exchange_s(x: StepInputs, rates: Rates, constants: Constants) -> Vector:
    """Time of one pass that the GPUs of a replica spend on exchanging activations. [s]

    Tensor parallelism adds up the outputs of both blocks of a layer, forward and backward, and once more when the
    forward pass is repeated. Context parallelism hands keys and values around; experts get their tokens and return
    them; stages of a pipeline hand on their output and get its gradient.

    References
    ----------
    .. [1] V. Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models," 2022, sec. 4.2.2,
       arXiv:2205.05198.
    .. [2] H. Liu et al., "Ring Attention with Blockwise Transformers," 2023, sec. 3, arXiv:2310.01889.
    """
    layers, tokens = stage_layers(x), pass_tokens(x)
    activations = SIXTEEN_BIT_BYTES * tokens * x.d_model
    count = np.where(x.full_recompute, 6, 4)
    ring = 2 * (x.tensor - 1)
    one = ring / x.tensor * activations / rates.inside + ring * x.node_latency_s
    exposed = np.where(x.overlapped_tensor, constants.tensor_exposed, constants.tensor_exposed_eager)
    seconds = np.where(x.tensor > 1, exposed * layers * count * one, 0.0)

    far = x.tensor * x.context > x.gpus_per_node
    handed = 2 * SIXTEEN_BIT_BYTES * tokens * x.key_value / x.tensor  # keys and values; three times with backward
    around = layers * 3 * (x.context - 1) * handed / np.where(far, rates.own_network, rates.inside)
    seconds = seconds + np.where(x.context > 1, constants.context_exposed * around, 0.0)

    routed = 4 * activations * x.experts_per_token * (x.expert - 1) / x.expert
    path = np.where(x.expert > x.gpus_per_node, rates.own_network, rates.inside)
    seconds = seconds + np.where(x.expert > 1, constants.expert_exposed * layers * routed / path, 0.0)

    handed_on = 2 * x.chunks * (activations / x.tensor / rates.own_network + x.latency_s)
    return seconds + np.where(x.pipeline > 1, constants.pipeline_exposed * handed_on, 0.0)


def gather_s(x: StepInputs, rates: Rates, constants: Constants) -> Vector:
    """Time of one pass that sharded training spends on gathering weights twice and scattering gradients once. [s]

    References
    ----------
    .. [1] S. Rajbhandari et al., "ZeRO," 2020, sec. 7, arXiv:1910.02054.
    """
    weight = np.where(x.quantized, QUANTIZED_GATHER_BYTES, SIXTEEN_BIT_BYTES)
    bytes_each = 2 * weight + np.where(x.adapters, 0.0, SIXTEEN_BIT_BYTES)
    payload = bytes_each * x.parameters / (x.tensor * x.pipeline)
    across = x.shards * x.tensor > x.gpus_per_node
    # Each tensor-parallel rank of a node gathers a part of its own over the network they share.
    network = rates.node / np.minimum(x.tensor, x.gpus_per_node)
    rate = np.where(across, np.minimum(rates.inside, network), rates.inside)
    hops = np.log2(np.maximum(1.0, x.shards * x.tensor / x.gpus_per_node))
    latency = constants.gather_latency_us / US_PER_S * stage_layers(x) * 3 * hops
    return np.where(x.sharded & (x.shards > 1), (x.shards - 1) / x.shards * payload / rate + latency, 0.0)


def gradient_s(x: StepInputs, rates: Rates, constants: Constants) -> Vector:
    """Time to add up gradients over replicas, once a step. [s]

    Replicas inside a node add theirs first; what a node holds then crosses the network once there and once back.

    References
    ----------
    .. [1] Y. Zhao et al., "PyTorch FSDP," 2023, sec. 3.2.2 (hybrid sharding), arXiv:2304.11277.
    """
    trained = trained_parameters(x) / (x.tensor * x.pipeline)
    # Ranks that share a sequence have gradients of their own tokens.
    ranks = x.replicas * x.context
    of_replica = x.gpus / ranks
    scattered = np.where(x.vendor, MAIN_GRADIENT_BYTES, SIXTEEN_BIT_BYTES)
    both_ways = np.where(x.optimizer_sharded, scattered + SIXTEEN_BIT_BYTES, 2 * x.element_bytes) * trained
    inner = np.maximum(1.0, np.minimum(x.gpus, x.gpus_per_node) / of_replica)
    outer = np.maximum(1.0, ranks / inner)
    gain = np.where(x.vendor & x.switched, constants.all_reduce_gain_vendor, 1.0)
    rate = np.where(x.switched & x.optimizer_sharded, rates.inside, gain * x.all_reduce_bytes_per_s)
    seconds = (inner - 1) / inner * both_ways / rate + 2 * (inner - 1) * x.node_latency_s
    of_node = both_ways / 2 * np.minimum(of_replica, x.gpus_per_node)
    crossing = 2 * (outer - 1) / outer * of_node / rates.node + 2 * np.log2(outer) * x.latency_s
    replicated = seconds + np.where(outer > 1, crossing, 0.0)

    groups = ranks / x.shards
    of_shard = np.minimum(x.tensor, x.gpus_per_node)
    between = 2 * (groups - 1) / groups * SIXTEEN_BIT_BYTES * trained * of_shard / rates.node
    hybrid = np.where(groups > 1, between, 0.0)
    return np.where(x.sharded, hybrid, np.where(ranks > 1, replicated, 0.0))


def trained_parameters(x: StepInputs) -> Vector:
    """Weights whose gradients one replica's GPUs exchange: those of adapters, or all; experts are spread out. [-]"""
    full = x.parameters - x.expert_parameters * (1 - 1 / x.expert)
    return np.where(x.adapters, x.trainable_parameters, full)


def exposed_s(x: StepInputs, compute_s: Vector, transfer_s: Vector, constants: Constants) -> Vector:
    """Part of a transfer that lengthens the step. [s]

    NVLink hides the shorter of the two but for a share of it; other links add the whole transfer.
    """
    hidden = np.minimum(compute_s, transfer_s)
    beyond = np.maximum(compute_s, transfer_s) + constants.overlap_exposed * hidden - compute_s
    return np.where(x.switched, beyond, transfer_s)
