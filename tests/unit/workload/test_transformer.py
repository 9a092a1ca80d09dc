from dataclasses import replace

import pytest

from planner.catalog.records import TransformerSpec
from planner.workload.transformer import (
    attention_flop_per_token,
    compute_budget_flop,
    layer_activation_elements,
    parameter_count,
    selective_activation_elements,
    training_flop_per_token,
)

LLAMA_7B = TransformerSpec(
    layers=32,
    d_model=4096,
    heads=32,
    kv_heads=32,
    d_ff=11008,
    gated_mlp=True,
    vocab=32000,
    seq_len=4096,
    encoder=False,
    tied_embeddings=False,
)
GPT2 = TransformerSpec(
    layers=12,
    d_model=768,
    heads=12,
    kv_heads=12,
    d_ff=3072,
    gated_mlp=False,
    vocab=50257,
    seq_len=1024,
    encoder=False,
    tied_embeddings=True,
    learned_positions=1024,
)


@pytest.mark.parametrize(("spec", "published"), [(LLAMA_7B, 6_738_415_616), (GPT2, 124_439_808)])
def test_parameters_agree_with_the_published_count(spec, published):
    assert parameter_count(spec) == pytest.approx(published, rel=1e-3)


def test_grouped_queries_shrink_keys_and_values_only():
    grouped = replace(LLAMA_7B, kv_heads=8)
    saved = 32 * 2 * 4096 * (4096 - 1024)  # layers x (keys, values) x d_model x narrower by 24 of 32 heads
    assert parameter_count(LLAMA_7B) - parameter_count(grouped) == saved


def test_training_flop_are_six_a_weight_plus_attention():
    matmul_weights = parameter_count(LLAMA_7B) - 32000 * 4096  # the input embedding is looked up, not multiplied
    attention = 3 * attention_flop_per_token(LLAMA_7B, 2048)
    assert training_flop_per_token(LLAMA_7B, 2048) == pytest.approx(6 * matmul_weights + attention)


def test_a_causal_mask_halves_attention():
    encoder = replace(LLAMA_7B, encoder=True)
    assert attention_flop_per_token(encoder, 512) == 2 * attention_flop_per_token(LLAMA_7B, 512)
    assert attention_flop_per_token(encoder, 512) == 32 * 4 * 512 * 4096


def test_recomputation_counts_eight_instead_of_six():
    assert compute_budget_flop(2.0, 3.0, recomputed=True) == 48.0
    assert compute_budget_flop(2.0, 3.0, recomputed=False) == 36.0


def test_activations_of_a_plain_layer_by_hand():
    # four block inputs, q, k, v, the attention output: 8 widths of 768; the feed-forward block twice 3072
    assert layer_activation_elements(GPT2) == 8 * 768 + 2 * 3072
    # input and attention output, and every second matmul: queries, values and the first feed-forward result
    assert selective_activation_elements(GPT2) == 2 * 768 + 2 * 768 + 3072
    # of seven matmuls the first, third, fifth and seventh
    assert selective_activation_elements(LLAMA_7B) == 2 * 4096 + 3 * 4096 + 11008


def test_parallel_blocks_share_their_input():
    parallel = replace(GPT2, parallel_blocks=True)
    assert layer_activation_elements(GPT2) - layer_activation_elements(parallel) == 2 * 768
