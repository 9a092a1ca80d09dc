"""Machines and GPUs of a scenario."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from planner.catalog.records import PRECISIONS, Precision, Segment
from planner.scenario.base import Model
from planner.scenario.failures import TYPICAL, FailuresPerYear, RepairH
from planner.scenario.finance import FinanceInput, RunningContract
from planner.scenario.owned import Owned, check_idle
from planner.scenario.values import (
    AgeMonths,
    Amount,
    CardGb,
    CardGbPerS,
    CardIdleW,
    CardTflopPerS,
    CardW,
    Count,
    DeliveryMonths,
    Fte,
    Id,
    MachineIdleW,
    MachineW,
    MaintenanceShare,
    Price,
    Pue,
    PurchaseMonth,
    ResidualRatios,
    Switch,
    check_number,
    check_positive,
    check_text,
    check_whole,
)
from planner.validation import FieldError


class MachineInput(Model):
    """A type of machine that can be bought (or is owned): cards in a host."""

    gpu: str
    gpus: Count = 1
    host: str | None = None
    count: Count | None = None  # None: as many as the work needs
    purchases: Annotated[dict[PurchaseMonth, Count], Field(min_length=1)] | None = None
    delivery_months: DeliveryMonths = 0
    owned: Owned | None = None
    condition: Literal["new", "used"] = "new"
    age_months: AgeMonths | None = None
    gpu_price_usd: Price | None = None
    host_price_usd: Amount | None = None
    prices_include_tax: Switch | None = None
    installation_usd: Amount | None = None
    load_w: MachineW | None = None
    idle_w: MachineIdleW | None = None
    pue: Pue | None = None
    powered_h_per_month: Annotated[float, BeforeValidator(check_number), Field(ge=1, le=730)] | None = None
    target_utilisation: Annotated[float, BeforeValidator(check_positive), Field(le=1)] | None = None
    useful_life_months: Annotated[int, BeforeValidator(check_whole), Field(ge=1, le=240)] | None = None
    maintenance_share_per_year: MaintenanceShare | None = None
    fte_per_machine: Fte | None = None
    residual_gpu: ResidualRatios | None = None
    residual_host: ResidualRatios | None = None
    failures_per_year: FailuresPerYear | None = None
    repair_h: RepairH | None = None
    finance: FinanceInput | None = None
    still_to_pay: Annotated[dict[Id, RunningContract], Field(max_length=100)] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _consistent(self) -> MachineInput:
        check_idle(self.idle_w, self.load_w, "load_w")
        if (
            self.owned is not None
            and self.owned.upgrade is not None
            and self.finance is not None
            and self.finance.lease
        ):
            raise FieldError("finance", expected="cash or a loan, as machines may get new cards ('owned.upgrade')")
        if self.repair_h is not None and self.failures_per_year is None:
            raise FieldError("failures_per_year", expected=f"a number, or '{TYPICAL}', where 'repair_h' is given")
        if self.condition == "used" and self.age_months is None:
            raise FieldError("age_months", expected="the months since the used machine was first sold")
        if self.condition == "new" and self.age_months not in (None, 0):
            raise FieldError("age_months", expected="0 for a new machine, or 'condition: used'")
        if self.still_to_pay and self.owned is not None and self.owned.at_start in ("sell", "cheapest"):
            raise FieldError("still_to_pay", expected="none where the machines may be sold ('owned.at_start')")
        for name, units in {} if self.owned is None else self.owned.batches.items():
            if (units.replacement_after_months or 0) > self.delivery_months:
                where = f"owned.{f'others.{name}.' if name else ''}replacement_after_months"
                raise FieldError(where, expected=f"at most 'delivery_months' ({self.delivery_months}): it was ordered")
        if self.owned is not None and self.count is not None and self.count < self.owned.total:
            raise FieldError("count", expected=f"a number of at least {self.owned.total}, the owned machines")
        if self.count is not None and self.fixed_count != self.count:
            told = "the purchases" if self.owned is None else "the owned machines and the purchases"
            raise FieldError("count", expected=f"{self.fixed_count}, {told} together, or only 'purchases'")
        return self

    @property
    def fixed_count(self) -> int | None:
        """All machines, whenever they come; None where the work decides."""
        if self.purchases is None:
            return self.count
        return sum(self.purchases.values()) + (0 if self.owned is None else self.owned.total)


class GpuInput(Model):
    """A GPU that the catalog lacks. Rates are dense; links sum both directions."""

    name: Annotated[str, BeforeValidator(check_text), Field(max_length=100)] | None = None
    segment: Segment = "workstation"
    memory_gb: CardGb
    memory_bandwidth_gb_per_s: CardGbPerS
    tdp_w: CardW
    idle_w: CardIdleW | None = None
    fp32_dense_tflop_per_s: CardTflopPerS | None = None
    tf32_dense_tflop_per_s: CardTflopPerS | None = None
    fp16_dense_tflop_per_s: CardTflopPerS | None = None
    bf16_dense_tflop_per_s: CardTflopPerS | None = None
    fp8_dense_tflop_per_s: CardTflopPerS | None = None
    nvlink_gb_per_s: CardGbPerS | None = None
    peer_to_peer: Switch = False

    @property
    def dense_tflop_per_s(self) -> dict[Precision, float]:
        """The rates that are given, by precision. [TFLOP/s]"""
        rates = {name: getattr(self, f"{name}_dense_tflop_per_s") for name in PRECISIONS}
        return {name: rate for name, rate in rates.items() if rate is not None}

    @model_validator(mode="after")
    def _consistent(self) -> GpuInput:
        if not self.dense_tflop_per_s:
            expected = "a dense rate of at least one precision, such as 'bf16_dense_tflop_per_s'"
            raise FieldError(found="no dense rate", expected=expected)
        check_idle(self.idle_w, self.tdp_w, "tdp_w")
        return self
