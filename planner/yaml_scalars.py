"""What an unquoted YAML scalar means, and which ones don't mean what they look like."""

from __future__ import annotations

import datetime as dt
import math
import re
from decimal import Decimal
from numbers import Integral, Real
from typing import Any


class Trap(Exception):
    """A plain scalar that does not mean what it looks like: found, expected."""


_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_SWITCHES = frozenset(("yes", "no", "on", "off", "y", "n"))
_NOT_FINITE = frozenset((".nan", ".inf", "+.inf", "-.inf", "nan", "inf", "+inf", "-inf", "infinity", "-infinity"))
_LONGEST_NUMBER = 40  # characters; longer scalars are text

_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?((0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)([eE][-+][0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]+)[0-9].*")
_EXPONENT = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+")
_BASE_60 = re.compile(r"[-+]?[0-9]+(:[0-9]{1,2})+(\.[0-9]*)?")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+(\.[0-9]*)?")
_PREFIXED = re.compile(r"[-+]?0[oOxXbB][0-9a-fA-F_]+")
_GROUPED = re.compile(r"[-+]?[0-9]+([_,][0-9_,]+)+(\.[0-9_]*)?")


def as_given(value: Real | float) -> str:
    """A number as a user would write it: all its digits, no thousands marks, no point behind a whole number.

    >>> as_given(144.0), as_given(12345678), as_given(0.1 + 0.2)
    ('144', '12345678', '0.3')
    """
    if isinstance(value, Integral):
        return str(int(value))
    number = float(value)
    if number.is_integer() and abs(number) < 1e15:
        return str(int(number))
    text = repr(number)
    return text if len(text) <= 15 else f"{number:.12g}"  # longer ones are computed: their last digits are noise


def plain_value(text: str) -> Any:
    """Value of an unquoted scalar; raises `Trap` where YAML versions or readers would disagree on it."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if len(text) > _LONGEST_NUMBER:
        return text
    first = text[0]
    if first in "0123456789+-.":
        return _number_like(text)
    if first in "yYnNoOiI":
        lower = text.lower()
        if lower in _SWITCHES:
            raise Trap(f"{text} without quotes", f'"{text}" in quotes, or true or false')
        if lower in _NOT_FINITE:
            raise Trap(text, "a finite number")
    elif text == "=":
        raise Trap("= without quotes", '"=" in quotes')
    return text


def _number_like(text: str) -> Any:
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        value = float(text)
        if not math.isfinite(value):
            raise Trap(text, "a finite number")
        return value
    if _DATE.fullmatch(text):
        try:
            return dt.date.fromisoformat(text)
        except ValueError:
            raise Trap(text, "a day of the calendar (YYYY-MM-DD)") from None
    if text.lower() in _NOT_FINITE:
        raise Trap(text, "a finite number")
    if _EXPONENT.fullmatch(text):
        raise Trap(f"{text}, which YAML reads as text", _rewritten(text))
    if _BASE_60.fullmatch(text):
        raise Trap(f"{text}, which YAML reads as a number to base 60", f'"{text}" in quotes, or a plain number')
    if _LEADING_ZERO.fullmatch(text) or _PREFIXED.fullmatch(text):
        raise Trap(f"{text}, which YAML reads to another base", f'a decimal number, or "{text}" in quotes')
    if _GROUPED.fullmatch(text):
        digits = text.replace("_", "").replace(",", "")
        raise Trap(f"{text} with separators", f'{digits}, or "{text}" in quotes')
    if _TIME.fullmatch(text):
        raise Trap(f"{text}, a time of day", "a date (YYYY-MM-DD), or the text in quotes")
    return text


def _rewritten(text: str) -> str:
    """How to write a number with an exponent so that every YAML reader takes it as one."""
    if not math.isfinite(float(text)):
        return "a finite number"
    mantissa, _, exponent = text.lower().partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    if exponent[0] not in "+-":
        exponent = f"+{exponent}"
    with_exponent = f"{mantissa}e{exponent}"
    digits = format(Decimal(text), "f") if abs(int(exponent)) <= 15 else ""
    return f"{digits} or {with_exponent}" if digits else with_exponent
