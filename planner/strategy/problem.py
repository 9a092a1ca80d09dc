"""A resolved question: candidates and columns of the parameter table; nothing here refers to the catalog any more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from planner.performance.estimate import Prediction, Setup
from planner.strategy.financing import MoneyViews
from planner.strategy.machines import Failures, Machine, Sold
from planner.strategy.offers import Credit, Quota, RentedOffer, RentedProvider, Spot
from planner.strategy.parameters import Parameter, Theta
from planner.strategy.plan_limits import NO_LIMITS, PlanLimits
from planner.workload.job import Arrivals


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """Something the reader must know: a code with parameters, the input it concerns, and where it happens."""

    code: str
    field: str = ""
    where: str = ""
    params: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job's demand; the fields named `*_at` are columns of the parameter table."""

    id: str
    workload: str
    job_class: str
    local_share: float | None
    in_house: bool
    overflow: bool  # whether attempts may go to rented machines before waiting makes them late
    deadline_h: float | None
    priority: int
    submitted_together: int
    arrivals: Arrivals
    profile: tuple[float, ...] | None  # demand of each month over `runs_per_month`; None: the same in all
    runs_per_month_at: int
    attempts_per_run_at: int
    upload_gb_per_run_at: int | None
    egress_gb_per_run_at: int | None
    transfer: Transfer | None  # None: moving data takes no time
    local_share_at: int | None
    restarts: Restarts | None  # None: interruptions aren't counted
    group: str | None = None

    @property
    def mean_factor(self) -> float:
        """Demand of a mean month over `runs_per_month`. [-]"""
        return 1.0 if self.profile is None else sum(self.profile) / len(self.profile)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """People who share the machines and are charged together."""

    id: str
    name: str
    people: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarts:
    """Columns of what interrupts a run and what that costs."""

    interruptions_per_gpu_year_at: int
    restart_s_at: int
    checkpoint_s_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """Columns of how long the data of a run takes to and from a provider."""

    mbit_per_s_at: int
    upload_gb_at: int | None
    download_gb_at: int | None
    billed: bool  # instances wait for the upload, at every start


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How one run of a job does on a resource, as predicted or given. Times are of one attempt."""

    throughput: float
    throughput_unit: str
    basis: str
    memory_gb: float | None
    fits: bool
    settings: Mapping[str, object]
    warnings: tuple[Issue, ...]
    setup: Setup | None = None  # what was estimated, and the answer; None for an own rate
    prediction: Prediction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A job on a resource it could use: GPUs of one run, columns of its speed, and why it can't, if it can't."""

    job: int
    resource: str
    machine: int | None  # index of the machine type, or
    offer: int | None  # of the offer
    gpus: int
    nodes: int  # machines or instances one run occupies
    work: float  # tokens or samples of one attempt
    throughput_at: int
    eval_share: float  # time of evaluation over that of training
    checkpoints: int
    checkpoint_s: float
    restarts: Restarts | None
    failures: Failures | None  # of the owned machine; None: on a rented one, or not counted
    spot: Spot | None  # None: on an owned machine or on demand
    transfer: Transfer | None  # None: on an owned machine, or without a rate
    fit: Fit
    problems: tuple[Issue, ...]

    @property
    def feasible(self) -> bool:
        """Whether the job may run there at all."""
        return not self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSite:
    """The site of the owned machines."""

    electricity_at: int
    electricity_includes_tax: bool
    grid_at: int
    space_at: int
    colocation_kw_at: int | None
    colocation_price_at: int | None
    colocation_includes_tax: bool
    power_included: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanProblem:
    """Everything the kernel needs, with the catalog looked up, units and currencies settled once."""

    name: str
    horizon_months: int
    currency: str
    usd_per_unit: float
    currency_as_of: str | None
    catalog_as_of: str
    parameters: tuple[Parameter, ...]
    jobs: tuple[Job, ...]
    machines: tuple[Machine, ...]
    sold: tuple[Sold, ...]
    offers: tuple[RentedOffer, ...]
    providers: tuple[RentedProvider, ...]
    quotas: tuple[Quota, ...]
    pairs: tuple[Pair, ...]
    site: LocalSite
    owned_value_counts: bool
    tax_recoverable: bool
    tax_rate_at: int
    discount_rate_at: int
    wage_at: int
    fte_cloud_at: int
    storage_gb_at: int
    upload_gb_at: int | None  # once at each provider
    credits: tuple[Credit, ...]  # those that lapse first come first
    rental_change_at: int | None  # None: rental prices stay
    hardware_change_at: int | None  # None: prices of cards and hosts stay
    warnings: tuple[Issue, ...]
    views: MoneyViews
    moved_share: float  # how far inputs without any range are moved, either way, to see what they do
    level_share: float  # and the level of rental prices
    groups: tuple[Group, ...] = ()
    limits: PlanLimits = NO_LIMITS

    @property
    def rental_change(self) -> tuple[int, ...]:
        """Columns of how rental prices change, if they do."""
        return () if self.rental_change_at is None else (self.rental_change_at,)

    @property
    def hardware_change(self) -> tuple[int, ...]:
        """Columns of how prices of cards and hosts change, if they do."""
        return () if self.hardware_change_at is None else (self.hardware_change_at,)

    def theta(self) -> Theta:
        """The nominal parameter values as one row."""
        return np.array([[parameter.value for parameter in self.parameters]], dtype=np.float64)

    def column(self, id: str) -> int:
        """Column of a parameter by id.

        Raises
        ------
        KeyError
            When the plan has no such parameter.
        """
        for index, parameter in enumerate(self.parameters):
            if parameter.id == id:
                return index
        raise KeyError(id)
