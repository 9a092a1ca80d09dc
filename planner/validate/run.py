"""Validation of a table: check each row, predict what can be predicted, and score it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from planner.catalog.records import Catalog
from planner.measurements.checks import Subjects, faults_of
from planner.measurements.fault import in_words
from planner.measurements.prediction import Predictor, RowPrediction
from planner.measurements.rows import LanguageRow, MemoryRow, Row, SampleRow, Schema, TimeRow, Unit, is_flagged
from planner.measurements.table import Table
from planner.validate.score import UNKNOWN, Group, ScoredRow, Summary, group_rows, source_key, summarise

NOT_MEASURED = "no measured value"
_NO_PREDICTION = "the estimator gave no number"
_LARGEST = 1e100  # so that no ratio of two figures overflows


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """What came of a table: every row in its order, all that count together, and groups of them."""

    schema: Schema
    unit: Unit
    rows: tuple[ScoredRow, ...]
    summary: Summary
    groups: tuple[Group, ...]
    notes: tuple[str, ...]


def validate_table(
    table: Table,
    catalog: Catalog,
    *,
    language: Predictor[LanguageRow],
    memory: Predictor[MemoryRow],
    samples: Predictor[SampleRow],
    times: Predictor[TimeRow],
    other_models: frozenset[str] = frozenset(),
) -> Validation:
    """Predict the rows of a table, each from its configuration alone, and compare.

    Parameters
    ----------
    table : Table
        With the faults found when it was read.
    catalog : Catalog
        GPUs and models that are known.
    language, memory, samples, times : Predictor
        The estimators of the four kinds of table. They see rows without what was measured.
    other_models : frozenset of str
        Names of models, in lower case, that the estimators know besides the catalog's.

    Returns
    -------
    Validation
        Rows that can't be predicted, or have nothing to compare with, carry their reason.
    """
    subjects = Subjects(catalog, other_models)
    reasons = [in_words(faults_of(table, at, subjects)) or None for at in range(len(table.rows))]
    asked = [at for at, reason in enumerate(reasons) if reason is None]
    hidden: list[Any] = [table.rows[at].without_measured() for at in asked]
    predictors: dict[Schema, Predictor[Any]] = {
        "llm_throughput": language,
        "memory_peaks": memory,
        "dl_throughput": samples,
        "mlperf_time_to_train": times,
    }
    predictor = predictors[table.schema]
    predictions: list[RowPrediction | None] = [None] * len(table.rows)
    for at, prediction in zip(asked, predictor(hidden) if hidden else (), strict=True):
        predictions[at] = _checked(prediction)
    rows = [
        _scored(row, reason, prediction, table.unit)
        for row, reason, prediction in zip(table.rows, reasons, predictions, strict=True)
    ]
    return Validation(
        schema=table.schema,
        unit=table.unit,
        rows=tuple(rows),
        summary=summarise(rows),
        groups=group_rows(rows),
        notes=table.notes,
    )


def _checked(prediction: RowPrediction) -> RowPrediction:
    """A prediction that can be compared: figures that aren't positive numbers are none."""
    figures = (prediction.predicted, prediction.low, prediction.high)
    if all(figure is None or 0 < figure < _LARGEST for figure in figures):
        if prediction.predicted is None and prediction.skipped is None:
            return replace(prediction, skipped=_NO_PREDICTION, low=None, high=None)
        return prediction
    return replace(prediction, predicted=None, low=None, high=None, skipped=prediction.skipped or _NO_PREDICTION)


def _scored(row: Row, reason: str | None, prediction: RowPrediction | None, unit: Unit) -> ScoredRow:
    told = prediction or RowPrediction(predicted=None)
    reason = reason or told.skipped or (NOT_MEASURED if row.measured is None else None)
    has_prediction = told.predicted is not None
    return ScoredRow(
        id=row.id,
        line=row.line,
        measured=row.measured,
        predicted=told.predicted,
        low=told.low if has_prediction else None,
        high=told.high if has_prediction else None,
        unit=unit,
        basis=told.basis if has_prediction else None,
        novelty=told.novelty,
        skipped=reason,
        flagged=is_flagged(row),
        source=source_key(row.source or (row.round if isinstance(row, TimeRow) else None)),
        gpu=row.gpu or UNKNOWN,
        model=row.model or UNKNOWN,
        task=row.task or UNKNOWN,
        choices=told.choices,
        sources=told.sources if has_prediction else (),
    )


def count_reasons(rows: Sequence[ScoredRow]) -> dict[str, int]:
    """Reasons of the skipped rows, the most frequent first."""
    return _counted([row.skipped for row in rows if row.skipped is not None and not row.flagged])


def count_choices(rows: Sequence[ScoredRow]) -> dict[str, int]:
    """What was filled in where the table says nothing, the most frequent first."""
    return _counted([choice for row in rows for choice in row.choices])


def _counted(texts: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for text in texts:
        counts[text] = counts.get(text, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
