"""Prices in the cells of an offer file, as people type them, and what is wrong with them."""

from __future__ import annotations

import math
import re

from planner.catalog.records import Catalog
from planner.cells import CellError, check_commas, shown
from planner.units import H_PER_MONTH

PRICES = ("price_usd_per_h", "price_usd_per_gpu_h")
MARKETS = ("cloud", "marketplace")
MAX_USD_PER_GPU_H = 100.0
"""No GPU has been rented for more: a higher figure is a price of another length of time."""
OTHER_TIME = re.compile(r"(month|\bmo\b|monat|year|\byr\b|annual|week|\bdays?\b|daily)", re.IGNORECASE)

_AMOUNT = re.compile(r"(?a)([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?:\s*([A-Z]{3}))?")


def price(field: str, text: str, gpu_count: float | None, catalog: Catalog) -> float | str:
    """Price of an hour: a number in USD, or text of an amount and a currency with a rate; raises CellError."""
    if text.startswith(("$", "€", "£", "¥")):
        bare = text[1:].strip() or "2.5"
        raise CellError(field, shown(text), f"a number without a sign, such as {bare}; 2.5 EUR for euros")
    if OTHER_TIME.search(text):
        raise CellError(field, shown(text), f"a price per hour: divide one per month by {H_PER_MONTH:g}")
    match = _AMOUNT.fullmatch(text)
    if match is None:
        check_commas(field, text)
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
