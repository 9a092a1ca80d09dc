"""Tables of the Catalog page: sortable, first column pinned, unknown figures in words, exported as CSV."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from planner.report.listing import rows_csv
from ui import formatting
from ui.i18n import t

_HEAD_PX, _ROW_PX = 38, 35
_SMALL, _SMALL_BELOW = "%.4g", 10.0  # the other format has three decimals, too few for a price of a kWh


def table(
    rows: Sequence[Mapping[str, Any]],
    *,
    key: str,
    height: int,
    numbers: Collection[str] = (),
    widths: Mapping[str, int] | None = None,
) -> None:
    """Rows as a table; `numbers` are the columns that sort by value, `widths` are in px. An empty cell says "none"."""
    if not rows:
        return
    none, widths = t("word.none"), widths or {}
    frame = pd.DataFrame([{head: none if cell == "" else cell for head, cell in row.items()} for row in rows])
    formats = {}
    for column in numbers:
        frame[column] = frame[column].astype("float64")
        formats[column] = _SMALL if frame[column].abs().max() < _SMALL_BELOW else "localized"
    config: dict[str, Any] = {
        column: st.column_config.NumberColumn(format=formats[column], width=widths.get(column))
        if column in numbers
        else st.column_config.TextColumn(width=widths.get(column), pinned=column == frame.columns[0] or None)
        for column in frame.columns
    }
    st.dataframe(
        frame,
        hide_index=True,
        key=key,
        column_config=config,
        placeholder=formatting.unknown(),
        height=min(_HEAD_PX + _ROW_PX * len(rows), height),
    )


def export(rows: Callable[[], Sequence[Mapping[str, Any]]], count: int, name: str) -> None:
    """A button that saves the rows shown; they are made in full precision when it is pressed."""
    st.download_button(
        t("catalog.export", count=count),
        lambda: rows_csv(rows()),
        file_name=f"{name}.csv",
        mime="text/csv",
        key=f"export_{name}",
        on_click="ignore",
        icon=":material/download:",
    )
