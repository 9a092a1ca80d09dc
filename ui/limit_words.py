"""Limits of the whole plan: their fields on the Plan page, and what a sentence of the planner calls them there."""

from __future__ import annotations

from ui.i18n import t
from ui.inputs import Field, Input

_FIELDS = {
    "limits.total_usd": "total",
    "limits.capex_usd": "capex",
    "limits.cash_usd_per_month": "month",
    "cash_ceiling_usd_per_quarter": "quarter",
    "limits.energy_kwh": "energy",
    "limits.kg_co2e": "co2",
}
_PLAIN = ("energy", "co2")


def limit_inputs() -> list[Input]:
    """One field for each limit."""
    return [
        Field(
            path=path,
            label=t(f"limits.{name}"),
            kind="number" if name in _PLAIN else "money",
            help=t(f"limits.{name}_help"),
            default=t("limits.none"),
        )
        for path, name in _FIELDS.items()
    ]


def label_of(path: str) -> str | None:
    """What a limit is called, None for another field."""
    return t(f"limits.{_FIELDS[path]}") if path in _FIELDS else None


def with_labels(sentence: str) -> str:
    """A sentence of the planner with the names of the fields instead of their paths."""
    for path in _FIELDS:
        sentence = sentence.replace(path, t(f"limits.{_FIELDS[path]}"))
    return sentence
