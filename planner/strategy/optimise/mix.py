"""The programme of a plan: which machines, which terms, and where each job's runs go in each period."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from planner.cost.lines import Array
from planner.strategy.kernel import Choice
from planner.strategy.limits import MEASURE_OF, Limit, limit_spans
from planner.strategy.meanwhile import taken
from planner.strategy.optimise.coefficients import Coefficients
from planner.strategy.measures import COST, PAID
from planner.strategy.optimise.periods import Period, weights
from planner.strategy.optimise.programme import Programme
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from planner.strategy.quotas import limits as under_quota
from planner.units import H_PER_MONTH

FEW_RUNS = 12.0
"""Runs over the horizon below which those of a period stay together: a share of one can't be done anywhere."""
_ROUND = 1e-7  # shares below it are what a solver leaves over


@dataclass(frozen=True, slots=True, kw_only=True)
class Billed:
    """What a variable adds to the bill of a provider, by time; `rental` is the part for instances."""

    provider: int
    period: int | None
    place: int
    paid: Array
    rental: Array


@dataclass(slots=True)
class Mix:
    """A programme with the places of its variables."""

    problem: PlanProblem
    found: Coefficients
    periods: tuple[Period, ...]
    programme: Programme = field(default_factory=Programme)
    share: Array = field(init=False)  # [pairs, periods], -1 where a job has no demand
    bought: list[int] = field(init=False)
    number: list[int] = field(init=False)
    effects: list[tuple[Array, Array, int | None]] = field(default_factory=list)  # places, effects, period

    billed: list[Billed] = field(default_factory=list)  # where there are credits

    def bill(self, provider: int, period: int | None, place: int, effects: Array, rental: Array | None = None) -> None:
        """Keep what a variable adds to a bill, where credits could pay it."""
        if self.problem.credits:
            part = np.zeros(effects.shape[1]) if rental is None else rental
            self.billed.append(
                Billed(provider=provider, period=period, place=place, paid=effects[PAID], rental=part)
            )

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
            if np.all(shares[place, months] == shares[place, months[0]]):
                routing[0, index] = shares[place, months[0]]
            else:
                by_month[index] = shares[place][None, :]
        counts = np.zeros((1, len(problem.machines)))
        for at in range(len(problem.machines)):
            counts[0, at] = round(float(values[self.number[at]]))
        choice = Choice(machine_count=counts, routing=routing, by_month=by_month)
        return taken(problem, choice, np.zeros(1, dtype=np.int64)) if by_month else choice


def build(
    problem: PlanProblem,
    theta: Theta,
    found: Coefficients,
    periods: tuple[Period, ...],
    *,
    loads: Mapping[int, float],
    quota_gpus: Mapping[int, int],
) -> Mix:
    """The programme without limits on money, energy and emissions, which `with_limits` adds.

    Parameters
    ----------
    problem, theta, found, periods
        What is planned, and what decisions add.
    loads : mapping
        Most of the powered hours of each machine type that may be booked. [-]
    quota_gpus : mapping
        GPUs under each quota that whole runs can use.
    """
    mix = Mix(problem, found, periods)
    worth = [_discounts(problem, found, period) for period in periods]
    _add_shares(mix, theta, worth)
    _add_machines(mix, loads)
    _add_renting(mix, theta, worth)
    _add_commitments(mix, worth, quota_gpus)
    _add_free_hours(mix, theta, worth)
    _add_credits(mix, theta)
    return mix


def _discounts(problem: PlanProblem, found: Coefficients, period: Period) -> Array:
    result = np.zeros(len(found.discount))
    result[: problem.horizon_months + 1] = weights(problem, period)
    return result * found.discount


def _factor(problem: PlanProblem, job: int, period: Period) -> float:
    profile = problem.jobs[job].profile
    return 1.0 if profile is None else float(profile[period[0] - 1])


def _add_shares(mix: Mix, theta: Theta, worth: list[Array]) -> None:
    """Shares of runs: those of each job and period add up to 1."""
    problem, found, programme = mix.problem, mix.found, mix.programme
    jobs = np.array([problem.pairs[index].job for index in found.pairs], dtype=np.int64)
    runs = [
        float(theta[0, job.runs_per_month_at]) * job.mean_factor * problem.horizon_months
        for job in problem.jobs
    ]
    mix.share = np.full((len(found.pairs), len(mix.periods)), -1, dtype=np.int64)
    for at, period in enumerate(mix.periods):
        active = np.array([_factor(problem, int(job), period) > 0 for job in jobs], dtype=bool)
        if not active.any():
            continue
        cost = found.share[active, COST] @ worth[at]
        whole = np.array([runs[job] < FEW_RUNS for job in jobs[active]])
        mix.share[active, at] = programme.add(cost, upper=1.0, whole=whole)
        mix.effects += [
            (np.array([place]), found.share[pair], at)
            for place, pair in zip(mix.share[active, at], np.flatnonzero(active), strict=True)
        ]
        for pair in np.flatnonzero(active).tolist():
            offer = problem.pairs[found.pairs[pair]].offer
            if offer is not None:
                provider, place = problem.offers[offer].provider, int(mix.share[pair, at])
                mix.bill(provider, at, place, found.share[pair], found.rental[pair])
        for job in np.unique(jobs[active]):
            places = mix.share[(jobs == job) & active, at]
            programme.row(places, np.ones(len(places)), 1.0, 1.0)


def _add_machines(mix: Mix, loads: Mapping[int, float]) -> None:
    """Numbers of machines, the room of each, and the space of all."""
    problem, found, programme = mix.problem, mix.found, mix.programme
    mix.bought, mix.number = [], []
    site_pv = float(found.site[COST] @ found.discount)
    site = int(programme.add(np.array([site_pv]), upper=1.0, whole=True)[0]) if problem.machines else -1
    if problem.machines:
        mix.effects.append((np.array([site]), found.site, None))
    for at, machine in enumerate(found.machines):
        first, each = (float(effects[COST] @ found.discount) for effects in (machine.first, machine.each))
        bought = int(programme.add(np.array([first - machine.least * each]), upper=1.0, whole=True)[0])
        number = int(programme.add(np.array([each]), upper=machine.most, whole=True)[0])
        mix.bought.append(bought)
        mix.number.append(number)
        mix.effects.append((np.array([bought]), machine.first - machine.least * machine.each, None))
        mix.effects.append((np.array([number]), machine.each, None))
        programme.row([number, bought], [1.0, -float(machine.least)], 0.0, np.inf)
        programme.row([number, bought], [1.0, -float(machine.most)], -np.inf, 0.0)
        programme.row([site, bought], [1.0, -1.0], 0.0, np.inf)
        mine = [place for place, index in enumerate(found.pairs) if problem.pairs[index].machine == at]
        for period_at, period in enumerate(mix.periods):
            known = [place for place in mine if mix.share[place, period_at] >= 0]
            if not known:
                continue
            month, bookable_h = period[0] - 1, machine.powered_h * loads[at]
            factors = [
                found.busy_h[place] * _factor(problem, problem.pairs[found.pairs[place]].job, period) / bookable_h
                for place in known
            ]
            places = [int(mix.share[place, period_at]) for place in known]
            each_there = float(machine.each_there[month])
            always = float(machine.first_there[month]) - machine.least * each_there
            programme.row([*places, bought, number], [*factors, -always, -each_there], -np.inf, 0.0)
            for place in known:
                share, nodes = int(mix.share[place, period_at]), problem.pairs[found.pairs[place]].nodes
                if nodes > machine.least:  # one run takes several machines
                    used = int(programme.add(np.zeros(1), upper=1.0, whole=True)[0])
                    programme.row([share, used], [1.0, -1.0], -np.inf, 0.0)
                    programme.row([number, used], [1.0, -float(nodes)], 0.0, np.inf)
                programme.row([share, bought], [1.0, -1.0], -np.inf, 0.0)


def _add_renting(mix: Mix, theta: Theta, worth: list[Array]) -> None:
    """What renting costs whatever is rented: disk and upload at each provider in use, staff; less free egress."""
    problem, found, programme = mix.problem, mix.found, mix.programme
    provider_of = [
        None if (offer := problem.pairs[index].offer) is None else problem.offers[offer].provider
        for index in found.pairs
    ]
    for at, period in enumerate(mix.periods):
        rented = [p for p, provider in enumerate(provider_of) if provider is not None and mix.share[p, at] >= 0]
        if found.staff.any() and rented:
            _use(mix, [int(mix.share[place, at]) for place in rented], found.staff, worth[at], at)
    for number, disk in enumerate(found.providers):
        mine = [place for place, provider in enumerate(provider_of) if provider == number]
        known = mix.share[mine]
        if found.upload[number].any() and (known >= 0).any():
            first = found.upload[number].sum(axis=1)
            effects = np.zeros_like(found.upload[number])
            effects[:, 1] = first
            used = _use(mix, known[known >= 0].tolist(), effects, found.discount, None)
            mix.bill(number, None, used, effects)
        free_gb = float(theta[0, problem.providers[number].free_egress_gb_at])
        for at, period in enumerate(mix.periods):
            places = [int(place) for place in mix.share[mine, at] if place >= 0]
            if not places:
                continue
            if disk.any():
                mix.bill(number, at, _use(mix, places, disk, worth[at], at), disk)
            price = found.egress_per_gb[number]
            sent = [
                found.sent_gb[place] * _factor(problem, problem.pairs[found.pairs[place]].job, period)
                for place in mine
                if mix.share[place, at] >= 0
            ]
            if free_gb > 0 and price.any() and any(sent):
                free = programme.add(np.array([-(price[COST] @ worth[at])]), upper=free_gb)
                mix.effects.append((free, -price, at))
                mix.bill(number, at, int(free[0]), -price)
                programme.row([*places, int(free[0])], [*sent, -1.0], 0.0, np.inf)


def _use(mix: Mix, places: list[int], effects: Array, worth: Array, period: int | None) -> int:
    """A yes that any of some shares takes, with what it costs."""
    used = int(mix.programme.add(np.array([effects[COST] @ worth]), upper=1.0, whole=True)[0])
    mix.effects.append((np.array([used]), effects, period))
    for place in places:
        mix.programme.row([place, used], [1.0, -1.0], -np.inf, 0.0)
    return used


def _add_commitments(mix: Mix, worth: list[Array], quota_gpus: Mapping[int, int]) -> None:
    """Terms of offers in use, the hours they cover, and quotas on what is rented."""
    problem, found, programme = mix.problem, mix.found, mix.programme
    covered: dict[tuple[int, int], int] = {}
    for offer, terms in found.commitments.items():
        mine = [place for place, index in enumerate(found.pairs) if problem.pairs[index].offer == offer]
        places = mix.share[mine]
        provider = problem.offers[offer].provider
        used = _use(mix, places[places >= 0].tolist(), terms.terms, found.discount, None)
        mix.bill(provider, None, used, terms.terms, terms.terms[PAID])
        for at, period in enumerate(mix.periods):
            known = [place for place in mine if mix.share[place, at] >= 0]
            if not known:
                continue
            hours = int(
                programme.add(np.array([-(terms.saved[COST] @ worth[at])]), upper=terms.cover_h[period[0] - 1])[0]
            )
            mix.effects.append((np.array([hours]), -terms.saved, at))
            mix.bill(provider, at, hours, -terms.saved, -terms.saved[PAID])
            needed = [_hours(mix, place, period) for place in known]
            programme.row(
                [*(int(mix.share[place, at]) for place in known), hours], [*needed, -1.0], 0.0, np.inf
            )
            covered[offer, at] = hours
    for number, gpus in quota_gpus.items():
        _add_quota(mix, number, gpus, covered)


def _hours(mix: Mix, place: int, period: Period) -> float:
    job = mix.problem.pairs[mix.found.pairs[place]].job
    return float(mix.found.node_h[place]) * _factor(mix.problem, job, period)


def _add_quota(mix: Mix, number: int, gpus: int, covered: Mapping[tuple[int, int], int]) -> None:
    """GPU-hours of runs under a quota; of a commitment, what it covers counts apart from what it doesn't."""
    problem, found = mix.problem, mix.found
    quota = problem.quotas[number]
    for at, period in enumerate(mix.periods):
        places: list[int] = []
        factors: list[float] = []
        for place, index in enumerate(found.pairs):
            pair, share = problem.pairs[index], int(mix.share[place, at])
            if share < 0 or pair.offer is None or not under_quota(problem, quota, pair):
                continue
            offer = problem.offers[pair.offer]
            if offer.commitment is None or offer.commitment.overflow in quota.offers:
                places.append(share)
                factors.append(_hours(mix, place, period) * offer.gpu_count)
        for (offer_at, period_at), hours in covered.items():
            offer = problem.offers[offer_at]
            assert offer.commitment is not None
            inside, beyond = offer_at in quota.offers, offer.commitment.overflow in quota.offers
            if period_at == at and inside != beyond:
                places.append(hours)
                factors.append(float(offer.gpu_count) * (1.0 if inside else -1.0))
        if places:
            mix.programme.row(places, np.array(factors) / H_PER_MONTH, -np.inf, float(gpus))


def _add_free_hours(mix: Mix, theta: Theta, worth: list[Array]) -> None:
    """Node-hours that aren't billed, of a month and of the whole plan."""
    problem, found, programme = mix.problem, mix.found, mix.programme
    for offer_at, price in found.hour_price.items():
        offer = problem.offers[offer_at]
        monthly = np.inf if offer.free_h_per_month_at is None else float(theta[0, offer.free_h_per_month_at])
        mine = [place for place, index in enumerate(found.pairs) if problem.pairs[index].offer == offer_at]
        taken_up: list[int] = []
        for at, period in enumerate(mix.periods):
            known = [place for place in mine if mix.share[place, at] >= 0]
            if known:
                hours = int(programme.add(np.array([-(price[COST] @ worth[at])]), upper=monthly)[0])
                mix.effects.append((np.array([hours]), -price, at))
                mix.bill(offer.provider, at, hours, -price, -price[PAID])
                places = [int(mix.share[place, at]) for place in known]
                programme.row([*places, hours], [*(_hours(mix, p, period) for p in known), -1.0], 0.0, np.inf)
                taken_up.append(hours)
        if offer.free_h_total_at is not None and taken_up:
            total = float(theta[0, offer.free_h_total_at])
            programme.row(taken_up, np.ones(len(taken_up)), -np.inf, total)


def _add_credits(mix: Mix, theta: Theta) -> None:
    """What credits pay of what providers bill in their months."""
    problem, programme = mix.problem, mix.programme
    tax = 0.0 if problem.tax_recoverable else float(theta[0, problem.tax_rate_at])
    spent: dict[int, list[int]] = {}
    for at, period in enumerate(mix.periods):
        month = period[0]
        times = [0, 1] if month == 1 else [month]  # what is paid at the start is paid in month 1
        together: list[int] = []
        union: dict[int, float] = {}
        for number, credit in enumerate(problem.credits):
            if not credit.from_month <= month <= credit.last_month:
                continue
            paid = int(programme.add(np.array([-mix.found.discount[month]]))[0])
            effects = np.zeros_like(mix.found.base)
            effects[COST, month] = effects[PAID, month] = -1.0
            mix.effects.append((np.array([paid]), effects, at))
            bill: dict[int, float] = {}
            for part in mix.billed:
                if credit.valid_at(part.provider) and part.period in (None, at):
                    amount = part.rental if credit.rental_only else part.paid
                    bill[part.place] = bill.get(part.place, 0.0) + float(amount[times].sum())
            programme.row([*bill, paid], [*bill.values(), -1.0], 0.0, np.inf)
            union |= bill
            together.append(paid)
            spent.setdefault(number, []).append(paid)
        if len(together) > 1:
            programme.row([*union, *together], [*union.values(), *(-1.0 for _ in together)], 0.0, np.inf)
    for number, places in spent.items():  # what a credit pays isn't taxed either
        amount = float(theta[0, problem.credits[number].amount_at]) * (1.0 + tax)
        programme.row(places, np.ones(len(places)), -np.inf, amount)


def with_limits(mix: Mix, limits: tuple[Limit, ...], *, slack: str | None = None) -> int | None:
    """Add rows for limits; one may be exceeded by a variable, whose place is returned, in the unit of the limit."""
    place = None
    if not limits:
        return None
    for limit in limits:
        spare = slack == limit.kind
        if spare:
            place = int(mix.programme.add(np.zeros(1))[0])
        for places, factors, base in _limit_rows(mix, limit):
            scale = max(abs(limit.most), 1.0)
            if spare and place is not None:
                places, factors = np.append(places, place), np.append(factors, -1.0)
            mix.programme.row(places, factors / scale, -np.inf, (limit.most - base) / scale)
    return place


def _limit_rows(mix: Mix, limit: Limit) -> list[tuple[Array, Array, float]]:
    """Places, what each adds, and what is there anyway, for each span of time of a limit; equal ones once."""
    measure = MEASURE_OF[limit.kind]
    month_masks = [np.zeros(mix.problem.horizon_months + 1, dtype=bool) for _ in mix.periods]
    for mask, period in zip(month_masks, mix.periods, strict=True):
        mask[list(period)] = True
    places = np.concatenate([places for places, _, _ in mix.effects])
    amounts = np.zeros((len(places), len(mix.found.discount)))
    for row, (_, effects, period_at) in enumerate(mix.effects):
        if period_at is None:
            amounts[row] = effects[measure]
        else:
            mask = month_masks[period_at]
            amounts[row, : len(mask)] = np.where(mask, effects[measure, : len(mask)], 0.0)
    spans = limit_spans(mix.problem, limit, len(mix.found.discount))
    found: dict[bytes, tuple[Array, Array, float]] = {}
    for span in spans:
        factors = amounts[:, span].sum(axis=1)
        base = float(mix.found.base[measure, span].sum())
        kept = np.abs(factors) > 0
        found.setdefault(np.round(factors, 9).tobytes() + np.float64(base).tobytes(), (places[kept], factors[kept], base))
    return list(found.values())
