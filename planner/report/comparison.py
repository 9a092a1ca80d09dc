"""Predicted against measured over whole tables: the shipped ones, or anybody's, by the estimator as it is."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from planner.catalog.records import Catalog
from planner.errors import CatalogError, Problem, TableError
from planner.measurements.rows import Row
from planner.measurements.table import Table, read_table
from planner.performance.evidence import MEASUREMENTS_FOLDER
from planner.performance.own_validation import validate_published
from planner.report.export import safe_cell
from planner.report.validation import COLUMNS, csv_cells
from planner.validate.run import Validation
from planner.validate.score import ScoredRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A table with what came of it: a scored row for each of its rows, in their order."""

    file: str
    table: Table
    validation: Validation

    @property
    def pairs(self) -> tuple[tuple[Row, ScoredRow], ...]:
        """Each row beside its score."""
        return tuple(zip(self.table.rows, self.validation.rows, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All tables of a folder, and those that aren't understood."""

    tables: tuple[Compared, ...]
    unread: tuple[Problem, ...]

    @property
    def rows(self) -> tuple[ScoredRow, ...]:
        """The scored rows of all tables."""
        return tuple(row for table in self.tables for row in table.validation.rows)


def compare_text(content: bytes, *, file: str, catalog: Catalog) -> Compared:
    """Read and compare a table.

    Raises
    ------
    TableError
        It is none of the tables that are understood, or can't be read at all.
    """
    table = read_table(content, file=file)
    return Compared(file=file, table=table, validation=validate_published(table, catalog))


def compare_folder(catalog: Catalog, folder: Path = MEASUREMENTS_FOLDER) -> Comparison:
    """Compare every table of a folder, by default the shipped measurements.

    Raises
    ------
    CatalogError
        A table can't be opened.
    """
    tables: list[Compared] = []
    unread: list[Problem] = []
    for path in sorted(folder.glob("*.csv")):
        try:
            tables.append(compare_text(path.read_bytes(), file=path.name, catalog=catalog))
        except TableError as error:
            unread += error.problems
        except OSError as error:
            found = error.strerror or "an error"
            problem = Problem(file=path.name, record="", field="", found=found, expected="a readable file")
            raise CatalogError("catalog_invalid", [problem]) from None
    return Comparison(tables=tuple(tables), unread=tuple(unread))


def comparison_csv(tables: Sequence[Compared]) -> str:
    """Rows of several tables as one CSV: the columns of `validate`, after the name of the table."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("table", *COLUMNS))
    for table in tables:
        for row in table.validation.rows:
            writer.writerow((safe_cell(table.file), *csv_cells(row)))
    return stream.getvalue()
