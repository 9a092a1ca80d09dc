"""Validation -> its JSON document, CSV and text."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from planner.messages import render
from planner.performance.own_offset import OwnOffset
from planner.performance.own_validation import OwnValidation
from planner.report.export import safe_cell
from planner.report.text_table import table
from planner.validate.run import Validation, count_choices, count_reasons
from planner.validate.score import BYS, Group, ScoredRow

COLUMNS = (
    "id", "measured", "predicted", "low", "high", "unit", "ape", "basis", "novelty", "skipped", "flagged", "source",
    "gpu", "model", "task", "choices", "line", "sources",
)  # fmt: skip
"""Keys of a row in JSON, and columns of the CSV."""
_MOST_GROUPS = 25  # lines of a kind in the text; JSON has all of them
_MOST_COUNTS = 15
_LABELS = {"source": "source", "gpu": "GPU", "model": "model", "task": "task"}


def validation_document(validation: Validation, moved: OwnValidation | None = None) -> dict[str, Any]:
    """The whole validation as plain data; null wherever there is no figure, or no own rows were given."""
    return {
        "schema_version": 1,
        "schema": validation.schema,
        "unit": validation.unit,
        "rows": [_row(row) for row in validation.rows],
        "summary": dataclasses.asdict(validation.summary),
        "groups": [dataclasses.asdict(group) for group in validation.groups],
        "reasons": _counts("reason", count_reasons(validation.rows)),
        "choices": _counts("choice", count_choices(validation.rows)),
        "notes": list(validation.notes),
        "own_rows": None if moved is None else [_own(offset) for offset in moved.offsets],
        "summary_without_own_rows": None if moved is None else dataclasses.asdict(moved.cold),
    }


def _own(offset: OwnOffset) -> dict[str, Any]:
    return {
        "gpu": offset.gpu,
        "kind": offset.kind,
        "software": offset.software,
        "files": list(offset.files),
        "rows": offset.rows,
        "used": offset.used,
        "change": math.expm1(offset.offset),
        "error": offset.own_error,
        "error_without": offset.cold_error,
    }


def validation_csv(validation: Validation) -> str:
    """The rows as CSV: an empty cell where there is no figure, choices joined by semicolons."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in validation.rows:
        writer.writerow(csv_cells(row))
    return stream.getvalue()


def csv_cells(row: ScoredRow) -> list[object]:
    """Cells of a row, in the order of the columns."""
    cells = _row(row)
    cells["flagged"] = "true" if row.flagged else "false"
    cells["choices"] = "; ".join(row.choices)
    cells["sources"] = "; ".join(row.sources)
    return [safe_cell(cells[column]) for column in COLUMNS]


def validation_text(validation: Validation, moved: OwnValidation | None = None) -> str:
    """The validation for a terminal: the summary, groups with the worst first, what was skipped and filled in."""
    summary = validation.summary
    lines = [
        f"{summary.n:,} rows of {validation.schema} scored,"
        f" {summary.skipped:,} skipped, {summary.flagged:,} flagged by the table",
        "",
        f"median error             {_percent(summary.median_ape)}",
        f"90 % of the errors below {_percent(summary.p90_ape)}",
        f"within 80 % interval     {_percent(None if summary.coverage_80 is None else 100 * summary.coverage_80)}",
        f"half width of interval   {_percent(summary.median_half_width)}",
    ]
    for by in BYS:
        lines += _group_lines(_LABELS[by], [group for group in validation.groups if group.by == by and group.n])
    lines += _count_lines("Not scored:", count_reasons(validation.rows))
    lines += _count_lines("Filled in:", count_choices(validation.rows))
    lines += [f"Note: {note}" for note in validation.notes]
    if moved is not None:
        cold = f"median {_percent(moved.cold.median_ape)}, 90 % below {_percent(moved.cold.p90_ape)}"
        lines += ["", f"without own rows: {cold}"]
        for offset in moved.offsets:
            code, params = offset.words(offset.gpu)
            lines.append(f"Note: {render(code, **params)}")
    return "\n".join(lines) + "\n"


def _row(row: ScoredRow) -> dict[str, Any]:
    cells = {column: getattr(row, column) for column in COLUMNS}
    cells["choices"] = list(row.choices)
    cells["sources"] = list(row.sources)
    return cells


def _counts(name: str, counts: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{name: text, "rows": count} for text, count in counts.items()]


def _group_lines(label: str, groups: Sequence[Group]) -> list[str]:
    if not groups:
        return []
    rows = [
        [
            _plain(group.key),
            f"{group.n:,}",
            _percent(group.median_ape),
            _percent(group.p90_ape),
            _percent(group.bias, "+"),
        ]
        for group in groups[:_MOST_GROUPS]
    ]
    return ["", *table([label, "rows", "median", "p90", "bias"], rows), *_more(len(groups) - _MOST_GROUPS)]


def _count_lines(title: str, counts: Mapping[str, int]) -> list[str]:
    if not counts:
        return []
    shown = [f"  {count:,} x {_plain(text)}" for text, count in list(counts.items())[:_MOST_COUNTS]]
    return ["", title, *shown, *_more(len(counts) - _MOST_COUNTS)]


def _more(count: int) -> list[str]:
    return [f"  ... and {count:,} more"] if count > 0 else []


def _plain(text: str) -> str:
    """Text of a file on one line, without what would steer the terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _percent(value: float | None, sign: str = "") -> str:
    return "unknown" if value is None else f"{value:{sign}.1f} %"
