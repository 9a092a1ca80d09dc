"""What each decision adds to a plan, by time: differences between evaluations of the kernel.

What isn't in proportion to a decision (disk at a provider, staff for renting, space, free hours, allowances, credits)
is set to nothing in the parameter values first, so that what is left is; each is then put back by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from planner.cost.course import Array
from planner.cost.finance import discount_factor
from planner.cost.lines import CostLine
from planner.strategy.fleet import machines_there, powered_h_of_one
from planner.strategy.kernel import Choice, Evaluation, kernel
from planner.strategy.measures import COST, MEASURES, PAID, by_time
from planner.strategy.optimise.effects import Coefficients, CommitmentEffects, MachineEffects
from planner.strategy.optimise.work import attempts, busy_h, node_h_by_month, sent_gb
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from planner.strategy.sessions import session_node_h

_BLOCK = 32  # pairs evaluated at once: each has lines of its own, over all rows
_SLACK = 1e-9
_FOR_WAITS = 2  # times as many machines as the target utilisation needs, where jobs may have to wait less


def coefficients(problem: PlanProblem, theta: Theta, pairs: Sequence[int]) -> Coefficients:
    """Effects of all decisions on some pairs.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    theta : array, shape [1, parameters]
        Parameter values.
    pairs : sequence of int
        Indices of those that may be used.
    """
    found = _Kernel(problem, theta)
    share = found.shares(pairs)
    tried = [attempts(problem, theta, index) for index in pairs]
    node_h = [
        0.0 if (at := problem.pairs[index].offer) is None
        else float(session_node_h(problem.pairs[index], problem.offers[at], theta)[0])
        for index in pairs
    ]  # fmt: skip
    providers, upload, staff = found.fixed_of_renting(pairs)
    machines, site = found.machines(pairs)
    return Coefficients(
        discount=found.discount,
        base=found.base,
        pairs=tuple(pairs),
        share=share,
        rental=found.rental(pairs),
        busy_h=np.array([busy_h(problem, theta, index) for index in pairs]),
        node_h=np.array(node_h) * tried,
        sent_gb=np.array([sent_gb(problem, theta, index) for index in pairs]),
        machines=machines,
        site=site,
        providers=providers,
        upload=upload,
        staff=staff,
        egress_per_gb=tuple(found.unit_price(f"egress.{provider.id}") for provider in problem.providers),
        hour_price=found.hour_prices(),
        commitments=found.commitments(pairs),
        running=found.running(),
    )


class _Kernel:
    """Evaluations of single decisions, and their differences."""

    def __init__(self, problem: PlanProblem, theta: Theta) -> None:
        self.problem, self.theta = problem, theta
        self._plain = self._without(problem, theta)
        self._uncommitted = replace(
            problem,
            offers=tuple(
                offer if (term := offer.commitment) is None else replace(offer, commitment=replace(term, nodes=0))
                for offer in problem.offers
            ),
        )
        self._unit_price: dict[str, Array] = {}
        ends = [offer.commitment.last_month for offer in problem.offers if offer.commitment is not None]
        for machine in problem.machines:
            ends += [contract.last_month for contract in machine.contracts]
            if machine.finance is not None:
                ends += [month + cohort.delivery_months + machine.finance.last_payment
                         for cohort in machine.cohorts for month in cohort.purchase_months]  # fmt: skip
        self.times = max([problem.horizon_months, *ends]) + 1
        self._nothing = np.zeros((MEASURES, self.times))
        rate = float(theta[0, problem.discount_rate_at])
        self.discount = np.asarray(discount_factor(rate, np.arange(float(self.times))))
        self.base = self._effects(self.problem, self._uncredited(), self._choice(1))[0]

    @staticmethod
    def _without(problem: PlanProblem, theta: Theta) -> Theta:
        """Values under which all is in proportion to what is decided."""
        columns = [problem.storage_gb_at, problem.fte_cloud_at, problem.site.space_at]
        columns += [at for at in (problem.upload_gb_at, problem.site.colocation_price_at) if at is not None]
        columns += [at for offer in problem.offers for at in offer.free_hours]
        columns += [credit.amount_at for credit in problem.credits]
        columns += [provider.free_egress_gb_at for provider in problem.providers]
        plain = theta.copy()
        plain[:, columns] = 0.0
        return plain

    def _uncredited(self) -> Theta:
        """All values, but that credits pay nothing: what every plan has is part of the bill that they may pay."""
        theta = self.theta.copy()
        theta[:, [credit.amount_at for credit in self.problem.credits]] = 0.0
        return theta

    def running(self) -> dict[int, Array]:
        """Terms that began before the plan."""
        names = {offer.id: at for at, offer in enumerate(self.problem.offers)}
        found: dict[int, Array] = {}
        for line in kernel(self.problem, self._uncredited(), self._choice(1)).lines:
            if line.kind == "commitment":
                paid = np.zeros(self.times)
                tax = 1.0 if self.problem.tax_recoverable or not line.taxed else self._with_tax()
                paid[: line.amount.shape[1]] = line.amount[0] * tax
                found[names[line.resource]] = paid
        return found

    def _choice(self, rows: int) -> Choice:
        return Choice(
            machine_count=np.zeros((rows, len(self.problem.machines))),
            routing=np.zeros((rows, len(self.problem.pairs))),
        )

    def _effects(self, problem: PlanProblem, theta: Theta, choice: Choice) -> Array:
        return by_time(self._evaluated(problem, theta, choice), self.times)

    def _evaluated(self, problem: PlanProblem, theta: Theta, choice: Choice) -> Evaluation:
        evaluation = kernel(problem, theta, choice)
        for line in evaluation.lines:
            if line.kind in ("rental", "overflow", "egress") and line.id not in self._unit_price:
                self._unit_price[line.id] = self._of_unit(line)
        return evaluation

    def _of_unit(self, line: CostLine) -> Array:
        """Money of one unit of a line in each month, with its tax. [measures, times]"""
        price = line.price[0] * (1.0 if self.problem.tax_recoverable or not line.taxed else self._with_tax())
        effects = self._nothing.copy()
        effects[[COST, PAID], 1 : len(price)] = price[1:]
        return effects

    def _with_tax(self) -> float:
        return 1.0 + float(self.theta[0, self.problem.tax_rate_at])

    def unit_price(self, line: str) -> Array:
        """Of a line that was seen; nothing of others."""
        return self._unit_price.get(line, self._nothing)

    def shares(self, pairs: Sequence[int]) -> Array:
        """Effects of all runs of a job on a pair; machines aside. [pairs, measures, times]"""
        result = np.zeros((len(pairs), *self._nothing.shape))
        nothing = self._effects(self._uncommitted, self._plain, self._choice(1))[0]
        rented = [at for at, index in enumerate(pairs) if self.problem.pairs[index].offer is not None]
        for start in range(0, len(rented), _BLOCK):
            block = rented[start : start + _BLOCK]
            choice = self._choice(len(block))
            choice.routing[np.arange(len(block)), [pairs[at] for at in block]] = 1.0
            result[block] = self._effects(self._uncommitted, self._plain, choice) - nothing
        owned = [at for at, index in enumerate(pairs) if self.problem.pairs[index].machine is not None]
        if owned:
            choice = self._choice(2 * len(owned))
            for row, at in enumerate(owned):
                pair = self.problem.pairs[pairs[at]]
                assert pair.machine is not None
                choice.machine_count[[row, row + len(owned)], pair.machine] = self._enough(pairs[at])
            there = machines_there(self.problem, choice.machine_count)
            parts = np.array([self._fitting(pairs[at], there[row]) for row, at in enumerate(owned)])
            choice.routing[np.arange(len(owned)), [pairs[at] for at in owned]] = parts
            effects = self._effects(self._uncommitted, self._plain, choice)
            result[owned] = (effects[: len(owned)] - effects[len(owned) :]) / parts[:, None, None]
        return result

    def _enough(self, index: int) -> int:
        """Machines that all runs of a pair never fill, once they are all there."""
        pair = self.problem.pairs[index]
        assert pair.machine is not None
        return int(np.ceil(self._most_needed(index))) + self.problem.machines[pair.machine].owned_count + 1

    def _most_needed(self, index: int) -> float:
        """Machines that all runs of a pair take in its busiest month."""
        pair = self.problem.pairs[index]
        assert pair.machine is not None
        machine, job = self.problem.machines[pair.machine], self.problem.jobs[pair.job]
        busiest = 1.0 if job.profile is None else max(job.profile)
        return busy_h(self.problem, self.theta, index) * busiest / float(powered_h_of_one(machine, self.theta)[0])

    def _fitting(self, index: int, there: Array) -> float:
        """Share of the runs of a pair that never fills the machines there in any month with some. [machines, months]"""
        months = there[self.problem.pairs[index].machine]
        fewest = float(months[months > 0].min(initial=np.inf))
        return min(1.0, fewest / (self._most_needed(index) + 1.0))

    def machines(self, pairs: Sequence[int]) -> tuple[tuple[MachineEffects, ...], Array]:
        """Effects of each type of machine, and of having any where that one stands. [types, measures, times]"""
        problem = self.problem
        site = np.zeros((len(problem.machines), *self._nothing.shape))
        found = []
        nothing = self._effects(problem, self._plain, self._choice(1))[0]
        for at, machine in enumerate(problem.machines):
            powered_h = float(powered_h_of_one(machine, self.theta)[0])
            least, most = self._range(at, pairs, powered_h)
            choice = self._choice(3)
            choice.machine_count[:, at] = [least, least + 1, least]
            theta = np.repeat(self._plain, 3, axis=0)
            columns = [problem.site.space_at]
            if problem.site.colocation_price_at is not None:
                columns.append(problem.site.colocation_price_at)
            theta[2, columns] = self.theta[0, columns]
            first, more, placed = self._effects(problem, theta, choice) - nothing
            site[at] = placed - first
            there = np.broadcast_to(machines_there(problem, choice.machine_count)[:, at], (3, problem.horizon_months))
            found.append(
                MachineEffects(
                    least=least,
                    most=most,
                    first=first,
                    each=more - first,
                    first_there=there[0],
                    each_there=there[1] - there[0],
                    powered_h=powered_h,
                )
            )
        return tuple(found), site

    def _range(self, at: int, pairs: Sequence[int], powered_h: float) -> tuple[int, int]:
        """Fewest and most machines of a type, where there are any."""
        problem, machine = self.problem, self.problem.machines[at]
        if machine.fixed_count is not None:
            return machine.fixed_count, machine.fixed_count
        bookable_h = powered_h * float(self.theta[0, machine.target_utilisation_at])
        busiest: dict[int, float] = {}
        nodes, limited = 1, False
        for index in pairs:
            pair = problem.pairs[index]
            if pair.machine != at:
                continue
            job = problem.jobs[pair.job]
            limited = limited or job.deadline_h is not None
            hours = busy_h(problem, self.theta, index) * (1.0 if job.profile is None else max(job.profile))
            busiest[pair.job] = max(busiest.get(pair.job, 0.0), hours)
            nodes = max(nodes, pair.nodes)
        needed = int(np.ceil(sum(busiest.values()) / bookable_h - _SLACK)) if bookable_h > 0 else 0
        least = max(machine.owned_count, 1)
        return least, max(least, needed * (_FOR_WAITS if limited else 1), nodes)

    def fixed_of_renting(self, pairs: Sequence[int]) -> tuple[tuple[Array, ...], tuple[Array, ...], Array]:
        """Effects of renting from each provider in all months, of doing so at all, and of renting anywhere."""
        problem = self.problem
        disk: list[Array] = [self._nothing for _ in problem.providers]
        upload = [self._nothing for _ in problem.providers]
        staff = self._nothing
        firsts: dict[int, int] = {}
        for index in pairs:
            offer = problem.pairs[index].offer
            if offer is not None:
                firsts.setdefault(problem.offers[offer].provider, index)
        columns = [problem.storage_gb_at, problem.upload_gb_at, problem.fte_cloud_at]
        for provider, index in firsts.items():
            choice = self._choice(len(columns) + 1)
            choice.routing[:, index] = 1.0
            theta = np.repeat(self._plain, len(columns) + 1, axis=0)
            for row, column in enumerate(columns):
                if column is not None:
                    theta[row, column] = self.theta[0, column]
            effects = self._effects(self._uncommitted, theta, choice)
            disk[provider], upload[provider], staff = effects[:-1] - effects[-1]
        return tuple(disk), tuple(upload), staff

    def rental(self, pairs: Sequence[int]) -> Array:
        """Cash of the sessions of all runs on each pair, on demand. [pairs, times]"""
        result = np.zeros((len(pairs), self.times))
        for place, index in enumerate(pairs):
            pair = self.problem.pairs[index]
            if pair.offer is None:
                continue
            offer = self.problem.offers[pair.offer]
            job = self.problem.jobs[pair.job].id
            line = f"overflow.{offer.id}" if offer.commitment is not None else f"rental.{job}.{offer.id}"
            price = self.unit_price(line)[PAID, 1 : self.problem.horizon_months + 1]
            hours = node_h_by_month(self.problem, self.theta, index)
            result[place, 1 : self.problem.horizon_months + 1] = price * hours
        return result

    def hour_prices(self) -> dict[int, Array]:
        """What an hour of offers with free hours costs otherwise."""
        prices = {}
        for at, offer in enumerate(self.problem.offers):
            if offer.free_hours:
                beyond = [
                    f"overflow.{other.id}"
                    for other in self.problem.offers
                    if other.commitment is not None and other.commitment.overflow == at
                ]
                lines = [id for id in self._unit_price if id.startswith("rental.") and id.endswith(f".{offer.id}")]
                lines += [id for id in beyond if id in self._unit_price]
                prices[at] = self.unit_price(lines[0]) if lines else self._nothing
        return prices

    def commitments(self, pairs: Sequence[int]) -> dict[int, CommitmentEffects]:
        """Terms of the offers that may be used."""
        problem, found = self.problem, {}
        for index in pairs:
            at = problem.pairs[index].offer
            if at is None or at in found or (term := problem.offers[at].commitment) is None:
                continue
            choice = self._choice(2)
            choice.routing[0, index] = 1.0
            committed = self._effects(problem, self._plain, choice)
            open_ended = self._effects(self._uncommitted, self._plain, choice)
            hours = np.zeros(self.times)
            months = range(1, problem.horizon_months + 1)
            cover_h = np.array([term.cover_h(month) for month in months])
            billed_h = node_h_by_month(problem, self.theta, index)
            hours[1 : problem.horizon_months + 1] = np.minimum(cover_h, billed_h)
            saved = self.unit_price(f"overflow.{problem.offers[at].id}")
            terms = (committed[0] - committed[1]) - (open_ended[0] - open_ended[1]) + saved * hours
            found[at] = CommitmentEffects(terms=terms, cover_h=cover_h, saved=saved)
        return found
