"""Reasons for not predicting a row: unknown names, and configurations that can't exist."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.measurements.checks import Subjects, faults_of, row_reason
from planner.measurements.fault import in_words
from planner.measurements.rows import SampleRow
from tests.unit.validate.tables import LANGUAGE, MEMORY, TIMES, catalog, table_of, validate


def reason_of(base: dict[str, object] | None = None, **cells: object) -> str | None:
    table = table_of(cells) if base is None else table_of(cells, base=base)
    assert table.faults == {}
    return in_words(faults_of(table, 0, Subjects(catalog()))) or None


def test_nothing_speaks_against_a_sound_row() -> None:
    assert reason_of() is None
    assert reason_of(dict(MEMORY)) is None
    assert reason_of(dict(TIMES)) is None


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"gpu": "none such"}, "gpu: found 'none such'"),
        ({"n_gpus": ""}, "n_gpus: found nothing"),
        ({"benchmark": ""}, "benchmark: found nothing"),
        ({"nodes": 3}, "n_gpus: found 16, expected a multiple of the 3 nodes"),
        ({"nodes": 32}, "n_gpus: found 16, expected a multiple of the 32 nodes"),
        ({"division": "open"}, "division: found 'open', expected closed"),
        ({"notes": "division=open; status=research"}, "division: found 'open'"),
    ],
)
def test_times_that_cannot_be_predicted(cells: dict[str, object], words: str) -> None:
    assert words in (reason_of(dict(TIMES), **cells) or "")


@pytest.mark.parametrize("cells", [{"division": "Closed"}, {"nodes": ""}, {"global_batch_size": ""}, {"round": ""}])
def test_times_with_cells_left_out_are_sound(cells: dict[str, object]) -> None:
    assert reason_of(dict(TIMES), **cells) is None


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("minutes", "0"),
        ("minutes", "-3"),
        ("minutes", "1e9"),
        ("minutes", "nan"),
        ("global_batch_size", "0.5"),
        ("nodes", "0"),
    ],
)
def test_times_that_cannot_be_meant(column: str, text: str) -> None:
    assert in_words(table_of({column: text}, base=TIMES).faults[0]).startswith(f"{column}: found '{text}'")


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"gpu": ""}, "gpu: found nothing"),
        ({"n_gpus": ""}, "n_gpus: found nothing"),
        ({"gpu": "A100-SXM4-80BG"}, "such as a100-sxm4-80gb"),
        ({"gpu": "A100"}, "gpu: found 'A100', expected"),
        ({"gpu": "x" * 500}, "expected a GPU of the catalog"),
        ({"task": "inference"}, "task: found 'inference', expected pretrain, full-finetune, lora or qlora"),
        ({"parallelism": "magic"}, "parallelism: found 'magic', expected a form such as"),
        ({"model": "lama-2-7b", "n_params": "", "n_layers": ""}, "such as llama-2-7b"),
        ({"model": "", "n_params": "", "n_layers": ""}, "model: found nothing"),
        ({"model": "resnet50", "n_params": "", "d_model": ""}, "expected a language model"),
    ],
)
def test_names_that_are_not_known(cells: dict[str, object], words: str) -> None:
    reason = reason_of(**cells)
    assert reason is not None
    assert words in reason
    assert len(reason) < 400


@pytest.mark.parametrize(
    "cells",
    [
        {"model": "llama-2-7b", "n_params": "", "n_layers": "", "d_model": "", "n_heads": ""},
        {"model": "Llama2-7B", "n_params": "", "n_layers": "", "d_model": "", "n_heads": ""},
        {"model": "own", "n_params": ""},
        {"model": "", "n_params": ""},
        {"model": "own", "n_layers": "", "d_model": ""},
        {"task": ""},
        {"gpu": "a100-sxm4-80gb"},
    ],
)
def test_one_way_to_know_the_model_is_enough(cells: dict[str, object]) -> None:
    assert reason_of(**cells) is None


def test_models_that_the_estimator_knows_besides() -> None:
    row = table_of({"model": "Own-2B", "n_params": "", "n_layers": ""}).rows[0]
    assert row_reason(row, Subjects(catalog())) is not None
    assert row_reason(row, Subjects(catalog(), {"own-2b"})) is None


def test_many_unknown_names_get_a_reason_and_known_ones_are_still_found() -> None:
    subjects = Subjects(catalog())
    for at in range(400):
        assert "found 'card" in str(subjects.gpu_reason(f"card {at}"))
        assert not hasattr(subjects.model(f"net {at}"), "transformer")
    assert subjects.gpu_reason("H100-SXM5-80GB") is None
    assert subjects.model(" LLAMA-2-7b ").id == "llama-2-7b"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"parallelism": "tp64", "n_gpus": 64}, "tensor parallel over 64, expected at most the 32"),
        ({"parallelism": "tp3", "n_gpus": 3}, "tensor parallel over 3, expected a divisor of the 32"),
        ({"parallelism": "pp64", "n_gpus": 64}, "64 pipeline stages, expected at most the 32 layers"),
        ({"parallelism": "pp8-vp8"}, "at most 32 chunks"),
        ({"parallelism": "cp3", "n_gpus": 3}, "context parallel over 3"),
        ({"n_kv_heads": 5}, "n_kv_heads: found 5, expected a divisor of the 32"),
        ({"n_kv_heads": 64}, "n_kv_heads: found 64"),
        ({"parallelism": "single"}, "on 8 GPUs"),
        ({"parallelism": "tp4-pp4"}, "n_gpus: found 8, expected a multiple of 16 (tensor 4 x pipeline 4)"),
        ({"parallelism": "tp2-dp8"}, "n_gpus: found 8, expected 16 (tensor 2 x data 8)"),
        ({"parallelism": "tp2-zero1(4)-dp8"}, "n_gpus: found 8, expected 16"),
        ({"parallelism": "pp2-ep3"}, "expert parallel over 3, expected a divisor of the 4 GPUs"),
        ({"parallelism": "fsdp16"}, "groups of 16, expected a divisor of the 8 copies"),
        ({"parallelism": "fsdp3"}, "groups of 3"),
        ({"global_batch_seqs": 12}, "global_batch_seqs: found 12, expected a multiple of the 8 copies"),
        ({"global_batch_seqs": 24}, "expected a multiple of 16 (8 copies x micro-batch 2)"),
        ({"micro_batch_seqs": 16}, "micro_batch_seqs: found 16, expected at most the 8"),
        ({"parallelism": "tp2-pp2", "global_batch_seqs": 7}, "a multiple of the 2 copies"),
        ({"parallelism": "", "global_batch_seqs": 7}, "expected a multiple of 2"),
        ({"grad_accum": 3}, "global_batch_seqs: found 64, expected 48 (8 copies x micro-batch 2 x 3 passes)"),
    ],
)
def test_configurations_that_cannot_exist(cells: dict[str, object], words: str) -> None:
    reason = reason_of(**cells)
    assert reason is not None
    assert words in reason


@pytest.mark.parametrize(
    "cells",
    [
        {"parallelism": "fsdp8-cp8"},
        {"parallelism": "fsdp or single (see notes)", "n_gpus": 1},
        {"parallelism": "tp2-pp1-cp1-ep8-dp4"},
        {"parallelism": "tp2-zero1(4)-dp4"},
        {"parallelism": "pp3-dp1", "n_gpus": 3, "n_layers": 32},
        {"parallelism": "", "n_gpus": 512, "global_batch_seqs": 64, "micro_batch_seqs": 1},
        {"framework": "llm-foundry/Composer", "global_batch_seqs": 24},
        {"grad_accum": 4},
        {"seq_len": "", "parallelism": "cp8"},
        {"n_kv_heads": 8},
    ],
)
def test_configurations_that_are_only_unusual(cells: dict[str, object]) -> None:
    assert reason_of(**cells) is None


def test_the_shape_of_a_known_model_counts_where_the_row_has_none() -> None:
    shapeless = {"model": "llama-2-7b", "n_params": "", "n_layers": "", "d_model": "", "n_heads": ""}
    assert "at most the 32" in (reason_of(**shapeless, parallelism="tp64", n_gpus=64) or "")
    assert "at most the 32 layers" in (reason_of(**shapeless, parallelism="pp64", n_gpus=64) or "")


def test_memory_rows_are_held_to_the_same() -> None:
    assert "at most the 32" in (reason_of(dict(MEMORY), parallelism="tp64", n_gpus=64) or "")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({**MEMORY, "peak_memory_gb": 90}, "peak_memory_gb: found 90, expected at most the 80 GB of"),
        ({**LANGUAGE, "tokens_per_s_total": 3e7}, "tokens_per_s_total: found 3e+07, expected at most"),
        ({**LANGUAGE, "model": "gpt2-xl", "n_params": "", "n_layers": "", "d_model": "", "n_heads": "",
          "tokens_per_s_total": 1e9}, "tokens_per_s_total: found 1e+09, expected at most"),
    ],
)  # fmt: skip
def test_more_than_the_gpus_have_was_not_measured_on_them(row: dict[str, object], words: str) -> None:
    assert words in (validate({}, base=row).rows[0].skipped or "")


def test_what_the_gpus_just_have_may_be_measured() -> None:
    """80 GiB are 85.9 GB; 8 A100 compute 2,496 TFLOP/s."""
    assert validate({"peak_memory_gb": 85.9}, base=MEMORY).rows[0].skipped is None
    assert validate({"tokens_per_s_total": 8 * 312e12 / 6 / 7e9}).rows[0].skipped is None


def test_more_samples_than_the_gpu_can_compute_were_not_measured_on_it() -> None:
    """4 GMAC forward and back are 16 GFLOP at least, of which an A100 at twice its 312 TFLOP/s does 39,000 a second."""
    subjects = Subjects(catalog())
    row = SampleRow(
        id="r", line=2, gpu="A100 SXM4 80GB", n_gpus=1, model="mine", precision="fp16", batch_per_gpu=64.0,
        fwd_gmacs_per_sample=4.0, activations_m_per_sample=11.0, throughput=1e6,
    )  # fmt: skip
    fault = row_reason(row, subjects)
    assert fault is not None and (fault.field, fault.found) == ("throughput", "1e+06")
    assert str(fault).startswith("throughput: found 1e+06, expected at most")
    for sound in (
        replace(row, throughput=3000.0),
        replace(row, throughput_unit="tokens/s"),
        replace(row, fwd_gmacs_per_sample=None, activations_m_per_sample=None),
    ):
        assert row_reason(sound, subjects) is None
