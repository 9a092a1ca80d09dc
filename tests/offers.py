"""Offers that contradict each other in a catalog."""

from __future__ import annotations

import datetime as dt

from planner.catalog.records import Catalog


def offer_conflicts(catalog: Catalog, *, today: dt.date) -> tuple[tuple[str, str], ...]:
    """Pairs of ids of current offers that sell the same: a price change that left the old row current."""
    first: dict[tuple[object, ...], str] = {}
    pairs = []
    for offer in catalog.offers.values():
        if offer.status(today) != "current":
            continue
        gpu = offer.gpu or offer.partial_gpu or offer.gpu_label
        key = (offer.provider, offer.instance_type, offer.region, offer.term, offer.gpu_count, offer.market, gpu)
        other = first.setdefault(key, offer.id)
        if other != offer.id:
            pairs.append((other, offer.id))
    return tuple(pairs)
