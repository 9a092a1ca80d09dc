"""Cells of tables that people type: numbers, and what is wrong with them in words."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TypeVar

_NUMBER = re.compile(r"(?a)[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_COMMA = re.compile(r"(?a)[+-]?\d+,\d+(\s*[A-Z]{3})?")
_THOUSANDS = re.compile(r"(?a)[+-]?\d{1,3}(,\d{3})+(\.\d+)?(\s*[A-Z]{3})?")
_POINTED = re.compile(r"(?a)[+-]?\d{1,3}((\.\d{3})+,\d+|(\.\d{3}){2,})(\s*[A-Z]{3})?")
_ONE_POINT = re.compile(r"(?a)([+-]?[1-9]\d{0,2}\.\d{3})(\s*[A-Z]{3})?")
_LONGEST = 60
_Value = TypeVar("_Value")


class CellError(ValueError):
    """One cell is wrong: its column, what was found and what is expected."""

    def __init__(self, field: str, found: str, expected: str) -> None:
        super().__init__(field)
        self.field, self.found, self.expected = field, found, expected


def collect(faults: list[CellError], read: Callable[[], _Value]) -> _Value | None:
    """The value of a cell, or None with its fault noted."""
    try:
        return read()
    except CellError as fault:
        faults.append(fault)
        return None


def shown(text: str) -> str:
    """A cell as a problem quotes it."""
    short = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
    return f"'{short}'" if text else "nothing"


def number(field: str, text: str) -> float:
    """A finite number with a decimal point; raises CellError."""
    check_commas(field, text)
    if not _NUMBER.fullmatch(text):
        raise CellError(field, shown(text), "a number")
    value = float(text)
    if not math.isfinite(value):
        raise CellError(field, shown(text), "a finite number")
    return value


def whole(field: str, text: str) -> int:
    """A count of GPUs; raises CellError."""
    if not text:
        raise CellError(field, "nothing", "a whole number of GPUs")
    value = number(field, text)
    if value != int(value) or value < 1:
        raise CellError(field, shown(text), "a whole number of GPUs, at least 1")
    return int(value)


def positive(field: str, text: str, *, zero: bool) -> float:
    """A number greater than 0, or from 0 on; raises CellError."""
    value = number(field, text)
    if value < 0 or (value == 0 and not zero):
        raise CellError(field, shown(text), "a number of 0 or more" if zero else "a number greater than 0")
    return value


def check_point(field: str, text: str) -> None:
    """A number such as 1.234 in a file whose separator goes with decimal commas; raises CellError.

    There a point may mark thousands, and neither reading is more likely.
    """
    match = _ONE_POINT.fullmatch(text)
    if match is not None:
        unit = match[2] or ""
        expected = f"{match[1]}0{unit} if the point marks decimals, {match[1].replace('.', '')}{unit} if thousands"
        raise CellError(field, shown(text), expected)


def check_commas(field: str, text: str) -> None:
    """A number with a comma, which may mark decimals or thousands; raises CellError."""
    pointed, joined = text.replace(",", "."), text.replace(",", "")
    decimal, thousands = _COMMA.fullmatch(text), _THOUSANDS.fullmatch(text)
    if _POINTED.fullmatch(text):
        plain = text.replace(".", "").replace(",", ".")
        raise CellError(field, shown(text), f"a number without thousands marks: {plain}")
    if decimal and thousands:
        raise CellError(field, shown(text), f"a number without a comma: {pointed} or {joined}")
    if decimal:
        raise CellError(field, shown(text), f"a decimal point: {pointed}")
    if thousands:
        raise CellError(field, shown(text), f"a number without thousands marks: {joined}")
