"""Bytes of a CSV file -> lines of cells, whatever spreadsheet wrote it."""

from __future__ import annotations

import codecs
import csv
import io
import re

from planner.cells import CellError

_SEPARATORS = ",;\t"
_SEP_LINE = re.compile(r'"?sep=([^\w\s"]|\t)\1*"?', re.IGNORECASE)  # for Excel alone; \1 as in all its lines
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_AS_UTF_8 = "a CSV file saved as UTF-8 (in Excel: Save As, CSV UTF-8)"


def read_lines(content: bytes) -> tuple[str, list[tuple[int, list[str]]]]:
    """Separator, and the lines that hold anything with their numbers, without one that only names the separator.

    Raises
    ------
    CellError
        What was found and expected of the file as a whole.
    """
    text = _text(content)
    first = re.split(r"[\r\n]", text.lstrip("\r\n"), maxsplit=1)[0]
    named = _SEP_LINE.fullmatch(first)
    separator = named[1] if named is not None else max(_SEPARATORS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        lines = [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        if "field limit" in str(error):
            found = f"a cell of more than {csv.field_size_limit():,} characters, by line {reader.line_num}"
            raise CellError("", found, "shorter cells; is a quote open that never closes?") from None
        raise CellError("", str(error), "a CSV file with quotes in pairs") from None
    return separator, lines if named is None else lines[1:]


def _text(content: bytes) -> str:
    try:
        text = content.decode("utf-16" if content[:2] in _UTF_16 else "utf-8-sig")
    except UnicodeDecodeError:
        raise CellError("", "bytes that are no UTF-8 text", _AS_UTF_8) from None
    if "\0" in text:
        raise CellError("", "binary data", _AS_UTF_8)
    return text
