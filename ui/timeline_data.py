"""Rows of the Timeline page from a plan's document: cash by period and role, load, and waits by month."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.strategy.fiscal import Span
from ui import plan_rows
from ui.fiscal import spans_of
from ui.palette import COST_ROLES
from ui.view import Row, View

NO_CASH = "opportunity"  # what machines that are there already could be sold for today
_PEAK = 2.0  # times the median month, from which one is called a peak
_EVEN = 1.1  # times, up to which months are called even


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Cash of some months. Resale comes in and is negative."""

    number: int  # from 1
    label: str  # its name in the fiscal calendar, else the number
    first: int
    last: int
    parts_usd: Mapping[str, float]  # paid, by role
    resale_usd: float
    after: bool  # wholly after the horizon

    @property
    def paid_usd(self) -> float:
        """All that is paid."""
        return sum(self.parts_usd.values())

    @property
    def cash_usd(self) -> float:
        """What is paid, less resale."""
        return self.paid_usd + self.resale_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class YearCash:
    """Cash of a fiscal year; `number` None for all years."""

    number: int | None
    label: str
    months: int
    purchase_usd: float
    resale_usd: float
    rental_usd: float
    running_usd: float
    after: bool = False

    @property
    def machines_usd(self) -> float:
        """Purchases less resale."""
        return self.purchase_usd + self.resale_usd

    @property
    def cash_usd(self) -> float:
        """All of it."""
        return self.purchase_usd + self.resale_usd + self.rental_usd + self.running_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Load of a type of owned machine by month, in shares of its powered hours."""

    machine: str
    count: int
    load: tuple[float, ...]
    safe: float
    whole: float | None = None  # over all hours switched on: months with few machines weigh less

    @property
    def over(self) -> list[int]:
        """Months, from 1, above the safe load."""
        return [month for month, load in enumerate(self.load, start=1) if load > self.safe * (1 + 1e-9)]

    @property
    def mean(self) -> float:
        """Load of all months together."""
        return statistics.fmean(self.load) if self.whole is None else self.whole


class Timeline:
    """One way of a plan, month by month."""

    def __init__(self, view: View, way: Row) -> None:
        self.view = view
        self.way = way
        self.horizon_months: int = view.report["horizon_months"]
        self.months = plan_rows.last_paid(way, self.horizon_months) if way["months"] else 0
        self._by_role = _by_role(view, way, len(way["months"]))
        self._cash: dict[str, list[Period]] = {}

    @property
    def costed(self) -> bool:
        """Whether the way has numbers: it may work, or be late or over capacity."""
        return bool(self.way["months"])

    def spans(self, period: str) -> list[Span]:
        """Periods of the plan by its fiscal calendar."""
        return spans_of(self.view.document, self.months, period)

    def cash(self, period: str) -> list[Period]:
        """Cash by month, quarter or year of the plan."""
        if period not in self._cash:
            self._cash[period] = self._cash_of(period)
        return self._cash[period]

    def _cash_of(self, period: str) -> list[Period]:
        found = []
        for span in self.spans(period):
            start = span.first - 1
            sums = {role: sum(amounts[start : span.last]) for role, amounts in self._by_role.items()}
            found.append(
                Period(
                    number=span.number,
                    label=span.label,
                    first=span.first,
                    last=span.last,
                    parts_usd={role: sums[role] for role in COST_ROLES if sums.get(role)},
                    resale_usd=sums.get("resale", 0.0),
                    after=start >= self.horizon_months,
                )
            )
        return found

    def years(self) -> list[YearCash]:
        """Cash by fiscal year, and of all years."""
        rows = [
            YearCash(
                number=year.number,
                label=year.label,
                months=year.last - year.first + 1,
                purchase_usd=year.parts_usd.get("owned", 0.0),
                resale_usd=year.resale_usd,
                rental_usd=sum(year.parts_usd.get(role, 0.0) for role in plan_rows.RENTED),
                running_usd=sum(year.parts_usd.get(role, 0.0) for role in ("electricity", "people", "upkeep")),
                after=year.after,
            )
            for year in self.cash("year")
        ]
        total = YearCash(
            number=None,
            label="",
            months=self.months,
            purchase_usd=sum(row.purchase_usd for row in rows),
            resale_usd=sum(row.resale_usd for row in rows),
            rental_usd=sum(row.rental_usd for row in rows),
            running_usd=sum(row.running_usd for row in rows),
        )
        return [*rows, total]

    def peak(self) -> Period:
        """The month in which most is paid."""
        return max(self.cash("month"), key=lambda month: month.paid_usd)

    def top_quarter(self) -> Period:
        """The quarter in which most is paid."""
        return max(self.cash("quarter"), key=lambda quarter: quarter.paid_usd)

    def usual_usd(self) -> float:
        """What is paid in the median month of the horizon."""
        return statistics.median(month.paid_usd for month in self.cash("month")[: self.horizon_months])

    def shape(self) -> str:
        """How cash runs: "peak", "even", or "varied"."""
        paid = [month.paid_usd for month in self.cash("month")[: self.horizon_months]]
        if max(paid) >= _PEAK * self.usual_usd():
            return "peak"
        return "even" if max(paid) <= _EVEN * min(paid) else "varied"

    def after_usd(self) -> float:
        """What is still paid after the horizon."""
        return sum(month.cash_usd for month in self.cash("month")[self.horizon_months :])

    def loads(self) -> list[Load]:
        """Load of each type of owned machine with work."""
        return [
            Load(
                machine=machine["id"],
                count=machine["count"],
                load=tuple(machine["load"]),
                safe=machine["target_utilisation"],
                whole=machine["utilisation"],
            )
            for machine in self.way["machines"]
            if machine["utilisation"] > 0
        ]

    def payback_month(self) -> int | None:
        """Month in which the purchase is made up for against renting all; None where it isn't, or there is none."""
        return next((entry["month"] for entry in self.way["paybacks"] if entry["against"] == "cloud"), None)

    def for_good(self) -> int | None:
        """Month from which less has been spent than for renting all, up to the end; None where it never comes."""
        other = next((way for way in self.view.strategies if way["kind"] == "cloud" and way["months"]), None)
        return None if other is None else plan_rows.for_good(self.way, other, self.horizon_months)

    def against_renting(self) -> bool:
        """Whether there is a payback to speak of."""
        return any(entry["against"] == "cloud" for entry in self.way["paybacks"])


def _by_role(view: View, way: Row, months: int) -> dict[str, list[float]]:
    """Cash by month of each role, and of resale."""
    sums: dict[str, list[float]] = {}
    rented_tax: list[Row] = []
    for line in way["lines"]:
        kind = line["id"].split(".")[0]
        if kind == NO_CASH:
            continue
        if kind == "tax_rented":
            rented_tax.append(line)
            continue
        role = "resale" if line["group"] == "residual" else plan_rows.role_of(view, line)
        _add(sums.setdefault(role, [0.0] * months), line)
    if rented_tax:
        role = plan_rows.role_of_rented_tax({role: sum(amounts) for role, amounts in sums.items()})
        for line in rented_tax:
            _add(sums.setdefault(role, [0.0] * months), line)
    return sums


def _add(sums: list[float], line: Row) -> None:
    for month, amount in enumerate(line["by_month_usd"]):
        sums[month] += amount


def waiting_jobs(waits: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    """Machine and waits of each job, the one with most runs first."""
    found = [(machine, job) for machine, entry in waits.items() for job in entry["jobs"]]
    return sorted(found, key=lambda pair: -pair[1]["runs"])
