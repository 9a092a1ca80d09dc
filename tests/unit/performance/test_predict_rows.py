"""Whole tables predicted: from configurations alone, in their order, each row with its answer or its reason."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from planner.measurements.rows import LanguageRow, MemoryRow
from planner.measurements.table import read_table
from planner.performance.evidence import LANGUAGE_FILE, MEASUREMENTS_FOLDER
from planner.performance.memory_rows import MEMORY_FILE
from planner.performance.predict_rows import predict_language_rows, predict_memory_rows
from planner.performance.rows.predict import CHUNK, Arrays, complete_row, predict_runs
from planner.performance.step import step_times
from tests.unit.performance.rows import CATALOG, CONSTANTS, STACKS, language_row


def shipped(name: str) -> list[Any]:
    return list(read_table((MEASUREMENTS_FOLDER / name).read_bytes(), file=name).rows)


LANGUAGE: list[LanguageRow] = shipped(LANGUAGE_FILE)
MEMORY: list[MemoryRow] = shipped(MEMORY_FILE)


def test_what_was_measured_changes_nothing() -> None:
    some = LANGUAGE[::25]
    told = [replace(row, tokens_per_s_total=7.0 * (row.tokens_per_s_total or 1.0)) for row in some]
    untold = [row.without_measured() for row in some]
    found = predict_language_rows(some, CATALOG)
    assert found == predict_language_rows(told, CATALOG) == predict_language_rows(untold, CATALOG)
    peaks = [replace(row, peak_memory_gb=1.0) for row in MEMORY]
    assert predict_memory_rows(MEMORY, CATALOG) == predict_memory_rows(peaks, CATALOG)


def test_neither_the_name_of_a_row_nor_its_neighbours_change_anything() -> None:
    some = LANGUAGE[::40]
    found = predict_language_rows(some, CATALOG)
    assert predict_language_rows([replace(row, id="x", notes="", date="") for row in some], CATALOG) == found
    for row, expected in zip(some[:4], found, strict=False):
        (alone,) = predict_language_rows([row], CATALOG)
        assert alone.predicted == pytest.approx(expected.predicted, rel=1e-12)
        assert alone.novelty == expected.novelty
    assert predict_language_rows(some[::-1], CATALOG)[::-1] == found


def test_every_shipped_row_is_predicted_inside_its_interval() -> None:
    for row, found in zip(LANGUAGE, predict_language_rows(LANGUAGE, CATALOG), strict=True):
        assert found.skipped is None, row.id
        assert found.predicted is not None and found.low is not None and found.high is not None
        assert 0 < found.low < found.predicted < found.high < math.inf
        assert found.novelty in ("same-stack", "new-gpu", "new-stack", "new-stack-and-gpu")
        assert len(found.choices) == len(set(found.choices)), row.id


def test_rows_that_are_not_understood_say_why_and_stay_in_place() -> None:
    rows = [language_row(), language_row(gpu="none such"), language_row(precision="odd"), language_row(n_gpus=1)]
    found = predict_language_rows(rows, CATALOG)
    assert [row.predicted is None for row in found] == [False, True, True, False]
    assert found[1].skipped == "gpu: found 'none such', expected a GPU of the catalog"
    assert (found[2].skipped or "").startswith("precision: found 'odd'")
    assert predict_language_rows([], CATALOG) == []


def test_what_was_filled_in_is_said() -> None:
    (found,) = predict_language_rows([language_row(precision=None)], CATALOG)
    assert {"precision bf16", "parallelism by rule", "recomputation none or full"} <= set(found.choices)
    assert any(choice.startswith("micro-batch ") for choice in found.choices)
    said = language_row(
        parallelism="fsdp", micro_batch_seqs=1, global_batch_seqs=64, activation_checkpointing="none", gated_mlp=True
    )
    assert predict_language_rows([said], CATALOG)[0].choices == ()


def test_of_several_layouts_the_fastest_counts() -> None:
    row = language_row(n_gpus=64, software_tier="vendor", global_batch_seqs=4, grad_accum=1)
    run = complete_row(row, CATALOG, STACKS, CONSTANTS)
    assert len(run.plans) > 1
    each = [replace(run, plans=(plan,)) for plan in run.plans]
    speeds = [speed.tokens_per_s for speed in predict_runs(each, CONSTANTS)]
    (best,) = predict_runs([run], CONSTANTS)
    assert best.tokens_per_s == pytest.approx(max(speeds)) and max(speeds) > min(speeds)
    together = Arrays([*each, run, run], CONSTANTS)
    speed = together.log_speed(step_times(together.inputs, CONSTANTS))
    fastest = together.fastest(speed)
    assert together.of_run[fastest].tolist() == list(range(len(each) + 2))
    assert speed[fastest[-1]] == pytest.approx(math.log(max(speeds)))


def test_chunks_join_without_a_seam() -> None:
    runs = [complete_row(language_row(seq_len=length), CATALOG, STACKS, CONSTANTS) for length in (512, 1024)]
    found = [speed.tokens_per_s for speed in predict_runs(runs * (CHUNK // 2 + 1), CONSTANTS)]
    assert len(found) == CHUNK + 2
    assert found[-2:] == pytest.approx(found[:2])


def test_a_stated_network_counts_before_its_words_and_the_usual() -> None:
    wide = {"n_gpus": 16, "parallelism": "fsdp", "micro_batch_seqs": 1, "activation_checkpointing": "none"}
    said, in_words, usual, both = (
        found.predicted or 0.0
        for found in predict_language_rows(
            [
                language_row(**wide, network_gbit_per_s=50),
                language_row(**wide, interconnect_inter="4x25Gb/node"),
                language_row(**wide),
                language_row(**wide, network_gbit_per_s=50, interconnect_inter="4x25Gb/node"),
            ],
            CATALOG,
        )
    )
    assert said < in_words < usual
    assert both == said


def test_what_a_row_of_memory_lacks_is_filled_in_and_named() -> None:
    bare = MemoryRow(id="r", line=2, gpu="rtx-4090", n_gpus=1, model="llama-3-8b", task="qlora", seq_len=1024)
    alone, several = predict_memory_rows([bare, replace(bare, n_gpus=8, task="lora", precision="bf16")], CATALOG)
    shared = ("micro-batch 1", "recomputation none", "what the allocator took", "shape of the catalog's model")
    assert {*shared, "4-bit weights", "software eager"} == set(alone.choices)
    assert {*shared, "software eager", "nothing shared between the GPUs"} == set(several.choices)
    (untold,) = predict_memory_rows([replace(bare, task=None)], CATALOG)
    assert untold.skipped == "task: found nothing, expected one of pretrain, full-finetune, lora, qlora"


def test_memory_takes_the_shape_from_the_catalog_or_says_so() -> None:
    peak = next(row for row in MEMORY if row.model == "llama3-8b")
    shapeless = replace(
        peak, model="Llama 3 8B", n_layers=None, d_model=None, n_heads=None, n_kv_heads=None, d_ff=None, vocab=None,
        n_params=None, gated_mlp=None,
    )  # fmt: skip
    given, looked_up, unknown = predict_memory_rows([peak, shapeless, replace(shapeless, model="who knows")], CATALOG)
    assert looked_up.predicted == pytest.approx(given.predicted, rel=1e-3)
    assert unknown.skipped == "model: found 'who knows', expected a model of the catalog; or n_layers and d_model"
    assert given.low is not None and given.high is not None and given.predicted is not None
    assert given.low * given.high == pytest.approx(given.predicted**2)
