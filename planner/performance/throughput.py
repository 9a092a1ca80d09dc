"""Time of one optimizer step of a transformer, by part, from its shape, the GPU's rates and the link."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from planner.catalog.records import TransformerSpec
from planner.performance.constants import Constants
from planner.performance.device import Device
from planner.performance.scaling import (
    Link,
    all_reduce_s,
    exposed_s,
    group_sharded_s,
    jitter_factor,
    replica_all_reduce_s,
    tensor_all_reduce_s,
)
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
GRADIENT_BYTES = 4.0  # of a sharded optimizer, added up in fp32


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
    shards: int | None = None  # GPUs that share the state; all of the run where not said
    tensor: int = 1
    pipeline: int = 1
    vendor_kernels: bool = False  # flash attention of Megatron-LM with Transformer Engine
    chunks: int = 1  # interleaved in each stage of a pipeline


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


def _matmul_s(
    tokens: float, width_in: float, width_out: float, flop_per_s: float, device: Device, constants: Constants
) -> float:
    """Forward time of one linear layer: its arithmetic, and a size penalty by the bytes it touches. [s]"""
    arithmetic = FLOP_PER_MAC * tokens * width_in * width_out / (flop_per_s * constants.gemm_efficiency)
    touched = device.element_bytes * (tokens * (width_in + width_out) + width_in * width_out)
    penalty = constants.gemm_bytes_factor * touched / (device.bandwidth_bytes_per_s * constants.bandwidth_share)
    return arithmetic + penalty


def _layer_linears_s(spec: TransformerSpec, tokens: float, tensor: int, device: Device, constants: Constants) -> float:
    rate = device.matmul_flop_per_s * (constants.fp8_efficiency if device.linear_fp8 else 1.0)
    projections = query_width(spec) + 2 * key_value_width(spec)
    up = (mlp_matrices(spec) - 1) * spec.d_ff
    return (
        _matmul_s(tokens, spec.d_model, projections / tensor, rate, device, constants)
        + _matmul_s(tokens, query_width(spec) / tensor, spec.d_model, rate, device, constants)
        + _matmul_s(tokens, spec.d_model, up / tensor, rate, device, constants)
        + _matmul_s(tokens, spec.d_ff / tensor, spec.d_model, rate, device, constants)
    )


def _layer_attention_s(
    spec: TransformerSpec, plan: StepPlan, tokens: float, device: Device, constants: Constants
) -> tuple[float, float]:
    """Forward and backward time of one layer's attention core. [s]"""
    flop = 2 * FLOP_PER_MAC * tokens * plan.seq_len * query_width(spec)
    if plan.fused_attention:
        causal_share = 1.0 if spec.encoder else 0.5
        rate = device.attention_flop_per_s * constants.attention_efficiency
        if plan.vendor_kernels:
            rate = device.vendor_attention_flop_per_s
        forward = causal_share * flop / rate
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
    layers = math.ceil(spec.layers / plan.pipeline)  # of one GPU; each is further divided by the tensor parallelism

    linear = layers * _layer_linears_s(spec, tokens, plan.tensor, device, constants)
    attention_forward, attention_backward = _layer_attention_s(spec, plan, tokens / plan.tensor, device, constants)
    attention_forward, attention_backward = layers * attention_forward, layers * attention_backward
    moved = device.element_bytes * tokens / plan.tensor * elementwise_elements(spec)
    element = layers * factor * moved / bandwidth
    head = 0.0
    if head_parameters(spec):  # on the last stage of a pipeline, for which the others wait
        vocab = spec.vocab / plan.tensor
        head = _matmul_s(tokens, spec.d_model, vocab, device.head_flop_per_s, device, constants)
        head = (1 + BACKWARD_OVER_FORWARD) * head + constants.loss_bytes_per_logit * tokens * vocab / bandwidth

    recompute = 0.0
    passes = 1 + BACKWARD_OVER_FORWARD
    if plan.checkpointing == "full":
        recompute = linear + attention_forward + element
        passes += 1
    elif plan.checkpointing == "selective":
        recompute = attention_forward
    kernels = layers * constants.kernels_per_layer * passes
    gaps = kernels * constants.kernel_gap_us / US_PER_S
    gpu_s = (1 + BACKWARD_OVER_FORWARD) * (linear + element) + attention_forward + attention_backward
    gpu_s += head + recompute + gaps
    host_s = kernels * constants.kernel_launch_us / US_PER_S
    micro_s = paced_s(gpu_s, host_s)

    n = plan.micro_steps
    exchange = _exchange_s(
        spec, plan, tokens, layers, link, constants
    )  # in every pass, between the GPUs of one replica
    bubble = (plan.pipeline - 1) / plan.chunks * (micro_s + exchange)
    communication = n * exchange + _communication_s(parameters, plan, device.element_bytes, micro_s, link, constants)
    owners = link.gpus if plan.sharding == "optimizer" else 1
    if plan.sharding == "sharded":
        owners = plan.shards or link.gpus
    optimizer = constants.optimizer_bytes_per_parameter * constants.optimizer_factor * parameters / owners / bandwidth
    busy = n * micro_s + bubble + communication + optimizer
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
            "waiting": bubble + busy * (jitter_factor(link, constants) - 1),
        },
        launch_bound=host_s > gpu_s,
    )


def _exchange_s(
    spec: TransformerSpec, plan: StepPlan, tokens: float, layers: float, link: Link, constants: Constants
) -> float:
    """Time of one pass that the GPUs of a replica spend on exchanging activations. [s]

    Tensor parallelism adds up the outputs of both blocks of a layer, forward and backward, and once more when the
    forward pass is repeated, a share of it beside the compute; stages hand on their output and get its gradient.
    """
    seconds = 0.0
    activations = WEIGHT_BYTES * tokens * spec.d_model
    if plan.tensor > 1:
        all_reduces = 6 if plan.checkpointing == "full" else 4
        one = tensor_all_reduce_s(activations, plan.tensor, link)
        seconds += constants.tensor_exposed * layers * all_reduces * one
    if plan.pipeline > 1:
        own_network = link.network_bytes_per_s / min(link.gpus, link.gpus_per_node)
        seconds += 2 * plan.chunks * (activations / plan.tensor / own_network + link.latency_s)
    return seconds


def _communication_s(
    parameters: float, plan: StepPlan, gradient_bytes: float, micro_s: float, link: Link, constants: Constants
) -> float:
    """Communication of gradients and weights in one optimizer step that the compute does not hide. [s]

    Sharded training gathers the weights for forward and backward and scatters the gradients in every micro-step, over
    all GPUs or over a group; replicas reduce the gradients once, with the last backward pass. With the optimizer
    sharded, gradients in fp32 are scattered and 16-bit weights gathered once.
    """
    if plan.sharding == "optimizer":
        payload = (GRADIENT_BYTES + WEIGHT_BYTES) / 2 * parameters
        return exposed_s(micro_s, replica_all_reduce_s(payload, plan.tensor * plan.pipeline, link), link, constants)
    if plan.sharding == "replicated":
        return exposed_s(micro_s, all_reduce_s(gradient_bytes * parameters, link), link, constants)
    group = plan.shards or link.gpus
    gathered = group_sharded_s(3 * WEIGHT_BYTES * parameters, group, link)
    seconds = plan.micro_steps * exposed_s(micro_s, gathered, link, constants)
    if group < link.gpus:  # what overlaps is already taken by the gathering
        seconds += replica_all_reduce_s(WEIGHT_BYTES * parameters, group, link)
    return seconds
