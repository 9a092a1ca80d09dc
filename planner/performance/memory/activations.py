"""Values kept between the forward and the backward pass, by method, recomputation and software."""

from __future__ import annotations

from planner.performance.constants import Constants
from planner.performance.memory.setup import MemorySetup
from planner.workload.transformer import (
    key_value_width,
    layer_activation_elements,
    query_width,
    selective_activation_elements,
)

LIVE_LAYERS_WHEN_RECOMPUTED = 1.5  # a layer that is being recomputed, and the gradients that run through it
SCORE_BYTES_PER_HEAD_AND_KEY = 5.0  # scores, softmax and dropout mask of plain attention
NORMS = 2  # of a layer whose blocks run one after the other
DROPPED_COPY = 1.5  # an adapter's input after dropout in 16 bit, and the mask in a byte


def kept_bytes_per_token(setup: MemorySetup, constants: Constants) -> float:
    """Activations kept for the backward pass, for one token through all layers. [bytes/token]

    References
    ----------
    .. [1] V. Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models," 2022, sec. 4,
       arXiv:2205.05198.
    """
    spec = setup.spec
    if setup.checkpointing == "full":
        return spec.layers * setup.element_bytes * spec.d_model
    if setup.checkpointing == "none":
        return spec.layers * layer_bytes_per_token(setup, constants)
    kept = selective_activation_elements(spec)
    return spec.layers * _eager_factor(setup, constants) * setup.element_bytes * kept


def live_bytes_per_token(setup: MemorySetup, constants: Constants) -> float:
    """Activations of the layer that is being recomputed, which are there while the logits no longer are."""
    if setup.checkpointing == "none":
        return 0.0
    return LIVE_LAYERS_WHEN_RECOMPUTED * layer_bytes_per_token(setup, constants)


def layer_bytes_per_token(setup: MemorySetup, constants: Constants) -> float:
    """What one layer keeps of a token when nothing is recomputed. [bytes/token]"""
    scores = 0.0 if setup.fused_attention else SCORE_BYTES_PER_HEAD_AND_KEY * setup.spec.heads * setup.seq_len
    return _eager_factor(setup, constants) * setup.element_bytes * layer_elements(setup, constants) + scores


def _eager_factor(setup: MemorySetup, constants: Constants) -> float:
    return constants.activation_factor_unfused if setup.software == "eager" else 1.0


def layer_elements(setup: MemorySetup, constants: Constants) -> float:
    """Values that one layer keeps of a token. [-]

    Beside a gated block stand RMS norms. Eager code keeps their inputs in fp32 and what they give before their weights,
    and of the block the gate after its function.
    """
    spec = setup.spec
    if setup.method == "full":
        eager = NORMS * 2 * spec.d_model + spec.d_ff if spec.gated_mlp and setup.software == "eager" else 0.0
        return layer_activation_elements(spec) + eager
    elements = adapter_elements(setup)
    if setup.quantised:
        # A quantised matmul keeps its input, in older software, though a frozen weight has no use for it.
        norms = (1 if spec.parallel_blocks else NORMS) * spec.d_model
        elements += constants.quantised_inputs_kept * (norms + spec.d_ff)
    return elements


def adapter_elements(setup: MemorySetup) -> float:
    """Values that one layer with adapters keeps of a token. [-]

    A frozen linear layer passes gradients on without its input. So there remain the inputs of norms and activation
    functions, queries, keys, values and output of the attention, and the inputs of the adapters, after dropout. Eager
    code also keeps queries and keys as they were before rotation, of a gated block the gate after its function, and the
    inputs of RMS norms in fp32.
    """
    spec = setup.spec
    eager = setup.software == "eager"
    d, q, kv = spec.d_model, query_width(spec), key_value_width(spec)
    norms = (1 if spec.parallel_blocks else NORMS) * (2 if eager and spec.gated_mlp else 1) * d
    attention = q + 2 * kv + d + (q + kv if eager else 0)
    mlp = ((3 if eager else 2) if spec.gated_mlp else 1) * spec.d_ff
    inputs = {"q_v": d, "attention": 2 * d, "all": 3 * d + spec.d_ff}[setup.adapter_targets]
    return float(norms + attention + mlp + DROPPED_COPY * inputs)
