"""Limits of the whole plan: what they are called on the Plan page, there and in sentences of the planner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ui import formatting
from ui.formatting import USD, Currency
from ui.i18n import t

FIELDS = {
    "limits.total_usd": "total",
    "limits.capex_usd": "capex",
    "limits.cash_usd_per_month": "month",
    "cash_ceiling_usd_per_quarter": "quarter",
    "limits.energy_kwh": "energy",
    "limits.kg_co2e": "co2",
}
"""Their names in the texts, by path."""


def label_of(path: str) -> str | None:
    """What a limit is called, None for another field."""
    return t(f"limits.{FIELDS[path]}") if path in FIELDS else None


def with_labels(sentence: str) -> str:
    """A sentence of the planner with the names of the fields instead of their paths."""
    for path in FIELDS:
        sentence = sentence.replace(path, t(f"limits.{FIELDS[path]}"))
    return sentence


def limit_problem(code: str, field: str, params: Mapping[str, Any], currency: Currency = USD) -> str | None:
    """That a way breaks a limit, or by how much one would have to give way; None for another problem."""
    kind, relax = code.removeprefix("over_limit_"), code.startswith("limit_to_relax_")
    if kind == code and not relax:
        return None
    values = {name.removesuffix("_usd"): _amount(name, value, field, currency) for name, value in params.items()}
    if relax:
        return t("impossible.relax", limit=label_of(field) or field, **values)
    return t(f"impossible.over.{kind}", **values)


def _amount(name: str, value: float, field: str, currency: Currency) -> str:
    if name.endswith("_usd"):
        return formatting.price(value, currency)
    unit = "impossible.kwh" if field.endswith("energy_kwh") else "impossible.kg"
    return t(unit, amount=formatting.plain(value))
