"""Rows as an aligned table of text."""

from __future__ import annotations


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of an aligned table."""
    widths = [max(len(cell) for cell in column) for column in zip(head, *rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in [head, *rows]
    ]
