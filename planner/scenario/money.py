"""Money as users write it: a number in USD or text such as "8000 CNY"."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_TEXT = re.compile(r"(?a)^\s*([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([A-Z]{3})\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """An amount in a currency, as entered; converted to USD only where the scenario meets the catalog's rates."""

    amount: float
    currency: str = "USD"


def parse_money(value: object) -> Money:
    """Read a number (USD) or a text of amount and currency code, e.g. "8000 CNY".

    Raises
    ------
    ValueError
        When it is neither, with what was expected.
    """
    if isinstance(value, Money):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError('a number in USD or text such as "8000 CNY"')
    if isinstance(value, str):
        match = _TEXT.match(value)
        if match is None:
            raise ValueError('a number in USD or text such as "8000 CNY"')
        return Money(amount=_finite(float(match[1])), currency=match[2])
    return Money(amount=_finite(value))


def _finite(amount: float) -> float:
    try:
        amount = float(amount)
    except OverflowError:
        amount = math.inf
    if not math.isfinite(amount):
        raise ValueError("a finite number")
    return amount


def money_aliases(field: str) -> tuple[str, ...]:
    """Keys under which a money field may hold text: the stem before `_usd`, and the name without `_usd`.

    >>> money_aliases("electricity_usd_per_kwh")
    ('electricity', 'electricity_per_kwh')
    """
    stem, _, rest = field.partition("_usd")
    return (stem,) if not rest else (stem, stem + rest)
