"""Validation of a table with and without the user's own rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from planner.catalog.records import Catalog
from planner.errors import Problem
from planner.measurements.prediction import Predictor, RowPrediction
from planner.measurements.rows import LanguageRow, MemoryRow, SampleRow, TimeRow
from planner.measurements.table import Table
from planner.performance.constants import constants_of
from planner.performance.own_offset import OwnOffset
from planner.performance.own_tables import OwnTables
from planner.performance.predict_rows import predict_language_rows, predict_memory_rows
from planner.performance.time_to_target.predict import predict_time_rows
from planner.performance.transfer.names import in_words_of_tables
from planner.performance.transfer.predict import predict_sample_rows
from planner.validate.run import Validation, validate_table
from planner.validate.score import Summary

_Row = TypeVar("_Row", LanguageRow, MemoryRow, SampleRow, TimeRow)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnValidation:
    """A table predicted with own rows, and what these did: `cold` is the summary without them."""

    validation: Validation
    cold: Summary
    offsets: tuple[OwnOffset, ...]
    problems: tuple[Problem, ...]


def validate_with_own(table: Table, own: Sequence[tuple[str, Table]], catalog: Catalog) -> OwnValidation:
    """Predict the rows of a table without and with own rows, and compare.

    Parameters
    ----------
    table : Table
        What is validated. It may be among the own rows: none of its rows is then moved by its own configuration.
    own : sequence of (str, Table)
        Names of files of own rows and what they hold. Rows of memory say nothing of others.
    catalog : Catalog
        GPUs, models and the estimator's constants.
    """
    constants = constants_of(catalog.assumptions)
    languages = own if table.schema == "llm_throughput" else ()
    samples = own if table.schema == "dl_throughput" else ()
    of_languages = OwnTables(
        languages, LanguageRow, lambda rows: predict_language_rows(rows, catalog, published=False), catalog, constants
    )
    of_samples = OwnTables(
        samples,
        SampleRow,
        lambda rows: predict_sample_rows(in_words_of_tables(rows, catalog), catalog, published=False),
        catalog,
        constants,
    )
    usual = _published(catalog)
    language, samples_of = _once(usual.language), _once(usual.samples)
    memory, times = _once(usual.memory), _once(usual.times)
    cold = validate_table(table, catalog, language=language, memory=memory, samples=samples_of, times=times)
    found = validate_table(
        table,
        catalog,
        language=lambda rows: of_languages.moved(rows, language(rows)),
        memory=memory,
        samples=lambda rows: of_samples.moved(rows, samples_of(rows)),
        times=times,
    )
    problems = (*of_languages.problems, *of_samples.problems)
    if not (languages or samples):
        problems = tuple(
            Problem(file=file, record="", field="", found=f"own rows beside a table of {table.schema}",
                    expected="one of speeds")
            for file, _ in own
        )  # fmt: skip
    return OwnValidation(
        validation=found,
        cold=cold.summary,
        offsets=(*of_languages.offsets, *of_samples.offsets),
        problems=problems,
    )


def validate_published(table: Table, catalog: Catalog) -> Validation:
    """Predict the rows of a table from what is published, and compare."""
    usual = _published(catalog)
    return validate_table(
        table, catalog, language=usual.language, memory=usual.memory, samples=usual.samples, times=usual.times
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Predictors:
    """The estimators of the four kinds of table, from what is published."""

    language: Predictor[LanguageRow]
    memory: Predictor[MemoryRow]
    samples: Predictor[SampleRow]
    times: Predictor[TimeRow]


def _published(catalog: Catalog) -> _Predictors:
    return _Predictors(
        language=lambda rows: predict_language_rows(rows, catalog),
        memory=lambda rows: predict_memory_rows(rows, catalog),
        samples=lambda rows: predict_sample_rows(in_words_of_tables(rows, catalog), catalog),
        times=lambda rows: predict_time_rows(rows, catalog),
    )


def _once(predict: Predictor[_Row]) -> Predictor[_Row]:
    """The same predictions for the same rows, computed at the first call."""
    told: list[tuple[Sequence[_Row], Sequence[RowPrediction]]] = []

    def predicted(rows: Sequence[_Row]) -> Sequence[RowPrediction]:
        for known, predictions in told:
            if known == rows:
                return predictions
        told.append((rows, predict(rows)))
        return told[-1][1]

    return predicted
