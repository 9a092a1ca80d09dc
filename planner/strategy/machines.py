"""Types of owned machines as the kernel needs them; the fields named `*_at` are columns of the parameter table."""

from __future__ import annotations

from dataclasses import dataclass

from planner.cost.capex import Sale
from planner.strategy.financing import Contract, Lease, Loan


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """Columns of what makes an own machine fail, how long it is away then, and what a run on it loses besides."""

    per_year_at: int
    repair_h_at: int
    restart_s_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SaleColumns:
    """A sale of units with the columns of its residual ratios."""

    sale: Sale
    position: int  # of the unit in its cohort: 0 is the first
    gpu_sold_at: int
    gpu_bought_at: int
    host_sold_at: int
    host_bought_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohort:
    """Units of a machine type with one history: bought with the plan at one time, or owned already."""

    owned: bool  # paid before the plan, with its cards or, where these are sold, with new ones
    new_cards: bool
    count: int | None  # fixed for owned units and purchases in stages; None: what the choice says beyond owned ones
    there_after: int  # month at whose end its first units are delivered, 0: there from the start
    delivery_months: int  # from a purchase until the unit comes
    purchase_months: tuple[int, ...]
    paid: int  # of the purchases, the first ones: paid before the plan began, in months of 0 and below
    sales: tuple[SaleColumns, ...]
    name: str = ""  # in the ids of lines; of owned ones `owned`, and of those of another age its own
    value_counts: bool = True  # whether today's value of owned ones counts, and their resale
    resale_gpu_today_at: int | None = None  # columns of that value; None for bought ones, and for new cards
    resale_host_today_at: int | None = None
    lives: tuple[Sale, ...] = ()  # how long each unit stays: its sale, or when it goes back at the end of a lease
    leased_until: int | None = None  # month at whose end the lease of owned ones ends; None: none runs
    buyout_at: int | None = None  # column of what buys one then; None: it goes back
    inflation_at: int | None = None  # of that lease

    @property
    def bought(self) -> tuple[int, ...]:
        """Months of the purchases that the plan pays."""
        return self.purchase_months[self.paid :]


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
    contracts: tuple[Contract, ...] = ()  # loans and leases that run already
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
