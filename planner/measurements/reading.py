"""A file of separated values as text: encodings, separators, and the lines with their numbers."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from planner.errors import Problem, TableError

MAX_BYTES = 256_000_000
_SEPARATORS = ",;\t|"
_MARKS = (  # UTF-32 first: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE_BYTES = 2000
_REMARKS = ("#", "sep=")  # the second is how spreadsheets announce their separator


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Cells of a file: names of the columns in lower case, and each row with the number of its first line."""

    header: tuple[str, ...]
    header_line: int
    rows: tuple[tuple[int, list[str]], ...]
    notes: tuple[str, ...]  # how it was read, where that isn't plain


def read_bytes(path: Path) -> bytes:
    """Content of a file.

    Raises
    ------
    TableError
        It can't be read, or is larger than anything that is validated.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise refused(str(path), error.strerror or "an error", "a readable file of measurements") from None
    if len(content) > MAX_BYTES:
        raise refused(str(path), f"more than {MAX_BYTES / 1e6:,.0f} MB", f"at most {MAX_BYTES / 1e6:,.0f} MB")
    return content


def refused(file: str, found: str, expected: str, *, line: int | None = None, field: str = "") -> TableError:
    """The error of a file that can't be used at all."""
    return TableError(
        "table_invalid", [Problem(file=file, record="", field=field, found=found, expected=expected, line=line)]
    )


def read_grid(content: bytes, known: Collection[str], *, file: str) -> Grid:
    """Cells of a file.

    Parameters
    ----------
    content : bytes
        UTF-8 with or without mark, UTF-16, or else an 8-bit encoding, which is then said.
    known : collection of str
        Names of columns: the separator is the one that makes most of them appear in the header.
    file : str
        Name of the file in problems.

    Returns
    -------
    Grid
        Without empty lines, and without lines before the header that begin with #.

    Raises
    ------
    TableError
        No text, quotes that don't close, no header or no row.
    """
    text, notes = _decoded(content, file)
    skipped = 0
    lines = text.splitlines(keepends=True)
    while skipped < len(lines) and (not lines[skipped].strip() or lines[skipped].lstrip().startswith(_REMARKS)):
        skipped += 1
    if skipped == len(lines):
        raise refused(file, "nothing", "a line of column names and a row for each measurement")
    separator = _separator(lines[skipped], known)
    if separator != ",":
        notes.append(f"cells are separated by {'tabs' if separator == chr(9) else repr(separator)}")
    reader = csv.reader(io.StringIO("".join(lines[skipped:]), newline=""), delimiter=separator, strict=True)
    found: list[tuple[int, list[str]]] = []
    before = skipped
    try:
        for cells in reader:
            if any(cell and not cell.isspace() for cell in cells):
                found.append((before + 1, cells))
            before = skipped + reader.line_num
    except csv.Error as error:
        raise refused(
            file, f"a row that can't be read ({error})", "cells in quotes that close", line=before + 1
        ) from None
    header = tuple(cell.strip().casefold() for cell in found[0][1])
    if len(found) == 1:
        raise refused(file, "no row", "a row for each measurement", line=found[0][0])
    return Grid(header=header, header_line=found[0][0], rows=tuple(found[1:]), notes=tuple(notes))


def _decoded(content: bytes, file: str) -> tuple[str, list[str]]:
    notes: list[str] = []
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "")
    if not encoding:
        encoding = _wide(content) or "utf-8"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        if encoding != "utf-8":
            raise refused(file, f"bytes that aren't {encoding.upper()}", "a table saved as UTF-8") from None
        text = content.decode("cp1252", "replace")
        notes.append("the file isn't UTF-8 and was read as Windows-1252: letters with accents may be wrong")
    if "\0" in text:
        raise refused(file, "binary data", "a table saved as UTF-8, with a line of column names")
    return text, notes


def _wide(content: bytes) -> str:
    """UTF-16 without a mark shows as a zero in every other byte."""
    sample = content[:_SAMPLE_BYTES]
    if len(sample) < 4 or b"\0" not in sample:
        return ""
    even, odd = sample[::2], sample[1::2]
    if odd.count(0) > 0.4 * len(odd) and not even.count(0):
        return "utf-16-le"
    if even.count(0) > 0.4 * len(even) and not odd.count(0):
        return "utf-16-be"
    return ""


def _separator(line: str, known: Collection[str]) -> str:
    def names(separator: str) -> int:
        cells = next(csv.reader([line], delimiter=separator), [])
        return sum(cell.strip().casefold() in known for cell in cells)

    return max(_SEPARATORS, key=names)  # the comma where none does better
