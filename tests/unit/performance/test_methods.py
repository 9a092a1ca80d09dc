"""Estimates of runs that train adapters, or with another optimizer."""

from __future__ import annotations

import pytest

from planner.catalog.load import load_catalog
from planner.performance.estimate import Setup, estimate
from planner.performance.evidence import load_evidence
from planner.performance.fitting import layout_need, memory_setup
from planner.performance.layout import Layout
from planner.performance.memory import memory_need
from planner.performance.request import resolve_request
from tests.unit.performance.hardware import shipped_constants

CATALOG = load_catalog()
EVIDENCE = load_evidence()
CONSTANTS = shipped_constants()


def setup(workload="llama-2-7b", gpu="a100-sxm4-80gb", gpus=1, **changes):
    nodes = {"gpus_per_node": min(8, gpus), **changes}
    return Setup(workload=CATALOG.workloads[workload], gpu=CATALOG.gpus[gpu], gpus=gpus, **nodes)


def predict(*args, **changes):
    return estimate(setup(*args, **changes), CATALOG, EVIDENCE)


def test_adapters_fit_where_full_training_does_not_and_train_faster():
    full = predict(gpu="rtx-4090")
    lora = predict(gpu="rtx-4090", method="lora")
    qlora = predict(gpu="rtx-4090", method="qlora")
    assert (full.fits, lora.fits, qlora.fits) == (False, True, True)
    assert qlora.memory_gb / qlora.micro_batch < lora.memory_gb < full.memory_gb / 4
    assert lora.throughput > full.throughput
    assert lora.optimizer == "adamw-16"


def test_rank_and_targets_decide_what_is_trained():
    few = predict(method="lora").trained_parameters
    assert few == 32 * 8 * 2 * (4096 + 4096)  # queries and values of 32 layers
    assert predict(method="lora", adapter_rank=64).trained_parameters == 8 * few
    assert predict(method="lora", adapter_targets="attention").trained_parameters == 2 * few
    assert predict().trained_parameters == CATALOG.workloads["llama-2-7b"].parameters.value


def test_adapters_are_replicated_where_the_frozen_weights_fit_and_sharded_elsewhere():
    small = predict(gpus=8, method="lora")
    large = predict("llama-2-70b", gpus=8, method="lora")
    assert (small.layout.sharding, small.min_gpus) == ("replicated", 1)
    assert large.fits and (large.layout.sharding, large.layout.shards) == ("sharded", 8)
    assert 1 < large.min_gpus <= 8


def test_a_model_with_adapters_is_never_split():
    small = {"gpu": "a100-sxm4-40gb", "gpus": 128, "micro_batch": 1}  # a node holds neither
    lora = predict("gpt3-175b", method="lora", **small)
    assert lora.fits and (lora.layout.tensor, lora.layout.pipeline) == (1, 1)
    assert predict("gpt3-175b", **small).layout.tensor > 1


def test_the_backward_pass_through_frozen_layers_is_shorter_and_only_adapters_are_updated():
    same = {"gpus": 8, "micro_batch": 1, "checkpointing": "full", "software": "eager", "optimizer": "adamw-16"}
    full, lora = (predict(method=method, **same).breakdown_s for method in ("full", "lora"))
    assert 0.6 < lora["matmul"] / full["matmul"] < 0.8
    assert lora["optimizer"] < full["optimizer"] / 100


@pytest.mark.parametrize("change", [{"method": "lora"}, {"method": "qlora"}, {"optimizer": "adamw-16"}])
def test_measurements_answer_full_training_alone(change):
    assert predict("bert-large-squad").basis == "measured"
    assert predict("bert-large-squad", **change).basis == "estimated"


def test_adapters_are_less_certain_than_full_training():
    def width(**changes):
        found = predict(gpu="h100-sxm5-80gb", **changes)
        return found.throughput_high / found.throughput

    assert width(method="lora") > width(gpus=8) * 1.05


@pytest.mark.parametrize("layout", [
    Layout(sharding="replicated", gpus=8),
    Layout(sharding="sharded", gpus=8, shards=8),
    Layout(sharding="optimizer", gpus=64, shards=4, tensor=8, pipeline=2, chunks=2),
])  # fmt: skip
@pytest.mark.parametrize("checkpointing", ["none", "selective", "full"])
@pytest.mark.parametrize("workload", ["llama-2-7b", "gpt-1.3b"])
def test_the_usual_optimizer_asked_for_takes_the_memory_of_the_default(workload, checkpointing, layout):
    usual = resolve_request(setup(workload, gpus=8))
    asked = resolve_request(setup(workload, gpus=8, optimizer="adamw-18" if layout.tensor > 1 else "adamw-16"))
    expected = layout_need(usual, checkpointing, layout, CONSTANTS).peak_bytes(2, layout.shards)
    assert layout_need(asked, checkpointing, layout, CONSTANTS).peak_bytes(2, layout.shards) == pytest.approx(expected)
    described = memory_setup(usual, checkpointing, layout)
    assert memory_need(described, CONSTANTS).peak_bytes(2, layout.shards) == pytest.approx(expected)


def test_a_smaller_optimizer_needs_fewer_gpus():
    usual, small = (predict("llama-2-13b", optimizer=name) for name in (None, "adamw-pure-16bit"))
    assert small.min_gpus < usual.min_gpus
    assert small.memory_gb < usual.memory_gb
    assert (usual.optimizer, small.optimizer) == ("adamw-16", "adamw-pure-16bit")


def test_vision_models_have_no_recipe():
    found = predict("resnet50-imagenet")
    assert found.optimizer is None
    assert found.trained_parameters == CATALOG.workloads["resnet50-imagenet"].parameters.value


def test_the_offset_of_a_measured_code_counts_for_full_training_alone(monkeypatch):
    def speeds():
        run = {"gpus": 8, "software": "fused", "optimizer": "adamw-16"}
        return [predict("gpt-1.3b", method=method, **run).throughput for method in ("full", "lora")]

    known = speeds()
    monkeypatch.setattr("planner.performance.request_steps.load_stacks", tuple)
    full, lora = speeds()
    assert lora == known[1]
    assert full != known[0]
