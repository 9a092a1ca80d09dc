"""Columns of long tables that hold numbers in words: their digits stand below each other."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from ui.formatting import MINUS, NBSP

_NUMBER = re.compile(rf"{MINUS}?\d[\d,.]*(?:{NBSP}%)?")


def right(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Configuration that sets columns of nothing but numbers to the right."""
    return {
        head: st.column_config.TextColumn(alignment="right") for head in (rows[0] if rows else ()) if _all(rows, head)
    }


def _all(rows: Sequence[Mapping[str, Any]], head: str) -> bool:
    cells = [row[head] for row in rows]
    texts = all(isinstance(cell, str) for cell in cells)
    return texts and any(cells) and all(_NUMBER.fullmatch(cell) for cell in cells if cell)
