"""Peak memory of one GPU in training, and the smallest number of GPUs that holds a model."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from planner.catalog.records import TransformerSpec, VisionSpec
from planner.performance.constants import Constants
from planner.units import BYTES_PER_GB, Numeric
from planner.workload.convolutional import activation_elements
from planner.workload.settings import Checkpointing, Sharding
from planner.workload.transformer import (
    layer_activation_elements,
    layer_matmul_parameters,
    selective_activation_elements,
)

WEIGHT_BYTES = 2.0
LIVE_LAYERS_WHEN_CHECKPOINTED = 1.5  # a layer that is being recomputed, and its successor's inputs
UNSHARDED_LAYERS = 3.0  # gathered ahead, in use, and being freed
KEPT_BYTES = 6.0  # 16-bit weights and fp32 gradients, where only the optimizer is sharded
OPTIMIZER_BYTES = 12.0  # fp32 weights and two Adam moments
SCORE_BYTES_PER_HEAD_AND_KEY = 5.0  # scores, softmax and dropout mask of plain attention


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryNeed:
    """Bytes of one GPU as `fixed + per_sample x micro-batch`, the part of `fixed` that sharding divides apart."""

    state_bytes: float  # weights, gradients, optimizer: divided by the shards
    fixed_bytes: float
    per_sample_bytes: float

    def peak_bytes(self, micro_batch: Numeric, shards: Numeric) -> Numeric:
        """Peak of one GPU. [bytes]"""
        return self.state_bytes / shards + self.fixed_bytes + self.per_sample_bytes * micro_batch

    def largest_micro_batch(self, capacity_bytes: float, shards: int) -> float:
        """Largest micro-batch that fits, below 1 when none does. [samples, not rounded]"""
        return (capacity_bytes - self.state_bytes / shards - self.fixed_bytes) / self.per_sample_bytes

    def smallest_shard_count(self, capacity_bytes: float, micro_batch: float) -> int | None:
        """Fewest GPUs over which the state must be sharded; None when the rest alone is too large."""
        room = capacity_bytes - self.fixed_bytes - self.per_sample_bytes * micro_batch
        return ceil(self.state_bytes / room) if room > 0 else None


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
    """Activations kept for the backward pass, for one token through all layers.

    Parameters
    ----------
    spec : TransformerSpec
        Shape of the model.
    seq_len : int
        Tokens of a sequence; plain attention keeps scores for every key. [-]
    checkpointing : {"none", "selective", "full"}
        What is recomputed instead of kept.
    element_bytes : float
        Bytes of an activation. [bytes]
    fused_attention, fused_elementwise : bool
        Flash attention keeps no scores; eager kernels keep intermediate results.
    constants : Constants
        The estimator's constants.

    Returns
    -------
    float
        Activations. [bytes/token]

    References
    ----------
    .. [1] V. Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models," 2022, sec. 4,
       arXiv:2205.05198.
    """
    factor = 1.0 if fused_elementwise else constants.activation_factor_unfused
    scores = 0.0 if fused_attention else SCORE_BYTES_PER_HEAD_AND_KEY * spec.heads * seq_len
    layer = factor * element_bytes * layer_activation_elements(spec) + scores
    if checkpointing == "none":
        return spec.layers * layer
    if checkpointing == "selective":
        return spec.layers * factor * element_bytes * selective_activation_elements(spec)
    return spec.layers * element_bytes * spec.d_model + LIVE_LAYERS_WHEN_CHECKPOINTED * layer


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
    """Memory of a transformer in full training, as shown by the driver.

    Static state at 16 bytes a parameter (16-bit weights and gradients, fp32 master weights, two Adam moments),
    activations, logits and, when sharded, the layers that are gathered for the moment; all with a share for
    fragmentation and a reserve for context and libraries.

    References
    ----------
    .. [1] S. Rajbhandari et al., "ZeRO," 2020, sec. 3.1, arXiv:1910.02054.
    """
    overhead = 1 + constants.memory_overhead_share
    transient = 0.0
    if sharding == "sharded":
        transient = WEIGHT_BYTES * (UNSHARDED_LAYERS * layer_matmul_parameters(spec) + spec.d_model * spec.vocab)
    per_token = activation_bytes_per_token(
        spec,
        seq_len,
        checkpointing,
        element_bytes,
        fused_attention=fused_attention,
        fused_elementwise=fused_elementwise,
        constants=constants,
    )
    logit_bytes = constants.logit_bytes_fused if fused_loss else constants.logit_bytes_plain
    logits = 0.0 if spec.encoder else logit_bytes * spec.vocab
    return MemoryNeed(
        state_bytes=overhead * constants.state_bytes_per_parameter * parameters,
        fixed_bytes=overhead * transient + constants.memory_reserve_gb * BYTES_PER_GB,
        per_sample_bytes=overhead * seq_len * (per_token + logits),
    )


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
    """Memory of a decoder spread over tensor x pipeline GPUs, its optimizer sharded over the replicas.

    A GPU keeps its weights in 16 bit and their gradients in fp32; the state that the replicas divide is the
    optimizer's. The first stage keeps as many micro-batches as there are stages, so as much as the whole model of one,
    and more when interleaved; the last stage has one and the logits.

    References
    ----------
    .. [1] V. Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models," 2022, sec. 4.2.3,
       arXiv:2205.05198.
    .. [2] D. Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM,"
       2021, sec. 2.2, arXiv:2104.04473.
    """
    overhead = 1 + constants.memory_overhead_share
    weights = parameters
    if pipeline > 1:  # the embeddings stand on one stage, which is the fullest
        weights = ceil(spec.layers / pipeline) * layer_matmul_parameters(spec) + spec.d_model * spec.vocab
    weights /= tensor
    activations = activation_bytes_per_token(
        spec,
        seq_len,
        checkpointing,
        element_bytes,
        fused_attention=True,
        fused_elementwise=True,
        constants=constants,
    )
    logits = constants.logit_bytes_plain * spec.vocab
    first = activations * (1 + (pipeline - 1) / (pipeline * chunks)) + (logits if pipeline == 1 else 0.0)
    last = activations / pipeline + logits
    return MemoryNeed(
        state_bytes=overhead * OPTIMIZER_BYTES * weights,
        fixed_bytes=overhead * KEPT_BYTES * weights + constants.memory_reserve_gb * BYTES_PER_GB,
        per_sample_bytes=overhead * seq_len * max(first, last) / tensor,
    )


def vision_need(spec: VisionSpec, parameters: float, element_bytes: float, constants: Constants) -> MemoryNeed:
    """Memory of a vision model in training: state, and activations by what the forward pass writes."""
    return MemoryNeed(
        state_bytes=constants.vision_state_bytes_per_parameter * parameters,
        fixed_bytes=constants.memory_reserve_gb * BYTES_PER_GB,
        per_sample_bytes=constants.vision_activation_factor * element_bytes * activation_elements(spec),
    )
