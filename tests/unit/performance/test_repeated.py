"""Rows of tables whose configuration other published rows have: what answers them, and that it's never themselves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from planner.measurements.prediction import RowPrediction
from planner.measurements.rows import LanguageRow, SampleRow
from planner.measurements.table import read_table
from planner.performance.evidence import LANGUAGE_FILE, MEASUREMENTS_FOLDER, SAMPLE_FILE
from planner.performance.predict_rows import predict_language_rows
from planner.performance.repeated import Published, repeated
from planner.performance.transfer.predict import predict_sample_rows
from tests.planning import shipped_catalog

CATALOG = shipped_catalog()
ROWS = [
    Published(id="a", date="2024", origin="x", speed=90.0),
    Published(id="b", date="2025", origin="x", speed=100.0),
    Published(id="c", date="2026", origin="x", speed=110.0),
]


def told(**changes: Any) -> RowPrediction | None:
    asked: dict[str, Any] = {"id": "own", "date": "2020", "origin": "x", "half_width": 0.09, "novelty": "known"}
    return repeated(ROWS, **(asked | changes))


def shipped(name: str, id: str) -> Any:
    table = read_table((MEASUREMENTS_FOLDER / name).read_bytes(), file=name)
    return next(row for row in table.rows if row.id == id)


def test_the_median_answers_with_an_interval_for_how_far_rows_lie_apart() -> None:
    found = told()
    assert found is not None and found.high is not None
    assert (found.predicted, found.basis) == (100.0, "measured")
    assert math.log(found.high / 100) == pytest.approx(math.hypot(0.09, math.log(100 / 90)))
    assert found.sources == ("measurements:a", "measurements:b", "measurements:c")


@pytest.mark.parametrize(
    ("changes", "speed"),
    [
        ({"id": "a"}, 105.0),
        ({"date": "2026"}, 95.0),  # of its date and origin: itself under another id
        ({"date": "2026", "origin": "y"}, 100.0),
        ({"date": "2026-03"}, 95.0),  # a month of that year
        ({"date": "2026", "origin": "X@9f3"}, 95.0),  # however it is spelled
        ({"date": "2026", "origin": " x "}, 95.0),
        ({"date": None}, None),  # could be any of them
        ({"date": ""}, None),
        ({"date": None, "origin": "y"}, 100.0),
    ],
    ids=str,
)
def test_a_row_never_answers_itself(changes: dict[str, Any], speed: float | None) -> None:
    found = told(**changes)
    assert (None if found is None else found.predicted) == speed


def test_a_row_without_others_is_not_answered() -> None:
    assert repeated(ROWS[:1], id="a", date="2024", origin="x", half_width=0.1, novelty="known") is None


# lam-0223 and lam-0246: BERT-large on one A100 SXM4 40GB of two hosts, 107.127 and 107.701 sequences/s.
HOST: SampleRow = shipped(SAMPLE_FILE, "lam-0223")


def test_a_published_row_is_answered_by_the_others_of_its_configuration() -> None:
    found, other = predict_sample_rows([HOST, shipped(SAMPLE_FILE, "lam-0246")], CATALOG)
    assert (found.basis, found.predicted, found.sources) == ("measured", 107.701, ("measurements:lam-0246",))
    assert (other.basis, other.predicted, other.sources) == ("measured", 107.127, ("measurements:lam-0223",))
    (cold,) = predict_sample_rows([HOST], CATALOG, published=False)
    assert cold.basis == "transferred"


@pytest.mark.parametrize(
    "changes",
    [
        {"batch_per_gpu": 31},
        {"batch_per_gpu": None},
        {"precision": "fp32"},
        {"n_gpus": 3},
        {"input": "seq128"},
        {"source": "nvidia-deeplearningexamples"},  # software that is known is better transferred
        {"throughput_unit": "tokens/s"},
        {"id": "renamed", "date": None},
        {"framework": "PyTorch nhwc"},
    ],
    ids=str,
)
def test_another_configuration_is_not_measured(changes: dict[str, Any]) -> None:
    (found,) = predict_sample_rows([replace(HOST, **changes)], CATALOG)
    assert found.basis != "measured"


def test_software_that_is_not_known_is_answered_by_the_newest_that_was_measured() -> None:
    row = replace(HOST, id="mine", source="mine", framework="mine", date="2026", gpu="a100-sxm4-80gb", batch_per_gpu=64)
    (found,) = predict_sample_rows([row], CATALOG)
    assert (found.basis, found.novelty) == ("measured", "new-stack")
    (known,) = predict_sample_rows([HOST], CATALOG)
    assert found.predicted and found.high and known.predicted and known.high
    assert found.high / found.predicted > known.high / known.predicted


def test_language_models_are_answered_alike() -> None:
    table = read_table((MEASUREMENTS_FOLDER / LANGUAGE_FILE).read_bytes(), file=LANGUAGE_FILE)
    rows = [row for row in table.rows if isinstance(row, LanguageRow)]
    found = predict_language_rows(rows, CATALOG)
    measured = [(row, one) for row, one in zip(rows, found, strict=True) if one.basis == "measured"]
    assert len(measured) > 30
    assert all(f"measurements:{row.id}" not in one.sources for row, one in measured)
    errors = sorted(abs(math.log((one.predicted or 0) / (row.measured or 0))) for row, one in measured)
    assert errors[len(errors) // 2] < 0.04
    row, _ = measured[0]
    for changes in ({"micro_batch_seqs": 3}, {"precision": "fp32"}, {"framework": "mine", "source": "mine"}):
        (other,) = predict_language_rows([replace(row, **changes)], CATALOG)  # type: ignore[arg-type]
        assert other.basis != "measured"
    assert all(one.basis == "estimated" for one in predict_language_rows([row], CATALOG, published=False))
