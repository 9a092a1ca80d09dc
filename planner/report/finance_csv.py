"""A plan's document with its money views -> the CSV by fiscal year."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from planner.report.export import safe_cell

COLUMNS = (
    "strategy", "fiscal_year", "first_month", "last_month", "purchases_usd", "running_usd", "resale_usd",
    "financing_usd", "cash_usd", "present_value_usd", "tax_paid_usd", "tax_back_usd", "depreciation_usd",
    "book_value_usd",
)  # fmt: skip
_BOOKS = ("depreciation_usd", "closing_usd")


def years_csv(document: Mapping[str, Any]) -> str:
    """One row for each strategy and fiscal year, in full precision.

    Depreciation and book value are a view beside the cash; their cells are empty where they aren't known of all
    machines.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for way in document["finance"]["strategies"]:
        known = all(books["years"] for books in way["depreciation"])
        for at, year in enumerate(way["years"]):
            booked = [
                sum(books["years"][at][name] for books in way["depreciation"]) if known else "" for name in _BOOKS
            ]
            cells = [way["id"], *(year[name] for name in COLUMNS[1 : -len(_BOOKS)]), *booked]
            writer.writerow([safe_cell(cell) for cell in cells])
    return stream.getvalue()
