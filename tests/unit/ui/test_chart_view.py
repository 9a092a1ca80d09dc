"""What of a chart travels as data, so that a browser takes the next answer into the chart that stands."""

from __future__ import annotations

from typing import Any

import pytest

from ui.chart_view import split
from ui.charts import CostBar, cost_chart
from ui.formatting import Currency
from ui.timeline_charts import wait_chart

USD = Currency(code="USD", usd_per_unit=1.0)


def cost(total: float) -> dict[str, Any]:
    parts = {"owned": total * 0.4, "people": total * 0.6}
    bar = CostBar(
        way="local",
        label=f"Own all: {total}",
        parts_usd=parts,
        total_usd=total,
        low_usd=total * 0.8,
        high_usd=total * 1.5,
    )
    return cost_chart([bar], horizon_months=36, currency=USD, dark=False)


def expressions(part: Any) -> list[str]:
    if isinstance(part, dict):
        own = [part["expr"]] if set(part) == {"expr"} else []
        return own + [found for value in part.values() for found in expressions(value)]
    return [found for entry in part for found in expressions(entry)] if isinstance(part, list) else []


def test_another_answer_with_the_same_parts_is_the_same_chart_with_other_rows():
    one, other = split(cost(30_000.0)), split(cost(41_000.0))
    assert one[0] == other[0]
    assert one[1].keys() == other[1].keys()
    assert all(one[1][name] != other[1][name] for name in one[1])


def test_axes_end_and_are_marked_where_they_were():
    chart = cost(30_000.0)
    scale, axis = (chart["layer"][0]["layer"][0]["encoding"]["x"][key] for key in ("scale", "axis"))
    steady, tables = split(chart)
    first = tables["rows_0"][0]
    assert [first["x_0"], first["x_1"]] == scale["domain"]
    marks = len(axis["values"])
    assert [first["x_from"] + at * first["x_step"] for at in range(marks)] == pytest.approx(axis["values"])
    assert axis["values"][-1] < first["x_to"] < axis["values"][-1] + first["x_step"]
    asked = {expr.split(".")[-1].rstrip(")") for expr in expressions(steady) if expr.startswith("data(")}
    assert asked == {"x_0", "x_1", "y_0", "y_1"}
    assert first["color_entries"] == "Machines, less resale|People"
    assert all(
        row.items() <= tables["rows_0"][at].items() for at, row in enumerate(chart["layer"][0]["data"]["values"])
    )


def test_without_rows_the_axes_still_have_ends():
    months = [{"month": month, "wait_p50_h": None, "wait_p90_h": None} for month in (1, 2)]
    _, tables = split(wait_chart(months, job="daily", dark=False))
    (row,) = tables["rows_0"]
    assert {"x_0", "x_1", "y_0", "y_1"} <= row.keys()
    assert "month" not in row
