"""What an estimate says would make a run fit: memory and price are those of the estimator itself."""

from __future__ import annotations

import pytest

from planner.catalog.load import load_catalog
from planner.performance.estimate import Setup, estimate
from planner.performance.evidence import load_evidence
from planner.performance.remedies import remedies

CATALOG = load_catalog()
EVIDENCE = load_evidence()


def setup(workload, gpu, gpus=1, **changes):
    return Setup(
        workload=CATALOG.workloads[workload], gpu=CATALOG.gpus[gpu], gpus=gpus, gpus_per_node=min(8, gpus), **changes
    )


def predict(*args, **changes):
    return estimate(setup(*args, **changes), CATALOG, EVIDENCE)


def found(*args, **changes):
    asked = setup(*args, **changes)
    return remedies(asked, estimate(asked, CATALOG, EVIDENCE), CATALOG)


def step_s(prediction):
    return sum(prediction.breakdown_s.values())


def test_what_fits_needs_nothing():
    assert found("gpt-1.3b", "a100-sxm4-80gb") == ()


def test_a_change_of_settings_gives_the_memory_and_price_of_the_estimate_with_it():
    asked = {"micro_batch": 64, "checkpointing": "none", "global_batch": 512}
    before = predict("gpt-1.3b", "a100-sxm4-80gb", **asked)
    offered = found("gpt-1.3b", "a100-sxm4-80gb", **asked)
    assert {remedy.changes for remedy in offered if not remedy.changes_result} == {("micro_batch",), ("checkpointing",)}
    for remedy in offered:
        after = predict("gpt-1.3b", "a100-sxm4-80gb", **{**asked, **remedy.settings})
        assert after.fits
        assert remedy.memory_gb == pytest.approx(after.memory_gb)
        if not remedy.changes_result:  # which carries no offset of a measured code
            assert remedy.step_s == pytest.approx(step_s(after))
            assert remedy.step_time_factor == pytest.approx(step_s(after) / step_s(before))


def test_more_gpus_are_priced_with_the_links_between_them():
    (remedy,) = [r for r in found("llama-2-7b", "rtx-4090") if not r.changes_result]
    assert remedy.changes == ("more_gpus",) and remedy.settings == {"gpus": 8} and remedy.gpus == 8
    after = predict("llama-2-7b", "rtx-4090", 8, micro_batch=1, checkpointing="full")
    assert remedy.memory_gb == pytest.approx(after.memory_gb)
    assert remedy.step_s == pytest.approx(step_s(after))
    assert remedy.gpu_time_factor == pytest.approx(8 * remedy.step_time_factor)


def test_the_cheapest_comes_first_and_adapters_come_last():
    offered = found("llama-2-7b", "a100-sxm4-80gb")
    assert [r.changes for r in offered] == [("optimizer_8bit",), ("more_gpus",), ("lora",), ("qlora",)]
    assert [r.changes_result for r in offered] == [False, False, True, True]
    keeping = [r.gpu_time_factor for r in offered[:2]]
    assert keeping == sorted(keeping)


def test_adapters_on_several_gpus_are_replicated_where_they_fit():
    (lora,) = [r for r in found("llama-2-7b", "rtx-4090", 2) if r.changes == ("lora",)]
    whole = predict("llama-2-7b", "rtx-4090", 2, method="lora", micro_batch=1, checkpointing="full")
    assert whole.layout.sharding == "replicated"
    assert lora.memory_gb == pytest.approx(whole.memory_gb)
    assert lora.step_s == pytest.approx(step_s(whole))


def test_a_micro_batch_divides_the_batch_that_was_asked_for():
    smaller = [
        r.settings["micro_batch"]
        for batch in (48, None)
        for r in found("gpt-1.3b", "a100-sxm4-80gb", micro_batch=48, global_batch=batch, checkpointing="none")
        if r.changes == ("micro_batch",)
    ]
    assert smaller == [16, 16]
    (odd,) = [
        r.settings["micro_batch"]
        for r in found("gpt-1.3b", "a100-sxm4-40gb", micro_batch=10, global_batch=20, checkpointing="none")
        if r.changes == ("micro_batch",)
    ]
    assert odd == 5


def test_more_gpus_stay_within_the_limit():
    asked = setup("llama-2-70b", "rtx-4090")
    prediction = estimate(asked, CATALOG, EVIDENCE)
    few = remedies(asked, prediction, CATALOG, most_gpus=8)
    assert all(remedy.gpus <= 8 for remedy in few)
    assert [remedy.changes for remedy in few] == [("qlora", "more_gpus")]
    assert not remedies(asked, prediction, CATALOG, most_gpus=1)


def test_a_vision_model_takes_fewer_samples_at_once():
    (remedy,) = found("resnet50-imagenet", "rtx-4090", micro_batch=4096)
    after = predict("resnet50-imagenet", "rtx-4090", micro_batch=remedy.settings["micro_batch"], global_batch=None)
    assert after.fits and remedy.memory_gb == pytest.approx(after.memory_gb)
    assert not predict("resnet50-imagenet", "rtx-4090", micro_batch=remedy.settings["micro_batch"] + 1).fits
    assert remedy.step_time_factor > 1


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (("llama-2-7b", "rtx-4090"), "8 GPUs that share the training state (FSDP): 18.9 GB a GPU, and a step takes 3"),
        (("llama-2-7b", "a100-sxm4-80gb"), "an 8-bit optimizer: 72.6 GB a GPU, and a step takes about as long"),
        (("llama-2-70b", "rtx-4090", 128, ), ""),
    ],
)  # fmt: skip
def test_the_first_remedy_in_words(run, text):
    assert "".join(remedy.text for remedy in found(*run)[:1]).startswith(text)


def test_changes_that_go_together_are_named_together():
    (together,) = [r for r in found("llama-2-70b", "rtx-4090") if r.changes == ("qlora", "more_gpus")]
    assert together.text.startswith("QLoRA, which trains adapters only, with 8 GPUs that share the training state")
    assert "a step takes 18 % less time, 6.53 times the GPU time" in together.text
