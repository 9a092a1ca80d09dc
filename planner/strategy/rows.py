"""What the makers of cost lines share in one kernel call: parameter values, choice and time, all by row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from planner.cost.lines import Array
from planner.strategy.parameters import Theta
from planner.strategy.problem import Pair, PlanProblem, RentedOffer
from planner.strategy.sessions import busy_h_by_month

RentedPair = tuple[int, Pair, RentedOffer]


@dataclass(slots=True, kw_only=True)
class Rows:
    """Rows of a call, with the loads that follow from them."""

    problem: PlanProblem
    theta: Theta  # [rows, parameters]
    routing: Array  # [rows, pairs]
    count: Array  # [rows, machines]
    busy_h: Array = field(init=False)  # [rows, machines, months or 1]
    runs: Array = field(init=False)  # [rows, pairs], successful runs of a month with `runs_per_month`
    tax_rate: Array = field(init=False)  # [rows]
    used: list[bool] = field(init=False)  # whether some row uses a pair
    rented_pairs: list[RentedPair] = field(init=False)  # pairs on offers that some row uses, with their index
    last_month: int = field(init=False)  # in which something is paid: commitments, loans and leases outlast the horizon

    def __post_init__(self) -> None:
        self.busy_h = busy_h_by_month(self.problem, self.theta, self.routing)
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
        for index, machine in enumerate(self.problem.machines):
            if machine.finance is not None and self.count[:, index].any():
                ends.append(machine.last_payment(bool((self.count[:, index] > machine.owned_count).any())))
        self.last_month = max([self.problem.horizon_months, *ends])

    def p(self, column: int) -> Array:
        """Values of a parameter, by row."""
        return self.theta[:, column]

    def monthly(self, quantity: Array) -> Array:
        """A quantity a month, at the end of each month of the horizon; by month where it has a second axis."""
        result = np.zeros((len(self.theta), self.last_month + 1))
        months = slice(1, self.problem.horizon_months + 1)
        result[:, months] = quantity if quantity.ndim == 2 else quantity[:, None]
        return result

    def demand(self, pair: Pair, quantity: Array) -> Array:
        """A quantity that goes with a job's runs, given for `runs_per_month`, by month or the same in all."""
        profile = self.problem.jobs[pair.job].profile
        return quantity[:, None] * (np.ones(1) if profile is None else np.array(profile))

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
