"""A run as numbers: what of a model, a plan, a GPU and its links the step model computes on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.performance.step_inputs import stacked
from tests.unit.performance.hardware import figure, geforce, gpu
from tests.unit.performance.runs import columns, numbers
from tests.unit.workload.test_transformer import DEEPSEEK_V3, GPT2, LLAMA_7B, MIXTRAL


def test_a_dense_model_has_no_experts() -> None:
    found = numbers(spec=LLAMA_7B)
    assert (found["dense_width"], found["routed_width"], found["routed_stored"]) == (11008, 0, 0)
    assert (found["matrices"], found["expert_parameters"], found["experts_per_token"]) == (3, 0, 0)


def test_tokens_pass_few_experts_and_memory_holds_all() -> None:
    found = numbers(spec=MIXTRAL, parameters=46.7e9)
    assert (found["dense_width"], found["routed_width"], found["routed_stored"]) == (0, 2 * 14336, 8 * 14336)
    assert found["expert_parameters"] == 32 * 3 * 4096 * 8 * 14336


def test_the_mean_layer_has_first_dense_layers_and_shared_experts() -> None:
    found = numbers(spec=DEEPSEEK_V3, parameters=671e9)
    assert found["dense_width"] == pytest.approx((3 * 18432 + 58 * 2048) / 61)
    assert found["routed_width"] == pytest.approx(58 / 61 * 8 * 2048)
    assert found["expert_parameters"] == pytest.approx(58 * 256 * 3 * 7168 * 2048)
    assert found["experts_per_token"] == pytest.approx(8 * 58 / 61)
    assert numbers(spec=DEEPSEEK_V3, parameters=1e9)["expert_parameters"] == 1e9  # never more than there are


def test_what_splits_a_model_makes_no_replicas() -> None:
    found = numbers(gpus=64, tensor=4, pipeline=2, sharding="optimizer")
    assert (found["replicas"], found["shards"]) == (8, 8)
    assert numbers(gpus=64, tensor=4, context=2, sharding="sharded")["shards"] == 8
    assert numbers(gpus=64, sharding="sharded", shards=8)["shards"] == 8
    assert numbers(gpus=64)["shards"] == 1


def test_adapters_by_rule_lie_on_queries_and_values() -> None:
    # rank 8; d_model + width in and out of each of the two matrices
    assert numbers(spec=MIXTRAL, method="lora")["trainable_parameters"] == 32 * 8 * (2 * 4096 + 4096 + 1024)
    assert numbers(method="lora", trainable_parameters=5e6)["trainable_parameters"] == 5e6


def test_decoders_have_a_head_over_every_token() -> None:
    encoder = replace(GPT2, encoder=True)
    assert (numbers()["head_share"], numbers(spec=encoder)["head_share"]) == (1.0, 0.0)
    assert numbers(spec=encoder, head_share=0.16)["head_share"] == 0.16


@pytest.mark.parametrize(
    ("card", "flags"),
    [
        (gpu(architecture="Volta"), {"volta": True, "modern": False, "blackwell": False, "tensor_cores": True}),
        (gpu(architecture="Hopper"), {"volta": False, "modern": True, "blackwell": False}),
        (gpu(architecture="Blackwell+Grace"), {"modern": True, "blackwell": True}),
        (geforce(architecture="Blackwell"), {"modern": True, "blackwell": False}),  # another chip of the same name
        (gpu(architecture="Pascal"), {"tensor_cores": False}),
    ],
)
def test_what_a_generation_decides(card, flags) -> None:
    found = numbers(card=card)
    assert {name: found[name] for name in flags} == flags


def test_in_8_bit_only_the_linear_layers_are() -> None:
    rates = {"fp32": 20, "fp16": 100, "bf16": 100, "fp8": 200}
    card = gpu(dense_tflop_per_s={name: figure(rate) for name, rate in rates.items()})
    found = numbers(card=card, precision="fp8")
    assert found["fp8"] and found["linear_flop_per_s"] == pytest.approx(2 * found["head_flop_per_s"])
    assert found["element_bytes"] == 2.0


def test_columns_keep_their_kind_and_rows_their_order() -> None:
    runs = stacked([numbers(micro_batch=batch, software=software) for batch, software in ((1, "eager"), (2, "vendor"))])
    assert len(runs) == 2
    assert runs.vendor.dtype == bool and runs.micro_batch.dtype == float
    some = runs.take(np.array([1, 0, 1]))
    assert some.micro_batch.tolist() == [2.0, 1.0, 2.0]
    assert some.vendor.tolist() == [True, False, True]
    assert len(columns()) == 1
