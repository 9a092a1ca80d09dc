from dataclasses import replace

import pytest

from planner.catalog.records import TransformerSpec
from planner.workload.transformer import (
    active_parameter_count,
    attention_flop_per_token,
    attention_output_width,
    compute_budget_flop,
    feed_forward_width,
    idle_expert_parameters,
    key_value_width,
    layer_activation_elements,
    layer_matmul_parameters,
    layer_stored_parameters,
    parameter_count,
    query_width,
    selective_activation_elements,
    stored_feed_forward_width,
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


MIXTRAL = replace(LLAMA_7B, kv_heads=8, d_ff=14336, experts=8, experts_per_token=2)
DEEPSEEK_V3 = TransformerSpec(
    layers=61, d_model=7168, heads=128, kv_heads=128, d_ff=18432, gated_mlp=True, vocab=129280, seq_len=4096,
    encoder=False, tied_embeddings=False, head_dim=192, v_head_dim=128, attention_parameters=187_105_280,
    experts=256, experts_per_token=8, expert_d_ff=2048, shared_d_ff=2048, dense_layers=3,
)  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "total", "active"), [(MIXTRAL, 46_702_792_704, 12.88e9), (DEEPSEEK_V3, 671_026_419_200, 37.55e9)]
)
def test_all_experts_count_and_few_are_active(spec, total, active):
    assert parameter_count(spec) == pytest.approx(total, rel=1e-4)
    assert active_parameter_count(spec) == pytest.approx(active, rel=1e-3)
    assert parameter_count(spec) - active_parameter_count(spec) == pytest.approx(idle_expert_parameters(spec))


def test_the_layers_of_a_mixture_by_hand():
    attention = 4096 * (2 * 4096 + 2 * 1024)
    router = 4096 * 8
    assert layer_matmul_parameters(MIXTRAL) == attention + router + 2 * 3 * 4096 * 14336
    assert layer_stored_parameters(MIXTRAL) == attention + router + 8 * 3 * 4096 * 14336
    assert idle_expert_parameters(LLAMA_7B) == 0
    assert layer_stored_parameters(LLAMA_7B) == layer_matmul_parameters(LLAMA_7B)


def test_the_mean_layer_mixes_dense_ones_and_those_with_experts():
    active = (3 * 18432 + 58 * (8 + 1) * 2048) / 61
    assert feed_forward_width(DEEPSEEK_V3) == active
    assert stored_feed_forward_width(DEEPSEEK_V3) == (3 * 18432 + 58 * (256 + 1) * 2048) / 61
    activations = layer_activation_elements(DEEPSEEK_V3)
    widths = 4 * 7168 + 128 * (192 + 192 + 128 + 128)  # block inputs; queries, keys, values, attention's output
    assert activations == pytest.approx(widths + 3 * active)


def test_heads_of_their_own_width():
    wide = replace(LLAMA_7B, head_dim=256, kv_heads=4)
    assert (query_width(wide), key_value_width(wide), attention_output_width(wide)) == (8192, 1024, 8192)
    assert query_width(DEEPSEEK_V3) == 128 * 192
    assert key_value_width(DEEPSEEK_V3) == 128 * 160  # half of keys and values together
    assert attention_output_width(DEEPSEEK_V3) == 128 * 128
    # scores over 192 and values over 128 a head, half masked
    assert attention_flop_per_token(DEEPSEEK_V3, 1000) == 61 * 2 * 1000 * 128 * (192 + 128) / 2


def test_the_same_width_said_or_not_changes_nothing():
    said = replace(LLAMA_7B, head_dim=128)
    for quantity in (parameter_count, layer_activation_elements, selective_activation_elements):
        assert quantity(said) == quantity(LLAMA_7B)
    assert training_flop_per_token(said, 2048) == training_flop_per_token(LLAMA_7B, 2048)
