"""Pydantic mirror of a scenario file: what a user asks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from planner.catalog.records import PRECISIONS, Market, Precision, Segment, Status, Term
from planner.scenario.base import Model
from planner.scenario.credits import CreditInput
from planner.scenario.failures import TYPICAL, FailuresPerYear, RepairH
from planner.scenario.finance import Ceiling, FinanceInput, FiscalMonth
from planner.scenario.groups import GroupInput
from planner.scenario.money import money_aliases
from planner.scenario.owned import Owned, check_idle
from planner.scenario.values import (
    AgeMonths,
    Amount,
    AtLeastOne,
    Available,
    BillingUnit,
    CalendarMonth,
    CardGb,
    CardGbPerS,
    CardIdleW,
    CardTflopPerS,
    CardW,
    Count,
    CurrencyCode,
    Days,
    DeliveryMonths,
    Fte,
    GbitPerS,
    GpuQuota,
    Growth,
    Id,
    Interrupted,
    JobClass,
    KgPerKwh,
    Kw,
    MachineIdleW,
    MachineW,
    MbitPerS,
    Month,
    Months,
    NonNegative,
    PlannedMonth,
    Positive,
    Price,
    PriceChange,
    Pue,
    PurchaseMonth,
    Rate,
    ResidualRatios,
    Retry,
    Seconds,
    Share,
    Switch,
    check_number,
    check_positive,
    check_text,
    check_whole,
)
from planner.validation import FieldError
from planner.workload.job import Arrivals
from planner.workload.settings import AdapterTargets, Checkpointing, Method, Optimizer

SCHEMA_VERSION = 1
MOST_OFFERS = 500  # of a scenario's own


def _config(value: object) -> object:
    if isinstance(value, dict | str):
        return value
    raise ValueError("the keys of a config.json, or its text")


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


class Work(Model):
    """What one run is: its sequences, its batch, and its amount of work in tokens or in samples."""

    seq_len: Count | None = None
    global_batch: Count | None = None
    tokens: Positive | None = None
    samples: Positive | None = None
    epochs: Positive | None = None

    @model_validator(mode="after")
    def _one_amount_of_work(self) -> Work:
        if self.tokens is not None and (self.samples is not None or self.epochs is not None):
            raise FieldError("tokens", expected="either 'tokens', or 'samples' with 'epochs', not both")
        return self


class JobInput(Work):
    """Work to be done again and again: a workload with its amount, settings, frequency and limits."""

    workload: str
    precision: Precision | None = None
    micro_batch: Count | None = None
    checkpointing: Checkpointing | None = None
    method: Method = "full"
    optimizer: Optimizer | None = None
    adapter_rank: Count | None = None
    adapter_targets: AdapterTargets | None = None
    gpus: Count | None = None
    max_gpus: Count = 64
    throughput: dict[str, Positive] = Field(default_factory=dict)
    runs_per_month: Positive
    growth_per_month: Growth = 0.0
    seasonality: Annotated[list[NonNegative], Field(min_length=12, max_length=12)] | None = None
    runs_by_month: dict[PlannedMonth, NonNegative] = Field(default_factory=dict)
    attempts_per_run: AtLeastOne | None = None
    job_class: JobClass = Field(default="development", alias="class")
    deadline_h: Positive | None = None
    group: str | None = None
    priority: Annotated[int, BeforeValidator(check_whole), Field(ge=0, le=9)] = 0
    submitted_together: Count = 1
    arrivals: Arrivals = "even"
    local_share: Share | None = None
    regions: list[str] = Field(default_factory=list)
    terms: Annotated[list[Term], Field(min_length=1)] | None = None
    in_house: Switch = False
    overflow: Switch = True
    only_on: Annotated[list[str], Field(min_length=1)] | None = None  # ids of machines, offers, GPUs, providers
    not_on: list[str] = Field(default_factory=list)
    checkpoints: Annotated[int, BeforeValidator(check_whole), Field(ge=0, le=1_000_000)] = 0
    checkpoint_s: NonNegative = 0.0
    eval_share: Share = 0.0
    restarts: Switch = False
    upload_gb_per_run: NonNegative = 0.0
    egress_gb_per_run: NonNegative = 0.0


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
    maintenance_share_per_year: Share | None = None
    fte_per_machine: Fte | None = None
    residual_gpu: ResidualRatios | None = None
    residual_host: ResidualRatios | None = None
    failures_per_year: FailuresPerYear | None = None
    repair_h: RepairH | None = None
    finance: FinanceInput | None = None

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
        if self.owned is not None and self.count is not None and self.count < self.owned.count:
            raise FieldError("count", expected=f"a number of at least {self.owned.count}, the owned machines")
        if self.count is not None and self.fixed_count != self.count:
            told = "the purchases" if self.owned is None else "the owned machines and the purchases"
            raise FieldError("count", expected=f"{self.fixed_count}, {told} together, or only 'purchases'")
        return self

    @property
    def fixed_count(self) -> int | None:
        """All machines, whenever they come; None where the work decides."""
        if self.purchases is None:
            return self.count
        return sum(self.purchases.values()) + (0 if self.owned is None else self.owned.count)


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


class ModelInput(Work):
    """A model that the catalog lacks, described by its config.json, with the settings of its usual recipe."""

    name: Annotated[str, BeforeValidator(check_text), Field(max_length=100)] | None = None
    config: Annotated[Any, BeforeValidator(_config)]  # what is wrong with a key is said when it is read
    precision: Precision = "bf16"


class CommitmentInput(Model):
    """Instances of a reserved offer, or blocks of one sold by the day, that a plan may commit to."""

    nodes: Count = 1
    payment: Literal["monthly", "upfront"] = "monthly"
    from_month: Month = 1
    elapsed_months: Annotated[int, BeforeValidator(check_whole), Field(ge=0, le=35)] = 0
    renew: Switch = False
    days: Days | None = None
    months: Annotated[list[Month], Field(min_length=1)] | None = None
    overflow: str | None = None

    @model_validator(mode="after")
    def _running_from_the_start(self) -> CommitmentInput:
        if self.elapsed_months and self.from_month != 1:
            raise FieldError("from_month", expected="1 for a commitment that runs already (elapsed_months)")
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
    spot_available_share: Available | None = None
    free_node_hours_per_month: NonNegative | None = None
    free_node_hours_total: NonNegative | None = None

    @model_validator(mode="after")
    def _one_price(self) -> OfferInput:
        if self.price_usd_per_h is not None and self.price_usd_per_gpu_h is not None:
            names = ("price_usd_per_gpu_h", *money_aliases("price_usd_per_gpu_h"))
            raise FieldError(*names, expected="'price_usd_per_h' or 'price_usd_per_gpu_h', not both")
        if self.spot_available_share is not None and self.available_share is not None:
            raise FieldError("spot_available_share", expected="'available_share' or 'spot_available_share', not both")
        if self.retry_s is not None and self.available_share is None:
            raise FieldError("retry_s", expected="'available_share' beside it")
        check_idle(self.idle_w, self.load_w, "load_w")
        return self


class CurrencyInput(Model):
    """An exchange rate of the user's own."""

    usd_per_unit: Positive


MOST_CHEAPEST = 3  # types whose options are tried: 27 plans


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
