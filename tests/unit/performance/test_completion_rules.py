"""What a row of a table doesn't say: the rules that complete it, and what they must not do."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from planner.measurements.rows import LanguageRow
from planner.performance.constants import constants_of
from planner.performance.predict_rows import predict_language_rows
from planner.performance.rows.predict import Run, complete_row
from planner.performance.stacks import load_stacks
from tests.planning import shipped_catalog

CATALOG = shipped_catalog()
ROW = LanguageRow(
    id="a", line=1, gpu="A100-SXM4-80GB", n_gpus=64, model="llama-2-13b", task="pretrain", precision="bf16",
    seq_len=2048,
)  # fmt: skip


def run_of(**cells: Any) -> Run:
    row = dataclasses.replace(ROW, **cells)
    return complete_row(row, CATALOG, load_stacks(), constants_of(CATALOG.assumptions))


def speed_of(**cells: Any) -> float:
    (found,) = predict_language_rows([dataclasses.replace(ROW, **cells)], CATALOG)
    assert found.predicted is not None
    return found.predicted


def test_a_pipeline_keeps_several_micro_batches_for_each_stage() -> None:
    for gpu in ("A100-SXM4-80GB", "H100-SXM5-80GB", "H200", "B300"):
        run = run_of(gpu=gpu, parallelism="TP2 PP8", global_batch_seqs=512, activation_checkpointing="full")
        ((plan, total),) = run.plans
        assert plan.micro_steps >= 4 * plan.pipeline
        assert total == 512


def test_a_pipeline_without_a_batch_isnt_empty_most_of_the_time() -> None:
    ((plan, total),) = run_of(parallelism="TP8 PP8", micro_batch_seqs=2, activation_checkpointing="full").plans
    assert plan.micro_steps == 32
    assert total == 2 * 1 * 32
    ((plan, _),) = run_of(parallelism="TP8 PP8", micro_batch_seqs=2, grad_accum=8).plans
    assert plan.micro_steps == 8


@pytest.mark.parametrize("batch", [None, 512])
def test_open_recomputation_and_micro_batch_give_the_faster_of_both(batch: int | None) -> None:
    cells = {"n_gpus": 16, "gpu": "L40S", "model": "llama-2-7b", "parallelism": "fsdp", "global_batch_seqs": batch}
    modes = [plan.checkpointing for plan, _ in run_of(**cells).plans]
    assert modes == ["none", "full"]
    said = [speed_of(**cells, activation_checkpointing=mode) for mode in modes]
    assert speed_of(**cells) == pytest.approx(max(said))
    assert said[1] > said[0]  # else this shows nothing


def test_a_micro_batch_that_follows_from_the_others_decides_over_recomputation() -> None:
    cells = {"n_gpus": 8, "parallelism": "fsdp", "global_batch_seqs": 128}
    ((plan, _),) = run_of(**cells, grad_accum=16).plans
    assert (plan.micro_batch, plan.checkpointing) == (1, "none")
    ((plan, _),) = run_of(**cells, grad_accum=1).plans
    assert (plan.micro_batch, plan.checkpointing) == (16, "full")


@pytest.mark.parametrize("framework", ["Megatron-LM", "NVIDIA NeMo 2.0", "PyTorch + Transformer Engine"])
def test_vendors_codes_have_vendors_kernels_and_sixteen_bits(framework: str) -> None:
    subject = run_of(gpu="H100 SXM", framework=framework, precision=None).subject
    assert (subject.software, subject.precision) == ("vendor", "bf16")
    subject = run_of(gpu="H100 SXM", framework=framework, precision=None, software_tier="vendor").subject
    assert subject.precision == "fp8"
    assert run_of(framework=framework, software_tier="eager").subject.software == "eager"


def test_faster_cards_are_faster_where_little_is_said() -> None:
    for parallelism in (None, "fsdp", "TP4 PP4", "ddp"):
        cells = {"parallelism": parallelism, "model": "llama-2-7b", "n_gpus": 64, "global_batch_seqs": 512}
        speeds = [speed_of(gpu=gpu, **cells) for gpu in ("A100-SXM4-80GB", "H100 SXM", "H200", "B200", "B300")]
        assert speeds == sorted(speeds), parallelism
