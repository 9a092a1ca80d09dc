"""Tables of measurements: which one it is, by the names of its columns, and its rows with what is wrong in them."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.cells import CellError, number, shown
from planner.errors import Problem, TableError
from planner.measurements.fault import Fault
from planner.measurements.reading import Grid, read_grid, refused
from planner.measurements.rows import MEASURED, UNITS, LanguageRow, MemoryRow, Row, SampleRow, Schema, TimeRow, Unit
from planner.validation import near

SHAPE = ("n_layers", "d_model")
"""Columns that describe a model well enough to do without its name."""
_SAMPLE_SHAPE = ("fwd_gmacs_per_sample", "activations_m_per_sample")

_ROW_TYPES: Mapping[Schema, type[LanguageRow] | type[MemoryRow] | type[SampleRow] | type[TimeRow]] = {
    "llm_throughput": LanguageRow,
    "memory_peaks": MemoryRow,
    "dl_throughput": SampleRow,
    "mlperf_time_to_train": TimeRow,
}
_REQUIRED = ("gpu", "n_gpus")
_YIELDING: tuple[Schema, ...] = ("dl_throughput", "mlperf_time_to_train")
"""Tables whose measured column has so plain a name that others may have it too: these are meant only without others."""
# Largest values that can be meant; what is beyond is a mistake of the table.
_COUNTS = {
    "n_gpus": 1e6,
    "gpus_per_node": 1e4,
    "n_layers": 1e5,
    "d_model": 1e7,
    "n_heads": 1e6,
    "n_kv_heads": 1e6,
    "d_ff": 1e8,
    "vocab": 1e8,
    "seq_len": 1e9,
    "global_batch_seqs": 1e9,
    "micro_batch_seqs": 1e8,
    "nodes": 1e6,
}
_NUMBERS = {
    "n_params": (1e3, 1e15),
    "grad_accum": (1e-3, 1e9),
    "network_gbit_per_s": (1e-3, 1e6),
    "batch_per_gpu": (1e-3, 1e8),
    "fwd_gmacs_per_sample": (1e-6, 1e9),
    "activations_m_per_sample": (1e-6, 1e9),
    "tokens_per_s_total": (1e-3, 1e12),
    "throughput": (1e-6, 1e12),
    "peak_memory_gb": (1e-3, 1e4),
    "global_batch_size": (1, 1e9),
    "minutes": (1e-3, 1e7),
}
_SWITCHES = ("gated_mlp",)
_TRUE, _FALSE = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no")
_ALIKE = 0.8  # from which a column that isn't known is taken for a misspelt one


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table that was understood. `faults` holds, by index of the row, the cells of it that can't be meant."""

    schema: Schema
    unit: Unit
    rows: tuple[Row, ...]
    faults: Mapping[int, tuple[Fault, ...]]
    notes: tuple[str, ...]


def read_table(content: bytes, *, file: str) -> Table:
    """Understand a table of measurements by the names of its columns.

    Parameters
    ----------
    content : bytes
        Separated by commas, semicolons or tabs; columns in any order, others ignored.
    file : str
        Name of the file in problems.

    Returns
    -------
    Table
        Every row, also those with faults.

    Raises
    ------
    TableError
        It isn't text, not one of the tables that are understood, or lacks a column without which no row can be.
    """
    grid = read_grid(content, _names(), file=file)
    schema = _schema(grid, file)
    row_type = _ROW_TYPES[schema]
    names = [field.name for field in dataclasses.fields(row_type) if field.name != "line"]
    problems = _header_problems(grid, schema, file)
    if problems:
        raise TableError("table_invalid", problems)
    faults: dict[int, list[Fault]] = {}
    present = [name for name in names if name in grid.header]
    columns = [_column(grid, name, faults) for name in present]
    for at, (_, cells) in enumerate(grid.rows):
        if len(cells) > len(grid.header):
            expected = f"{len(grid.header)} as in the header: is a comma in a number or a text?"
            faults.setdefault(at, []).append(
                Fault(field="", found=f"{len(cells)} cells in this row", expected=expected)
            )
    rows = []
    for at, ((line, _), values) in enumerate(zip(grid.rows, zip(*columns, strict=True), strict=True)):
        cells_by_name: dict[str, Any] = dict(zip(present, values, strict=True))
        cells_by_name["id"] = cells_by_name.get("id") or f"row {at + 1}"
        rows.append(row_type(line=line, **cells_by_name))
    return Table(
        schema=schema,
        unit=UNITS[schema],
        rows=tuple(rows),
        faults={at: tuple(found) for at, found in faults.items()},
        notes=(*grid.notes, *_spelling_notes(grid, names)),
    )


def _names() -> frozenset[str]:
    return frozenset(field.name for row_type in _ROW_TYPES.values() for field in dataclasses.fields(row_type))


def _schema(grid: Grid, file: str) -> Schema:
    found = [schema for schema, column in MEASURED.items() if column in grid.header]
    for schema in _YIELDING:
        if len(found) > 1 and schema in found:
            found.remove(schema)
    if len(found) == 1:
        return found[0]
    line = grid.header_line
    understood = " or ".join(f"{column} ({schema})" for schema, column in MEASURED.items())
    if len(found) > 1:
        raise refused(file, "the measured columns of two tables", f"one of {understood}", line=line, field="columns")
    close = [name for column in MEASURED.values() for name in near(column, grid.header, count=1)]
    resembling = f"; the nearest here is '{close[0]}'" if close else ""
    raise refused(file, "no measured column", f"{understood}{resembling}", line=line, field="columns")


def _header_problems(grid: Grid, schema: Schema, file: str) -> list[Problem]:
    known = {field.name for field in dataclasses.fields(_ROW_TYPES[schema])}
    others = [name for name in grid.header if name and name not in known]
    found = [
        (f"the column '{name}' twice", "each column once")
        for name in dict.fromkeys(grid.header)
        if name in known and grid.header.count(name) > 1
    ]
    found += [
        (f"no column '{name}'", f"it: without it no row can be predicted{_nearest(name, others)}")
        for name in _REQUIRED
        if name not in grid.header
    ]
    shape = _SAMPLE_SHAPE if schema == "dl_throughput" else SHAPE
    if schema == "mlperf_time_to_train":
        if "benchmark" not in grid.header:
            found.append(("no column 'benchmark'", "the name of the benchmark" + _nearest("benchmark", others)))
    elif "model" not in grid.header and not set(shape) <= set(grid.header):
        expected = f"the name of the model, or its shape ({' and '.join(shape)})"
        found.append(("no column 'model'", expected + _nearest("model", others)))
    return [
        Problem(file=file, record="", field="columns", found=what, expected=expected, line=grid.header_line)
        for what, expected in found
    ]


def _nearest(name: str, others: Sequence[str]) -> str:
    close = near(name, others, count=1) or [other for other in others if other in name][:1]
    return f"; the nearest here is '{close[0]}'" if close else ""


def _spelling_notes(grid: Grid, names: Sequence[str]) -> list[str]:
    """Columns that are ignored but resemble one that is missing."""
    missing = [name for name in names if name not in grid.header]
    notes = []
    for name in grid.header:
        close = difflib.get_close_matches(name, missing, n=1, cutoff=_ALIKE) if name not in names else []
        if close:
            notes.append(f"the column '{name}' was ignored: is {close[0]} meant?")
    return notes


def _column(grid: Grid, name: str, faults: dict[int, list[Fault]]) -> list[Any]:
    """Values of a column; each distinct text is read once."""
    at = grid.header.index(name)
    read = _reader(name)
    seen: dict[str, Any] = {}
    values = []
    for index, (_, cells) in enumerate(grid.rows):
        text = cells[at].strip() if at < len(cells) else ""
        if text not in seen:
            try:
                seen[text] = read(text) if text else None
            except CellError as fault:
                seen[text] = fault
        value = seen[text]
        if isinstance(value, CellError):
            faults.setdefault(index, []).append(Fault(field=name, found=value.found, expected=value.expected))
            value = None
        values.append(value)
    return values


def _reader(name: str) -> Callable[[str], Any]:
    if name in _COUNTS:
        return lambda text: _count(name, text)
    if name in _NUMBERS:
        return lambda text: _within(name, text)
    if name in _SWITCHES:
        return lambda text: _switch(name, text)
    return str


def _count(name: str, text: str) -> int:
    value = number(name, text)
    if value != int(value) or not 1 <= value <= _COUNTS[name]:
        raise CellError(name, shown(text), f"a whole number from 1 to {_COUNTS[name]:,.0f}")
    return int(value)


def _within(name: str, text: str) -> float:
    value = number(name, text)
    low, high = _NUMBERS[name]
    if value <= 0:
        raise CellError(name, shown(text), "a number greater than 0")
    if not low <= value <= high:
        raise CellError(name, shown(text), f"a number from {low:g} to {high:g}")
    return value


def _switch(name: str, text: str) -> bool:
    if text.casefold() not in (*_TRUE, *_FALSE):
        raise CellError(name, shown(text), "1 or 0")
    return text.casefold() in _TRUE
