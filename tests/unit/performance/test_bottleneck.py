"""The part that decides over a run's speed, and the remedy with its gain by the same formulas."""

from __future__ import annotations

import pytest

from planner.catalog.load import load_catalog
from planner.messages import codes
from planner.performance.bottleneck import _CHANGES, Bottleneck, bottleneck
from planner.performance.constants import constants_of
from planner.performance.estimate import Setup, estimate
from planner.performance.evidence import load_evidence
from planner.performance.what_ifs import WhatIfs

CATALOG = load_catalog()
EVIDENCE = load_evidence()
CONSTANTS = constants_of(CATALOG.assumptions)
GPT2_ALONE = ("gpt2-small", "h100-sxm5-80gb")


def setup(workload, gpu, gpus=1, per_node=8, **changes):
    nodes = min(per_node, gpus)
    return Setup(workload=CATALOG.workloads[workload], gpu=CATALOG.gpus[gpu], gpus=gpus, gpus_per_node=nodes, **changes)


def predict(*args, **changes):
    return estimate(setup(*args, **changes), CATALOG, EVIDENCE)


def found(*args, **changes):
    asked = setup(*args, **changes)
    return bottleneck(asked, estimate(asked, CATALOG, EVIDENCE), CATALOG)


def what_if(code, *args, **changes):
    asked = setup(*args, **changes)
    return WhatIfs(asked, estimate(asked, CATALOG, EVIDENCE), CONSTANTS).find(code)


@pytest.mark.parametrize(
    ("run", "settings", "part", "remedy"),
    [
        (("llama-2-7b", "h100-sxm5-80gb", 8), {}, "matmul", "lower_precision"),
        (("llama-2-7b", "a100-sxm4-80gb", 8), {}, "matmul", "compiled"),
        (("gpt-1.3b", "a100-sxm4-80gb"), {}, "matmul", "advice_matmul"),
        (("llama-2-7b", "a100-sxm4-80gb", 8), {"seq_len": 65536, "global_batch": 8}, "attention", "shorter_sequences"),
        (GPT2_ALONE, {"micro_batch": 1}, "launch", "larger_micro_batch"),
        (GPT2_ALONE, {"global_batch": 4}, "launch", "advice_launch"),
        (GPT2_ALONE, {}, "head", "advice_head"),
        (("bert-large-squad", "rtx-4090", 8), {}, "communication", "larger_global_batch"),
        (("llama-2-7b", "rtx-4090", 8), {}, "communication", "advice_communication"),
        (("gpt2-xl", "rtx-4090", 8), {}, "communication", "half_the_gpus"),
        (("gpt2-xl", "rtx-4090", 8, 1), {"network_gbit_per_s": 10.0}, "communication", "shards_in_node"),
        (("tinyllama-1.1b", "l4", 2), {"method": "lora"}, "elementwise", "compiled"),
        (("bert-large-squad", "rtx-4090"), {"method": "lora"}, "attention", "flash_attention"),
        (("llama-2-7b", "rtx-4090"), {"method": "lora"}, "recompute", "advice_recompute"),
        (("resnet50-imagenet", "a100-sxm4-80gb"), {}, "elementwise", "advice_elementwise_vision"),
        (("llama-2-7b", "rtx-4090"), {}, "matmul", "advice_matmul"),  # doesn't fit: nothing else is tried
    ],
)
def test_part_and_remedy(run, settings, part, remedy):
    answer = found(*run, **settings)
    assert (answer.part, answer.remedy) == (part, remedy)
    total = sum(predict(*run, **settings).breakdown_s.values())
    assert answer.share == pytest.approx(predict(*run, **settings).breakdown_s[part] / total)
    assert f"{100 * answer.share:.0f} % of a step: " in answer.text


def test_matrix_products_give_way_to_a_quarter_of_the_step_elsewhere():
    answer = found(*GPT2_ALONE)
    shares = predict(*GPT2_ALONE).breakdown_s
    assert max(shares, key=shares.get) == "matmul"
    assert answer.part == "head" and answer.share >= 0.25


@pytest.mark.parametrize(
    ("code", "run", "settings"),
    [
        ("larger_micro_batch", GPT2_ALONE, {"micro_batch": 1, "global_batch": 512}),
        ("larger_global_batch", ("gpt-1.3b", "rtx-4090", 4), {"global_batch": 64, "micro_batch": 1}),
        ("compiled", ("llama-3.2-1b", "a100-sxm4-80gb"), {"global_batch": 64, "micro_batch": 1}),
        ("lower_precision", ("gpt-1.3b", "h100-sxm5-80gb", 8), {"global_batch": 512, "micro_batch": 8}),
        ("lower_precision", GPT2_ALONE, {"global_batch": 512, "precision": "fp32", "micro_batch": 8}),
    ],
)  # fmt: skip
def test_the_gain_is_that_of_the_estimate_with_the_change(code, run, settings):
    asked = {"checkpointing": "none", "optimizer": "adamw-16", **settings}  # estimated, never measured
    change = what_if(code, *run, **asked)
    before, after = predict(*run, **asked), predict(*run, **{**asked, **change.settings})
    assert change.factor > 1
    assert change.factor == pytest.approx(after.throughput / before.throughput)


def test_half_the_gpus_keep_the_batch():
    run = {"global_batch": 448, "micro_batch": 28, "precision": "fp16", "optimizer": "adamw-16"}
    change = what_if("half_the_gpus", "bert-large-squad", "rtx-4090", 8, **run)
    before, after = (predict("bert-large-squad", "rtx-4090", n, **run).throughput for n in (8, 4))
    assert change.settings == {"gpus": 4}
    assert change.factor == pytest.approx(after / before)


def test_flash_attention_and_compiled_code_speed_up_an_encoder_alone():
    assert what_if("flash_attention", "bert-large-squad", "a100-sxm4-80gb").factor > 1
    assert what_if("compiled", "bert-large-squad", "a100-sxm4-80gb").factor > 1
    assert what_if("flash_attention", "gpt-1.3b", "a100-sxm4-80gb") is None
    assert what_if("compiled", "gpt-1.3b", "a100-sxm4-80gb", micro_batch=1) is None  # its recipe is fused already
    assert what_if("compiled", "resnet50-imagenet", "a100-sxm4-80gb") is None


def test_shards_within_the_node_where_they_fit():
    slow = {"network_gbit_per_s": 50.0, "global_batch": 512, "micro_batch": 4}
    asked = setup("llama-2-7b", "a100-sxm4-80gb", 64, **slow)
    prediction = estimate(asked, CATALOG, EVIDENCE)
    assert prediction.layout.shards < 64  # the estimator takes them by itself
    tried = WhatIfs(asked, prediction, CONSTANTS)
    assert tried.find("shards_in_node") is None and tried.find("half_the_gpus") is None


def test_less_recomputation_takes_a_smaller_micro_batch():
    run = ("gpt-1.3b", "a100-sxm4-80gb")
    change = what_if("less_recomputation", *run, checkpointing="full", micro_batch=64)
    assert change.settings["checkpointing"] == "none" and change.settings["micro_batch"] < 64
    assert predict(*run, **change.settings).fits
    assert change.factor > 1.1
    assert what_if("less_recomputation", *run, checkpointing="none", micro_batch=1) is None


def test_a_pipeline_waits_less_with_more_passes():
    run = ("gpt3-175b", "a100-sxm4-80gb", 512)
    prediction = predict(*run, global_batch=512)
    assert prediction.layout.pipeline > 1
    assert what_if("larger_global_batch", *run, global_batch=512).factor > 1
    assert what_if("half_the_gpus", *run, global_batch=512) is None


def test_changes_that_cannot_be_are_not_offered():
    assert what_if("larger_micro_batch", *GPT2_ALONE, global_batch=4, micro_batch=4) is None
    assert what_if("larger_micro_batch", "gpt-1.3b", "a100-sxm4-80gb", micro_batch=16, checkpointing="none") is None
    assert what_if("lower_precision", "gpt-1.3b", "a100-sxm4-80gb") is None
    assert what_if("lower_precision", "llama-2-7b", "h100-sxm5-80gb", method="lora") is None
    assert what_if("half_the_gpus", "llama-2-7b", "a100-sxm4-80gb", 2) is None  # one card doesn't hold it
    assert what_if("half_the_gpus", "gpt-1.3b", "a100-sxm4-80gb", 3) is None
    assert what_if("shorter_sequences", "bert-large-squad", "a100-sxm4-80gb") is None


def test_every_part_and_change_has_its_sentence():
    known = codes()
    for part, changes in _CHANGES.items():
        assert {f"bottleneck_{part}", f"faster_advice_{part}", *(f"faster_{code}" for code in changes)} <= known
    assert set(predict(*GPT2_ALONE).breakdown_s) | set(predict("resnet50-imagenet", "t4").breakdown_s) == set(_CHANGES)


def test_the_sentence_names_part_change_and_gain():
    answer = found(*GPT2_ALONE, micro_batch=1)
    assert isinstance(answer, Bottleneck)
    assert answer.text == (
        "the GPU waits for kernels to be launched 95 % of a step: "
        "a micro-batch of 2 fits and would make the run 99 % faster"
    )
