"""Variables and rows of a programme for what is rented: fixed parts, terms, quotas."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from planner.cost.course import Array
from planner.strategy.measures import COST, PAID
from planner.strategy.optimise.mix import Mix, billed_at, month_factor, node_hours, use
from planner.strategy.parameters import Theta
from planner.strategy.quotas import limits as under_quota
from planner.units import H_PER_MONTH

_SOME = 1e-3
"""Share of a job's runs at a provider in the month in which data is first sent there, at least."""


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
            _add_upload(mix, number, mine)
        free_gb = float(theta[0, problem.providers[number].free_egress_gb_at])
        for at, period in enumerate(mix.periods):
            places = [int(place) for place in mix.share[mine, at] if place >= 0]
            if not places:
                continue
            if disk.any():
                mix.bill_extras(number, at, use(mix, mine, disk, worth[at], at), disk[PAID])
            price = found.egress_per_gb[number]
            sent = [
                found.sent_gb[place] * month_factor(problem, problem.pairs[found.pairs[place]].job, period)
                for place in mine
                if mix.share[place, at] >= 0
            ]
            if free_gb > 0 and price.any() and any(sent):
                free = programme.add(np.array([-(price[COST] @ worth[at])]), upper=free_gb, period=at)
                mix.effects.append((free, -price, at))
                mix.bill_extras(number, at, int(free[0]), -price[PAID])
                programme.row([*places, int(free[0])], [*sent, -1.0], 0.0, np.inf)


def _add_upload(mix: Mix, number: int, mine: list[int]) -> None:
    """Data that is sent to a provider once: in the first month there, where credits may pay for it, else in month 1."""
    found, programme = mix.found, mix.programme
    once = found.upload[number].sum(axis=1)

    def effects_in(month: int) -> Array:
        effects = np.zeros_like(found.upload[number])
        effects[:, month] = once
        return effects

    if not mix.problem.credits:
        use(mix, mine, effects_in(1), found.discount, None)
        return
    sent: list[int] = []
    for at, period in enumerate(mix.periods):
        effects = effects_in(period[0])
        sent.append(int(programme.add(np.array([effects[COST] @ found.discount]), upper=1.0, whole=True, period=at)[0]))
        mix.effects.append((np.array([sent[-1]]), effects, at))
        mix.bill_extras(number, at, sent[-1], effects[PAID])
        shares = [int(share) for share in mix.share[mine, at] if share >= 0]
        for share in shares:
            programme.row([share, *sent], [1.0, *(-1.0 for _ in sent)], -np.inf, 0.0)
        programme.row([*shares, sent[-1]], [*(1.0 for _ in shares), -_SOME], 0.0, np.inf)  # not before it is needed


def add_commitments(mix: Mix, worth: list[Array], quota_gpus: Mapping[int, int]) -> None:
    """Terms of offers in use, the hours they cover, and quotas on what is rented."""
    problem, found, programme = mix.problem, mix.found, mix.programme
    for offer, terms in found.commitments.items():
        mine = [place for place, index in enumerate(found.pairs) if problem.pairs[index].offer == offer]
        overflow = billed_at(problem, offer)
        used = use(mix, mine, terms.terms, found.discount, None)
        mix.bill_instances(offer, None, used, terms.terms[PAID])
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
            mix.bill_instances(overflow, at, hours, -terms.saved[PAID])
            needed = [node_hours(mix, place, period) for place in known]
            programme.row([*(int(mix.share[place, at]) for place in known), hours], [*needed, -1.0], 0.0, np.inf)
            mix.covered[offer, at] = hours
    for number, gpus in quota_gpus.items():
        _add_quota(mix, number, gpus)


def _add_quota(mix: Mix, number: int, gpus: int) -> None:
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
        for (offer_at, period_at), hours in mix.covered.items():
            offer = problem.offers[offer_at]
            assert offer.commitment is not None
            inside, beyond = offer_at in quota.offers, offer.commitment.overflow in quota.offers
            if period_at == at and inside != beyond:
                places.append(hours)
                factors.append(float(offer.gpu_count) * (1.0 if inside else -1.0))
        if places:
            mix.programme.row(places, np.array(factors) / H_PER_MONTH, -np.inf, float(gpus))
