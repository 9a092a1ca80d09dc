"""Tables of the Start page: everything that the budget buys or rents, with what tells one row from the next."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from ui import formatting
from ui.i18n import t
from ui.start_view import StartView

Row = Mapping[str, Any]

_PX_PER_CHARACTER = 6.6
_PX_BESIDE = 20  # padding of a cell
_WIDEST_PINNED_PX = 210  # leaves room for what scrolls beside it on a phone
_NOISE = re.compile(r"\b(NVIDIA|AMD|Intel|GeForce|Tesla|Instinct|Blackwell (?=\w+ Edition)|Edition|Generation)\s*")


def table(view: StartView, kind: str) -> None:
    """All builds or rentals of a budget, in recommended order."""
    rows = option_rows(view, kind)
    if not rows:
        st.markdown(t(f"start.none_{kind}"))
        return
    first = next(iter(rows[0]))
    widths = {name: width(name, rows) for name in rows[0]}
    columns = {
        name: st.column_config.TextColumn(width=px, pinned=name == first and px <= _WIDEST_PINNED_PX)
        for name, px in widths.items()
    }
    st.dataframe(pd.DataFrame(rows), hide_index=True, key=f"start_table_{kind}", column_config=columns)


def width(column: str, rows: Sequence[Row]) -> int:
    """Width at which nothing of a column is cut off. [px]"""
    longest = max(_letters(text) for text in (column, *(str(row[column]) for row in rows)))
    return round(_PX_PER_CHARACTER * longest) + _PX_BESIDE


def _letters(text: str) -> int:
    """Length of a text in Latin letters: Chinese characters are twice as wide."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def option_rows(view: StartView, kind: str) -> list[dict[str, str]]:
    """A row an option; a column that says the same of a whole service stays away."""
    options = [view.options[id] for id in view.document[kind]]
    rows = [_row(view, option) for option in options]
    if view.document["work"]["peak_per_s"] is not None:
        for row in rows:
            row.pop(t("start.run"))
    return rows


def _row(view: StartView, option: Row) -> dict[str, str]:
    start = _build(view, option) if option["kind"] == "build" else _rental(view, option)
    row = start | {
        t("start.total", months=view.months): view.sum(option["total_usd"]),
        t("start.run"): formatting.duration(option["run_h"]),
        t("start.table.pays"): _pays(view, option),
        t("start.price_of"): formatting.date(option["as_of"]),
    }
    if option["kind"] == "build":
        row[t("start.table.host")] = _host(view, option)
    else:
        row[t("start.table.instance")] = option["instance_type"] or formatting.unknown()
    return row


def _build(view: StartView, option: Row) -> dict[str, str]:
    return {
        t("start.table.gpu"): _gpu(view, option),
        t("start.table.machines"): str(option["count"]),
        t("start.table.condition"): t(f"start.condition.{option['condition']}"),
        t("start.table.price"): view.price(option),
    }


def _rental(view: StartView, option: Row) -> dict[str, str]:
    return {
        t("start.table.gpu"): _gpu(view, option),
        t("start.table.provider"): _provider(option),
        t("start.table.region"): option["region"] or formatting.unknown(),
        t("start.table.hour"): view.money(option["price_usd_per_h"], estimate=option["estimated_share"] > 0),
    }


def _gpu(view: StartView, option: Row) -> str:
    return f"{option['gpus']}{formatting.NBSP}× {short_enough(view.catalog.gpus[option['gpu']].name)}"


def short_enough(name: str) -> str:
    """A GPU's name without what no two of them differ in: "GeForce RTX 3060 12GB" -> "RTX 3060 12GB"."""
    return _NOISE.sub("", name).strip()


def _provider(option: Row) -> str:
    name = str(option["provider_name"])
    return name if option["market"] == "cloud" else t("start.on_marketplace", provider=name)


def _pays(view: StartView, option: Row) -> str:
    """What the budget pays for: short, as the months asked stand in another column's head."""
    if option["covers"]:
        return t("start.part_all")
    if option["covered_months"] < 1:
        return view.covered(option)
    return t("start.part_short", covered=formatting.trimmed(option["covered_months"], 3))


def _host(view: StartView, option: Row) -> str:
    """The host around the cards, or the complete machine's own name."""
    if option["system"] is not None:
        return str(view.catalog.systems[option["system"]].name)
    return next(view.catalog.hosts[p["item"]].name for p in option["parts"] if p["item"] in view.catalog.hosts)
