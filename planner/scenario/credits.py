"""Credits and grants of a scenario: money that pays what is rented, until it lapses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from planner.scenario.base import Model
from planner.scenario.values import Amount, Month
from planner.validation import FieldError


class CreditInput(Model):
    """A credit at some providers, or at all."""

    amount_usd: Amount
    providers: Annotated[list[str], Field(min_length=1)] | None = None
    from_month: Month = 1
    expires_month: Month | None = None  # None: the last of the plan
    covers: Literal["all", "rental"] = "all"

    @model_validator(mode="after")
    def _begins_before_it_ends(self) -> CreditInput:
        if self.expires_month is not None and self.expires_month < self.from_month:
            raise FieldError("expires_month", expected=f"a month from {self.from_month}, its 'from_month', on")
        return self
