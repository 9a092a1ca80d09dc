"""Months of a plan in the periods that pages show, by its scenario's fiscal calendar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.strategy.fiscal import QUARTER, YEAR, Span, spans

PERIODS = {"month": 1, "quarter": QUARTER, "year": YEAR}
"""Months of each."""


def spans_of(document: Mapping[str, Any], months: int, period: str) -> list[Span]:
    """Periods of a plan: those of the fiscal calendar where its scenario says when it starts, else from month 1 on."""
    starts = document.get("plan_starts")
    first = None if starts is None else (int(starts[:4]), int(starts[5:]))
    return spans(months, PERIODS[period], first, document.get("fiscal_year_starts"))
