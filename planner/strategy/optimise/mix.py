"""A programme with what its variables mean, and the choice that its values are."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from planner.cost.course import Array
from planner.strategy.kernel import Choice
from planner.strategy.meanwhile import taken
from planner.strategy.measures import COST
from planner.strategy.optimise.effects import Coefficients
from planner.strategy.optimise.periods import Period
from planner.strategy.optimise.programme import Programme
from planner.strategy.problem import PlanProblem

_ROUND = 1e-7  # shares below it are what a solver leaves over


@dataclass(frozen=True, slots=True, kw_only=True)
class BillPart:
    """Lines of a provider's bill that credits see alike."""

    provider: int
    instances: bool  # else disk and data
    includes_tax: bool
    early: bool  # paid at the start of a month, so at the end of the one before


def part_of_instances(problem: PlanProblem, offer: int) -> BillPart:
    """Where instances at the price of an offer stand."""
    one = problem.offers[offer]
    early = one.commitment is not None and one.commitment.upfront
    return BillPart(provider=one.provider, instances=True, includes_tax=one.includes_tax, early=early)


def part_of_extras(provider: int) -> BillPart:
    """Where disk and data of a provider stand."""
    return BillPart(provider=provider, instances=False, includes_tax=False, early=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Billed:
    """What a variable, or what is there anyway, adds to a part of a bill, by time."""

    part: BillPart
    period: int | None
    place: int | None  # None: it is there anyway
    paid: Array


@dataclass(slots=True)
class Mix:
    """A programme with the places of its variables."""

    problem: PlanProblem
    found: Coefficients
    periods: tuple[Period, ...]
    programme: Programme = field(default_factory=Programme)
    share: npt.NDArray[np.int64] = field(init=False)  # [pairs, periods], -1 where a job has no demand
    bought: list[int] = field(init=False)
    number: list[int] = field(init=False)
    effects: list[tuple[npt.NDArray[np.int64], Array, int | None]] = field(
        default_factory=list
    )  # places, effects, period
    billed: list[Billed] = field(default_factory=list)  # where there are credits
    covered: dict[tuple[int, int], int] = field(default_factory=dict)  # hours of terms, by offer and period

    def bill_instances(self, offer: int, period: int | None, place: int | None, paid: Array) -> None:
        """Keep what is paid for instances at the price of an offer, where credits could pay it."""
        self._bill(part_of_instances(self.problem, offer), period, place, paid)

    def bill_extras(self, provider: int, period: int | None, place: int | None, paid: Array) -> None:
        """Keep what is paid for disk and data."""
        self._bill(part_of_extras(provider), period, place, paid)

    def _bill(self, part: BillPart, period: int | None, place: int | None, paid: Array) -> None:
        if self.problem.credits and paid.any():
            self.billed.append(Billed(part=part, period=period, place=place, paid=paid))

    def choice(self, values: Array) -> Choice:
        """What was decided: one row."""
        problem, periods = self.problem, self.periods
        shares = np.zeros((len(self.found.pairs), problem.horizon_months))
        for at, period in enumerate(periods):
            known = self.share[:, at] >= 0
            shares[np.ix_(known, np.array(period) - 1)] = values[self.share[known, at]][:, None]
        shares[shares < _ROUND] = 0.0
        jobs = np.array([problem.pairs[index].job for index in self.found.pairs])
        for job in range(len(problem.jobs)):
            mine = jobs == job
            total = shares[mine].sum(axis=0)
            shares[mine] = np.divide(shares[mine], total, out=np.zeros_like(shares[mine]), where=total > 0)
        routing, by_month = np.zeros((1, len(problem.pairs))), {}
        for place, index in enumerate(self.found.pairs):
            if not shares[place].any():
                continue
            active = [period for at, period in enumerate(periods) if self.share[place, at] >= 0]
            months = np.array([month - 1 for period in active for month in period])
            whole = len(months) == problem.horizon_months or not self._kept_by_month(index)
            if whole and np.all(shares[place, months] == shares[place, months[0]]):
                routing[0, index] = shares[place, months[0]]
            else:
                by_month[index] = shares[place][None, :]
        counts = np.zeros((1, len(problem.machines)))
        for at in range(len(problem.machines)):
            counts[0, at] = round(float(values[self.number[at]]))
        choice = Choice(machine_count=counts, routing=routing, by_month=by_month)
        return taken(problem, choice, np.zeros(1, dtype=np.int64)) if by_month else choice

    def _kept_by_month(self, index: int) -> bool:
        """Whether a pair is rented and brings a disk or people: in months without runs these aren't needed."""
        offer = self.problem.pairs[index].offer
        if offer is None:
            return False
        return bool(self.found.staff.any() or self.found.providers[self.problem.offers[offer].provider].any())


def billed_at(problem: PlanProblem, offer: int) -> int:
    """The offer whose price hours of an offer have: of one with terms, that of what these don't cover."""
    term = problem.offers[offer].commitment
    return offer if term is None else term.overflow


def month_factor(problem: PlanProblem, job: int, period: Period) -> float:
    """Demand of a job in each month of a period, over `runs_per_month`. [-]"""
    profile = problem.jobs[job].profile
    return 1.0 if profile is None else float(profile[period[0] - 1])


def node_hours(mix: Mix, place: int, period: Period) -> float:
    """Billed node-hours of all runs of a pair in each month of a period. [h]"""
    job = mix.problem.pairs[mix.found.pairs[place]].job
    return float(mix.found.node_h[place]) * month_factor(mix.problem, job, period)


def use(mix: Mix, places: list[int], effects: Array, worth: Array, period: int | None) -> int:
    """A yes that any share of some pairs takes, with what it costs; in one period, or in any.

    Shares of a job in a period add up to at most 1, so that they take it together: one row, and a tighter one.
    """
    used = int(mix.programme.add(np.array([effects[COST] @ worth]), upper=1.0, whole=True, period=period)[0])
    mix.effects.append((np.array([used]), effects, period))
    jobs = np.array([mix.problem.pairs[mix.found.pairs[place]].job for place in places])
    for at in range(len(mix.periods)) if period is None else (period,):
        for job in np.unique(jobs):
            shares = mix.share[np.array(places)[jobs == job], at]
            shares = shares[shares >= 0]
            if len(shares):
                mix.programme.row([*shares.tolist(), used], [*np.ones(len(shares)), -1.0], -np.inf, 0.0)
    return used
