"""Limits of a scenario: the most that a plan may cost, take in cash, draw and emit."""

from __future__ import annotations

from planner.scenario.base import Model
from planner.scenario.values import Amount, NonNegative


class LimitsInput(Model):
    """Of the whole plan, but for cash by month; a way that breaks one doesn't do what was asked."""

    total_usd: Amount | None = None
    capex_usd: Amount | None = None
    cash_usd_per_month: Amount | None = None
    energy_kwh: NonNegative | None = None
    kg_co2e: NonNegative | None = None
