"""Time of one optimizer step of a transformer, by part, from its shape, the GPU's rates and the link."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from planner.catalog.records import TransformerSpec
from planner.performance.constants import Constants
from planner.performance.device import Device
from planner.performance.scaling import Link, all_reduce_s, exposed_s, jitter_factor, sharded_s
from planner.units import FLOP_PER_MAC, US_PER_S
from planner.workload.settings import Checkpointing, Sharding
from planner.workload.transformer import (
    BACKWARD_OVER_FORWARD,
    FLASH_BACKWARD_OVER_FORWARD,
    elementwise_elements,
    head_parameters,
    key_value_width,
    mlp_matrices,
    query_width,
)

WEIGHT_BYTES = 2.0  # sharded weights and gradients travel in 16 bit


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPlan:
    """How the global batch is cut: `micro_steps` forward and backward passes of `micro_batch` sequences on each GPU."""

    seq_len: int
    micro_batch: float
    micro_steps: float
    checkpointing: Checkpointing
    sharding: Sharding
    fused_attention: bool  # flash attention; else plain matmuls and score matrices
    fused_elementwise: bool  # fused or compiled elementwise kernels; else one eager kernel each


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """Seconds of one optimizer step, by part; `launch_bound` when the host, not the GPU, sets the pace."""

    parts_s: Mapping[str, float]
    launch_bound: bool

    @property
    def total_s(self) -> float:
        """The whole step. [s]"""
        return sum(self.parts_s.values())


def paced_s(gpu_s: float, host_s: float) -> float:
    """Time of a pass that the GPU computes while the host launches its kernels: about the longer of the two. [s]

    A smooth maximum, (gpu^4 + host^4)^(1/4): near a tie neither hides the other fully.
    """
    return math.sqrt(math.hypot(gpu_s * gpu_s, host_s * host_s))


def _matmul_s(tokens: float, width_in: float, width_out: float, device: Device, constants: Constants) -> float:
    """Forward time of one linear layer: its arithmetic, and a size penalty by the bytes it touches. [s]"""
    efficiency = constants.gemm_efficiency * (constants.fp8_efficiency if device.linear_fp8 else 1.0)
    arithmetic = FLOP_PER_MAC * tokens * width_in * width_out / (device.matmul_flop_per_s * efficiency)
    touched = device.element_bytes * (tokens * (width_in + width_out) + width_in * width_out)
    penalty = constants.gemm_bytes_factor * touched / (device.bandwidth_bytes_per_s * constants.bandwidth_share)
    return arithmetic + penalty


def _layer_linears_s(spec: TransformerSpec, tokens: float, device: Device, constants: Constants) -> float:
    projections = query_width(spec) + 2 * key_value_width(spec)
    up_matrices = mlp_matrices(spec) - 1
    return (
        _matmul_s(tokens, spec.d_model, projections, device, constants)
        + _matmul_s(tokens, query_width(spec), spec.d_model, device, constants)
        + _matmul_s(tokens, spec.d_model, up_matrices * spec.d_ff, device, constants)
        + _matmul_s(tokens, spec.d_ff, spec.d_model, device, constants)
    )


def _layer_attention_s(
    spec: TransformerSpec, plan: StepPlan, tokens: float, device: Device, constants: Constants
) -> tuple[float, float]:
    """Forward and backward time of one layer's attention core. [s]"""
    flop = 2 * FLOP_PER_MAC * tokens * plan.seq_len * query_width(spec)
    if plan.fused_attention:
        causal_share = 1.0 if spec.encoder else 0.5
        forward = causal_share * flop / (device.attention_flop_per_s * constants.attention_efficiency)
        return forward, FLASH_BACKWARD_OVER_FORWARD * forward
    products = flop / (device.matmul_flop_per_s * constants.unfused_attention_share)
    score_bytes = device.element_bytes * tokens * spec.heads * plan.seq_len
    passes = constants.unfused_score_passes * score_bytes / (device.bandwidth_bytes_per_s * constants.bandwidth_share)
    return products + passes, BACKWARD_OVER_FORWARD * products + passes


def transformer_step(
    spec: TransformerSpec, parameters: float, plan: StepPlan, device: Device, link: Link, constants: Constants
) -> StepTime:
    """Time of one optimizer step on every GPU of the run.

    Parameters
    ----------
    spec : TransformerSpec
        Shape of the model.
    parameters : float
        Weights of the model, for the optimizer and the gradients. [-]
    plan : StepPlan
        Micro-batch, accumulation, checkpointing and sharding.
    device : Device
        Rates of the GPU in the training precision.
    link : Link
        Link of one GPU to the others.
    constants : Constants
        The estimator's constants.

    Returns
    -------
    StepTime
        Seconds by part: matmul, attention, elementwise, head, recompute, launch, communication, optimizer, waiting.

    References
    ----------
    .. [1] S. Williams et al., "Roofline," Communications of the ACM 52(4), 2009: each kernel is bound by arithmetic
       or bandwidth.
    .. [2] S. Rajbhandari et al., "ZeRO," 2020, sec. 7, arXiv:1910.02054: bytes moved by sharded training.
    """
    tokens = plan.micro_batch * plan.seq_len
    bandwidth = device.bandwidth_bytes_per_s * constants.bandwidth_share
    factor = constants.elementwise_factor_fused if plan.fused_elementwise else constants.elementwise_factor_unfused

    linear = spec.layers * _layer_linears_s(spec, tokens, device, constants)
    attention_forward, attention_backward = _layer_attention_s(spec, plan, tokens, device, constants)
    attention_forward, attention_backward = spec.layers * attention_forward, spec.layers * attention_backward
    element = spec.layers * factor * device.element_bytes * tokens * elementwise_elements(spec) / bandwidth
    head = 0.0
    if head_parameters(spec):
        head = (1 + BACKWARD_OVER_FORWARD) * _matmul_s(tokens, spec.d_model, spec.vocab, device, constants)
        head += constants.loss_bytes_per_logit * tokens * spec.vocab / bandwidth

    recompute = 0.0
    passes = 1 + BACKWARD_OVER_FORWARD
    if plan.checkpointing == "full":
        recompute = linear + attention_forward + element
        passes += 1
    elif plan.checkpointing == "selective":
        recompute = attention_forward
    kernels = spec.layers * constants.kernels_per_layer * passes
    gaps = kernels * constants.kernel_gap_us / US_PER_S
    gpu_s = (1 + BACKWARD_OVER_FORWARD) * (linear + element) + attention_forward + attention_backward
    gpu_s += head + recompute + gaps
    host_s = kernels * constants.kernel_launch_us / US_PER_S
    micro_s = paced_s(gpu_s, host_s)

    communication = _communication_s(parameters, plan, device.element_bytes, micro_s, link, constants)
    shards = link.gpus if plan.sharding == "sharded" else 1
    optimizer = constants.optimizer_bytes_per_parameter * constants.optimizer_factor * parameters / shards / bandwidth
    n = plan.micro_steps
    busy = n * micro_s + communication + optimizer
    return StepTime(
        parts_s={
            "matmul": n * (1 + BACKWARD_OVER_FORWARD) * linear,
            "attention": n * (attention_forward + attention_backward),
            "elementwise": n * (1 + BACKWARD_OVER_FORWARD) * element,
            "head": n * head,
            "recompute": n * recompute,
            "launch": n * (gaps + micro_s - gpu_s),
            "communication": communication,
            "optimizer": optimizer,
            "waiting": busy * (jitter_factor(link, constants) - 1),
        },
        launch_bound=host_s > gpu_s,
    )


def _communication_s(
    parameters: float, plan: StepPlan, gradient_bytes: float, micro_s: float, link: Link, constants: Constants
) -> float:
    """Communication of one optimizer step that the compute does not hide. [s]

    Sharded training gathers the weights for forward and backward and scatters the gradients in every micro-step;
    replicated training reduces the gradients once, with the last backward pass.
    """
    if plan.sharding == "sharded":
        per_micro_step = sharded_s(3 * WEIGHT_BYTES * parameters, link)
        return plan.micro_steps * exposed_s(micro_s, per_micro_step, link, constants)
    return exposed_s(micro_s, all_reduce_s(gradient_bytes * parameters, link), link, constants)
