"""A table validated with the user's own rows: they move others, never their own configuration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pytest

from planner.measurements.fault import Fault
from planner.measurements.prediction import RowPrediction
from planner.measurements.rows import LanguageRow, MemoryRow, Row, SampleRow, Schema
from planner.measurements.table import Table
from planner.performance import own_validation
from planner.performance.own_tables import OWN_STACK
from planner.performance.own_validation import OwnValidation, validate_published, validate_with_own
from planner.performance.predict_rows import predict_language_rows
from planner.validate.score import ScoredRow
from tests.planning import shipped_catalog

CATALOG = shipped_catalog()
GPT = LanguageRow(
    id="a", line=2, gpu="rtx-4090", n_gpus=1, task="pretrain", framework="mine 1.0", model="gpt2", seq_len=1024,
    global_batch_seqs=8, micro_batch_seqs=8, precision="bf16", parallelism="single", activation_checkpointing="none",
)  # fmt: skip
RESNET = SampleRow(
    id="r", line=2, gpu="l40s", n_gpus=1, model="ResNet50-v1.5", input="3x224x224", batch_per_gpu=256,
    precision="amp-fp16", framework="mine", throughput=1000.0,
)  # fmt: skip


def table(*rows: Row, schema: Schema = "llm_throughput") -> Table:
    units = {"llm_throughput": "tokens_per_s", "dl_throughput": "samples_per_s", "memory_peaks": "gb"}
    return Table(schema=schema, unit=units[schema], rows=rows, faults={}, notes=())  # type: ignore[arg-type]


@lru_cache
def cold(batch: int, gpu: str = "rtx-4090") -> float:
    (found,) = predict_language_rows([replace(GPT, global_batch_seqs=batch, micro_batch_seqs=batch, gpu=gpu)], CATALOG)
    assert found.predicted is not None
    return found.predicted


def sweep(*factors: float, gpu: str = "rtx-4090", framework: str = "mine 1.0") -> list[LanguageRow]:
    """Rows of batches 1, 2, 4, ..., so many times as fast as predicted."""
    return [
        replace(
            GPT, id=f"b{1 << at}", line=at, gpu=gpu, framework=framework, global_batch_seqs=1 << at,
            micro_batch_seqs=1 << at, tokens_per_s_total=factor * cold(1 << at, gpu),
        )
        for at, factor in enumerate(factors)
    ]  # fmt: skip


def one(found: OwnValidation) -> ScoredRow:
    (row,) = found.validation.rows
    return row


def test_own_rows_move_the_rows_of_their_software_and_card() -> None:
    asked = table(replace(GPT, global_batch_seqs=32, micro_batch_seqs=32, framework="mine 2.1"))
    found = validate_with_own(asked, [("own.csv", table(*sweep(0.8, 0.8, 0.8)))], CATALOG)
    factor = math.exp(math.log(0.8) * 0.15**2 / (0.15**2 + 0.08**2 / 3))
    assert one(found).predicted == pytest.approx(factor * cold(32))
    assert one(found).novelty == OWN_STACK
    assert one(found).sources == tuple(f"measurements:own:own.csv:b{batch}" for batch in (1, 2, 4))
    (own,) = found.offsets
    assert (own.used, own.rows, own.files, own.gpu) == (True, 3, ("own.csv",), "rtx-4090")


def test_what_stands_in_a_cell_is_said_as_it_stands() -> None:
    words = "card: found b, expected c"
    own = table(replace(GPT, gpu=words, tokens_per_s_total=1.0))
    (problem,) = validate_with_own(table(GPT), [("own.csv", own)], CATALOG).problems
    assert (problem.field, problem.found) == ("gpu", f"'{words}'")
    faults = (Fault(field="a", found="b", expected="c"), Fault(field="d", found="e", expected="f"))
    faulty = replace(own, faults={0: faults})
    problems = validate_with_own(table(GPT), [("own.csv", faulty)], CATALOG).problems
    assert [(one.field, one.found, one.expected) for one in problems] == [("a", "b", "c"), ("d", "e", "f")]


def test_a_table_is_predicted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = table(
        *(replace(GPT, id=f"r{batch}", global_batch_seqs=batch, micro_batch_seqs=batch) for batch in (32, 64))
    )
    seen: list[int] = []

    def counted(rows: Sequence[LanguageRow], *given: Any, **settings: Any) -> list[RowPrediction]:
        seen.append(len(rows))
        return predict_language_rows(rows, *given, **settings)

    monkeypatch.setattr(own_validation, "predict_language_rows", counted)
    found = validate_with_own(asked, [("own.csv", table(*sweep(0.8, 0.8, 0.8)))], CATALOG)
    assert sorted(seen) == [2, 3]  # the rows asked, and the own ones
    assert found.cold == validate_published(asked, CATALOG).summary


@pytest.mark.parametrize("changes", [{"gpu": "rtx-3090"}, {"framework": "another"}], ids=str)
def test_rows_of_another_card_or_software_stay_as_they_are(changes: dict[str, str]) -> None:
    asked = table(replace(GPT, **changes))  # type: ignore[arg-type]
    found = validate_with_own(asked, [("own.csv", table(*sweep(0.8, 0.8, 0.8)))], CATALOG)
    assert found.validation == validate_published(asked, CATALOG)


def test_a_table_given_as_its_own_rows_is_scored_by_leaving_each_configuration_out() -> None:
    whole = table(*sweep(0.8, 0.8, 0.8, 0.8, 2.0))
    found = validate_with_own(whole, [("own.csv", whole)], CATALOG)
    moved = [row.predicted for row in found.validation.rows]
    # The fifth is predicted by the four that agree, as if it had never been measured.
    factor = math.exp(math.log(0.8) * 0.15**2 / (0.15**2 + 0.08**2 / 4))
    assert moved[4] == pytest.approx(factor * cold(16))
    assert all("own:own.csv:b16" not in source for source in found.validation.rows[4].sources)


def test_rows_that_do_not_help_each_other_move_nothing() -> None:
    asked = table(replace(GPT, global_batch_seqs=32, micro_batch_seqs=32))
    found = validate_with_own(asked, [("own.csv", table(*sweep(0.7, 1.4, 0.7, 1.4)))], CATALOG)
    assert one(found).predicted == cold(32)
    assert [own.used for own in found.offsets] == [False]


def test_what_is_wrong_with_own_rows_is_said_and_the_others_count() -> None:
    good = sweep(0.8, 0.8, 0.8)
    rows = [
        *good,
        replace(GPT, id="gpu", line=6, gpu="rtx-9999", tokens_per_s_total=5.0),
        replace(GPT, id="flag", line=7, notes="flag=odd", tokens_per_s_total=5.0),
        replace(GPT, id="none", line=8),
        replace(GPT, id="fast", line=9, tokens_per_s_total=1e10),
    ]
    asked = table(replace(GPT, global_batch_seqs=32, micro_batch_seqs=32))
    tables = [
        ("own.csv", table(*rows)),
        ("copy.csv", table(*rows)),
        ("samples.csv", table(RESNET, schema="dl_throughput")),
    ]
    found = validate_with_own(asked, tables, CATALOG)
    assert [(problem.file, problem.record, problem.field) for problem in found.problems] == [
        ("own.csv", "gpu", "gpu"), ("own.csv", "flag", "notes"), ("own.csv", "none", ""),
        ("own.csv", "fast", "tokens_per_s_total"), ("copy.csv", "", ""), ("samples.csv", "", ""),
    ]  # fmt: skip
    (own,) = found.offsets
    assert own.rows == 3


def test_speeds_of_other_models_are_moved_by_kind() -> None:
    batches = (64, 128, 256, 512)
    rows = [replace(RESNET, id=str(batch), batch_per_gpu=float(batch)) for batch in batches]
    speeds = [row.predicted or 0.0 for row in validate_published(table(*rows, schema="dl_throughput"), CATALOG).rows]
    own = [replace(row, throughput=1.25 * speed) for row, speed in zip(rows[:3], speeds, strict=False)]
    found = validate_with_own(
        table(rows[3], schema="dl_throughput"), [("own.csv", table(*own, schema="dl_throughput"))], CATALOG
    )
    assert one(found).predicted == pytest.approx(speeds[3] * 1.25 ** (0.15**2 / (0.15**2 + 0.08**2 / 3)))
    assert [offset.kind for offset in found.offsets] == ["vision"]
    bert = replace(RESNET, model="BERT-large-SQuAD-finetune", input="seq384", batch_per_gpu=16.0)
    asked = table(bert, schema="dl_throughput")
    unmoved = validate_with_own(asked, [("own.csv", table(*own, schema="dl_throughput"))], CATALOG)
    assert unmoved.validation == validate_published(asked, CATALOG)


def test_a_table_of_memory_is_moved_by_nothing() -> None:
    peaks = table(
        MemoryRow(id="m", line=2, gpu="rtx-4090", n_gpus=1, model="gpt2", seq_len=1024, peak_memory_gb=9.0),
        schema="memory_peaks",
    )
    found = validate_with_own(peaks, [("own.csv", peaks)], CATALOG)
    assert [problem.file for problem in found.problems] == ["own.csv"]
    assert found.validation == validate_published(peaks, CATALOG)
