"""A table through the checks, an estimator and the scores: what the estimator sees, and what becomes of its answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from planner.measurements.prediction import RowPrediction
from planner.validate.run import count_choices, count_reasons, validate_table
from tests.unit.validate.tables import MEMORY, TIMES, always, catalog, table_of, validate


def test_a_row_is_predicted_and_scored() -> None:
    row = validate({}).rows[0]
    assert (row.measured, row.predicted, row.low, row.high, row.unit) == (100.0, 110.0, 90.0, 130.0, "tokens_per_s")
    assert row.ape == pytest.approx(10.0)
    assert (row.basis, row.skipped, row.flagged, row.source) == ("estimated", None, False, "lab/bench")


def test_the_estimator_sees_no_measured_value_and_only_rows_that_can_be() -> None:
    seen: list[Any] = []

    def spy(rows: Sequence[Any]) -> list[RowPrediction]:
        seen.extend(rows)
        return [RowPrediction(predicted=1.0) for _ in rows]

    validate({"id": "a"}, {"id": "b", "gpu": "none such"}, {"id": "c", "n_gpus": "x"}, {"id": "d"}, predictor=spy)
    assert [row.id for row in seen] == ["a", "d"]
    assert all(row.measured is None for row in seen)
    seen.clear()
    validate({}, base=MEMORY, predictor=spy)
    assert [row.measured for row in seen] == [None]


def test_each_table_has_its_estimator() -> None:
    for base, expected in (({}, 1.0), (TIMES, 4.0), (MEMORY, 2.0)):
        table = table_of({}, base=base) if base else table_of({})
        validation = validate_table(
            table, catalog(), language=always(1.0), memory=always(2.0), samples=always(3.0), times=always(4.0)
        )
        assert validation.rows[0].predicted == expected
    assert validation.unit == "gb"


def test_predictions_stay_with_their_rows() -> None:
    def by_gpus(rows: Sequence[Any]) -> list[RowPrediction]:
        return [RowPrediction(predicted=float(row.n_gpus)) for row in rows]

    changes = [{"n_gpus": 1}, {"gpu": "none such"}, {"n_gpus": 2}, {"n_gpus": "x"}, {"n_gpus": 4}]
    rows = validate(*({**change, "parallelism": ""} for change in changes), predictor=by_gpus).rows
    assert [row.predicted for row in rows] == [1.0, None, 2.0, None, 4.0]


def test_flagged_rows_are_predicted_and_left_out() -> None:
    validation = validate({}, {"notes": "as read; flag=doubtful", "tokens_per_s_total": 1.0})
    assert validation.rows[1].flagged
    assert validation.rows[1].ape == pytest.approx(10900.0)
    assert (validation.summary.n, validation.summary.skipped, validation.summary.flagged) == (1, 0, 1)
    assert validation.summary.p90_ape == pytest.approx(10.0)
    assert {group.n for group in validation.groups} == {1}


def test_a_row_without_a_measured_value_is_predicted_only() -> None:
    validation = validate({"tokens_per_s_total": ""}, {})
    row = validation.rows[0]
    assert (row.predicted, row.measured, row.ape, row.skipped) == (110.0, None, None, "no measured value")
    assert (validation.summary.n, validation.summary.skipped) == (1, 1)


def test_reasons_of_the_estimator_and_of_the_checks_reach_the_row() -> None:
    refused = validate({}, predictor=always(None, skipped="no such precision")).rows[0]
    assert (refused.skipped, refused.predicted, refused.basis) == ("no such precision", None, None)
    checked = validate({"parallelism": "tp64", "n_gpus": 64}).rows[0]
    assert checked.skipped is not None
    assert checked.predicted is None


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), 0.0, -3.0, 1e308])
def test_what_is_no_prediction_is_never_scored(value: float | None) -> None:
    validation = validate({}, predictor=always(value, low=1.0, high=2.0))
    row = validation.rows[0]
    assert (row.predicted, row.low, row.high) == (None, None, None)
    assert row.skipped == "the estimator gave no number"
    assert validation.summary.n == 0


def test_an_estimator_that_loses_rows_is_a_fault_of_the_program() -> None:
    with pytest.raises(ValueError, match="shorter"):
        validate({}, {}, predictor=lambda rows: [RowPrediction(predicted=1.0)])


def test_counts_of_reasons_and_choices() -> None:
    predictor = always(1.0, choices=("micro-batch 4", "no recomputation"))
    unknown = {"gpu": "none such"}
    doubted = unknown | {"notes": "flag=odd"}
    validation = validate({}, unknown, unknown, doubted, {"n_gpus": "x"}, {}, predictor=predictor)
    reasons = count_reasons(validation.rows)
    assert list(reasons.values()) == [2, 1]
    assert sum(reasons.values()) == validation.summary.skipped
    assert count_choices(validation.rows) == {"micro-batch 4": 2, "no recomputation": 2}


def test_groups_of_rows_that_do_not_say() -> None:
    validation = validate({"task": "", "source": "", "model": ""})
    assert {(group.by, group.key) for group in validation.groups} == {
        ("source", "unknown"), ("gpu", "A100-SXM4-80GB"), ("model", "unknown"), ("task", "unknown"),
    }  # fmt: skip


@pytest.mark.refit
def test_a_hundred_thousand_rows_with_faults_among_them() -> None:
    changes: list[dict[str, object]] = [{}, {"gpu": "none such"}, {"tokens_per_s_total": "-1"}, {"micro_batch_seqs": 3}]
    validation = validate(*(changes[at % 4] | {"id": at} for at in range(100_000)))
    assert (validation.summary.n, validation.summary.skipped) == (25_000, 75_000)
