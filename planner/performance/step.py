"""Time of one optimizer step of transformers, by part, for many runs at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from planner.performance.constants import Constants
from planner.performance.step_compute import pass_s
from planner.performance.step_exchange import (
    exposed_s,
    gather_s,
    gradient_s,
    pass_exchange_s,
    rates_of,
    trained_parameters,
)
from planner.performance.step_inputs import StepInputs, Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTimes:
    """Seconds of one optimizer step of each run, by part; every array has shape (n,)."""

    parts_s: Mapping[str, Vector]
    total_s: Vector
    launch_bound: Vector


def step_times(x: StepInputs, constants: Constants) -> StepTimes:
    """Time of one optimizer step on every GPU of each run.

    Parameters
    ----------
    x : StepInputs
        The runs.
    constants : Constants
        The estimator's constants.

    Returns
    -------
    StepTimes
        Seconds by part: matmul, attention, elementwise, head, recompute, launch, communication, optimizer, waiting.

    References
    ----------
    .. [1] D. Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM,"
       2021, sec. 2.2 (bubble of an interleaved pipeline), arXiv:2104.04473.
    """
    one = pass_s(x, constants)
    rates = rates_of(x, constants)
    exchange = pass_exchange_s(x, rates, constants)
    gathering = exposed_s(x, one.total_s, gather_s(x, rates, constants), constants)
    gradients = gradient_s(x, rates, constants)
    reduced = np.where(
        x.optimizer_sharded,
        np.where(x.vendor, constants.shared_optimizer_exposed, constants.shared_optimizer_exposed_eager) * gradients,
        # what overlaps with the backward pass is already taken by the gathering of shards
        np.where(x.sharded, gradients, exposed_s(x, one.total_s, gradients, constants)),
    )
    n = x.micro_steps
    communication = n * (exchange + gathering) + reduced
    bubble = (x.pipeline - 1) / x.chunks * (one.total_s + exchange)

    shared = x.sharded | x.optimizer_sharded
    owners = np.where(shared, x.shards, 1.0) * x.tensor * x.pipeline
    bandwidth = x.bandwidth_bytes_per_s * constants.bandwidth_share
    # The replicas of an expert are fewer, each with a larger part of it.
    updated = np.where(shared & ~x.adapters, x.parameters, trained_parameters(x))
    moved = constants.optimizer_bytes_per_parameter * constants.optimizer_factor * updated
    optimizer = moved / owners / bandwidth
    busy = n * one.total_s + bubble + communication + optimizer
    waiting = busy * (_jitter(x, constants) - 1) + bubble
    # ELECTRA trains a smaller generator beside the model; dropped padding is counted in the throughput.
    factor = np.where(x.generator, constants.generator_factor, 1.0)
    factor = factor * np.where(x.unpadded, constants.unpadded_share, 1.0)
    parts = {
        "matmul": n * one.matmul_s,
        "attention": n * one.attention_s,
        "elementwise": n * one.elementwise_s,
        "head": n * one.head_s,
        "recompute": n * one.recompute_s,
        "launch": n * one.launch_s,
        "communication": communication,
        "optimizer": optimizer,
        "waiting": waiting,
    }
    scaled = {name: factor * seconds for name, seconds in parts.items()}
    return StepTimes(parts_s=scaled, total_s=sum(scaled.values(), np.zeros(len(x))), launch_bound=one.launch_bound)


def _jitter(x: StepInputs, constants: Constants) -> Vector:
    """How much waiting for the slowest GPU lengthens a step, by doublings inside and across nodes. [-]"""
    local = np.minimum(x.gpus, x.gpus_per_node)
    inside = 1 + constants.sync_share_per_doubling * np.log2(local)
    return inside * (1 + constants.node_jitter_per_doubling * np.log2(x.nodes))
