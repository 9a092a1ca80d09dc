"""Time that one pass of a transformer computes on one GPU, by part: matmul, attention, elementwise, head."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.performance.constants import Constants
from planner.performance.step_inputs import StepInputs, Vector
from planner.units import FLOP_PER_MAC, US_PER_S
from planner.workload.transformer import BACKWARD_OVER_FORWARD, FLASH_BACKWARD_OVER_FORWARD

QUANTIZED_BYTES = 0.5  # of a weight in 4 bit
SIXTEEN_BIT_BYTES = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """Seconds of one forward and backward pass of a GPU's layers, each of shape (n,)."""

    matmul_s: Vector
    attention_s: Vector
    elementwise_s: Vector
    head_s: Vector
    recompute_s: Vector
    launch_s: Vector  # gaps between kernels, and what the GPU waits for the host
    total_s: Vector
    launch_bound: Vector


def stage_layers(x: StepInputs) -> Vector:
    """Layers of the fullest stage of a pipeline. [-]"""
    return np.ceil(x.layers / x.pipeline)


def pass_tokens(x: StepInputs) -> Vector:
    """Tokens that one GPU handles in one pass, before tensor parallelism. [-]"""
    return x.micro_batch * x.seq_len / x.context


def paced_s(gpu_s: Vector, host_s: Vector) -> Vector:
    """Time of a pass that the GPU computes while the host launches its kernels: about the longer of the two. [s]

    A smooth maximum, (gpu^4 + host^4)^(1/4): near a tie neither hides the other fully.
    """
    return np.sqrt(np.hypot(gpu_s * gpu_s, host_s * host_s))


def pass_s(x: StepInputs, constants: Constants) -> Pass:
    """Time of one forward and backward pass of `micro_batch` sequences on one GPU's share of the model.

    Parameters
    ----------
    x : StepInputs
        The runs.
    constants : Constants
        The estimator's constants.

    Returns
    -------
    Pass
        Seconds by part.

    References
    ----------
    .. [1] S. Williams et al., "Roofline," Communications of the ACM 52(4), 2009: each kernel is bound by arithmetic
       or bandwidth.
    .. [2] E. Hu et al., "LoRA," 2021, arXiv:2106.09685: frozen weights need no gradients of their own.
    """
    layers = stage_layers(x)
    linear = layers * _layer_linears_s(x, constants)
    attention_forward, attention_backward = (layers * part for part in _layer_attention_s(x, constants))
    element = layers * _layer_elementwise_s(x, constants)
    dequantize = np.where(x.quantized, layers * _layer_dequantize_s(x, constants), 0.0)
    head = _head_s(x, constants)
    backward = np.where(x.adapters, 1 + constants.adapter_backward_share, BACKWARD_OVER_FORWARD)

    forward = linear + element + attention_forward
    repeated = np.where(x.vendor, constants.recompute_share_vendor, constants.recompute_share)
    recompute = np.where(x.full_recompute, repeated * forward + dequantize, 0.0)
    # Megatron's selective recomputation repeats the attention core; PyTorch's also every second matmul.
    selective = attention_forward + np.where(x.vendor, 0.0, constants.selective_matmul_share * linear)
    recompute = recompute + np.where(x.selective_recompute, selective, 0.0)

    passes = 1 + np.where(x.adapters, 1.5, BACKWARD_OVER_FORWARD) + x.full_recompute
    kernels = layers * constants.kernels_per_layer * passes
    gaps = kernels * constants.kernel_gap_us / US_PER_S
    host_share = np.where(
        x.vendor, np.where(x.modern, constants.launch_share_modern, constants.launch_share_vendor), 1.0
    )
    host = kernels * constants.kernel_launch_us * host_share / US_PER_S
    matmul = (1 + backward) * linear + 2 * dequantize
    attention = attention_forward + attention_backward
    elementwise = (1 + BACKWARD_OVER_FORWARD) * element
    gpu = matmul + attention + elementwise + head + recompute + gaps
    total = paced_s(gpu, host)
    return Pass(
        matmul_s=matmul,
        attention_s=attention,
        elementwise_s=elementwise,
        head_s=head,
        recompute_s=recompute,
        launch_s=gaps + total - gpu,
        total_s=total,
        launch_bound=host > gpu,
    )


def gemm_share(x: StepInputs, constants: Constants) -> Vector:
    """Share of the published matmul rate that a training step's matmuls reach, by software and GPU. [-]"""
    share = np.where(
        x.vendor,
        constants.gemm_efficiency_vendor,
        np.where(x.compiled, constants.gemm_efficiency_compiled, constants.gemm_efficiency),
    )
    share = share * np.where(x.blackwell, constants.gemm_share_blackwell, 1.0)
    share = share * np.where(x.tensor_cores, 1.0, constants.gemm_share_no_tensor_cores)
    return share * np.where(x.volta & x.compiled, constants.gemm_share_volta_compiled, 1.0)


def _bandwidth(x: StepInputs, constants: Constants) -> Vector:
    return x.bandwidth_bytes_per_s * constants.bandwidth_share


def _cached_bandwidth(x: StepInputs, tensor_bytes: Vector, constants: Constants) -> Vector:
    """Bandwidth of kernels after each other: from the cache, as far as it holds an input and an output. [bytes/s]"""
    held = np.minimum(1.0, x.cache_bytes / (2 * tensor_bytes))
    return _bandwidth(x, constants) * (1 + constants.cache_gain * held)


def _matmul_s(
    x: StepInputs, tokens: Vector, width_in: Vector, width_out: Vector, rate: Vector, constants: Constants
) -> Vector:
    """Forward time of one linear layer: its arithmetic, and a size penalty by the bytes it touches. [s]"""
    touched = x.element_bytes * (tokens * (width_in + width_out) + width_in * width_out)
    arithmetic = FLOP_PER_MAC * tokens * width_in * width_out / rate
    return arithmetic + constants.gemm_bytes_factor * touched / _bandwidth(x, constants)


def _linear_rate(x: StepInputs, constants: Constants) -> Vector:
    share = gemm_share(x, constants)
    return x.linear_flop_per_s * share * np.where(x.fp8, constants.fp8_efficiency, 1.0)


def _layer_linears_s(x: StepInputs, constants: Constants) -> Vector:
    """Forward time of the matmuls of one layer: projections, feed-forward block, experts. [s]"""
    tokens, rate = pass_tokens(x), _linear_rate(x, constants)
    # Factored projections (latent attention) count as one matmul of their weights.
    inputs = (x.attention_parameters / x.d_model - x.attention_output) / x.tensor
    seconds = _matmul_s(x, tokens, x.d_model, inputs, rate, constants)
    seconds = seconds + _matmul_s(x, tokens, x.attention_output / x.tensor, x.d_model, rate, constants)
    width = x.dense_width / x.tensor
    dense = _matmul_s(x, tokens, x.d_model, (x.matrices - 1) * width, rate, constants)
    dense = dense + _matmul_s(x, tokens, width, x.d_model, rate, constants)
    seconds = seconds + np.where(x.dense_width > 0, dense, 0.0)
    return seconds + np.where(x.routed_width > 0, _experts_s(x, tokens, rate, constants), 0.0)


def _experts_s(x: StepInputs, tokens: Vector, rate: Vector, constants: Constants) -> Vector:
    """Forward time of one layer's experts: small matmuls, every expert's weights, and sorting the tokens. [s]"""
    width = x.routed_width / x.tensor
    arithmetic = FLOP_PER_MAC * tokens * x.matrices * x.d_model * width / (rate * constants.expert_efficiency)
    moved = tokens * (2 * x.d_model * x.experts_per_token + x.matrices * width) * constants.expert_bytes_factor
    weights = x.matrices * x.d_model * x.routed_stored / x.expert / x.tensor
    touched = x.element_bytes * (moved + weights)
    return arithmetic + constants.gemm_bytes_factor * touched / _bandwidth(x, constants)


def _layer_attention_s(x: StepInputs, constants: Constants) -> tuple[Vector, Vector]:
    """Forward and backward time of one layer's attention core. [s]"""
    tokens = pass_tokens(x)
    flop = FLOP_PER_MAC * tokens * x.seq_len * (x.query + x.attention_output) / x.tensor
    usual = x.attention_flop_per_s * constants.attention_efficiency
    flash = flop * np.where(x.causal, 0.5, 1.0) / np.where(x.vendor, x.vendor_attention_flop_per_s, usual)
    products = flop / (x.matmul_flop_per_s * constants.unfused_attention_share)
    count = np.where(x.vendor, constants.score_passes_vendor, constants.unfused_score_passes)
    scores = x.element_bytes * tokens * x.heads / x.tensor * x.seq_len
    passes = count * scores / _cached_bandwidth(x, scores, constants)
    forward = np.where(x.fused_attention, flash, products + passes)
    backward = np.where(
        x.fused_attention, FLASH_BACKWARD_OVER_FORWARD * flash, BACKWARD_OVER_FORWARD * products + passes
    )
    return forward, backward


def _layer_elementwise_s(x: StepInputs, constants: Constants) -> Vector:
    """Forward time of the norms, activations, additions and, in 8 bit, conversions of one layer. [s]"""
    eager = np.where(x.vendor, constants.elementwise_factor_vendor_unfused, constants.elementwise_factor_unfused)
    fused = np.where(x.vendor, constants.elementwise_factor_vendor, constants.elementwise_factor_fused)
    factor = np.where(x.fused_elementwise, fused, eager)
    width = x.dense_width + x.routed_width
    gate = np.where(x.matrices > 2, 1.5, 1.0)
    # Norms and additions are split over the tensor-parallel GPUs too (sequence parallelism).
    elements = (14 * x.d_model + gate * 2 * width + x.query + 2 * x.key_value) / x.tensor
    moved = factor * x.element_bytes * elements
    inner = (x.query + 2 * x.key_value + x.attention_output + x.matrices * width) / x.tensor
    moved = moved + np.where(x.fp8, constants.fp8_cast_bytes * (2 * x.d_model + inner), 0.0)
    tokens = pass_tokens(x)
    return tokens * moved / _cached_bandwidth(x, x.element_bytes * tokens * x.d_model / x.tensor, constants)


def _layer_dequantize_s(x: StepInputs, constants: Constants) -> Vector:
    """Time to unpack one layer's 4-bit weights: read them, write them in 16 bit, read them again. [s]

    T. Dettmers et al., "QLoRA," 2023, sec. 3, arXiv:2305.14314: weights are unpacked for each matmul.
    """
    weights = x.attention_parameters + x.matrices * x.d_model * (x.dense_width + x.routed_stored / x.expert)
    return weights / x.tensor * (QUANTIZED_BYTES + 2 * SIXTEEN_BIT_BYTES) / _bandwidth(x, constants)


def _head_s(x: StepInputs, constants: Constants) -> Vector:
    """Forward and backward time of the projection onto the vocabulary and the loss. [s]

    It stands on the last stage of a pipeline; balanced stages hide a part of it.
    """
    tokens, vocab = pass_tokens(x) * x.head_share, x.vocab / x.tensor
    rate = x.head_flop_per_s * gemm_share(x, constants)
    one = _matmul_s(x, tokens, x.d_model, vocab, rate, constants)
    backward = np.where(x.adapters, 1.0, BACKWARD_OVER_FORWARD)
    loss = constants.loss_bytes_per_logit * tokens * vocab / _bandwidth(x, constants)
    visible = np.where(x.pipeline > 1, constants.head_share_pipeline, 1.0)
    return np.where(x.head_share > 0, visible * ((1 + backward) * one + loss), 0.0)
