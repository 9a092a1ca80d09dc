"""Where owned machines stand, who looks after them, and tax."""

from __future__ import annotations

from typing import Literal

from planner.scenario.base import Model
from planner.scenario.values import Amount, Fte, KgPerKwh, Kw, Price, Pue, Rate, Switch


class Tax(Model):
    """Tax on everything a supplier invoices."""

    rate: Rate | None = None
    recoverable: Switch = False


class Colocation(Model):
    """A contract for space and cooling of owned machines, sold by the kW."""

    contracted_kw: Kw
    price_usd_per_kw_month: Price | None = None
    power: Literal["pass_through", "included"] = "pass_through"
    includes_tax: Switch = False


class SiteInput(Model):
    """Where owned machines stand; what is left out comes from the catalog's site."""

    id: str | None = None
    tariff: str | None = None
    electricity_usd_per_kwh: Price | None = None
    electricity_includes_tax: Switch | None = None
    pue: Pue | None = None
    grid_kg_co2e_per_kwh: KgPerKwh | None = None
    space_usd_per_month: Amount | None = None
    colocation: Colocation | None = None


class Staff(Model):
    """People: full-time equivalents and what one costs a year."""

    cost_usd_per_fte_year: Amount | None = None
    fte_per_machine: Fte | None = None
    fte_cloud: Fte | None = None
