from dataclasses import replace

import pytest

from planner.catalog.load import load_catalog
from planner.errors import InputError
from planner.performance.request import Setup, resolve_request

CATALOG = load_catalog()


def setup(workload="gpt-1.3b", gpu="a100-sxm4-80gb", gpus=8, **changes):
    return Setup(workload=CATALOG.workloads[workload], gpu=CATALOG.gpus[gpu], gpus=gpus, gpus_per_node=8, **changes)


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"gpus": 0}, "not_at_least_one", "gpus"),
        ({"micro_batch": -1}, "not_at_least_one", "micro_batch"),
        ({"seq_len": float("nan")}, "not_at_least_one", "seq_len"),
        ({"gpus": 10**6}, "too_many_gpus_to_estimate", "gpus"),
        ({"network_gbit_per_s": float("inf")}, "not_positive", "network_gbit_per_s"),
        ({"checkpointing": "sometimes"}, "unknown_choice", "checkpointing"),
        ({"software": "quick"}, "unknown_choice", "software"),
        ({"workload": "bert-large-squad", "software": "fused"}, "not_applicable", "software"),
        ({"workload": "resnet50-imagenet", "software": "fused"}, "not_applicable", "software"),
        ({"precision": "fp8"}, "precision_not_supported", "precision"),
        ({"gpu": "t4", "precision": "bf16"}, "precision_not_supported", "precision"),
        ({"global_batch": 4}, "batch_below_gpus", "global_batch"),
        ({"global_batch": 20}, "batch_not_divisible", "global_batch"),
        ({"global_batch": 64, "micro_batch": 16}, "batch_not_divisible", "global_batch"),
        ({"gpus": 1024}, "batch_below_gpus", "gpus"),
        ({"workload": "bert-large-squad", "seq_len": 1024}, "seq_len_too_long", "seq_len"),
        ({"workload": "resnet50-imagenet", "seq_len": 128}, "not_applicable", "seq_len"),
        ({"workload": "resnet50-imagenet", "checkpointing": "full"}, "not_applicable", "checkpointing"),
        ({"workload": "resnet50-imagenet", "method": "lora"}, "not_applicable", "method"),
        ({"workload": "resnet50-imagenet", "optimizer": "sgd-momentum"}, "not_applicable", "optimizer"),
        ({"method": "dora"}, "unknown_choice", "method"),
        ({"optimizer": "adam"}, "unknown_choice", "optimizer"),
        ({"method": "lora", "adapter_targets": "mlp"}, "unknown_choice", "adapter_targets"),
        ({"method": "lora", "adapter_rank": 0}, "not_at_least_one", "adapter_rank"),
        ({"method": "lora", "adapter_rank": 2049}, "not_applicable", "adapter_rank"),
        ({"adapter_rank": 8}, "not_applicable", "adapter_rank"),
        ({"adapter_targets": "all"}, "not_applicable", "adapter_targets"),
    ],
)
def test_what_cannot_be_is_refused_by_field(changes, code, field):
    with pytest.raises(InputError) as caught:
        resolve_request(setup(**changes))
    assert (caught.value.code, caught.value.field) == (code, field)
    assert caught.value.params["expected"]
    assert str(caught.value).startswith(field)  # the sentence exists


def test_a_recipe_in_bf16_runs_in_fp16_where_the_card_has_no_bf16():
    request = resolve_request(setup(gpu="t4"))
    assert request.precision == "fp16"
    assert [warning.code for warning in request.warnings] == ["precision_replaced"]


def test_the_recipe_sets_the_batch_of_a_language_model():
    assert resolve_request(setup()).global_batch(8) == 512
    assert resolve_request(setup(gpus=3)).global_batch(8) == 513  # the next multiple of the GPUs


def test_an_asked_micro_batch_moves_the_recipes_batch_to_whole_passes():
    assert resolve_request(setup(micro_batch=14)).global_batch(14) == 5 * 14 * 8
    assert resolve_request(setup("bert-large-squad", gpus=1, micro_batch=112)).global_batch(112) == 112


def test_an_asked_batch_is_kept():
    request = resolve_request(setup(global_batch=64))
    assert request.global_batch(4) == 64
    assert request.batch_limit(request.setup.gpus) == 8


def test_memory_sets_the_batch_of_samples_when_nothing_else_does():
    assert resolve_request(setup("bert-large-squad", gpus=1)).batch_filled_by_memory
    assert not resolve_request(setup("bert-large-squad", gpus=1, global_batch=32)).batch_filled_by_memory
    assert not resolve_request(setup()).batch_filled_by_memory


def test_a_workload_in_samples_but_not_images_takes_a_shorter_sequence():
    assert resolve_request(replace(setup("bert-large-squad", gpus=1), seq_len=128)).seq_len == 128


def test_the_recipe_names_its_software():
    assert resolve_request(setup()).software == "fused"  # as llm-foundry trains it
    assert resolve_request(setup("llama-3-8b")).software == "eager"
    assert resolve_request(setup("llama-3-8b", software="compiled")).software == "compiled"


def test_fewer_replicas_than_gpus_each_take_more():
    request = resolve_request(setup("gpt3-175b", gpus=1024))
    assert request.global_batch(1, 32) == 1536 and request.batch_limit(32) == 48
    assert request.global_batch(1) == 2048
