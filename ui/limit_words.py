"""Limits of the whole plan: what they are called on the Plan page, there and in sentences of the planner."""

from __future__ import annotations

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
