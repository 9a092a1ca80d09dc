"""Limits of a scenario in USD, kWh and kg."""

from __future__ import annotations

from planner.scenario.money import Money
from planner.scenario.schema import Scenario
from planner.strategy.plan_limits import PlanLimits
from planner.strategy.resolve.figures import Figures


def resolve_limits(scenario: Scenario, figures: Figures) -> PlanLimits:
    """What a plan may come to at most."""
    asked = scenario.limits

    def usd(name: str, amount: Money | None) -> float | None:
        return None if amount is None else figures.usd(amount, field=f"limits.{name}").value

    return PlanLimits(
        total_usd=usd("total_usd", asked.total_usd),
        capex_usd=usd("capex_usd", asked.capex_usd),
        cash_usd_per_month=usd("cash_usd_per_month", asked.cash_usd_per_month),
        energy_kwh=asked.energy_kwh,
        kg_co2e=asked.kg_co2e,
    )
