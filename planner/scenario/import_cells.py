"""Cells of an offer file: numbers and prices as people type them, and what is wrong with them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TypeVar

from planner.catalog.records import Catalog
from planner.units import H_PER_MONTH

PRICES = ("price_usd_per_h", "price_usd_per_gpu_h")
MARKETS = ("cloud", "marketplace")
TERM = "on_demand"
MAX_USD_PER_GPU_H = 100.0
"""No GPU has been rented for more: a higher figure is a price of another length of time."""
OTHER_TIME = re.compile(r"(month|\bmo\b|monat|year|\byr\b|annual|week|\bdays?\b|daily)", re.IGNORECASE)

_NUMBER = re.compile(r"(?a)[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_AMOUNT = re.compile(r"(?a)([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?:\s*([A-Z]{3}))?")
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
    _check_commas(field, text)
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


def price(field: str, text: str, gpu_count: float | None, catalog: Catalog) -> float | str:
    """Price of an hour: a number in USD, or text of an amount and a currency with a rate; raises CellError."""
    if text.startswith(("$", "€", "£", "¥")):
        bare = text[1:].strip() or "2.5"
        raise CellError(field, shown(text), f"a number without a sign, such as {bare}; 2.5 EUR for euros")
    if OTHER_TIME.search(text):
        raise CellError(field, shown(text), f"a price per hour: divide one per month by {H_PER_MONTH:g}")
    match = _AMOUNT.fullmatch(text)
    if match is None:
        _check_commas(field, text)
        raise CellError(field, shown(text), "a number in USD, such as 2.5, or an amount with its currency: 2.5 EUR")
    amount, currency = float(match[1]), match[2] or "USD"
    if amount <= 0:
        raise CellError(field, shown(text), "a price greater than 0")
    rate = 1.0
    if currency != "USD":
        if currency not in catalog.fx:
            known = ", ".join(["USD", *sorted(set(catalog.fx) - {"USD"})])
            raise CellError(field, shown(text), f"a currency with a rate: {known}")
        rate = catalog.fx[currency].usd_per_unit.value
    gpus = (gpu_count or 1.0) if field == PRICES[0] else 1.0
    if amount * rate / gpus > MAX_USD_PER_GPU_H:
        expected = f"a price per hour, at most {MAX_USD_PER_GPU_H:g} USD per GPU-hour"
        by_month = f"; if it is one per month, {amount / H_PER_MONTH:.4g}" if math.isfinite(amount) else ""
        raise CellError(field, shown(text), expected + by_month)
    return amount if currency == "USD" else f"{match[1]} {currency}"


def check_point(field: str, text: str) -> None:
    """A number such as 1.234 in a file whose separator goes with decimal commas; raises CellError.

    There a point may mark thousands, and neither reading is more likely.
    """
    match = _ONE_POINT.fullmatch(text)
    if match is not None:
        unit = match[2] or ""
        expected = f"{match[1]}0{unit} if the point marks decimals, {match[1].replace('.', '')}{unit} if thousands"
        raise CellError(field, shown(text), expected)


def _check_commas(field: str, text: str) -> None:
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
