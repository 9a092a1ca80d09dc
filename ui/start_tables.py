"""Tables of the Start page: everything that the budget buys or rents, with what tells one row from the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from ui import formatting
from ui.i18n import t
from ui.start_view import StartView

Row = Mapping[str, Any]

_PX_PER_CHARACTER = 8.0
_PX_BESIDE = 26  # padding and the sorting mark of a column
_WIDEST_PX = 420


def table(view: StartView, kind: str) -> None:
    """All builds or rentals of a budget, in recommended order."""
    rows = option_rows(view, kind)
    if not rows:
        st.markdown(t(f"start.none_{kind}"))
        return
    first = next(iter(rows[0]))
    columns = {name: st.column_config.TextColumn(width=width(name, rows), pinned=name == first) for name in rows[0]}
    st.dataframe(pd.DataFrame(rows), hide_index=True, key=f"start_table_{kind}", column_config=columns)


def width(column: str, rows: Sequence[Row]) -> int:
    """Width at which nothing of a column is cut off. [px]"""
    longest = max(len(text) for text in (column, *(str(row[column]) for row in rows)))
    return min(_WIDEST_PX, round(_PX_PER_CHARACTER * longest) + _PX_BESIDE)


def option_rows(view: StartView, kind: str) -> list[dict[str, str]]:
    """A row an option; a column that says the same of a whole service stays away."""
    options = [view.options[id] for id in view.document[kind]]
    rows = [_row(view, option) for option in options]
    if view.document["work"]["peak_per_s"] is not None:
        for row in rows:
            row.pop(t("column.time"))
    return rows


def _row(view: StartView, option: Row) -> dict[str, str]:
    start = _build(view, option) if option["kind"] == "build" else _rental(view, option)
    return start | {
        t("start.table.total"): view.sum(option["total_usd"]),
        t("column.time"): formatting.duration(option["run_h"]),
        t("start.table.pays"): view.covered(option),
        t("start.price_of"): formatting.date(option["as_of"]),
    }


def _build(view: StartView, option: Row) -> dict[str, str]:
    return {
        t("start.table.gpu"): _gpu(view, option),
        t("start.table.machines"): str(option["count"]),
        t("start.table.condition"): t(f"start.condition.{option['condition']}"),
        t("start.table.host"): _host(view, option),
        t("start.table.price"): view.price(option),
    }


def _rental(view: StartView, option: Row) -> dict[str, str]:
    return {
        t("start.table.gpu"): _gpu(view, option),
        t("start.table.provider"): option["provider_name"],
        t("start.table.hour"): view.money(option["price_usd_per_h"], estimate=option["estimated_share"] > 0),
        t("start.table.instance"): option["instance_type"] or formatting.unknown(),
        t("start.table.region"): option["region"] or formatting.unknown(),
        t("start.table.market"): t(f"start.market.{option['market']}"),
    }


def _gpu(view: StartView, option: Row) -> str:
    return f"{option['gpus']}{formatting.NBSP}× {view.catalog.gpus[option['gpu']].name}"


def _host(view: StartView, option: Row) -> str:
    """The host around the cards, or the complete machine's own name."""
    if option["system"] is not None:
        return str(view.catalog.systems[option["system"]].name)
    return next(view.catalog.hosts[p["item"]].name for p in option["parts"] if p["item"] in view.catalog.hosts)
