from dataclasses import replace

import numpy as np
import pytest

from planner.catalog.records import VisionSpec
from planner.performance.memory import activation_bytes_per_token, split_need, transformer_need, vision_need
from tests.unit.performance.hardware import shipped_constants
from tests.unit.workload.test_transformer import GPT2, LLAMA_7B

CONSTANTS = shipped_constants(
    state_bytes_per_parameter=16,
    memory_overhead_share=0.0,
    memory_reserve_gb=0.5,
    logit_bytes_fused=5,
    logit_bytes_plain=12,
    logit_bytes_cached=2,
    logit_bytes_chunked=6,
    quantised_inputs_kept=1,
    activation_factor_unfused=1.2,
    vision_activation_factor=2.0,
    vision_state_bytes_per_parameter=16,
)


def need(checkpointing="none", sharding="replicated", *, spec=LLAMA_7B, parameters=6.74e9):
    return transformer_need(
        spec,
        parameters,
        4096,
        checkpointing,
        sharding,
        2.0,
        fused_attention=True,
        fused_elementwise=True,
        constants=CONSTANTS,
    )


def test_state_is_sixteen_bytes_a_parameter_over_the_shards():
    whole, halved = need().peak_bytes(0, 1), need(sharding="replicated").peak_bytes(0, 2)
    assert whole == pytest.approx(16 * 6.74e9 + 0.5e9)
    assert whole - halved == pytest.approx(8 * 6.74e9)


def test_activations_and_logits_by_hand():
    # 34.5 widths of 4096 in 16 bit and 5 bytes a logit
    per_token = 32 * 2 * (8 * 4096 + 3 * 11008) + 5 * 32000
    assert need().per_sample_bytes == pytest.approx(4096 * per_token)


def test_each_recomputation_keeps_less():
    kept = [need(c).per_sample_bytes for c in ("none", "selective", "full")]
    assert kept[0] > kept[1] > kept[2]


def test_sharding_gathers_layers_for_the_moment():
    gathered = 2 * (3 * (4 * 4096**2 + 3 * 4096 * 11008) + 4096 * 32000)
    assert need(sharding="sharded").fixed_bytes - need().fixed_bytes == pytest.approx(gathered)


def test_plain_attention_keeps_scores_and_eager_code_keeps_more():
    encoder = replace(GPT2, encoder=True)
    plain = activation_bytes_per_token(
        encoder, 384, "none", 2.0, fused_attention=False, fused_elementwise=False, constants=CONSTANTS
    )
    assert plain == pytest.approx(12 * (1.2 * 2 * (8 * 768 + 2 * 3072) + 5 * 12 * 384))


def test_an_encoder_has_no_logits_over_its_tokens():
    assert need(spec=replace(LLAMA_7B, encoder=True)).per_sample_bytes < need().per_sample_bytes


def test_the_largest_micro_batch_just_fits():
    capacity = 300e9
    largest = need().largest_micro_batch(capacity, 1)
    assert need().peak_bytes(largest, 1) == pytest.approx(capacity)


def test_the_smallest_shard_count_fits_and_one_less_does_not():
    sharded, capacity = need("full", "sharded"), 24e9
    count = sharded.smallest_shard_count(capacity, 1)
    assert count is not None and count > 1
    assert sharded.peak_bytes(1, count) <= capacity < sharded.peak_bytes(1, count - 1)


def test_no_shard_count_helps_where_activations_alone_are_too_large():
    assert need("full", "sharded").smallest_shard_count(2e9, 1) is None


def test_arrays_give_what_scalars_give():
    batches = np.array([1.0, 2.0, 8.0])
    assert need().peak_bytes(batches, 4) == pytest.approx([need().peak_bytes(b, 4) for b in (1, 2, 8)])


def test_a_vision_model_keeps_its_activations_twice():
    resnet50 = VisionSpec(gmacs=4.11, activations_m=11.11, input="3x224x224")
    found = vision_need(resnet50, 25.6e6, 2.0, CONSTANTS)
    assert found.per_sample_bytes == pytest.approx(2 * 2 * 11.11e6)
    assert found.peak_bytes(0, 1) == pytest.approx(16 * 25.6e6 + 0.5e9)


def split(tensor, pipeline, chunks=1, checkpointing="none"):
    return split_need(LLAMA_7B, 6.74e9, 4096, checkpointing, tensor, pipeline, chunks, 2.0, constants=CONSTANTS)


def test_a_plain_loss_keeps_more_for_a_logit_and_two_bytes_stay_with_the_allocator():
    fused, plain = (
        transformer_need(
            LLAMA_7B,
            6.74e9,
            4096,
            "none",
            "replicated",
            2.0,
            fused_attention=True,
            fused_elementwise=True,
            fused_loss=fused_loss,
            constants=CONSTANTS,
        )
        for fused_loss in (True, False)
    )
    assert plain.per_sample_bytes - fused.per_sample_bytes == pytest.approx(4096 * (7 + 2) * 32000)


def test_a_split_model_keeps_six_bytes_a_parameter_and_shares_twelve():
    assert split(2, 1).peak_bytes(0, 4) == pytest.approx((6 + 12 / 4) * 6.74e9 / 2 + 0.5e9)


def test_the_first_stage_keeps_what_the_whole_model_would():
    layer = 2 * (8 * 4096 + 3 * 11008)
    assert split(1, 1).per_sample_bytes == pytest.approx(4096 * (32 * layer + 5 * 32000))
    assert split(1, 8).per_sample_bytes == pytest.approx(4096 * 32 * layer * (1 + 7 / 8))
    assert split(1, 8, 2).per_sample_bytes == pytest.approx(4096 * 32 * layer * (1 + 7 / 16))
    assert split(4, 8).per_sample_bytes == pytest.approx(split(1, 8).per_sample_bytes / 4)


def test_the_last_stage_binds_where_the_logits_are_more_than_what_the_others_keep():
    wide = replace(LLAMA_7B, vocab=256000)
    found = split_need(wide, 6.74e9, 4096, "full", 1, 8, 1, 2.0, constants=CONSTANTS)
    kept = 32 * 2 * 4096  # inputs of the layers; the layer that is recomputed comes when the logits are gone
    assert found.per_sample_bytes == pytest.approx(4096 * (kept / 8 + 5 * 256000))
