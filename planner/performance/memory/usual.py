"""Memory by the planner's usual recipes: a decoder or encoder in full training, a split model, a vision model."""

from __future__ import annotations

from dataclasses import replace

from planner.catalog.records import TransformerSpec, VisionSpec
from planner.performance.constants import Constants
from planner.performance.memory.activations import kept_bytes_per_token, live_bytes_per_token
from planner.performance.memory.need import MemoryNeed
from planner.performance.memory.peak import memory_need
from planner.performance.memory.setup import MemorySetup
from planner.performance.memory.states import states_of
from planner.units import BYTES_PER_GB
from planner.workload.convolutional import activation_elements
from planner.workload.settings import Checkpointing, Sharding


def activation_bytes_per_token(
    spec: TransformerSpec,
    seq_len: int,
    checkpointing: Checkpointing,
    element_bytes: float,
    *,
    fused_attention: bool,
    fused_elementwise: bool,
    constants: Constants,
) -> float:
    """Activations of one token through all layers, with those of a layer that is being recomputed. [bytes/token]"""
    setup = MemorySetup(
        spec=spec,
        parameters=1,
        seq_len=seq_len,
        checkpointing=checkpointing,
        element_bytes=element_bytes,
        fused_attention=fused_attention,
        software="compiled" if fused_elementwise else "eager",
    )
    return kept_bytes_per_token(setup, constants) + live_bytes_per_token(setup, constants)


def transformer_need(
    spec: TransformerSpec,
    parameters: float,
    seq_len: int,
    checkpointing: Checkpointing,
    sharding: Sharding,
    element_bytes: float,
    *,
    fused_attention: bool,
    fused_elementwise: bool,
    fused_loss: bool = True,
    constants: Constants,
) -> MemoryNeed:
    """Memory of a transformer in full training, its state at the assumed bytes a parameter, as shown by the driver."""
    setup = MemorySetup(
        spec=spec,
        parameters=parameters,
        seq_len=seq_len,
        checkpointing=checkpointing,
        sharding=sharding,
        element_bytes=element_bytes,
        fused_attention=fused_attention,
        software="compiled" if fused_elementwise else "eager",
        loss_kind="fused" if fused_loss else "plain",
    )
    # Every part of the state stands under `state_bytes`, so that one need serves all counts of shards.
    overhead = 1 + constants.memory_overhead_share
    need = memory_need(setup, constants)
    kept = overhead * states_of(setup).kept_bytes(sharding)
    state = overhead * constants.state_bytes_per_parameter * parameters
    return replace(need, state_bytes=state, fixed_bytes=need.fixed_bytes - kept)


def split_need(
    spec: TransformerSpec,
    parameters: float,
    seq_len: int,
    checkpointing: Checkpointing,
    tensor: int,
    pipeline: int,
    chunks: int,
    element_bytes: float,
    *,
    constants: Constants,
) -> MemoryNeed:
    """Memory of a decoder spread over tensor x pipeline GPUs by the vendor's software.

    Weights in 16 bit and gradients in fp32 are kept, and the replicas share the optimizer.
    """
    setup = MemorySetup(
        spec=spec,
        parameters=parameters,
        seq_len=seq_len,
        checkpointing=checkpointing,
        tensor=tensor,
        pipeline=pipeline,
        chunks=chunks,
        element_bytes=element_bytes,
        optimizer="adamw-18",
        sharding="optimizer",
        software="vendor",
    )
    return memory_need(setup, constants)


def vision_need(spec: VisionSpec, parameters: float, element_bytes: float, constants: Constants) -> MemoryNeed:
    """Memory of a vision model in training: state, and activations by what the forward pass writes."""
    return MemoryNeed(
        state_bytes=constants.vision_state_bytes_per_parameter * parameters,
        fixed_bytes=constants.memory_reserve_gb * BYTES_PER_GB,
        per_sample_bytes=constants.vision_activation_factor * element_bytes * activation_elements(spec),
    )
