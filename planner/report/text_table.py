"""Rows as an aligned table of text, and what stands in its cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

UNKNOWN = "unknown"


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of an aligned table."""
    widths = [max(len(cell) for cell in column) for column in zip(head, *rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in [head, *rows]
    ]


def rows_text(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    """Rows as an aligned table of some columns."""
    return "\n".join(table(list(columns), [[cell_text(row.get(column)) for column in columns] for row in rows])) + "\n"


def whole_text(value: float | None) -> str:
    """A number without decimals."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def cell_text(value: object) -> str:
    """Anything in a cell; numbers to three digits, or to the whole from a thousand."""
    if value is None:
        return UNKNOWN
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)
