"""Variables and rows of a programme for what is rented: fixed parts, terms, quotas, free hours, credits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from planner.cost.course import Array
from planner.strategy.measures import COST, PAID
from planner.strategy.optimise.mix import Mix, month_factor, node_hours, use
from planner.strategy.parameters import Theta
from planner.strategy.quotas import limits as under_quota
from planner.units import H_PER_MONTH


def add_renting(mix: Mix, theta: Theta, worth: list[Array]) -> None:
    """What renting costs whatever is rented: disk and upload at each provider in use, staff; less free egress."""
    problem, found, programme = mix.problem, mix.found, mix.programme
    provider_of = [
        None if (offer := problem.pairs[index].offer) is None else problem.offers[offer].provider
        for index in found.pairs
    ]
    for at in range(len(mix.periods)):
        rented = [p for p, provider in enumerate(provider_of) if provider is not None and mix.share[p, at] >= 0]
        if found.staff.any() and rented:
            use(mix, rented, found.staff, worth[at], at)
    for number, disk in enumerate(found.providers):
        mine = [place for place, provider in enumerate(provider_of) if provider == number]
        known = mix.share[mine]
        if found.upload[number].any() and (known >= 0).any():
            first = found.upload[number].sum(axis=1)
            effects = np.zeros_like(found.upload[number])
            effects[:, 1] = first
            used = use(mix, mine, effects, found.discount, None)
            mix.bill(number, None, used, effects)
        free_gb = float(theta[0, problem.providers[number].free_egress_gb_at])
        for at, period in enumerate(mix.periods):
            places = [int(place) for place in mix.share[mine, at] if place >= 0]
            if not places:
                continue
            if disk.any():
                mix.bill(number, at, use(mix, mine, disk, worth[at], at), disk)
            price = found.egress_per_gb[number]
            sent = [
                found.sent_gb[place] * month_factor(problem, problem.pairs[found.pairs[place]].job, period)
                for place in mine
                if mix.share[place, at] >= 0
            ]
            if free_gb > 0 and price.any() and any(sent):
                free = programme.add(np.array([-(price[COST] @ worth[at])]), upper=free_gb, period=at)
                mix.effects.append((free, -price, at))
                mix.bill(number, at, int(free[0]), -price)
                programme.row([*places, int(free[0])], [*sent, -1.0], 0.0, np.inf)


def add_commitments(mix: Mix, worth: list[Array], quota_gpus: Mapping[int, int]) -> None:
    """Terms of offers in use, the hours they cover, and quotas on what is rented."""
    problem, found, programme = mix.problem, mix.found, mix.programme
    covered: dict[tuple[int, int], int] = {}
    for offer, terms in found.commitments.items():
        mine = [place for place, index in enumerate(found.pairs) if problem.pairs[index].offer == offer]
        provider = problem.offers[offer].provider
        used = use(mix, mine, terms.terms, found.discount, None)
        mix.bill(provider, None, used, terms.terms, terms.terms[PAID])
        for at, period in enumerate(mix.periods):
            known = [place for place in mine if mix.share[place, at] >= 0]
            if not known:
                continue
            hours = int(
                programme.add(
                    np.array([-(terms.saved[COST] @ worth[at])]), upper=terms.cover_h[period[0] - 1], period=at
                )[0]
            )
            mix.effects.append((np.array([hours]), -terms.saved, at))
            mix.bill(provider, at, hours, -terms.saved, -terms.saved[PAID])
            needed = [node_hours(mix, place, period) for place in known]
            programme.row([*(int(mix.share[place, at]) for place in known), hours], [*needed, -1.0], 0.0, np.inf)
            covered[offer, at] = hours
    for number, gpus in quota_gpus.items():
        _add_quota(mix, number, gpus, covered)


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
                factors.append(node_hours(mix, place, period) * offer.gpu_count)
        for (offer_at, period_at), hours in covered.items():
            offer = problem.offers[offer_at]
            assert offer.commitment is not None
            inside, beyond = offer_at in quota.offers, offer.commitment.overflow in quota.offers
            if period_at == at and inside != beyond:
                places.append(hours)
                factors.append(float(offer.gpu_count) * (1.0 if inside else -1.0))
        if places:
            mix.programme.row(places, np.array(factors) / H_PER_MONTH, -np.inf, float(gpus))


def add_free_hours(mix: Mix, theta: Theta, worth: list[Array]) -> None:
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
                hours = int(programme.add(np.array([-(price[COST] @ worth[at])]), upper=monthly, period=at)[0])
                mix.effects.append((np.array([hours]), -price, at))
                mix.bill(offer.provider, at, hours, -price, -price[PAID])
                places = [int(mix.share[place, at]) for place in known]
                programme.row([*places, hours], [*(node_hours(mix, p, period) for p in known), -1.0], 0.0, np.inf)
                taken_up.append(hours)
        if offer.free_h_total_at is not None and taken_up:
            total = float(theta[0, offer.free_h_total_at])
            programme.row(taken_up, np.ones(len(taken_up)), -np.inf, total)


def add_credits(mix: Mix, theta: Theta) -> None:
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
            paid = int(programme.add(np.array([-mix.found.discount[month]]), period=at)[0])
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
        most = float(theta[0, problem.credits[number].amount_at]) * (1.0 + tax)
        programme.row(places, np.ones(len(places)), -np.inf, most)
