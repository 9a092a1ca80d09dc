"""Money as text or number."""

from __future__ import annotations

import math

import pytest

from planner.scenario.money import Money, money_aliases, parse_money


@pytest.mark.parametrize(
    ("value", "amount", "currency"),
    [
        (8000, 8000.0, "USD"),
        (0.1872, 0.1872, "USD"),
        ("8000 CNY", 8000.0, "CNY"),
        ("0.3835EUR", 0.3835, "EUR"),
        ("  1e3  USD ", 1000.0, "USD"),
        ("-5 EUR", -5.0, "EUR"),
        (Money(amount=3.0, currency="EUR"), 3.0, "EUR"),
    ],
)
def test_read(value: object, amount: float, currency: str) -> None:
    assert parse_money(value) == Money(amount=amount, currency=currency)


@pytest.mark.parametrize(
    "value",
    [
        *("8000", "CNY 8000", "8,000 CNY", "8000 cny", "8000 YUAN", "eight CNY", "", "inf USD", "nan EUR"),
        *(True, None, [8000], math.inf, math.nan, -math.inf, "1e999 EUR", 10**400, "٨٠ CNY"),
    ],
)
def test_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"number|amount"):
        parse_money(value)


def test_names_that_may_hold_text() -> None:
    assert money_aliases("gpu_price_usd") == ("gpu_price",)
    assert money_aliases("electricity_usd_per_kwh") == ("electricity", "electricity_per_kwh")
