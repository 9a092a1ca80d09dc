"""Errors in words: sizes and signs in percent."""

from __future__ import annotations

from ui import formatting
from ui.i18n import t

FACTOR_FROM = 900.0
"""Percent from which an error is said as a factor."""


def percent(value: float | None) -> str:
    """A size of an error that is in percent already: "4.3 %" below ten, else whole."""
    if value is None:
        return formatting.unknown()
    if value < 9.95:
        return f"{value:.1f}{formatting.NBSP}%"
    return f"{value:,.0f}{formatting.NBSP}%"


def whole(value: float | None) -> str:
    """A size of an error for a title: without decimals where that says enough."""
    if value is None or value < 0.95:
        return percent(value)
    return f"{value:,.0f}{formatting.NBSP}%"


def signed(value: float | None) -> str:
    """An error with its sign: "+4.2 %", "−12 %", "0 %"; from ten times on as a factor."""
    if value is None:
        return formatting.unknown()
    if value >= FACTOR_FROM:
        return t("accuracy.times", factor=formatting.plain(1 + value / 100, 2))
    if abs(value) < 0.05:
        return f"0{formatting.NBSP}%"
    return f"{'+' if value > 0 else formatting.MINUS}{percent(abs(value))}"
