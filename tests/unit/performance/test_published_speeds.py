"""Published rows that answer rows of their own configuration: those of the table as it stands, not as it once stood."""

from __future__ import annotations

import csv
import dataclasses
import io
from pathlib import Path

import pytest

from planner.errors import CatalogError
from planner.measurements.rows import LanguageRow, SampleRow
from planner.measurements.table import read_table
from planner.performance import predict_rows
from planner.performance.evidence import LANGUAGE_FILE, MEASUREMENTS_FOLDER, SAMPLE_FILE
from planner.performance.predict_rows import predict_language_rows
from planner.performance.rows import published as language
from planner.performance.transfer import published as samples
from planner.performance.transfer.predict import predict_sample_rows
from tests.planning import shipped_catalog


def without_comments(file: str) -> list[list[str]]:
    text = (MEASUREMENTS_FOLDER / file).read_text(encoding="utf-8")
    return list(csv.reader(line for line in text.splitlines() if not line.startswith("#")))


def faster(file: str, column: str, folder: Path) -> None:
    """A copy of a table in which everything was twice as fast."""
    head, *rows = without_comments(file)
    at = head.index(column)
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(
        [head, *([*cells[:at], str(2 * float(cells[at])), *cells[at + 1 :]] for cells in rows)]
    )
    (folder / file).write_text(stream.getvalue(), encoding="utf-8")


def test_a_changed_table_of_samples_answers_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = read_table((MEASUREMENTS_FOLDER / SAMPLE_FILE).read_bytes(), file=SAMPLE_FILE)
    rows = [
        dataclasses.replace(row.without_measured(), id=f"mine {row.id}", date="2000")
        for row in table.rows[:40]
        if isinstance(row, SampleRow)
    ]
    before = predict_sample_rows(rows, shipped_catalog())
    faster(SAMPLE_FILE, "throughput", tmp_path)
    monkeypatch.setattr(samples, "MEASUREMENTS_FOLDER", tmp_path)
    after = predict_sample_rows(rows, shipped_catalog())
    pairs = [(one, other) for one, other in zip(before, after, strict=True) if one.basis == "measured"]
    assert pairs
    for one, other in pairs:
        assert one.predicted is not None
        assert other.predicted == pytest.approx(2 * one.predicted)


def test_a_changed_table_of_samples_is_fitted_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = SampleRow(
        id="r", line=2, gpu="l40s", n_gpus=1, model="ResNet50-v1.5", input="3x224x224", batch_per_gpu=256,
        precision="amp-fp16",
    )  # fmt: skip
    (before,) = predict_sample_rows([row], shipped_catalog())
    faster(SAMPLE_FILE, "throughput", tmp_path)
    monkeypatch.setattr(samples, "MEASUREMENTS_FOLDER", tmp_path)
    (after,) = predict_sample_rows([row], shipped_catalog())
    assert before.basis == after.basis == "transferred"
    assert before.predicted is not None and after.predicted == pytest.approx(2 * before.predicted, rel=0.1)
    head, *_ = without_comments(SAMPLE_FILE)
    (tmp_path / SAMPLE_FILE).write_text(",".join(head) + "\n", encoding="utf-8")
    with pytest.raises(CatalogError, match="suite"):
        predict_sample_rows([row], shipped_catalog())


def test_a_changed_table_of_language_models_answers_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = read_table((MEASUREMENTS_FOLDER / LANGUAGE_FILE).read_bytes(), file=LANGUAGE_FILE)
    rows = [
        dataclasses.replace(row.without_measured(), id=f"mine {row.id}", date="2000")
        for row in table.rows[::25]
        if isinstance(row, LanguageRow)
    ]
    before = predict_language_rows(rows, shipped_catalog())
    faster(LANGUAGE_FILE, "tokens_per_s_total", tmp_path)
    monkeypatch.setattr(language, "MEASUREMENTS_FOLDER", tmp_path)
    after = predict_language_rows(rows, shipped_catalog())
    pairs = [(one, other) for one, other in zip(before, after, strict=True) if one.basis == "measured"]
    assert pairs
    for one, other in pairs:
        assert one.predicted is not None
        assert other.predicted == pytest.approx(2 * one.predicted)


def test_nothing_is_read_where_published_rows_may_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predict_rows, "shipped_speeds", lambda: pytest.fail("read"))
    assert predict_language_rows([], shipped_catalog(), published=False) == []
