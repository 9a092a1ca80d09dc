"""Variables and rows of a programme for what is taken off bills: free hours, and credits in the order they are used.

The kernel takes an allowance of the whole plan as early as it can. A programme would rather keep it for the months in
which it is worth most. So where allowances compete, a yes-or-no part of each month says whether one is used up by its
end, and until then all that could be taken is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from planner.cost.course import Array
from planner.strategy.measures import COST, PAID
from planner.strategy.optimise.mix import BillPart, Mix, node_hours
from planner.strategy.optimise.programme import Programme
from planner.strategy.optimise.split import ANY, Split
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem


@dataclass(slots=True)
class _Sum:
    """A weighted sum of variables, and the most it may come to."""

    factors: dict[int, float] = field(default_factory=dict)
    constant: float = 0.0
    shared: dict[int, dict[int, float]] = field(default_factory=dict)  # by job: its shares add up to 1

    def add(self, place: int | None, factor: float, job: int | None = None) -> None:
        """Another term."""
        if place is None:
            self.constant += factor
            return
        self.factors[place] = self.factors.get(place, 0.0) + factor
        if job is not None:
            mine = self.shared.setdefault(job, {})
            mine[place] = mine.get(place, 0.0) + factor

    def include(self, other: _Sum) -> None:
        """Another sum."""
        self.constant += other.constant
        for place, factor in other.factors.items():
            self.factors[place] = self.factors.get(place, 0.0) + factor
        for job, mine in other.shared.items():
            known = self.shared.setdefault(job, {})
            for place, factor in mine.items():
                known[place] = known.get(place, 0.0) + factor

    def most(self) -> float:
        """Bound of the sum: of each job the largest share, of what is yes or no everything that adds."""
        shares = {place for mine in self.shared.values() for place in mine}
        rest = sum(factor for place, factor in self.factors.items() if place not in shares and factor > 0)
        return self.constant + rest + sum(max(0.0, *mine.values()) for mine in self.shared.values())


def competing(problem: PlanProblem) -> bool:
    """Whether it may be better to keep an allowance of the whole plan for later."""
    total = [offer for offer in problem.offers if offer.free_h_total_at is not None]
    cash = problem.limits.cash_usd_per_month is not None or problem.views.ceiling_usd_per_quarter is not None
    dearer = problem.rental_change_at is not None and bool(total)
    return len(total) + len(problem.credits) > 1 or ((cash or dearer) and bool(total or problem.credits))


def add_free_hours(mix: Mix, theta: Theta, worth: list[Array]) -> None:
    """Node-hours that aren't billed, of a month and of the whole plan; also of those beyond what terms cover."""
    problem, found, programme = mix.problem, mix.found, mix.programme
    in_order = competing(problem)
    for offer_at, price in found.hour_price.items():
        offer = problem.offers[offer_at]
        monthly = np.inf if offer.free_h_per_month_at is None else float(theta[0, offer.free_h_per_month_at])
        total = np.inf if offer.free_h_total_at is None else float(theta[0, offer.free_h_total_at])
        taken: dict[int, int] = {}
        exhausted: dict[int, int] = {}
        for at in range(len(mix.periods)):
            used = _used_hours(mix, offer_at, at)
            most = used.most()
            if most <= 0:
                continue
            hours = int(programme.add(np.array([-(price[COST] @ worth[at])]), upper=monthly, period=at)[0])
            mix.effects.append((np.array([hours]), -price, at))
            mix.bill_instances(offer_at, at, hours, -price[PAID])
            programme.row([*used.factors, hours], [*used.factors.values(), -1.0], 0.0, np.inf)
            taken[at] = hours
            if np.isfinite(total) and in_order:
                reasons = [_used_up(programme, at)]
                exhausted[at] = reasons[0]
                if monthly < most:
                    reached = _used_up(programme, at)
                    programme.row([hours, reached], [1.0, -monthly], 0.0, np.inf)
                    reasons.append(reached)
                used.add(hours, -1.0)
                _all_unless(programme, used, most, reasons)
        if taken and np.isfinite(total):
            _within(programme, {at: {place: 1.0} for at, place in taken.items()}, exhausted, total)


def _used_hours(mix: Mix, offer_at: int, at: int) -> _Sum:
    """Node-hours in a month of a period at the price of an offer."""
    problem, period, used = mix.problem, mix.periods[at], _Sum()
    for place, index in enumerate(mix.found.pairs):
        pair, share = problem.pairs[index], int(mix.share[place, at])
        if share < 0 or pair.offer is None:
            continue
        term = problem.offers[pair.offer].commitment
        if pair.offer == offer_at or (term is not None and term.overflow == offer_at):
            used.add(share, node_hours(mix, place, period), pair.job)
    for (offer, period_at), hours in mix.covered.items():
        term = problem.offers[offer].commitment
        if period_at == at and term is not None and term.overflow == offer_at:
            used.add(hours, -1.0)
    return used


def add_credits(mix: Mix, theta: Theta, split: Split) -> None:
    """What credits pay of what providers bill in their months: those that lapse first are used up first.

    A credit that doesn't suffice for a month is shared by what is still to pay, which is a product of two unknowns:
    the split of an earlier answer stands for it, where there is one.
    """
    problem, programme = mix.problem, mix.programme
    if not problem.credits:
        return
    tax = 0.0 if problem.tax_recoverable else float(theta[0, problem.tax_rate_at])
    for offer, amount in mix.found.running.items():
        mix.bill_instances(offer, None, None, amount)
    in_order = competing(problem) or (tax > 0 and any(entry.part.includes_tax for entry in mix.billed))
    taken: list[dict[int, dict[int, float]]] = [{} for _ in problem.credits]
    exhausted: list[dict[int, int]] = [{} for _ in problem.credits]
    for at, period in enumerate(mix.periods):
        month = period[0]
        bills = _bills(mix, at, month)
        left = {part: _copy(bill) for part, bill in bills.items()}
        for number, credit in enumerate(problem.credits):
            if not credit.from_month <= month <= credit.last_month:
                continue
            open_usd = _Sum()  # before tax
            by_part: dict[BillPart, tuple[int, float]] = {}
            for part, bill in left.items():
                if not credit.valid_at(part.provider) or (credit.rental_only and not part.instances):
                    continue
                after_tax = 1.0 if part.includes_tax else 1.0 + tax
                paid = _pay(mix, at, month - 1 if part.early else month)
                bill.add(paid, -1.0)
                by_part[part] = (paid, 1.0 / after_tax)
                for place, factor in bill.factors.items():
                    open_usd.add(place, factor / after_tax)
                open_usd.constant += bill.constant / after_tax
            if by_part:
                taken[number][at] = dict(by_part.values())
            if by_part and in_order:
                exhausted[number][at] = _used_up(programme, at)
                most = sum(bill.most() for part, bill in bills.items() if credit.valid_at(part.provider))
                _all_unless(programme, open_usd, most, [exhausted[number][at]])
                if (shares := split.get((number, month), split.get((number, ANY)))) is not None:
                    _shared(programme, by_part, shares, exhausted[number][at], most)
        for bill in left.values():
            programme.row([*bill.factors], [*bill.factors.values()], -bill.constant, np.inf)
    for credit, paid_at, ends in zip(problem.credits, taken, exhausted, strict=True):
        if paid_at:
            _within(programme, paid_at, ends, float(theta[0, credit.amount_at]))


def _bills(mix: Mix, at: int, month: int) -> dict[BillPart, _Sum]:
    """Parts of the bills of a month; what is paid at the start of the plan is paid in month 1."""
    problem = mix.problem
    jobs = {int(mix.share[place, at]): problem.pairs[index].job for place, index in enumerate(mix.found.pairs)}
    found: dict[BillPart, _Sum] = {}
    for entry in mix.billed:
        if entry.period not in (None, at):
            continue
        times = [month - 1] if entry.part.early else [0, 1] if month == 1 else [month]
        amount = float(entry.paid[times].sum())
        if amount:
            job = None if entry.place is None else jobs.get(entry.place)
            found.setdefault(entry.part, _Sum()).add(entry.place, amount, job)
    return found


def _copy(bill: _Sum) -> _Sum:
    result = _Sum()
    result.include(bill)
    return result


def _pay(mix: Mix, at: int, time: int) -> int:
    """A variable of what a credit pays, with its tax, at some time."""
    paid = int(mix.programme.add(np.array([-mix.found.discount[time]]), period=at)[0])
    effects = np.zeros_like(mix.found.base)
    effects[COST, time] = effects[PAID, time] = -1.0
    mix.effects.append((np.array([paid]), effects, at))
    return paid


def _used_up(programme: Programme, at: int) -> int:
    return int(programme.add(np.zeros(1), upper=1.0, whole=True, period=at)[0])


def _all_unless(programme: Programme, left: _Sum, most: float, reasons: list[int]) -> None:
    """Nothing is left of a sum, unless one of some yes-or-no parts says why."""
    places, factors = [*left.factors], [factor / most for factor in left.factors.values()]
    programme.row([*places, *reasons], [*factors, *(-1.0 for _ in reasons)], -np.inf, -left.constant / most)


def _shared(
    programme: Programme,
    paid: Mapping[BillPart, tuple[int, float]],
    shares: Mapping[BillPart, float],
    exhausted: int,
    most: float,
) -> None:
    """No part of a bill has more than its share of what a credit still pays when it is used up."""
    for part, (own, worth) in paid.items():
        factors = {place: -shares.get(part, 0.0) * each / most for place, each in paid.values()}
        factors[own] += worth / most
        programme.row([*factors, exhausted], [*factors.values(), 1.0], -np.inf, 1.0)


def _within(
    programme: Programme, taken: Mapping[int, Mapping[int, float]], exhausted: Mapping[int, int], total: float
) -> None:
    """What is taken in all periods is within a total, and comes to it by the end of one in which it is used up."""
    so_far: dict[int, float] = {}
    scale = max(total, 1.0)
    for at, places in taken.items():
        so_far |= {place: factor / scale for place, factor in places.items()}
        if at in exhausted:
            row = [*so_far.values(), -total / scale]
            programme.row([*so_far, exhausted[at]], row, 0.0, np.inf)
    programme.row([*so_far], [*so_far.values()], -np.inf, total / scale)
