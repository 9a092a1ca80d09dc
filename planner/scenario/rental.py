"""What a scenario rents: which offers may be used, commitments, and offers of its own."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from planner.catalog.records import Market, Status, Term
from planner.scenario.base import Model
from planner.scenario.credits import CreditInput
from planner.scenario.money import money_aliases
from planner.scenario.owned import check_idle
from planner.scenario.values import (
    Amount,
    Available,
    BillingUnit,
    Count,
    Days,
    GbitPerS,
    GpuQuota,
    Id,
    Interrupted,
    KgPerKwh,
    MachineIdleW,
    MachineW,
    MbitPerS,
    Month,
    NonNegative,
    Price,
    PriceChange,
    Pue,
    Retry,
    Seconds,
    Switch,
    check_text,
    check_whole,
)
from planner.validation import FieldError


class CommitmentInput(Model):
    """Instances of a reserved offer, or blocks of one sold by the day, that a plan may commit to."""

    nodes: Count = 1
    payment: Literal["monthly", "upfront"] = "monthly"
    from_month: Month = 1
    elapsed_months: Annotated[int, BeforeValidator(check_whole), Field(ge=0, le=35)] = 0
    first_term_paid: Switch = False
    renew: Switch = False
    days: Days | None = None
    months: Annotated[list[Month], Field(min_length=1)] | None = None
    overflow: str | None = None

    @model_validator(mode="after")
    def _running_from_the_start(self) -> CommitmentInput:
        if self.elapsed_months and self.from_month != 1:
            raise FieldError("from_month", expected="1 for a commitment that runs already (elapsed_months)")
        if self.first_term_paid and (self.payment != "upfront" or self.from_month != 1):
            raise FieldError("first_term_paid", expected="false, or payment: upfront and from_month: 1 with it")
        return self


class Rental(Model):
    """Which offers may be used, and what goes with rented machines."""

    offers: list[str] | None = None  # exactly these; None: by the filters below
    terms: Annotated[list[Term], Field(min_length=1)] = Field(default=["on_demand"])
    markets: Annotated[list[Market], Field(min_length=1)] = Field(default=["cloud"])
    statuses: Annotated[list[Status], Field(min_length=1)] = Field(default=["current"])
    include_estimates: Switch = False
    providers: list[str] | None = None
    regions: list[str] | None = None
    gpus: list[str] | None = None
    exclude: list[str] = Field(default_factory=list)
    commitments: Annotated[dict[str, CommitmentInput], Field(max_length=100)] = Field(default_factory=dict)
    quota_gpus: Annotated[dict[str, GpuQuota], Field(max_length=100)] = Field(default_factory=dict)
    idle_tail_s: Seconds = 0.0
    load_checkpoint_s: Seconds | None = None
    reacquire_s: Seconds | None = None
    storage_gb: NonNegative = 0.0
    storage_usd_per_gb_month: Amount | None = None
    egress_usd_per_gb: Amount | None = None
    free_egress_gb_per_month: NonNegative | None = None
    upload_gb: NonNegative = 0.0
    ingress_usd_per_gb: Amount | None = None
    transfer_mbit_per_s: MbitPerS | None = None
    upload_while_billed: Switch = False
    price_change_per_year: PriceChange | None = None
    credits: Annotated[dict[Id, CreditInput], Field(max_length=100)] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _waits_have_a_length(self) -> Rental:
        if self.upload_while_billed and self.transfer_mbit_per_s is None:
            raise FieldError("transfer_mbit_per_s", expected="a rate, since rented machines wait for uploads")
        return self


class OfferInput(Model):
    """An own quote, or own values for an offer of the catalog (then only what differs)."""

    provider: Id | None = None
    instance_type: Annotated[str, BeforeValidator(check_text), Field(max_length=100)] | None = None
    region: Annotated[str, BeforeValidator(check_text), Field(max_length=100)] | None = None
    gpu: str | None = None
    gpu_count: Count | None = None
    term: Term | None = None
    market: Market | None = None
    price_usd_per_h: Price | None = None
    price_usd_per_gpu_h: Price | None = None
    includes_tax: Switch | None = None
    billing_unit_s: BillingUnit | None = None
    minimum_s: Seconds | None = None
    startup_s: Seconds | None = None
    available_share: Available | None = None
    retry_s: Retry | None = None
    load_w: MachineW | None = None
    idle_w: MachineIdleW | None = None
    pue: Pue | None = None
    grid_kg_co2e_per_kwh: KgPerKwh | None = None
    network_gbit_per_s: GbitPerS | None = None
    interrupted_share_per_month: Interrupted | None = None
    free_node_hours_per_month: NonNegative | None = None
    free_node_hours_total: NonNegative | None = None

    @model_validator(mode="after")
    def _one_price(self) -> OfferInput:
        if self.price_usd_per_h is not None and self.price_usd_per_gpu_h is not None:
            names = ("price_usd_per_gpu_h", *money_aliases("price_usd_per_gpu_h"))
            raise FieldError(*names, expected="'price_usd_per_h' or 'price_usd_per_gpu_h', not both")
        if self.retry_s is not None and self.available_share is None:
            raise FieldError("retry_s", expected="'available_share' beside it")
        check_idle(self.idle_w, self.load_w, "load_w")
        return self
