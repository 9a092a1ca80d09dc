"""Peak memory of training runs: sums that can be checked by hand, and what more of something may not do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import InputError
from planner.performance.memory import MemorySetup, memory_need, peak_memory
from planner.performance.memory.setup import adapter_parameters
from planner.performance.memory.states import RECIPES, quantised_bytes
from tests.unit.performance.hardware import shipped_constants
from tests.unit.workload.test_transformer import GPT2, LLAMA_7B

CONSTANTS = shipped_constants(
    memory_overhead_share=0.05,
    memory_reserve_gb=0.5,
    logit_bytes_fused=5,
    logit_bytes_plain=12,
    logit_bytes_cached=2,
    logit_bytes_chunked=6,
    quantised_inputs_kept=1,
    activation_factor_unfused=1.25,
)
N = 6.74e9
RUN = MemorySetup(spec=LLAMA_7B, parameters=N, seq_len=4096, software="compiled")
TABLES = 4096 * 32000


def peak(**settings: object):
    return peak_memory(replace(RUN, **settings), CONSTANTS)


def states(**settings: object) -> tuple[float, float, float]:
    found = peak(**settings)
    return found.weights_bytes / N, found.gradients_bytes / N, found.optimizer_bytes / N


# State


@pytest.mark.parametrize(
    ("optimizer", "total"),
    [
        ("adamw-16", 16),
        ("adamw-18", 18),
        ("adamw-12", 12),
        ("adamw-fp32", 16),
        ("adamw-pure-16bit", 8),
        ("adamw-8bit", 10),
        ("sgd-momentum", 12),
    ],
)
def test_bytes_a_parameter_by_recipe(optimizer, total) -> None:
    assert RECIPES[optimizer].total_bytes == total
    assert sum(states(optimizer=optimizer)) == pytest.approx(total)


def test_seven_billion_parameters_take_108_gb_of_state() -> None:
    found = peak()
    assert found.weights_bytes + found.gradients_bytes + found.optimizer_bytes == pytest.approx(107.84e9)


@pytest.mark.parametrize(
    ("sharding", "expected"),
    [
        ("replicated", (2, 4, 12)),
        ("optimizer", (2, 4, 12 / 8)),
        ("gradients", (2, 4 / 8, 12 / 8)),
        ("sharded", (2 / 8, 4 / 8, 12 / 8)),
    ],
)
def test_sharding_divides_ever_more_of_the_state(sharding, expected) -> None:
    assert states(optimizer="adamw-18", sharding=sharding, shards=8) == pytest.approx(expected)


def test_fp32_keeps_no_second_copy_of_the_weights() -> None:
    assert states(element_bytes=4.0) == pytest.approx((4, 4, 8))


def test_tensor_and_expert_parallelism_divide_the_weights() -> None:
    assert sum(states(tensor=2)) == pytest.approx(8)
    assert sum(states(expert_parameters=N / 2, expert=4)) == pytest.approx(16 * (1 / 2 + 1 / 8))


def test_the_fullest_stage_of_a_pipeline_has_the_embeddings() -> None:
    layer = 4 * 4096**2 + 3 * 4096 * 11008
    assert sum(states(pipeline=5)) * N == pytest.approx(16 * (7 * layer + TABLES))
    frozen = peak(method="lora", weight_bits=32, pipeline=4)
    assert frozen.transient_bytes == pytest.approx(2 * (8 * layer + TABLES))


def test_bits_of_a_quantised_weight() -> None:
    assert quantised_bytes(4, double_quantised=False) == pytest.approx(4.5 / 8)
    assert quantised_bytes(4, double_quantised=True) == pytest.approx(4.127 / 8, rel=1e-4)
    assert (quantised_bytes(8, double_quantised=False), quantised_bytes(16, double_quantised=False)) == (1, 2)


# Adapters


def test_adapters_of_rank_eight_on_queries_and_values() -> None:
    # Hu et al., arXiv:2106.09685: 4.2 M parameters for q and v of a 7B model at rank 8
    assert adapter_parameters(replace(RUN, method="lora")) == 32 * 8 * (4 * 4096)
    everything = replace(RUN, method="lora", adapter_targets="all")
    assert adapter_parameters(everything) == 32 * 8 * (8 * 4096 + 3 * (4096 + 11008))
    assert adapter_parameters(replace(everything, trainable_parameters=1e6)) == 1e6


def test_frozen_weights_have_neither_gradients_nor_moments() -> None:
    found = peak(method="lora", trainable_parameters=1e6)
    assert found.weights_bytes == pytest.approx(2 * N + 2e6)
    assert found.gradients_bytes + found.optimizer_bytes == pytest.approx(14e6)


def test_frozen_weights_in_four_bit_with_embeddings_in_sixteen() -> None:
    found = peak(method="qlora", trainable_parameters=0)
    assert found.weights_bytes == pytest.approx(4.5 / 8 * (N - TABLES) + 2 * TABLES)
    # the head of 32,000 is the widest matrix: as dequantised, and in the type of the activations
    assert found.transient_bytes == pytest.approx(4 * TABLES)


def test_a_layer_with_adapters_keeps_no_inputs_of_frozen_matmuls() -> None:
    found = peak(method="lora", software="compiled")
    # two norm inputs, the dropped-out copy with its mask, q, k, v, output, gate and up
    assert found.activations_bytes == pytest.approx(4096 * 32 * 2 * (7.5 * 4096 + 2 * 11008))
    eager = peak(method="lora", software="eager")
    assert eager.activations_bytes == pytest.approx(4096 * 32 * 2 * 1.25 * (11.5 * 4096 + 3 * 11008))


def test_adapters_elsewhere_keep_their_inputs_too() -> None:
    kept = {
        targets: peak(method="lora", adapter_targets=targets).activations_bytes / (4096 * 32 * 2)
        for targets in ("q_v", "attention", "all")
    }
    assert kept["attention"] - kept["q_v"] == pytest.approx(1.5 * 4096)
    assert kept["all"] - kept["attention"] == pytest.approx(1.5 * (4096 + 11008))


def test_eager_rms_norms_and_gates_keep_more_than_compiled_ones() -> None:
    compiled, eager = (peak(software=software).activations_bytes for software in ("compiled", "eager"))
    assert compiled == pytest.approx(4096 * 32 * 2 * (8 * 4096 + 3 * 11008))
    assert eager == pytest.approx(4096 * 32 * 2 * 1.25 * (12 * 4096 + 4 * 11008))
    two = {software: peak(software=software, spec=GPT2).activations_bytes for software in ("compiled", "eager")}
    assert two["eager"] == pytest.approx(1.25 * two["compiled"])


def test_quantised_matmuls_keep_their_inputs() -> None:
    more = peak(method="qlora").activations_bytes - peak(method="lora").activations_bytes
    assert more == pytest.approx(4096 * 32 * 2 * (2 * 4096 + 11008))


def test_frozen_weights_in_fp32_are_copied_into_sixteen_bit_and_the_head_for_each_chunk() -> None:
    layers = 32 * (4 * 4096**2 + 3 * 4096 * 11008)
    plain = peak(method="lora", weight_bits=32)
    assert plain.weights_bytes == pytest.approx(4 * N, rel=0.01)
    assert plain.transient_bytes == pytest.approx(2 * (layers + TABLES))
    assert peak(method="lora", weight_bits=32, loss_kind="chunked").transient_bytes == pytest.approx(
        2 * (layers + 32 * TABLES)
    )


# The fullest moment


def test_logits_by_kind_of_loss() -> None:
    found = {kind: peak(loss_kind=kind).logits_bytes / 4096 / 32000 for kind in ("plain", "fused", "chunked")}
    assert found == pytest.approx({"plain": 12, "fused": 5, "chunked": 6})
    for software in ("fused", "vendor"):
        assert peak(software=software).logits_bytes == peak(loss_kind="fused").logits_bytes


def test_a_recomputed_layer_and_the_logits_are_never_there_together() -> None:
    wide = replace(LLAMA_7B, vocab=128256)
    at_loss = peak(spec=wide, checkpointing="full")
    assert at_loss.logits_bytes > 0
    assert at_loss.activations_bytes == pytest.approx(4096 * 32 * 2 * 4096)
    narrow = replace(LLAMA_7B, vocab=1000)
    recomputing = peak(spec=narrow, checkpointing="full")
    assert recomputing.logits_bytes == 0
    live = 1.5 * 2 * (8 * 4096 + 3 * 11008)
    assert recomputing.activations_bytes == pytest.approx(4096 * (32 * 2 * 4096 + live))


def test_context_parallelism_divides_the_sequence() -> None:
    assert peak(seq_len=16384, context=4).reserved_bytes == pytest.approx(peak().reserved_bytes)


def test_three_readings_of_one_peak() -> None:
    found = peak()
    assert found.allocator_bytes == pytest.approx(1.05 * found.allocated_bytes + 2 * 4096 * 32000)
    assert found.reserved_bytes == pytest.approx(found.allocator_bytes + 0.5e9)
    assert found.shown_bytes("reserved") == found.allocated_bytes + found.reserve_bytes


def test_the_need_is_the_reserved_peak() -> None:
    for sharding in ("replicated", "optimizer", "gradients", "sharded"):
        setup = replace(RUN, micro_batch=3, sharding=sharding, shards=4)
        found = memory_need(setup, CONSTANTS).peak_bytes(3, 4)
        assert found == pytest.approx(peak_memory(setup, CONSTANTS).reserved_bytes)


def test_selective_per_op_is_selective() -> None:
    assert peak(checkpointing="selective-per-op").reserved_bytes == peak(checkpointing="selective").reserved_bytes


# What can't be meant


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"method": "dora"}, "method"),
        ({"method": "qlora", "weight_bits": 5}, "weight_bits"),
        ({"weight_bits": 4}, "weight_bits"),
        ({"optimizer": "lion"}, "optimizer"),
        ({"sharding": "zero-4"}, "sharding"),
        ({"checkpointing": "some"}, "checkpointing"),
        ({"loss_kind": "lazy"}, "loss_kind"),
        ({"shards": 0}, "shards"),
        ({"context": float("nan")}, "context"),
    ],
)
def test_settings_that_can_not_be_meant_are_refused(settings, field) -> None:
    with pytest.raises(InputError) as caught:
        replace(RUN, **settings)
    assert caught.value.field == field


# More of something

SETUPS = st.builds(
    MemorySetup,
    spec=st.sampled_from([LLAMA_7B, GPT2, replace(LLAMA_7B, kv_heads=8, vocab=128256)]),
    parameters=st.floats(1e8, 1e11),
    seq_len=st.integers(1, 65536),
    micro_batch=st.integers(1, 64),
    method=st.sampled_from(["full", "lora", "qlora"]),
    adapter_targets=st.sampled_from(["q_v", "attention", "all"]),
    double_quantised=st.booleans(),
    sharding=st.sampled_from(["replicated", "optimizer", "gradients", "sharded"]),
    shards=st.integers(1, 512),
    tensor=st.sampled_from([1, 2, 4, 8]),
    pipeline=st.sampled_from([1, 2, 4]),
    checkpointing=st.sampled_from(["none", "selective", "full"]),
    software=st.sampled_from(["eager", "compiled", "fused", "vendor"]),
    loss_kind=st.sampled_from(["plain", "fused", "chunked"]),
)


def reserved(setup: MemorySetup, **settings: object) -> float:
    return peak_memory(replace(setup, **settings), CONSTANTS).reserved_bytes


@given(SETUPS)
def test_more_work_at_once_never_needs_less(setup) -> None:
    before = reserved(setup)
    assert reserved(setup, micro_batch=setup.micro_batch + 1) > before
    assert reserved(setup, seq_len=setup.seq_len + 1) > before
    assert reserved(setup, parameters=2 * setup.parameters) >= before


@given(SETUPS)
def test_more_gpus_and_more_sharing_never_need_more(setup) -> None:
    before = reserved(setup)
    assert reserved(setup, shards=2 * setup.shards) <= before
    assert reserved(setup, tensor=2 * setup.tensor) < before
    kept = [
        memory_need(replace(setup, sharding=s), CONSTANTS).state_bytes for s in ("replicated", "optimizer", "gradients")
    ]
    assert kept == sorted(kept)


@given(SETUPS)
def test_full_recomputation_keeps_least_between_the_passes(setup) -> None:
    if setup.method == "full":
        kept = [
            peak_memory(replace(setup, checkpointing=c, seq_len=4096, spec=replace(setup.spec, vocab=10**7)), CONSTANTS)
            for c in ("none", "selective", "full")
        ]
        assert kept[0].activations_bytes > kept[1].activations_bytes > kept[2].activations_bytes


@given(SETUPS)
def test_parts_are_not_negative_and_sum_to_what_is_shown(setup) -> None:
    found = peak_memory(setup, CONSTANTS)
    parts = [
        found.weights_bytes, found.gradients_bytes, found.optimizer_bytes, found.activations_bytes, found.logits_bytes,
        found.transient_bytes, found.fragmentation_bytes, found.context_bytes,
    ]  # fmt: skip
    assert min(parts) >= 0
    assert sum(parts) == pytest.approx(found.reserved_bytes)
    assert found.allocated_bytes <= found.allocator_bytes <= found.reserved_bytes
    assert found.need.peak_bytes(setup.micro_batch, setup.shards) == pytest.approx(found.reserved_bytes)
