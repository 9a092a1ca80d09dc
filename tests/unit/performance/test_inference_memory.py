from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import InputError
from planner.performance.memory import InferenceSetup, inference_memory, inference_need
from tests.unit.performance.hardware import shipped_constants
from tests.unit.workload.test_transformer import LLAMA_7B

CONSTANTS = shipped_constants(memory_overhead_share=0.05, memory_reserve_gb=0.5)
SERVED = InferenceSetup(spec=LLAMA_7B, parameters=6.74e9, context=4096, sequences=8)


def test_weights_and_cache_by_hand() -> None:
    found = inference_memory(SERVED, CONSTANTS)
    assert found.weights_bytes == pytest.approx(13.48e9)
    assert found.cache_bytes == pytest.approx(2 * 32 * 4096 * 2 * 4096 * 8)  # 0.5 MiB a token, 17 GB
    assert found.reserve_bytes == pytest.approx(
        0.05 * (found.weights_bytes + found.cache_bytes + found.activations_bytes) + 0.5e9
    )


def test_a_pass_holds_one_layer_and_the_scores_of_the_next_tokens() -> None:
    by_hand = 2 * 2048 * (2 * 4096 + 3 * 11008) + 4 * 32000 * 8
    assert inference_memory(SERVED, CONSTANTS).activations_bytes == pytest.approx(by_hand)
    short = inference_memory(replace(SERVED, context=100), CONSTANTS)
    assert short.activations_bytes == pytest.approx(2 * 100 * (2 * 4096 + 3 * 11008) + 4 * 32000 * 8)


def test_grouped_queries_and_narrow_caches_shrink_the_cache() -> None:
    whole = inference_memory(SERVED, CONSTANTS).cache_bytes
    grouped = replace(SERVED, spec=replace(LLAMA_7B, kv_heads=8))
    assert inference_memory(grouped, CONSTANTS).cache_bytes == pytest.approx(whole / 4)
    assert inference_memory(replace(SERVED, cache_bytes=1), CONSTANTS).cache_bytes == pytest.approx(whole / 2)


def test_four_bits_leave_the_embeddings_in_sixteen() -> None:
    tables = 4096 * 32000
    found = inference_memory(replace(SERVED, weight_bits=4), CONSTANTS)
    assert found.weights_bytes == pytest.approx(4.5 / 8 * (6.74e9 - tables) + 2 * tables)


def test_gpus_divide_weights_and_cache() -> None:
    one, two = inference_memory(SERVED, CONSTANTS), inference_memory(replace(SERVED, gpus=2), CONSTANTS)
    assert two.weights_bytes == pytest.approx(one.weights_bytes / 2)
    assert two.cache_bytes == pytest.approx(one.cache_bytes / 2)


def test_the_need_is_a_line_in_the_sequences() -> None:
    need = inference_need(SERVED, CONSTANTS)
    for sequences in (1, 8, 100):
        found = inference_memory(replace(SERVED, sequences=sequences), CONSTANTS)
        assert need.peak_bytes(sequences, 1) == pytest.approx(found.reserved_bytes)
    assert need.largest_micro_batch(80e9, 1) > 20


@pytest.mark.parametrize(("field", "value"), [("weight_bits", 3), ("context", 0), ("gpus", 0), ("parameters", 0)])
def test_what_can_not_be_served_is_refused(field, value) -> None:
    with pytest.raises(InputError) as caught:
        replace(SERVED, **{field: value})
    assert caught.value.field == field


@given(st.sampled_from([32, 16, 8, 4]), st.integers(1, 200_000), st.integers(1, 500), st.sampled_from([1, 2, 4, 8]))
def test_more_never_needs_less(bits, context, sequences, gpus) -> None:
    setup = replace(SERVED, weight_bits=bits, context=context, sequences=sequences, gpus=gpus)
    before = inference_memory(setup, CONSTANTS).reserved_bytes
    assert inference_memory(replace(setup, sequences=sequences + 1), CONSTANTS).reserved_bytes > before
    assert inference_memory(replace(setup, context=context + 1), CONSTANTS).reserved_bytes > before
    assert inference_memory(replace(setup, gpus=2 * gpus), CONSTANTS).reserved_bytes < before
