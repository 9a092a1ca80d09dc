"""A resolved question: candidates and columns of the parameter table; nothing here refers to the catalog any more."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from planner.cost.capex import Sale
from planner.performance.estimate import Prediction, Setup
from planner.strategy.financing import Lease, Loan, MoneyViews
from planner.strategy.parameters import Parameter, Theta
from planner.units import H_PER_MONTH
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
class Failures:
    """Columns of what makes an own machine fail, how long it is away then, and what a run on it loses besides."""

    per_year_at: int
    repair_h_at: int
    restart_s_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """Columns of how long the data of a run takes to and from a provider."""

    mbit_per_s_at: int
    upload_gb_at: int | None
    download_gb_at: int | None
    billed: bool  # instances wait for the upload, at every start


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Columns of what takes spot instances away and what that costs."""

    interrupted_share_at: int
    startup_s_at: int
    load_s_at: int
    reacquire_s_at: int
    available_share_at: int  # chance that a request for the first instances is granted
    retry_s_at: int


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
class SaleColumns:
    """A sale of units with the columns of its residual ratios."""

    sale: Sale
    gpu_sold_at: int
    gpu_bought_at: int
    host_sold_at: int
    host_bought_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohort:
    """Units of a machine type with one history: bought with the plan at one time, or owned already."""

    owned: bool  # there from the start, with its cards or, where these are sold, with new ones
    new_cards: bool
    count: int | None  # fixed for owned units and purchases in stages; None: what the choice says beyond owned ones
    there_after: int  # month at whose end its first units are delivered, 0: there from the start
    delivery_months: int  # from a purchase until the unit comes
    purchase_months: tuple[int, ...]
    sales: tuple[SaleColumns, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A type of owned machine."""

    id: str
    gpu: str
    gpu_name: str
    gpus: int
    fixed_count: int | None
    owned_count: int
    cohorts: tuple[Cohort, ...]
    gpu_includes_tax: bool
    host_includes_tax: bool
    gpu_price_at: int
    host_price_at: int
    installation_at: int
    resale_gpu_today_at: int | None
    resale_host_today_at: int | None
    load_w_at: int
    idle_w_at: int
    pue_at: int
    powered_h_at: int
    target_utilisation_at: int
    useful_life_at: int  # for the record: the cohorts were made from it
    maintenance_at: int
    fte_at: int
    failures: Failures | None  # None: not counted
    end_of_life: tuple[float, float] | None  # resale over price of card and host then; None: unknown
    finance: Loan | Lease | None = None  # None: paid for in cash
    lease_or_buy: tuple[Machine, Machine] | None = None  # the same leased, and bought

    @property
    def complete_after(self) -> int:
        """Month at whose end the last machines are there, 0: all are from the start."""
        return max(cohort.there_after for cohort in self.cohorts)

    @property
    def upgraded(self) -> bool:
        """Whether those that are there already get new cards at the start."""
        return any(cohort.new_cards for cohort in self.cohorts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sold:
    """Machines that are sold at the start of the plan, or only their cards."""

    id: str  # of their type
    count: int
    gpus: int  # of each
    gpu_at: int  # columns of today's value
    host_at: int | None  # None: hosts are kept, with new cards in them
    upgraded: int | None  # index of the machine type that has the hosts


@dataclass(frozen=True, slots=True, kw_only=True)
class Commitment:
    """Instances of an offer that are paid for over whole terms or blocks of days, used or not."""

    nodes: int
    upfront: bool
    starts: tuple[int, ...]  # month after which each term begins, from 0, in order; negative where it runs already
    term_h: float
    overflow: int  # index of the offer that takes what the commitment doesn't cover

    @property
    def running(self) -> bool:
        """Whether its first term began before the plan: then that term is paid in every way, used or not."""
        return self.starts[0] < 0

    @property
    def term_months(self) -> int:
        """Months that a term touches."""
        return math.ceil(self.term_h / H_PER_MONTH)

    @property
    def last_month(self) -> int:
        """Month in which the last term ends."""
        return self.starts[-1] + self.term_months

    @property
    def running_until(self) -> int:
        """Month in which the term ends that began before the plan; 0: there is none."""
        return self.starts[0] + self.term_months if self.running else 0

    def cover_h(self, month: int) -> float:
        """Node-hours that the terms have in a month, from 1. [h]"""
        spent_h = (H_PER_MONTH * (month - 1 - start) for start in self.starts if start < month)
        return self.nodes * sum(min(max(self.term_h - spent, 0.0), H_PER_MONTH) for spent in spent_h)


@dataclass(frozen=True, slots=True, kw_only=True)
class Availability:
    """Columns of how often instances are there when they are asked for."""

    available_share_at: int
    retry_s_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """Most GPUs that rented instances of some offers may have at once."""

    id: str  # offer, GPU or provider
    gpus: int
    offers: tuple[int, ...]  # indices


@dataclass(frozen=True, slots=True, kw_only=True)
class RentedOffer:
    """An offer as the kernel needs it."""

    id: str
    provider: int
    gpu: str
    gpu_name: str
    gpu_count: int
    region: str
    term: str
    includes_tax: bool
    price_at: int
    billing_unit_s_at: int
    minimum_s_at: int
    startup_s_at: int
    idle_tail_s_at: int
    load_w_at: int
    idle_w_at: int
    pue_at: int
    grid_at: int
    free_h_per_month_at: int | None  # node-hours that aren't billed; None: no such limit
    free_h_total_at: int | None  # of the whole plan
    spot: Spot | None
    availability: Availability | None  # None: instances are always there
    commitment: Commitment | None

    @property
    def free_hours(self) -> tuple[int, ...]:
        """Columns of the node-hours that are free, if some are."""
        return tuple(at for at in (self.free_h_per_month_at, self.free_h_total_at) if at is not None)

    @property
    def instance(self) -> tuple[int, str, str, int]:
        """What is rented, whatever the term: provider, region, GPU and their number."""
        return (self.provider, self.region, self.gpu, self.gpu_count)


@dataclass(frozen=True, slots=True, kw_only=True)
class RentedProvider:
    """What a provider charges besides instances."""

    id: str
    storage_price_at: int
    egress_price_at: int
    free_egress_gb_at: int
    ingress_price_at: int | None  # None: nothing is uploaded


@dataclass(frozen=True, slots=True, kw_only=True)
class Credit:
    """Money that pays what some providers charge in some months."""

    id: str
    amount_at: int
    providers: frozenset[int] | None  # None: all
    from_month: int
    last_month: int
    rental_only: bool

    def valid_at(self, provider: int) -> bool:
        """Whether a provider takes it."""
        return self.providers is None or provider in self.providers


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
    groups: tuple[Group, ...] = ()

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
