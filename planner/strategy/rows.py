"""What the makers of cost lines share in one kernel call: parameter values, choice and time, all by row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from planner.cost.course import Array, Course, Stretches
from planner.cost.finance import price_factor
from planner.strategy.financing import Lease
from planner.strategy.fleet import cohort_units, machines_there
from planner.strategy.offers import RentedOffer
from planner.strategy.parameters import Theta
from planner.strategy.problem import Pair, PlanProblem
from planner.strategy.sessions import SharesByMonth, busy_h_by_month

RentedPair = tuple[int, Pair, RentedOffer]


@dataclass(slots=True, kw_only=True)
class Rows:
    """Rows of a call, with the loads that follow from them."""

    problem: PlanProblem
    theta: Theta  # [rows, parameters]
    routing: Array  # [rows, pairs]
    by_month: SharesByMonth = field(default_factory=dict)
    count: Array  # [rows, machines], whenever they come
    there: Array = field(init=False)  # [rows, machines, months or 1], machines that can be used
    busy_h: Array = field(init=False)  # [rows, machines, months or 1]
    runs: Array = field(init=False)  # [rows, pairs], successful runs of a month with `runs_per_month`
    tax_rate: Array = field(init=False)  # [rows]
    used: list[bool] = field(init=False)  # whether some row uses a pair
    rented_pairs: list[RentedPair] = field(init=False)  # pairs on offers that some row uses, with their index
    last_month: int = field(init=False)  # in which something is paid: commitments, loans and leases outlast the horizon
    rental_factor: Array | None = field(init=False)  # [rows, times], on today's prices of what is rented in a month
    hardware_factor: Array | None = field(init=False)  # [rows, times], of what is bought at that time

    def __post_init__(self) -> None:
        self.there = machines_there(self.problem, self.count)
        self.busy_h = busy_h_by_month(self.problem, self.theta, self.routing, self.by_month)
        columns = [self.problem.jobs[pair.job].runs_per_month_at for pair in self.problem.pairs]
        self.runs = self.routing * self.theta[:, columns]
        self.tax_rate = self.theta[:, self.problem.tax_rate_at]
        used = self.used = np.any(self.routing, axis=0).tolist()
        self.rented_pairs = [
            (i, pair, self.problem.offers[pair.offer])
            for i, pair in enumerate(self.problem.pairs)
            if pair.offer is not None and used[i]
        ]
        ends = [offer.commitment.last_month for _, _, offer in self.rented_pairs if offer.commitment is not None]
        ends += [offer.commitment.running_until for offer in self.problem.offers if offer.commitment is not None]
        for index, machine in enumerate(self.problem.machines):
            ends += [contract.last_month for contract in machine.contracts]
            if machine.finance is not None:
                cohorts = zip(machine.cohorts, self.cohort_units(index), strict=True)
                begun = [
                    month + (cohort.delivery_months if isinstance(machine.finance, Lease) else 0)  # loans begin at once
                    for cohort, units in cohorts
                    if units.any()
                    for month in cohort.purchase_months
                ]
                ends += [month + machine.finance.last_payment for month in begun]
        self.last_month = max([self.problem.horizon_months, *ends])
        times = np.arange(self.last_month + 1.0)
        self.rental_factor = self.price_factor(self.problem.rental_change_at, np.maximum(times - 1.0, 0.0))
        self.hardware_factor = self.price_factor(self.problem.hardware_change_at, times)

    def p(self, column: int) -> Array:
        """Values of a parameter, by row."""
        return self.theta[:, column]

    def price_factor(self, change_at: int | None, months: Array) -> Array | None:
        """Prices so many months after the start over today's, by row and time; None where they don't change."""
        return None if change_at is None else np.asarray(price_factor(self.p(change_at)[:, None], months))

    def monthly(self, quantity: Array) -> Course:
        """A quantity a month, at the end of each month of the horizon; the same in all where its second axis is 1."""
        rows, times, months = len(self.theta), self.last_month + 1, self.problem.horizon_months
        if quantity.shape[1] == 1:
            return Stretches(each={(1, months + 1): np.broadcast_to(quantity[:, 0], rows)}, times=times, rows=rows)
        result = np.zeros((rows, times))
        result[:, 1 : months + 1] = quantity
        return result

    def demand(self, index: int, quantity: Array) -> Array:
        """A quantity that goes with a pair's runs, given for `runs` of it, by month or the same in all."""
        profile = self.problem.jobs[self.problem.pairs[index].job].profile
        factor = np.ones(1) if profile is None else np.array(profile)
        if index in self.by_month:
            mean = self.routing[:, index, None]
            factor = factor * np.divide(self.by_month[index], mean, out=np.zeros(self._months), where=mean > 0)
        return quantity[:, None] * factor

    def in_use(self, pairs: Iterable[int]) -> Array:
        """1 in months in which any of some pairs has runs, else 0; in all months where shares don't differ by month."""
        used = np.zeros((len(self.theta), 1))
        for index in pairs:
            share = self.by_month[index] if index in self.by_month else self.routing[:, index, None]
            used = np.maximum(used, (self.routing[:, index, None] > 0) & (share > 0))
        return used

    def cohort_units(self, machine: int) -> list[Array]:
        """Units in each cohort of a machine type, by row."""
        return cohort_units(self.problem.machines[machine], self.count[:, machine])

    @property
    def _months(self) -> tuple[int, int]:
        return len(self.theta), self.problem.horizon_months

    def events(self, events: Iterable[tuple[int, Array]], factor: float = 1.0) -> Stretches:
        """Quantities at given times, each times a factor."""
        each: dict[tuple[int, int], Array] = {}
        for month, quantity in events:
            span = (month, month + 1)
            each[span] = each[span] + quantity * factor if span in each else quantity * factor
        return Stretches(each=each, times=self.last_month + 1, rows=len(self.theta))

    def at(self, events: Iterable[tuple[int, Array]]) -> Array:
        """Quantities at given times."""
        result = np.zeros((len(self.theta), self.last_month + 1))
        for month, quantity in events:
            result[:, month] += quantity
        return result

    def without_tax(self, price: Array, included: bool) -> Array:
        """A price with the tax inside taken out."""
        return price / (1.0 + self.tax_rate) if included else price

    def paid(self, price: Array, included: bool) -> Array:
        """What is paid for a price that may include tax: with recoverable tax, the tax inside comes back."""
        return self.without_tax(price, included) if self.problem.tax_recoverable else price
