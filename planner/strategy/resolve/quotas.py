"""Quotas of a scenario: which offers each one limits."""

from __future__ import annotations

from collections.abc import Sequence

from planner.errors import InputError
from planner.scenario.schema import Scenario
from planner.strategy.offers import Quota, RentedOffer, RentedProvider
from planner.strategy.resolve.resources import ResourceNames


def resolve_quotas(
    scenario: Scenario, offers: Sequence[RentedOffer], providers: Sequence[RentedProvider], names: ResourceNames
) -> tuple[Quota, ...]:
    """Quotas with the offers of the plan that they limit.

    Raises
    ------
    UnknownIdError
        For a name that means nothing that could be rented.
    InputError
        For a quota below the instances of a commitment.
    """
    quotas = []
    for id, gpus in scenario.rental.quota_gpus.items():
        field = f"rental.quota_gpus.{id}"
        names.check(id, field, machines=False)
        limited = tuple(
            index
            for index, offer in enumerate(offers)
            if names.covers(id, id=offer.id, gpu=offer.gpu, provider=providers[offer.provider].id)
        )
        for offer in (offers[index] for index in limited):
            committed = 0 if offer.commitment is None else offer.commitment.nodes * offer.gpu_count
            if committed > gpus:
                raise InputError("quota_below_commitment", field=field, value=gpus, offer=offer.id, needed=committed)
        quotas.append(Quota(id=id, gpus=gpus, offers=limited))
    return tuple(quotas)


def tightest(quotas: Sequence[Quota], offer: int) -> Quota | None:
    """The smallest quota that limits an offer."""
    return min((quota for quota in quotas if offer in quota.offers), key=lambda quota: quota.gpus, default=None)
