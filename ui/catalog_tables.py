"""Tables of the Catalog page: sortable, first column pinned, unknown figures in words, exported as CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from planner.report.listing import rows_csv
from ui import formatting
from ui.i18n import t

_HEAD_PX, _ROW_PX = 38, 35


def table(
    rows: Sequence[Mapping[str, Any]],
    *,
    key: str,
    height: int,
    numbers: Mapping[str, str] | None = None,
    widths: Mapping[str, int] | None = None,
) -> None:
    """Rows as a table; `numbers` are the columns that sort by value, with their format, `widths` are in px."""
    if not rows:
        return
    frame = pd.DataFrame(list(rows))
    config: dict[str, Any] = {
        column: st.column_config.NumberColumn(format=form) for column, form in (numbers or {}).items()
    }
    for column in numbers or ():
        frame[column] = frame[column].astype("float64")
    config |= {column: st.column_config.TextColumn(width=px) for column, px in (widths or {}).items()}
    config[frame.columns[0]] = st.column_config.TextColumn(pinned=True)
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
