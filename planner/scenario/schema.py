"""Pydantic mirror of a scenario file: what a user asks."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from planner.catalog.records import PRECISIONS, Market, Precision, Segment, Status, Term
from planner.scenario.money import Money, money_aliases, parse_money
from planner.units import H_PER_MONTH, S_PER_H

SCHEMA_VERSION = 1
SMALLEST, LARGEST = 1e-9, 1e18  # beyond these a number is a slip, and its products leave what floats can hold


def _number(value: object) -> float | int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number")
    try:
        finite = math.isfinite(value)
    except OverflowError:
        finite = False
    if not finite:
        raise ValueError("a finite number")
    return value


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a whole number")
    number = _number(value)
    if number != int(number):
        raise ValueError("a whole number")
    return int(number)


def _positive(value: object) -> float:
    number = _number(value)
    if number <= 0:
        raise ValueError("a number above 0")
    if not SMALLEST <= number <= LARGEST:
        raise ValueError(f"a number from {SMALLEST:g} to {LARGEST:g}")
    return number


def _not_negative(value: object) -> float:
    number = _number(value)
    if number < 0:
        raise ValueError("a number of at least 0")
    return number if number == 0 else _positive(number)


def _share(value: object) -> float:
    number = _number(value)
    if not 0 <= number <= 1:
        raise ValueError("a share from 0 to 1")
    return number if number == 0 else _positive(number)


def _price(value: object) -> Money:
    money = parse_money(value)
    if money.amount <= 0:
        raise ValueError("an amount greater than 0")
    return _within_reason(money)


def _amount(value: object) -> Money:
    money = parse_money(value)
    if money.amount < 0:
        raise ValueError("an amount of 0 or more")
    return money if money.amount == 0 else _within_reason(money)


def _within_reason(money: Money) -> Money:
    if not SMALLEST <= money.amount <= LARGEST:
        raise ValueError(f"an amount from {SMALLEST:g} to {LARGEST:g}")
    return money


def _id(value: object) -> str:
    if not isinstance(value, str) or re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", value) is None:
        raise ValueError("a name of letters, digits, '-' or '_' that begins with a letter or digit, at most 64 long")
    return value


def _currency(value: object) -> str:
    if not isinstance(value, str) or re.fullmatch(r"[A-Z]{3}", value) is None:
        raise ValueError("three capital letters such as EUR")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("text")
    if not value.strip() or not all(character.isprintable() for character in value):
        raise ValueError("text in one line of printable characters")
    return value


def _job_class(value: object) -> object:
    if value == "service":
        raise ValueError("'development' or 'key' ('service' is reserved for serving, not planned yet)")
    return value


def _config(value: object) -> object:
    if isinstance(value, dict | str):
        return value
    raise ValueError("the keys of a config.json, or its text")


def _from_new(ratios: dict[int, float]) -> dict[int, float]:
    if ratios.get(0, 1.0) != 1.0:
        raise ValueError("a ratio of 1 at age 0, when the unit is new")
    return ratios


Id = Annotated[str, BeforeValidator(_id)]
CurrencyCode = Annotated[str, BeforeValidator(_currency)]
Positive = Annotated[float, BeforeValidator(_positive)]
NonNegative = Annotated[float, BeforeValidator(_not_negative)]
Share = Annotated[float, BeforeValidator(_share)]
Rate = Annotated[float, BeforeValidator(_share)]
AtLeastOne = Annotated[float, BeforeValidator(_number), Field(ge=1, le=1e6)]
Seconds = Annotated[float, BeforeValidator(_not_negative), Field(le=S_PER_H * H_PER_MONTH)]
BillingUnit = Annotated[float, BeforeValidator(_positive), Field(le=S_PER_H * H_PER_MONTH)]
Count = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=1_000_000)]
Months = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=84)]
AgeMonths = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=240)]
JobClass = Annotated[Literal["development", "key"], BeforeValidator(_job_class)]
Price = Annotated[Money, BeforeValidator(_price)]
Amount = Annotated[Money, BeforeValidator(_amount)]
ResidualRatios = Annotated[dict[AgeMonths, Share], Field(min_length=1), AfterValidator(_from_new)]


class Model(BaseModel):
    """Base of all parts: unknown keys are errors, and money fields also accept text under their stem."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    @model_validator(mode="before")
    @classmethod
    def _money_under_its_stem(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        data = dict(data)
        for name in cls.model_fields:
            if "_usd" not in name:
                continue
            for alias in money_aliases(name):
                if alias not in data or alias in cls.model_fields:
                    continue
                if name in data:
                    raise ValueError(f"'{name}' or '{alias}', not both")
                data[name] = data.pop(alias)
        return data


class Tax(Model):
    """Tax on everything a supplier invoices."""

    rate: Rate | None = None
    recoverable: bool = False


class Colocation(Model):
    """A contract for space and cooling of owned machines, sold by the kW."""

    contracted_kw: Positive
    price_usd_per_kw_month: Price | None = None
    power: Literal["pass_through", "included"] = "pass_through"
    includes_tax: bool = False


class SiteInput(Model):
    """Where owned machines stand; what is left out comes from the catalog's site."""

    id: str | None = None
    tariff: str | None = None
    electricity_usd_per_kwh: Price | None = None
    electricity_includes_tax: bool | None = None
    pue: Annotated[float, BeforeValidator(_number), Field(ge=1, le=5)] | None = None
    grid_kg_co2e_per_kwh: Annotated[float, BeforeValidator(_number), Field(ge=0, le=3)] | None = None
    space_usd_per_month: Amount | None = None
    colocation: Colocation | None = None


class Staff(Model):
    """People: full-time equivalents and what one costs a year."""

    cost_usd_per_fte_year: Amount | None = None
    fte_per_machine: NonNegative | None = None
    fte_cloud: NonNegative | None = None


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
            raise ValueError("either 'tokens', or 'samples' with 'epochs', not both")
        return self


class JobInput(Work):
    """Work to be done again and again: a workload with its amount, settings, frequency and limits."""

    workload: str
    precision: Precision | None = None
    micro_batch: Count | None = None
    checkpointing: Literal["none", "selective", "full"] | None = None
    gpus: Count | None = None
    max_gpus: Count = 64
    throughput: dict[str, Positive] = Field(default_factory=dict)
    runs_per_month: Positive
    attempts_per_run: AtLeastOne | None = None
    job_class: JobClass = Field(default="development", alias="class")
    deadline_h: Positive | None = None
    local_share: Share | None = None
    regions: list[str] = Field(default_factory=list)
    in_house: bool = False
    checkpoints: Annotated[int, BeforeValidator(_whole), Field(ge=0, le=1_000_000)] = 0
    checkpoint_s: NonNegative = 0.0
    egress_gb_per_run: NonNegative = 0.0


class Owned(Model):
    """Machines that are there already."""

    count: Count
    age_months: AgeMonths
    resale_gpu_usd: Amount | None = None
    resale_host_usd: Amount | None = None


class MachineInput(Model):
    """A type of machine that can be bought (or is owned): cards in a host."""

    gpu: str
    gpus: Count = 1
    host: str | None = None
    count: Count | None = None  # None: as many as the work needs
    owned: Owned | None = None
    condition: Literal["new", "used"] = "new"
    age_months: AgeMonths | None = None
    gpu_price_usd: Price | None = None
    host_price_usd: Amount | None = None
    prices_include_tax: bool | None = None
    installation_usd: Amount | None = None
    load_w: Positive | None = None
    idle_w: NonNegative | None = None
    pue: Annotated[float, BeforeValidator(_number), Field(ge=1, le=5)] | None = None
    powered_h_per_month: Annotated[float, BeforeValidator(_number), Field(ge=1, le=730)] | None = None
    target_utilisation: Annotated[float, BeforeValidator(_positive), Field(le=1)] | None = None
    useful_life_months: Annotated[int, BeforeValidator(_whole), Field(ge=1, le=240)] | None = None
    maintenance_share_per_year: Share | None = None
    fte_per_machine: NonNegative | None = None
    residual_gpu: ResidualRatios | None = None
    residual_host: ResidualRatios | None = None

    @model_validator(mode="after")
    def _consistent(self) -> MachineInput:
        if self.load_w is not None and self.idle_w is not None and self.idle_w > self.load_w:
            raise ValueError(f"'idle_w' ({self.idle_w:g}) at most 'load_w' ({self.load_w:g})")
        if self.condition == "used" and self.age_months is None:
            raise ValueError("'age_months' of the used machine (months since it was first sold)")
        if self.condition == "new" and self.age_months not in (None, 0):
            raise ValueError("'condition: used' where 'age_months' is given")
        if self.owned is not None and self.count is not None and self.count < self.owned.count:
            raise ValueError(f"'count' of at least the {self.owned.count} owned machines")
        return self


class GpuInput(Model):
    """A GPU that the catalog lacks. Rates are dense; links sum both directions."""

    name: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    segment: Segment = "workstation"
    memory_gb: Positive
    memory_bandwidth_gb_per_s: Positive
    tdp_w: Positive
    idle_w: NonNegative | None = None
    fp32_dense_tflop_per_s: Positive | None = None
    tf32_dense_tflop_per_s: Positive | None = None
    fp16_dense_tflop_per_s: Positive | None = None
    bf16_dense_tflop_per_s: Positive | None = None
    fp8_dense_tflop_per_s: Positive | None = None
    nvlink_gb_per_s: Positive | None = None
    peer_to_peer: bool = False

    @property
    def dense_tflop_per_s(self) -> dict[Precision, float]:
        """The rates that are given, by precision. [TFLOP/s]"""
        rates = {name: getattr(self, f"{name}_dense_tflop_per_s") for name in PRECISIONS}
        return {name: rate for name, rate in rates.items() if rate is not None}

    @model_validator(mode="after")
    def _consistent(self) -> GpuInput:
        if not self.dense_tflop_per_s:
            raise ValueError("a dense rate of at least one precision, such as 'bf16_dense_tflop_per_s'")
        if self.idle_w is not None and self.idle_w > self.tdp_w:
            raise ValueError(f"'idle_w' ({self.idle_w:g}) at most 'tdp_w' ({self.tdp_w:g})")
        return self


class ModelInput(Work):
    """A model that the catalog lacks, described by its config.json, with the settings of its usual recipe."""

    name: Annotated[str, BeforeValidator(_text), Field(max_length=100)] | None = None
    config: Annotated[Any, BeforeValidator(_config)]  # what is wrong with a key is said when it is read
    precision: Precision = "bf16"


class Rental(Model):
    """Which offers may be used, and what goes with rented machines."""

    offers: list[str] | None = None  # exactly these; None: by the filters below
    terms: Annotated[list[Term], Field(min_length=1)] = ["on_demand"]
    markets: Annotated[list[Market], Field(min_length=1)] = ["cloud"]
    statuses: Annotated[list[Status], Field(min_length=1)] = ["current"]
    include_estimates: bool = False
    providers: list[str] | None = None
    regions: list[str] | None = None
    gpus: list[str] | None = None
    exclude: list[str] = Field(default_factory=list)
    idle_tail_s: Seconds = 0.0
    storage_gb: NonNegative = 0.0
    storage_usd_per_gb_month: Amount | None = None
    egress_usd_per_gb: Amount | None = None
    free_egress_gb_per_month: NonNegative | None = None


class OfferInput(Model):
    """An own quote, or own values for an offer of the catalog (then only what differs)."""

    provider: Id | None = None
    instance_type: Annotated[str, BeforeValidator(_text), Field(max_length=100)] | None = None
    region: Annotated[str, BeforeValidator(_text), Field(max_length=100)] | None = None
    gpu: str | None = None
    gpu_count: Count | None = None
    term: Term | None = None
    market: Market | None = None
    price_usd_per_h: Price | None = None
    price_usd_per_gpu_h: Price | None = None
    includes_tax: bool | None = None
    billing_unit_s: BillingUnit | None = None
    minimum_s: Seconds | None = None
    startup_s: Seconds | None = None
    load_w: Positive | None = None
    idle_w: NonNegative | None = None
    pue: Annotated[float, BeforeValidator(_number), Field(ge=1, le=5)] | None = None
    grid_kg_co2e_per_kwh: Annotated[float, BeforeValidator(_number), Field(ge=0, le=3)] | None = None
    network_gbit_per_s: Positive | None = None

    @model_validator(mode="after")
    def _one_price(self) -> OfferInput:
        if self.price_usd_per_h is not None and self.price_usd_per_gpu_h is not None:
            raise ValueError("'price_usd_per_h' or 'price_usd_per_gpu_h', not both")
        if self.load_w is not None and self.idle_w is not None and self.idle_w > self.load_w:
            raise ValueError(f"'idle_w' ({self.idle_w:g}) at most 'load_w' ({self.load_w:g})")
        return self


class CurrencyInput(Model):
    """An exchange rate of the user's own."""

    usd_per_unit: Positive


class Scenario(Model):
    """A whole question: work, machines, rental, site and money."""

    schema_version: Literal[1]
    name: Annotated[str, BeforeValidator(_text), Field(max_length=200)] = "Plan"
    note: Annotated[str, Field(max_length=5000)] = ""
    horizon_months: Months
    discount_rate: Rate | None = None
    currency: CurrencyCode = "USD"
    currencies: dict[CurrencyCode, CurrencyInput] = Field(default_factory=dict)
    owned_value_counts: bool = True
    tax: Tax = Tax()
    site: SiteInput = SiteInput()
    staff: Staff = Staff()
    jobs: Annotated[dict[Id, JobInput], Field(min_length=1, max_length=100)]
    machines: Annotated[dict[Id, MachineInput], Field(max_length=200)] = Field(default_factory=dict)
    rental: Rental = Rental()
    offers: Annotated[dict[Id, OfferInput], Field(max_length=500)] = Field(default_factory=dict)
    gpus: Annotated[dict[Id, GpuInput], Field(max_length=100)] = Field(default_factory=dict)
    models: Annotated[dict[Id, ModelInput], Field(max_length=100)] = Field(default_factory=dict)
