"""Memory by part: it is the memory of the prediction, whatever is trained and however it is spread."""

from __future__ import annotations

import pytest

from planner.performance.estimate import predict_unmeasured
from planner.performance.memory_parts import PARTS, memory_parts
from tests.unit.performance.test_methods import CATALOG, CONSTANTS, EVIDENCE, predict, setup

RUNS = {
    "replicated": ("bert-large-squad", "rtx-4090", 1, {}),
    "sharded": ("llama-2-7b", "a100-sxm4-80gb", 8, {}),
    "split": ("gpt3-175b", "a100-sxm4-80gb", 1024, {"micro_batch": 1}),
    "lora": ("llama-2-7b", "rtx-4090", 1, {"method": "lora"}),
    "qlora": ("llama-2-7b", "rtx-4090", 1, {"method": "qlora"}),
    "vision": ("resnet50-imagenet", "a100-sxm4-40gb", 1, {}),
    "not fitting": ("llama-2-70b", "rtx-4090", 1, {}),
}


@pytest.mark.parametrize(("workload", "gpu", "gpus", "changes"), RUNS.values(), ids=list(RUNS))
def test_parts_are_the_memory_of_the_prediction_without_any_scaling(workload, gpu, gpus, changes):
    asked = setup(workload, gpu, gpus, **changes)
    found = predict_unmeasured(asked, CATALOG, EVIDENCE)
    parts = memory_parts(asked, found, CONSTANTS)
    assert sum(parts.values()) == pytest.approx(found.memory_gb, rel=1e-9)
    assert [part for part in PARTS if part in parts] == list(parts)
    assert all(size > 0 for size in parts.values())
    # the runtime is not scaled: at least what is assumed of the driver and no more than a tenth beside it
    assert parts["runtime"] >= CONSTANTS.memory_reserve_gb * 0.999


def test_sixteen_bytes_a_parameter_are_two_weights_two_gradients_and_twelve_of_the_optimizer():
    parts = memory_parts(setup("bert-large-squad", "rtx-4090"), predict("bert-large-squad", "rtx-4090"), CONSTANTS)
    parameters = CATALOG.workloads["bert-large-squad"].parameters.value
    assert parts["weights"] == parts["gradients"] == pytest.approx(2 * parameters / 1e9)
    assert parts["optimizer"] == pytest.approx(12 * parameters / 1e9)


def test_shards_divide_the_state_and_gather_weights():
    parts = memory_parts(setup(gpus=8), predict(gpus=8), CONSTANTS)
    assert parts["weights"] == pytest.approx(2 * CATALOG.workloads["llama-2-7b"].parameters.value / 8e9)
    assert parts["gathered"] > 0


def test_a_run_that_is_known_to_have_fitted_has_smaller_parts_that_fill_the_card():
    asked = setup("resnet50-imagenet", "rtx-3090")
    found = predict("resnet50-imagenet", "rtx-3090")
    assert found.basis == "measured" and found.memory_gb == found.capacity_gb
    parts = memory_parts(asked, found, CONSTANTS)
    assert sum(parts.values()) == pytest.approx(found.capacity_gb)
    assert parts["runtime"] < CONSTANTS.memory_reserve_gb
