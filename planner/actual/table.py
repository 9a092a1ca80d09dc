"""A CSV file as rows of texts: separator, column names, size; nothing is kept of a faulty file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from planner.cells import CellError, check_point, collect, shown
from planner.errors import Problem, TableError
from planner.scenario.import_lines import read_lines
from planner.validation import near

MAX_BYTES: Final = 8_000_000
MAX_ROWS: Final = 20_000
_OTHER_NAMES: Final = {"provider": "resource", "kind": "line", "machine": "resource", "offer": "resource"}

Row = TypeVar("Row")
Texts = Mapping[str, str]


def read_content(path: Path) -> bytes:
    """Content of a table, at most one byte more than may be read.

    Raises
    ------
    TableError
        It can't be read.
    """
    try:
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except OSError as error:
        found = error.strerror or "an error"
        problem = Problem(file=str(path), record="", field="", found=found, expected="a readable CSV file")
        raise TableError("table_invalid", [problem]) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A kind of table: its columns, and of which it needs at least one each."""

    file: str
    columns: Sequence[str]
    required: Sequence[tuple[str, ...]]

    def read(self, content: bytes, row: Callable[[Texts, int, list[CellError]], Row | None]) -> list[Row]:
        """Rows of a file; raises TableError with every fault."""
        if len(content) > MAX_BYTES:
            raise self._refused(f"{len(content) / 1e6:,.1f} MB", f"at most {MAX_BYTES / 1e6:g} MB")
        try:
            separator, lines = read_lines(content)
        except CellError as error:
            raise self._refused(error.found, error.expected) from None
        if not lines:
            raise self._refused("nothing", f"a line of column names: {', '.join(self.columns)}")
        if len(lines) - 1 > MAX_ROWS:
            raise self._refused(f"{len(lines) - 1:,} rows", f"at most {MAX_ROWS:,}")
        header = [_OTHER_NAMES.get(name, name) for name in (cell.strip().casefold() for cell in lines[0][1])]
        while header and not header[-1]:  # spreadsheets end every line with separators for columns that were emptied
            header.pop()
        problems = self._header_problems(header, lines[0][0])
        if not problems and len(lines) == 1:
            problems = [self._problem("no row", "at least one row below the column names")]
        found: list[Row] = []
        for line, cells in lines[1:] if not problems else ():
            faults: list[CellError] = []
            values = _texts(header, cells, faults)
            for name in () if separator == "," else header:
                collect(faults, partial(_checked_point, name, values.get(name, "")))
            read = row(values, line, faults)
            if read is not None and not faults:
                found.append(read)
            first = {fault.field: fault for fault in reversed(faults)}  # one of each cell
            problems += [
                self._problem(fault.found, fault.expected, field=field, line=line)
                for field, fault in reversed(first.items())
            ]
        if problems:
            raise TableError("table_invalid", problems)
        return found

    def _header_problems(self, header: Sequence[str], line: int) -> list[Problem]:
        problems = []
        for name in dict.fromkeys(header):
            if header.count(name) > 1:
                problems.append(
                    self._problem(f"the column '{name}' twice", "each column once", field="columns", line=line)
                )
            if name not in self.columns:
                close = near(name, self.columns) if name else []
                expected = f"{' or '.join(close)}" if close else f"only {', '.join(self.columns)}"
                problems.append(self._problem(f"the column {shown(name)}", expected, field="columns", line=line))
        for names in self.required:
            if not set(names) & set(header):
                found = f"no column {' or '.join(names)}"
                problems.append(self._problem(found, ", ".join(self.columns), field="columns", line=line))
        return problems

    def _problem(self, found: str, expected: str, *, field: str = "", line: int | None = None) -> Problem:
        return Problem(file=self.file, record="", field=field, found=found, expected=expected, line=line)

    def _refused(self, found: str, expected: str) -> TableError:
        return TableError("table_invalid", [self._problem(found, expected)])


def _texts(header: Sequence[str], cells: list[str], faults: list[CellError]) -> dict[str, str]:
    while len(cells) > len(header) and not cells[-1].strip():
        cells = cells[:-1]
    if len(cells) > len(header):
        expected = f"{len(header)}, as in the first line; is a decimal comma in a number?"
        faults.append(CellError("", f"{len(cells)} cells", expected))
    texts = (cell.strip() for cell in cells)
    return {name: text[1:] if text.startswith("'") else text for name, text in zip(header, texts, strict=False)}


def _checked_point(field: str, text: str) -> None:
    """A number such as 1.234 in a file that has decimal commas elsewhere, which may mean thousands."""
    if field not in ("month", "job", "resource", "line", "currency", "note"):
        check_point(field, text)
