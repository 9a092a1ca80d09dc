"""Size of a transformer: its parameters, the FLOP of a token, and the bytes of its state and activations."""

from __future__ import annotations

from planner.catalog.records import TransformerSpec
from planner.units import FLOP_PER_MAC, Numeric

BACKWARD_OVER_FORWARD = 2.0  # gradients by input and by weight, one matmul each
FLASH_BACKWARD_OVER_FORWARD = 2.5  # flash attention recomputes the scores in the backward pass


def query_width(spec: TransformerSpec) -> int:
    """Width of the queries of one layer. [elements per token]"""
    return spec.d_model


def key_value_width(spec: TransformerSpec) -> int:
    """Width of the keys, and again of the values, of one layer; smaller with grouped queries. [elements per token]"""
    return spec.d_model // spec.heads * spec.kv_heads


def mlp_matrices(spec: TransformerSpec) -> int:
    """Weight matrices of one feed-forward block: three when gated, else two."""
    return 3 if spec.gated_mlp else 2


def layer_matmul_parameters(spec: TransformerSpec) -> float:
    """Weights that every token is multiplied with in one layer. [-]"""
    attention = spec.d_model * (2 * query_width(spec) + 2 * key_value_width(spec))
    return float(attention + mlp_matrices(spec) * spec.d_model * spec.d_ff)


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
    embeddings = spec.d_model * (spec.vocab + spec.learned_positions)
    untied_head = 0.0 if spec.tied_embeddings else head_parameters(spec)
    return spec.layers * layer_matmul_parameters(spec) + embeddings + untied_head


def attention_flop_per_token(spec: TransformerSpec, seq_len: Numeric) -> Numeric:
    """FLOP of scores and weighted values for one token, forward, all layers; a causal mask halves them. [FLOP]"""
    full = spec.layers * 2 * FLOP_PER_MAC * seq_len * query_width(spec)
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
    attention = query_width(spec) + 2 * key_value_width(spec) + spec.d_model
    return float(block_inputs + attention + mlp_matrices(spec) * spec.d_ff)


def selective_activation_elements(spec: TransformerSpec) -> float:
    """Values one layer keeps under selective checkpointing: input, attention output, every second matmul's output.

    In their order that is queries, values, the first feed-forward width, and of a gated block also the output.
    """
    matmul_outputs = query_width(spec) + key_value_width(spec) + spec.d_ff + (spec.d_model if spec.gated_mlp else 0)
    return float(2 * spec.d_model + matmul_outputs)


def elementwise_elements(spec: TransformerSpec) -> float:
    """Values that the elementwise kernels of one layer read and write, forward. [elements per token]"""
    gate = 1.5 if spec.gated_mlp else 1.0
    return float(14 * spec.d_model + gate * 2 * spec.d_ff + query_width(spec) + 2 * key_value_width(spec))
