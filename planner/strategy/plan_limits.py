"""The most that a plan may come to, as a scenario says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanLimits:
    """Of the whole plan, but for cash by month; None: no limit."""

    total_usd: float | None = None
    capex_usd: float | None = None
    cash_usd_per_month: float | None = None
    energy_kwh: float | None = None
    kg_co2e: float | None = None

    @property
    def asked(self) -> bool:
        """Whether there is any."""
        return self != NO_LIMITS


NO_LIMITS: Final = PlanLimits()
