"""Pydantic mirror of a scenario file: what a user asks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from planner.scenario.base import Model
from planner.scenario.finance import Ceiling, FiscalMonth
from planner.scenario.groups import GroupInput
from planner.scenario.jobs import JobInput, ModelInput
from planner.scenario.limits import LimitsInput
from planner.scenario.machines import GpuInput, MachineInput
from planner.scenario.rental import OfferInput, Rental
from planner.scenario.site import SiteInput, Staff, Tax
from planner.scenario.uncertainty import RangeInput
from planner.scenario.values import (
    CalendarMonth,
    CurrencyCode,
    Id,
    Months,
    Positive,
    PriceChange,
    Rate,
    Switch,
    check_text,
)
from planner.validation import FieldError

SCHEMA_VERSION = 1
MOST_OFFERS = 500  # of a scenario's own
MOST_RANGES = 500
MOST_CHEAPEST = 3  # types whose options are tried: 27 plans


class CurrencyInput(Model):
    """An exchange rate of the user's own."""

    usd_per_unit: Positive


class Scenario(Model):
    """A whole question: work, machines, rental, site and money."""

    schema_version: Literal[1]
    name: Annotated[str, BeforeValidator(check_text), Field(max_length=200)] = "Plan"
    note: Annotated[str, Field(max_length=5000)] = ""
    horizon_months: Months
    plan_starts: CalendarMonth | None = None
    discount_rate: Rate | None = None
    inflation_per_year: Rate | None = None
    baseline: Literal["local", "cloud", "hybrid"] | None = None
    fiscal_year_starts: FiscalMonth | None = None
    cash_ceiling_usd_per_quarter: Ceiling | None = None
    limits: LimitsInput = LimitsInput()
    currency: CurrencyCode = "USD"
    currencies: dict[CurrencyCode, CurrencyInput] = Field(default_factory=dict)
    owned_value_counts: Switch = True
    hardware_price_change_per_year: PriceChange | None = None
    tax: Tax = Tax()
    site: SiteInput = SiteInput()
    staff: Staff = Staff()
    groups: Annotated[dict[Id, GroupInput], Field(max_length=100)] = Field(default_factory=dict)
    jobs: Annotated[dict[Id, JobInput], Field(min_length=1, max_length=100)]
    machines: Annotated[dict[Id, MachineInput], Field(max_length=200)] = Field(default_factory=dict)
    rental: Rental = Rental()
    offers: Annotated[dict[Id, OfferInput], Field(max_length=MOST_OFFERS)] = Field(default_factory=dict)
    gpus: Annotated[dict[Id, GpuInput], Field(max_length=100)] = Field(default_factory=dict)
    models: Annotated[dict[Id, ModelInput], Field(max_length=100)] = Field(default_factory=dict)
    uncertainty: Annotated[dict[str, RangeInput], Field(max_length=MOST_RANGES)] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _few_options(self) -> Scenario:
        asked = [id for id, entry in self.machines.items() if entry.owned and entry.owned.at_start == "cheapest"]
        if len(asked) > MOST_CHEAPEST:
            raise FieldError("machines", expected=f"'at_start: cheapest' of at most {MOST_CHEAPEST} types")
        return self

    @model_validator(mode="after")
    def _known_start(self) -> Scenario:
        if self.fiscal_year_starts is not None and self.plan_starts is None:
            raise FieldError("fiscal_year_starts", expected="'plan_starts' beside it, the plan's first month")
        return self
