"""Machines that are there already in a scenario file."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from planner.scenario.base import Model
from planner.scenario.values import AgeMonths, Amount, Count, MachineIdleW, MachineW, Price
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


class Owned(Model):
    """Machines that are there already, and what becomes of them at the start of the plan."""

    count: Count
    age_months: AgeMonths
    resale_gpu_usd: Amount | None = None
    resale_host_usd: Amount | None = None
    at_start: Literal["keep", "sell", "upgrade", "cheapest"] = "keep"
    upgrade: Upgrade | None = None

    @model_validator(mode="after")
    def _upgrade_named(self) -> Owned:
        if self.at_start == "upgrade" and self.upgrade is None:
            raise FieldError("upgrade", expected="the new cards, as in 'upgrade: {gpu: rtx-4090}'")
        return self

    @property
    def sold(self) -> bool:
        """Whether the machines go at the start of the plan."""
        return self.at_start == "sell"

    @property
    def upgraded(self) -> bool:
        """Whether their cards go, and new ones come, at the start of the plan."""
        return self.at_start == "upgrade"
