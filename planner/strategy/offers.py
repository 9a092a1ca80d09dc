"""What is rented, as the kernel needs it; the fields named `*_at` are columns of the parameter table."""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.units import H_PER_MONTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Commitment:
    """Instances of an offer that are paid for over whole terms or blocks of days, used or not."""

    nodes: int
    upfront: bool
    starts: tuple[int, ...]  # month after which each term begins, from 0, in order; negative where it runs already
    term_h: float
    overflow: int  # index of the offer that takes what the commitment doesn't cover
    first_paid: bool = False  # at once, before the plan

    @property
    def running(self) -> bool:
        """Whether its first term began before the plan: then that term is paid in every way, used or not."""
        return self.starts[0] < 0 or self.first_paid

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
class Spot:
    """Columns of what takes spot instances away and what that costs."""

    interrupted_share_at: int
    startup_s_at: int
    load_s_at: int
    reacquire_s_at: int
    available_share_at: int  # chance that a request for the first instances is granted
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
