"""Size of a transformer: its parameters, the FLOP of a token, and the bytes of its state and activations."""

from __future__ import annotations

from planner.catalog.records import TransformerSpec
from planner.units import FLOP_PER_MAC, Numeric

BACKWARD_OVER_FORWARD = 2.0  # gradients by input and by weight, one matmul each
FLASH_BACKWARD_OVER_FORWARD = 2.5  # flash attention recomputes the scores in the backward pass


def query_width(spec: TransformerSpec) -> int:
    """Width of the queries of one layer. [elements per token]"""
    return spec.d_model if spec.head_dim is None else spec.heads * spec.head_dim


def attention_output_width(spec: TransformerSpec) -> int:
    """Width of what attention gives to its output projection. [elements per token]"""
    return query_width(spec) if spec.v_head_dim is None else spec.heads * spec.v_head_dim


def key_value_width(spec: TransformerSpec) -> int:
    """Width of the keys, and again of the values, of one layer; smaller with grouped queries. [elements per token]

    Where keys and values differ (latent attention), half of both together.
    """
    head_dim = spec.d_model // spec.heads if spec.head_dim is None else spec.head_dim
    if spec.v_head_dim is None:
        return head_dim * spec.kv_heads
    return (head_dim + spec.v_head_dim) * spec.kv_heads // 2


def mlp_matrices(spec: TransformerSpec) -> int:
    """Weight matrices of one feed-forward block: three when gated, else two."""
    return 3 if spec.gated_mlp else 2


def attention_matmul_parameters(spec: TransformerSpec) -> int:
    """Weights of the attention projections of one layer. [-]"""
    if spec.attention_parameters is not None:
        return spec.attention_parameters
    inputs = query_width(spec) + 2 * key_value_width(spec)
    return spec.d_model * (inputs + attention_output_width(spec))


def _mean_of_layers(spec: TransformerSpec, in_expert_layers: int) -> float:
    """Mean over all layers of a width that is `d_ff` in those without experts."""
    if not spec.experts:
        return spec.d_ff
    with_experts = spec.layers - spec.dense_layers
    return (spec.dense_layers * spec.d_ff + with_experts * in_expert_layers) / spec.layers


def _expert_width(spec: TransformerSpec) -> int:
    return spec.d_ff if spec.expert_d_ff is None else spec.expert_d_ff


def feed_forward_width(spec: TransformerSpec) -> float:
    """Feed-forward width that a token passes in one layer: `d_ff`, or of its experts; the mean of all layers. [-]"""
    return _mean_of_layers(spec, spec.experts_per_token * _expert_width(spec) + spec.shared_d_ff)


def stored_feed_forward_width(spec: TransformerSpec) -> float:
    """Feed-forward width that is kept for one layer, all experts together; the mean of all layers. [-]"""
    return _mean_of_layers(spec, spec.experts * _expert_width(spec) + spec.shared_d_ff)


def _router_parameters(spec: TransformerSpec) -> float:
    """Weights that choose the experts; the mean of all layers."""
    return spec.d_model * spec.experts * (spec.layers - spec.dense_layers) / spec.layers


def _layer_parameters(spec: TransformerSpec, feed_forward: float) -> float:
    matrices = mlp_matrices(spec) * spec.d_model * feed_forward
    return float(attention_matmul_parameters(spec) + matrices + _router_parameters(spec))


def layer_matmul_parameters(spec: TransformerSpec) -> float:
    """Weights that every token is multiplied with in one layer; with experts, the mean of all layers. [-]"""
    return _layer_parameters(spec, feed_forward_width(spec))


def layer_stored_parameters(spec: TransformerSpec) -> float:
    """Weights that are kept for one layer, all experts included; the mean of all layers. [-]"""
    return _layer_parameters(spec, stored_feed_forward_width(spec))


def head_parameters(spec: TransformerSpec) -> float:
    """Weights of the projection onto the vocabulary; an encoder that is fine-tuned has none over its tokens. [-]"""
    return 0.0 if spec.encoder else float(spec.d_model * spec.vocab)


def parameter_count(spec: TransformerSpec) -> float:
    """Weights of the whole model, biases and norms left out (below 0.1 % of a large model). [-]

    Examples
    --------
    >>> llama_7b = TransformerSpec(layers=32, d_model=4096, heads=32, kv_heads=32, d_ff=11008, gated_mlp=True,
    ...     vocab=32000, seq_len=2048, encoder=False, tied_embeddings=False)
    >>> round(parameter_count(llama_7b) / 1e9, 2)
    6.74
    """
    return spec.layers * layer_stored_parameters(spec) + _outer_parameters(spec)


def active_parameter_count(spec: TransformerSpec) -> float:
    """Weights of the whole model without the experts that a token doesn't pass, counted as `parameter_count`. [-]"""
    return spec.layers * layer_matmul_parameters(spec) + _outer_parameters(spec)


def idle_expert_parameters(spec: TransformerSpec) -> float:
    """Weights of the experts that a token doesn't pass; 0 without experts. [-]"""
    return spec.layers * (layer_stored_parameters(spec) - layer_matmul_parameters(spec))


def _outer_parameters(spec: TransformerSpec) -> float:
    embeddings = spec.d_model * (spec.vocab + spec.learned_positions)
    return embeddings + (0.0 if spec.tied_embeddings else head_parameters(spec))


def attention_flop_per_token(spec: TransformerSpec, seq_len: Numeric) -> Numeric:
    """FLOP of scores and weighted values for one token, forward, all layers; a causal mask halves them. [FLOP]"""
    full = spec.layers * FLOP_PER_MAC * seq_len * (query_width(spec) + attention_output_width(spec))
    return full if spec.encoder else full / 2


def training_flop_per_token(spec: TransformerSpec, seq_len: Numeric) -> Numeric:
    """FLOP of the model for one token, forward and backward, recomputation left out.

    Parameters
    ----------
    spec : TransformerSpec
        Shape of the model.
    seq_len : numeric
        Tokens of a sequence. [-]

    Returns
    -------
    numeric
        6 FLOP a weight that multiplies the token, and three times the attention forward. [FLOP]

    References
    ----------
    .. [1] A. Chowdhery et al., "PaLM: Scaling Language Modeling with Pathways," 2022, app. B, arXiv:2204.02311.
    """
    matmul = FLOP_PER_MAC * (spec.layers * layer_matmul_parameters(spec) + head_parameters(spec))
    return (1 + BACKWARD_OVER_FORWARD) * (matmul + attention_flop_per_token(spec, seq_len))


def compute_budget_flop(parameters: Numeric, tokens: Numeric, *, recomputed: bool) -> Numeric:
    """FLOP of a training run by the usual rule: 6 a parameter and token, 8 when every activation is computed twice.

    Parameters
    ----------
    parameters : numeric
        Weights of the model. [-]
    tokens : numeric
        Tokens the model is trained on. [-]
    recomputed : bool
        Full activation checkpointing adds one more forward pass.

    Returns
    -------
    numeric
        Compute spent. [FLOP]

    References
    ----------
    .. [1] D. Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM,"
       2021, sec. 5.1, arXiv:2104.04473.

    Examples
    --------
    >>> f"{compute_budget_flop(1e12, 450e9, recomputed=True):.2e}"
    '3.60e+24'
    """
    return (8.0 if recomputed else 6.0) * parameters * tokens


def layer_activation_elements(spec: TransformerSpec) -> float:
    """Values that one layer keeps for its backward pass under flash attention. [elements per token]

    Inputs of both norms and both blocks (half of them when the blocks run in parallel), queries, keys, values, the
    attention output, and two (gated: three) feed-forward widths.
    """
    block_inputs = (2 if spec.parallel_blocks else 4) * spec.d_model
    attention = query_width(spec) + 2 * key_value_width(spec) + attention_output_width(spec)
    return float(block_inputs + attention + mlp_matrices(spec) * feed_forward_width(spec))


def selective_activation_elements(spec: TransformerSpec) -> float:
    """Values one layer keeps under selective checkpointing: input, attention output, every second matmul's output.

    In their order that is queries, values, the first feed-forward width, and of a gated block also the output.
    """
    matmul_outputs = query_width(spec) + key_value_width(spec) + feed_forward_width(spec)
    matmul_outputs += spec.d_model if spec.gated_mlp else 0
    return float(spec.d_model + attention_output_width(spec) + matmul_outputs)
