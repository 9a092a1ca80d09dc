import math

import pytest

from planner.catalog.load import load_catalog
from planner.performance.constants import constants_of
from planner.performance.estimate import Setup, estimate
from planner.performance.evidence import load_evidence

CATALOG = load_catalog()
EVIDENCE = load_evidence()
UNSEEN = EVIDENCE.without_ids([m.id for m in EVIDENCE.measurements if not m.fit_only])


def predict(workload, gpu, gpus=1, *, evidence=EVIDENCE, per_node=8, **changes):
    setup = Setup(
        workload=CATALOG.workloads[workload],
        gpu=CATALOG.gpus[gpu],
        gpus=gpus,
        gpus_per_node=per_node,
        **changes,
    )
    return estimate(setup, CATALOG, evidence)


def test_the_same_configuration_measured_counts_first():
    found = predict("bert-large-squad", "a100-sxm4-80gb")
    assert found.basis == "measured" and not found.estimate
    assert found.throughput == 152.853
    assert (found.micro_batch, found.global_batch) == (112, 112)
    assert found.sources == ("measurements:lam-0509",)
    assert found.fits


def test_the_newest_stacks_median_counts():
    found = predict("bert-large-squad", "h100-sxm5-80gb")
    assert found.sources == ("measurements:lam-1007", "measurements:lam-1008")
    assert found.throughput == pytest.approx((310.232 + 321.018) / 2)


@pytest.mark.parametrize(
    "changes",
    [
        {"micro_batch": 16},
        {"global_batch": 32},
        {"precision": "fp32"},
        {"seq_len": 128},
        {"checkpointing": "full"},
        {"gpus": 4},
        {"evidence": EVIDENCE.without_gpu("rtx-4090")},
    ],
)
def test_another_configuration_is_not_measured(changes):
    assert predict("bert-large-squad", "rtx-4090").basis == "measured"
    found = predict("bert-large-squad", "rtx-4090", **changes)
    assert found.basis != "measured" and found.estimate


def test_a_row_kept_for_the_fit_answers_no_plan():
    assert any(m.gpu == "rtx-3090" and m.gpus == 4 and m.fit_only for m in EVIDENCE.measurements)
    assert predict("bert-large-squad", "rtx-3090", 4, micro_batch=16).basis == "transferred"


def test_two_machines_are_not_the_measured_host_with_two_cards():
    assert predict("bert-large-squad", "rtx-4090", 2).basis == "measured"
    apart = predict("bert-large-squad", "rtx-4090", 2, per_node=1)
    assert apart.basis == "transferred"
    assert apart.throughput < predict("bert-large-squad", "rtx-4090", 2).throughput


def test_bf16_and_fp16_measure_the_same():
    found = predict("bert-large-squad", "a100-sxm4-80gb", precision="bf16")
    assert (found.basis, found.precision) == ("measured", "bf16")


def test_the_micro_batch_is_the_largest_power_of_two_that_fits():
    found = predict("gpt-1.3b", "a100-sxm4-80gb", evidence=UNSEEN)
    assert found.fits and found.micro_batch == 16
    twice = predict("gpt-1.3b", "a100-sxm4-80gb", micro_batch=32, checkpointing="none", evidence=UNSEEN)
    assert not twice.fits


def test_the_micro_batch_is_no_larger_than_the_batch_of_one_gpu():
    assert predict("gpt2-small", "h100-sxm5-80gb", 8, global_batch=16).micro_batch == 2


def test_where_memory_sets_the_batch_it_is_nearly_full():
    found = predict("bert-large-squad", "rtx-4090", evidence=UNSEEN)
    assert found.micro_batch == found.global_batch == 28
    assert 0.8 < found.memory_gb / found.capacity_gb <= 1


def test_a_small_data_set_keeps_ten_steps_an_epoch():
    found = predict("lenet5-mnist", "h100-sxm5-80gb")
    assert 60000 / 20 < found.micro_batch <= 60000 / 10
    assert predict("lenet5-mnist", "h100-sxm5-80gb", gpus=4).global_batch <= 60000 / 10
    assert predict("lenet5-mnist", "h100-sxm5-80gb", global_batch=64).global_batch == 64


def test_a_batch_that_needs_more_samples_is_pointed_out():
    def share(workload="resnet50-imagenet", **changes):
        found = predict(workload, "h100-sxm5-80gb", gpus=64, per_node=8, **changes)
        return [w.params["share"] for w in found.warnings if w.code == "batch_needs_more_samples"]

    assert share(global_batch=2048) == []
    (some,), (more,) = share(global_batch=8192), share(global_batch=32768)
    assert 0.1 < some < 0.3 < more < 1.0
    assert share("resnet101-imagenet", global_batch=32768) == []


def test_recomputation_steps_in_when_nothing_else_fits():
    found = predict("gpt-1.3b", "rtx-4090")
    assert found.fits and found.checkpointing == "selective"
    assert "checkpointing_raised" in [warning.code for warning in found.warnings]
    assert not predict("gpt-1.3b", "rtx-4090", checkpointing="none").fits


def test_what_does_not_fit_says_how_many_would():
    found = predict("llama-2-7b", "rtx-4090")
    assert not found.fits and found.memory_gb > found.capacity_gb
    assert found.min_gpus is not None and found.min_gpus > 1
    assert predict("llama-2-7b", "rtx-4090", found.min_gpus).fits
    assert not predict("llama-2-7b", "rtx-4090", found.min_gpus - 1).fits


def test_no_number_of_gpus_holds_a_sample_that_is_too_large():
    found = predict("llama-2-7b", "rtx-3060-12gb", seq_len=4_000_000)
    assert not found.fits and found.min_gpus is None


def test_the_breakdown_is_the_time_of_a_step():
    for found in (
        predict("bert-large-squad", "a100-sxm4-80gb"),
        predict("resnet50-imagenet", "a100-sxm4-80gb", 8, evidence=UNSEEN),
    ):
        assert sum(found.breakdown_s.values()) == pytest.approx(found.global_batch / found.throughput)
    tokens = predict("gpt-1.3b", "h100-sxm5-80gb", 8, micro_batch=4)
    assert sum(tokens.breakdown_s.values()) == pytest.approx(tokens.global_batch * 2048 / tokens.throughput)


def test_the_interval_widens_with_what_is_not_known():
    def half_width(found):
        assert found.throughput_low < found.throughput < found.throughput_high
        return math.log(found.throughput_high / found.throughput)

    measured = half_width(predict("bert-large-squad", "a100-sxm4-80gb"))
    known = half_width(predict("bert-large-squad", "a100-sxm4-80gb", micro_batch=48, global_batch=48))
    unknown = half_width(predict("bert-large-squad", "h200-sxm-141gb"))
    slow_links = half_width(predict("bert-large-squad", "rtx-5090", 4, micro_batch=8))
    assert measured < known <= unknown < slow_links
    assert half_width(predict("densenet169-imagenet", "a100-sxm4-80gb")) > known
    assert half_width(predict("resnet18-imagenet", "a100-sxm4-80gb")) == pytest.approx(known)


def test_figures_of_an_estimate_name_their_sources():
    found = predict("gpt-1.3b", "h200-sxm-141gb", 8)
    for source in found.sources:
        kind, _, id = source.rpartition(":")
        assert (id in CATALOG.assumptions) if kind == "assumptions" else (source in CATALOG.sources)
    assert any(source.startswith("assumptions:") for source in found.sources)


@pytest.mark.parametrize("workload", sorted(CATALOG.workloads))
def test_every_workload_gives_sane_numbers_on_every_gpu(workload):
    for gpu in CATALOG.gpus:
        found = predict(workload, gpu, 8, evidence=UNSEEN)
        assert 0 < found.throughput < math.inf and 0 < found.memory_gb < math.inf
        assert found.fits == (found.memory_gb <= found.capacity_gb)
        assert all(seconds >= 0 for seconds in found.breakdown_s.values())


def test_more_gpus_on_nvlink_are_faster():
    speeds = [predict("gpt-1.3b", "h100-sxm5-80gb", n, evidence=UNSEEN, micro_batch=4).throughput for n in (1, 2, 4, 8)]
    assert speeds == sorted(speeds)


def codes(found):
    return [warning.code for warning in found.warnings]


def test_eager_code_keeps_the_most_and_is_what_is_assumed():
    settings = {"micro_batch": 1, "checkpointing": "selective"}
    kept = [predict("llama-3-8b", "h100-sxm5-80gb", 8, software=s, **settings) for s in ("eager", "compiled", "fused")]
    assert kept[0].memory_gb > kept[1].memory_gb > kept[2].memory_gb
    assumed = predict("llama-3-8b", "h100-sxm5-80gb", 8, **settings)
    assert (assumed.software, assumed.memory_gb) == ("eager", kept[0].memory_gb)
    assert "software_assumed" in codes(assumed) and "software_assumed" not in codes(kept[0])


def test_a_model_too_large_for_a_node_is_split():
    found = predict("gpt3-175b", "h100-sxm5-80gb", 64)
    assert found.fits and found.layout.tensor > 1 and found.layout.pipeline > 1
    assert (found.software, codes(found).count("split_model")) == ("vendor", 1)
    small = predict("llama-2-7b", "h100-sxm5-80gb", 64)
    assert small.layout.tensor == small.layout.pipeline == 1


def test_software_that_was_asked_for_is_not_replaced_to_split_a_model():
    found = predict("llama-3-70b", "h100-sxm5-80gb", 64, software="compiled")
    assert found.software == "compiled" and found.layout.sharding == "sharded"
    assert found.throughput < predict("llama-3-70b", "h100-sxm5-80gb", 64).throughput


def test_on_a_slow_network_shards_stay_in_groups():
    slow = predict("llama-2-7b", "a100-sxm4-80gb", 64, network_gbit_per_s=100)
    assert slow.layout.sharding == "sharded" and slow.layout.shards == 8
    assert "hybrid_shards" in codes(slow)


def test_other_published_software_widens_a_measured_interval():
    found = predict("resnet50-imagenet", "a100-sxm4-80gb", precision="fp16")
    assert found.basis == "measured" and found.software.startswith("PyTorch 1.13")
    assert found.throughput_low < 1450 and found.throughput_high > 2470  # NVIDIA's own PyTorch code
    assert "other_stacks" in codes(found)
    asked = predict("resnet50-imagenet", "a100-sxm4-80gb", precision="fp16", micro_batch=1280)
    assert asked.throughput_high < 1.1 * asked.throughput


def test_a_vendor_without_evidence_is_held_for_slow_and_uncertain():
    amd, nvidia = predict("resnet50-imagenet", "mi300x-192gb"), predict("resnet50-imagenet", "h100-sxm5-80gb")
    assert amd.throughput < nvidia.throughput
    assert amd.throughput_high > 2 * amd.throughput and "no_training_evidence" in codes(amd)


@pytest.mark.parametrize("workload", ["bert-large-squad", "gpt2-small", "vit-large-imagenet", "llama-3-70b"])
def test_more_gpus_that_are_slower_always_warn(workload):
    warned = 0
    for gpu in ("rtx-3090", "rtx-4090", "a100-pcie-80gb", "h100-sxm5-80gb", "b200-sxm-180gb"):
        before = None
        for gpus in (1, 2, 4, 8, 16, 32, 64):
            if CATALOG.workloads[workload].global_batch < gpus:
                break
            found = predict(workload, gpu, gpus)
            if before is not None and before.fits and found.fits and found.throughput <= before.throughput:
                assert "more_gpus_slower" in codes(found), (gpu, gpus)
                warned += 1
            before = found
    assert warned or workload in ("gpt2-small", "llama-3-70b")


def test_cards_exchange_gradients_equally_often():
    steps = [predict("vit-large-imagenet", gpu, 8).global_batch for gpu in ("rtx-4090", "rtx-5090")]
    assert steps == [1024, 1024]


def test_experts_widen_the_interval():
    dense, mixture = (predict(model, "h100-sxm5-80gb", 64) for model in ("llama-2-70b", "mixtral-8x7b"))
    widths = [math.log(found.throughput_high / found.throughput) for found in (dense, mixture)]
    wider = constants_of(CATALOG.assumptions).half_width_experts
    assert widths[1] == pytest.approx(math.hypot(widths[0], wider), rel=0.05)
