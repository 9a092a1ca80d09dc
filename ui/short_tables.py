"""Short tables of text: one piece of Markdown each, with columns of numbers and amounts to the right.

In `st.table` every cell is an element that is drawn by itself, and all stand to the left.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import streamlit as st

from ui.formatting import MINUS, NBSP

_BEFORE = rf"(?:\\?\$|[A-Z]{{3}}{NBSP}|[A-Z]{{0,2}}[^\w\s.,:()\\{MINUS}-])?"  # "$", "EUR ", "JP¥"
_NUMBER = re.compile(rf"(?:\*\*)?{MINUS}?\N{{WORD JOINER}}?{_BEFORE}\d[\d,.]*(?:{NBSP}(?:[kMB]|%))?(?:\*\*)?")


def show(rows: Sequence[Mapping[str, str]]) -> None:
    """Rows of one set of columns; cells are Markdown. Without rows there is nothing to show."""
    if rows:
        st.markdown(markdown(rows))


def markdown(rows: Sequence[Mapping[str, str]]) -> str:
    """Rows as a table in Markdown; the first column names them and stands to the left."""
    heads = list(rows[0])
    rules = ["---", *("---:" if _are_numbers([row[head] for row in rows]) else "---" for head in heads[1:])]
    lines = [heads, rules, *(list(row.values()) for row in rows)]
    return "\n".join("| " + " | ".join(_cell(text) for text in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _are_numbers(cells: Sequence[str]) -> bool:
    return any(cells) and all(_NUMBER.fullmatch(cell) for cell in cells if cell)
