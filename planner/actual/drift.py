"""Drift of jobs, bills, resources, energy and months of one way of a plan."""

from __future__ import annotations

from dataclasses import dataclass

from planner.actual.effects import Effects, HourEffects, added
from planner.actual.planned import PlannedLine, PlannedRuns, PlannedWay
from planner.actual.rows import Hours
from planner.units import HALF_CENT_USD

_SLACK = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDrift:
    """A job on a resource over the months that were reported; `planned` is None where the plan can't have it there."""

    job: str
    resource: str
    planned: PlannedRuns | None
    months: tuple[int, ...]
    unknown_months: tuple[int, ...]  # with planned runs, and nothing reported
    runs_planned: float
    runs: float
    attempts: float | None
    gpu_hours_planned: float
    gpu_hours: float
    kwh: float | None
    hours: HourEffects | None
    usd: Effects  # of its runs, attempts and hours, where the bills are known

    @property
    def attempts_planned(self) -> float | None:
        """Planned attempts of the planned runs."""
        return None if self.planned is None else self.runs_planned * self.planned.attempts_per_run

    @property
    def counted_attempts(self) -> float | None:
        """Attempts as reported, else as planned for the reported runs."""
        if self.attempts is not None or self.planned is None:
            return self.attempts
        return self.runs * self.planned.attempts_per_run

    @property
    def attempts_per_run(self) -> float | None:
        """Attempts of a successful run as reported."""
        return None if self.attempts is None or not self.runs else self.attempts / self.runs

    @property
    def attempts_implied(self) -> float | None:
        """Attempts of a run, had each taken as long as planned."""
        if self.planned is None or not self.runs:
            return None
        return self.gpu_hours / self.planned.gpu_h_per_attempt / self.runs

    @property
    def attempt_h(self) -> float | None:
        """How long one attempt held its GPUs, by the attempts counted. [h]"""
        if self.planned is None or not self.counted_attempts:
            return None
        return self.gpu_hours / self.counted_attempts / self.planned.held_gpus

    @property
    def likely_h(self) -> tuple[float, float] | None:
        """Likely range of the time of an attempt; None for a speed without one. [h]"""
        found = self.planned
        if found is None or found.gpu_h_low is None or found.gpu_h_high is None:
            return None
        return found.gpu_h_low / found.held_gpus, found.gpu_h_high / found.held_gpus

    @property
    def inside(self) -> bool | None:
        """Whether the time of an attempt is in its likely range; None where either isn't known."""
        attempt_h, likely_h = self.attempt_h, self.likely_h
        if attempt_h is None or likely_h is None:
            return None
        return likely_h[0] * (1 - _SLACK) <= attempt_h <= likely_h[1] * (1 + _SLACK)

    @property
    def slower(self) -> float | None:
        """Time of an attempt over the planned one, less 1."""
        return None if self.attempt_h is None or self.planned is None else self.attempt_h / self.planned.attempt_h - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BillDrift:
    """What was paid in a month for some lines of the plan, or for nothing in it."""

    month: int
    resource: str
    kind: str
    lines: tuple[PlannedLine, ...]
    planned_usd: float
    actual_usd: float
    quantity_planned: float | None
    quantity: float | None
    unit: str
    effects: Effects


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceDrift:
    """Hours, bills and the paid price of one resource. Amounts are those of bills for it alone."""

    resource: str
    months: tuple[int, ...]  # with a bill
    gpu_hours_planned: float
    gpu_hours: float
    planned_usd: float
    actual_usd: float
    price_planned_usd: float | None  # of a unit, over what was billed
    price_usd: float | None
    price_unit: str
    effects: Effects


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthDrift:
    """One month: the plan's cash, what of it was billed, and what was paid; None where nothing was reported."""

    month: int
    planned_usd: float
    billed_planned_usd: float | None
    actual_usd: float | None
    effects: Effects
    has_hours: bool
    expects_hours: bool  # whether the plan has runs
    cumulative_low_usd: float  # likely range of the plan's cash up to here
    cumulative_high_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EnergyDrift:
    """Energy of a resource over the months in which it was metered. [kWh]"""

    resource: str
    months: tuple[int, ...]
    planned_kwh: float
    actual_kwh: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One way of a plan against what was reported, up to the last month with a row."""

    way: PlannedWay
    hours: tuple[Hours, ...]
    last_month: int
    months: tuple[MonthDrift, ...]
    jobs: tuple[JobDrift, ...]
    bills: tuple[BillDrift, ...]
    resources: tuple[ResourceDrift, ...]
    energy: tuple[EnergyDrift, ...]
    billed_low_usd: float | None  # likely range of what the plan has for the bills
    billed_high_usd: float | None

    @property
    def effects(self) -> Effects:
        """Of all bills."""
        return added(bill.effects for bill in self.bills)

    @property
    def months_without_hours(self) -> tuple[int, ...]:
        """Months up to the last with planned runs, in which no hours were reported."""
        return tuple(month.month for month in self.months if month.expects_hours and not month.has_hours)

    @property
    def months_without_bills(self) -> tuple[int, ...]:
        """Months up to the last in which the plan pays something, and no bill is known."""
        return tuple(
            month.month for month in self.months if month.actual_usd is None and abs(month.planned_usd) >= HALF_CENT_USD
        )
