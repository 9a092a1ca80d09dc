"""Charts that are redrawn without being built anew: what changes with the plan travels as data, the rest stays.

A browser builds a chart from its specification in ten to twenty milliseconds, and takes new rows into one that stands
in a third of that: worth it where the next answer mostly has the same parts. So rows become named tables; ends and
marks of numeric axes become columns of the first table; and the words for those who can't see the chart, which hold
numbers too, stand below it, out of sight.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import streamlit as st

from ui.charts import Spec

Rows = Sequence[Mapping[str, Any]]
_FIRST = "rows_0"
_BREAK = "|"  # between the entries of a legend
_EVEN = 1e-9  # relative difference of steps between marks that are evenly spaced


def show(spec: Spec, *, key: str, title: str, alt: str) -> None:
    """Draw a chart: `title` names it and stays, `alt` says what it shows now."""
    steady, tables = split(spec)
    datasets = {name: _table(rows) for name, rows in tables.items()}
    st.vega_lite_chart({**steady, "description": title, "datasets": datasets}, theme=None, key=key)
    st.html(f'<p class="chart-words">{html.escape(alt)}</p>')


def split(spec: Spec) -> tuple[Spec, dict[str, list[dict[str, Any]]]]:
    """A specification without what changes, and the tables that hold it."""
    parts = _Parts(tables={}, names={}, columns={})
    steady = parts.without(spec)
    first = parts.tables[_FIRST]
    first[:1] = [{**row, **parts.columns} for row in first[:1] or [{}]]  # a row without a place isn't drawn
    return steady, parts.tables


@dataclass(frozen=True, slots=True)
class _Parts:
    """What was taken out of a specification so far."""

    tables: dict[str, list[dict[str, Any]]]
    names: dict[int, str]  # of tables, by their rows: layers that share rows share a table
    columns: dict[str, Any]  # of the first row

    def without(self, part: Any, channel: str = "") -> Any:
        if isinstance(part, list):
            return [self.without(entry) for entry in part]
        if not isinstance(part, dict):
            return part
        return {key: self._taken(key, value, channel) for key, value in part.items()}

    def _taken(self, key: str, value: Any, channel: str) -> Any:
        if key == "data":
            return {"name": self._named(value["values"])}
        if key == "scale" and channel in ("x", "y"):
            ends = [self._column(f"{channel}_{at}", end) for at, end in enumerate(value["domain"])]
            return {**value, "domain": [{"expr": end} for end in ends]}
        if key == "legend" and value is not None and "values" in value:
            entries = self._column(f"{channel}_entries", _BREAK.join(value["values"]))
            return {**value, "values": {"expr": f"split({entries}, '{_BREAK}')"}}
        if key == "axis" and value is not None and _even(value.get("values", ())):
            start, *_, last = value["values"]
            step = (last - start) / (len(value["values"]) - 1)
            ends = [("from", start), ("to", last + step / 2), ("step", step)]
            columns = ", ".join(self._column(f"{channel}_{name}", end) for name, end in ends)
            return {**value, "values": {"expr": f"sequence({columns})"}}
        return self.without(value, key)

    def _named(self, rows: Rows) -> str:
        name = self.names.setdefault(id(rows), f"rows_{len(self.names)}")
        self.tables.setdefault(name, [dict(row) for row in rows])
        return name

    def _column(self, name: str, value: Any) -> str:
        self.columns[name] = value
        return f"data('{_FIRST}')[0].{name}"


def _even(marks: Sequence[float]) -> bool:
    """Whether marks of an axis are evenly spaced, so that a step says all of them."""
    if len(marks) < 2:
        return False
    step = (marks[-1] - marks[0]) / (len(marks) - 1)
    return all(abs(mark - marks[0] - at * step) <= _EVEN * abs(step) for at, mark in enumerate(marks))


def _table(rows: Rows) -> pa.Table:
    columns = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: [row.get(name) for row in rows] for name in columns})
