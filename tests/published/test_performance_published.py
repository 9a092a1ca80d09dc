"""The estimator against numbers in print. Neither constants nor transfer know an RTX 4090 row where it is left out."""

from collections import defaultdict

import numpy as np
import pytest

from planner.catalog.load import load_catalog
from planner.performance.constants import constants_of
from planner.performance.duration import attempt_h, training_time_s
from planner.performance.estimate import Setup, estimate
from planner.performance.evidence import load_evidence
from planner.performance.fit_steps import language_rows
from planner.performance.memory import transformer_need
from planner.performance.rows.predict import complete_row, predict_runs
from planner.performance.stacks import load_stacks
from planner.units import H_PER_DAY, S_PER_DAY
from planner.workload.transformer import compute_budget_flop, parameter_count

CATALOG = load_catalog()
EVIDENCE = load_evidence()
WITHOUT_4090 = EVIDENCE.without_gpu("rtx-4090")
UNSEEN = EVIDENCE.without_ids([m.id for m in EVIDENCE.measurements if not m.fit_only])


def predict(workload, gpu, gpus=1, *, evidence=UNSEEN, **changes):
    setup = Setup(workload=CATALOG.workloads[workload], gpu=CATALOG.gpus[gpu], gpus=gpus, gpus_per_node=8, **changes)
    return estimate(setup, CATALOG, evidence)


@pytest.mark.parametrize("reference", [WITHOUT_4090, UNSEEN], ids=["a100-measured", "a100-estimated"])
@pytest.mark.parametrize(
    ("workload", "published", "batches"),
    [
        # lambdal/deeplearning-benchmark, results of PyTorch 1.13: 93.6 of 152.9 sequences/s, 1,301 of 1,582 images/s
        ("bert-large-squad", 0.61, (None, None)),
        ("bert-large-squad", 0.61, (28, 112)),
        ("resnet50-imagenet", 0.82, (None, None)),
        ("resnet50-imagenet", 0.82, (448, 1280)),
    ],
)
def test_an_rtx_4090_never_seen_over_an_a100(workload, published, batches, reference):
    card = predict(workload, "rtx-4090", evidence=WITHOUT_4090, precision="fp16", micro_batch=batches[0])
    a100 = predict(workload, "a100-sxm4-80gb", evidence=reference, precision="fp16", micro_batch=batches[1])
    assert card.basis == "transferred" and card.fits
    assert card.throughput / a100.throughput == pytest.approx(published, rel=0.20)


@pytest.mark.parametrize(
    ("workload", "gpu", "batch", "published", "tolerance"),
    [
        ("bert-large-squad", "a100-sxm4-80gb", 112, 152.9, 0.05),
        ("resnet50-imagenet", "a100-sxm4-80gb", 1280, 1582, 0.05),
        ("bert-large-squad", "rtx-3090", 28, 52.6, 0.05),
        ("resnet50-imagenet", "rtx-4090", 448, 1301, 0.12),
        ("bert-large-squad", "rtx-4090", 28, 93.6, 0.20),
    ],
)
def test_speeds_of_lambdas_benchmark(workload, gpu, batch, published, tolerance):
    found = predict(workload, gpu, micro_batch=batch)
    assert found.throughput == pytest.approx(published, rel=tolerance)


@pytest.mark.parametrize(("gpus", "published", "tolerance"), [(2, 76, 0.1), (4, 68, 0.3), (8, 69, 0.15)])
def test_more_rtx_3090_without_peer_to_peer_do_not_help_bert_large(gpus, published, tolerance):
    # lambdal/deeplearning-benchmark, PyTorch 1.7, 16 sequences a card: one card 47
    found = predict("bert-large-squad", "rtx-3090", gpus, micro_batch=16)
    assert found.throughput == pytest.approx(published, rel=tolerance)


def test_resnet50_scales_on_any_link():
    # lambdal/deeplearning-benchmark: two RTX 4090 keep 0.95, eight A100 about 0.97
    for gpu, gpus in (("rtx-4090", 2), ("a100-sxm4-80gb", 8)):
        batch = {"micro_batch": 448}
        together = predict("resnet50-imagenet", gpu, gpus, **batch).throughput
        alone = predict("resnet50-imagenet", gpu, 1, **batch).throughput
        assert 0.92 < together / alone / gpus < 1


def test_language_models_of_llm_foundry_within_five_percent_at_the_median():
    # mosaicml/llm-foundry, training benchmarks: MPT 350M to 70B on 8 to 512 A100 and H100, 512 to 65,536 tokens
    rows = [row for row in language_rows(CATALOG, EVIDENCE) if row.source == "llm-foundry-benchmark"]
    constants, stacks = constants_of(CATALOG.assumptions), load_stacks()
    runs = [complete_row(row.without_measured(), CATALOG, stacks, constants) for row in rows]
    errors = defaultdict(list)
    for row, speed in zip(rows, predict_runs(runs, constants), strict=True):
        errors[row.gpu].append(abs(speed.tokens_per_s / row.measured - 1))
    assert set(errors) == {"a100-sxm4-40gb", "a100-sxm4-80gb", "h100-sxm5-80gb"}
    for gpu, values in errors.items():
        assert np.median(values) < 0.05, gpu
        assert np.quantile(values, 0.9) < 0.11, gpu


def test_everything_llm_foundry_ran_fits():
    by_model = {name: w for w in CATALOG.workloads.values() for name in w.evidence_models}
    checked = 0
    for m in EVIDENCE.measurements:
        if m.source != "llm-foundry-benchmark" or m.model not in by_model:
            continue
        found = predict(
            by_model[m.model].id,
            m.gpu,
            m.gpus,
            seq_len=m.seq_len,
            micro_batch=m.micro_batch,
            global_batch=m.micro_batch * m.gpus,
            checkpointing=m.checkpointing,
        )
        assert found.fits, m.id
        checked += 1
    assert checked > 80


def test_mpt_7b_on_eight_h100():
    # llm-foundry benchmark table: 10,643 tokens/s on each of 8 H100, sequence 2,048, no recomputation
    found = predict("mpt-7b", "h100-sxm5-80gb", 8, micro_batch=6, checkpointing="none")
    assert found.throughput / 8 == pytest.approx(10_643, rel=0.10)


def test_llama_65b_takes_21_days():
    # arXiv:2302.13971, section 2.4: 380 tokens/s/GPU on 2,048 A100, 1.4 T tokens
    assert attempt_h(1.4e12, 380 * 2048) / H_PER_DAY == pytest.approx(21, abs=0.5)


def test_a_trillion_parameters_take_84_days():
    # arXiv:2104.04473, section 5.1: 1 T parameters, 450 B tokens, 3,072 A100 at 163 TFLOP/s each
    budget = compute_budget_flop(1e12, 450e9, recomputed=True)
    assert training_time_s(budget, 3072, 312e12, 163 / 312) / S_PER_DAY == pytest.approx(84, rel=0.02)


def test_gpt3_on_1024_gpus_takes_34_days():
    # arXiv:2104.04473, section 5.1: 175 B parameters, 300 B tokens, 1,024 A100 at 140 TFLOP/s each
    budget = compute_budget_flop(175e9, 300e9, recomputed=True)
    assert training_time_s(budget, 1024, 312e12, 140 / 312) / S_PER_DAY == pytest.approx(34, rel=0.02)


def test_bloomberggpt_takes_53_days():
    # arXiv:2303.17564, table 4: 2.36e23 FLOP, 512 A100 40GB at 102 TFLOP/s each
    assert training_time_s(2.36e23, 512, 312e12, 102 / 312) / S_PER_DAY == pytest.approx(53, rel=0.03)


def test_tinyllama_takes_30_days_for_a_trillion_tokens():
    # github.com/jzhang38/TinyLlama: 24,000 tokens/s on each of 16 A100 40GB
    assert attempt_h(1e12, 24_000 * 16) / H_PER_DAY == pytest.approx(30, rel=0.03)


def test_full_fine_tuning_of_a_65b_model_needs_over_780_gb():
    # arXiv:2305.14314, abstract: more than 780 GB, at 12 bytes a parameter
    weights = parameter_count(CATALOG.workloads["llama-65b"].transformer)
    assert 12 * weights / 1e9 == pytest.approx(780, rel=0.01)
    assert not predict("llama-65b", "a100-sxm4-80gb", 8).fits


def test_memory_of_llama_8b_on_eight_gpus():
    # pytorch/torchtitan, benchmarks of December 2024: 88.5 GB reserved, eager, FSDP over 8, two sequences of 8,192,
    # selective recomputation; its loss is not fused
    llama = CATALOG.workloads["llama-3-8b"]
    need = transformer_need(
        llama.transformer,
        llama.parameters.value,
        8192,
        "selective",
        "sharded",
        2.0,
        fused_attention=True,
        fused_elementwise=False,
        fused_loss=False,
        constants=constants_of(CATALOG.assumptions),
    )
    assert need.peak_bytes(2, 8) / 1e9 == pytest.approx(88.5, rel=0.03)
