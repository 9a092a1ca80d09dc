"""Machines that are there already in a scenario file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from planner.scenario.base import Model
from planner.scenario.values import (
    AgeMonths,
    Amount,
    Count,
    DeliveryMonths,
    Id,
    MachineIdleW,
    MachineW,
    Price,
    Switch,
    check_whole,
)
from planner.validation import FieldError
from planner.yaml_scalars import as_given


def check_idle(idle_w: float | None, load_w: float | None, name: str) -> None:
    """Refuse a machine or card that draws more when idle than under load."""
    if idle_w is not None and load_w is not None and idle_w > load_w:
        raise FieldError("idle_w", expected=f"a number of at most '{name}' ({as_given(load_w)})")


class Upgrade(Model):
    """New cards in the hosts of machines that are there already."""

    gpu: str
    gpu_price_usd: Price | None = None
    load_w: MachineW | None = None
    idle_w: MachineIdleW | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Upgrade:
        check_idle(self.idle_w, self.load_w, "load_w")
        return self


LeaseMonths = Annotated[int, BeforeValidator(check_whole), Field(ge=1, le=240)]
ReplacementMonths = Annotated[int, BeforeValidator(check_whole), Field(ge=1, le=24)]


class OwnedUnits(Model):
    """Machines of one age that are paid for already, and are there or on their way."""

    count: Count
    age_months: AgeMonths
    host_age_months: AgeMonths | None = None  # None: that of the cards
    resale_gpu_usd: Amount | None = None
    resale_host_usd: Amount | None = None
    comes_after_months: DeliveryMonths = 0
    replacement_after_months: ReplacementMonths | None = None  # None: none is on its way
    value_counts: Switch | None = None  # None: as `owned_value_counts` says
    lease_ends_after_months: LeaseMonths | None = None  # None: they aren't under a lease
    nominal_buyout_usd: Amount | None = None  # None: they go back at its end

    @property
    def host_older(self) -> int:
        """Months by which hosts are older than their cards."""
        return 0 if self.host_age_months is None else self.host_age_months - self.age_months

    @model_validator(mode="after")
    def _in_order(self) -> OwnedUnits:
        if self.host_older < 0:
            raise FieldError("host_age_months", expected=f"at least the age of the cards ({self.age_months})")
        if self.replacement_after_months is not None and self.comes_after_months:
            raise FieldError("replacement_after_months", expected="none for machines that are on their way themselves")
        ends = self.lease_ends_after_months
        if ends is not None and ends <= self.comes_after_months:
            expected = f"more than 'comes_after_months' ({self.comes_after_months})"
            raise FieldError("lease_ends_after_months", expected=expected)
        if ends is None and self.nominal_buyout_usd is not None:
            raise FieldError("lease_ends_after_months", expected="the months left of the lease that the buyout ends")
        return self


_OF_ALL = {"count", "age_months", "resale_gpu_usd", "resale_host_usd", "at_start", "upgrade"}


class Owned(OwnedUnits):
    """Machines that are there already, and what becomes of them at the start of the plan."""

    at_start: Literal["keep", "sell", "upgrade", "cheapest"] = "keep"
    upgrade: Upgrade | None = None
    others: Annotated[dict[Id, OwnedUnits], Field(max_length=100)] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _upgrade_named(self) -> Owned:
        if self.at_start == "upgrade" and self.upgrade is None:
            raise FieldError("upgrade", expected="the new cards, as in 'upgrade: {gpu: rtx-4090}'")
        if self.at_start == "keep":
            return self
        plain = Owned(count=self.count, age_months=self.age_months)
        for name in set(Owned.model_fields) - _OF_ALL:
            if getattr(self, name) != getattr(plain, name):
                raise FieldError("at_start", expected=f"keep, beside '{name}'")
        return self

    @property
    def total(self) -> int:
        """All machines of the type that are paid for already."""
        return self.count + sum(units.count for units in self.others.values())

    @property
    def batches(self) -> dict[str, OwnedUnits]:
        """Machines by their history; the first has no name."""
        return {"": self, **self.others}

    @property
    def sold(self) -> bool:
        """Whether the machines go at the start of the plan."""
        return self.at_start == "sell"

    @property
    def upgraded(self) -> bool:
        """Whether their cards go, and new ones come, at the start of the plan."""
        return self.at_start == "upgrade"
