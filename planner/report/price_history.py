"""Prices of one way to rent over the years, from the offers that replaced each other."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from planner.catalog.records import Catalog, Offer, first_day


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceSeries:
    """Offers that sell the same, oldest first; undated ones come first."""

    offers: tuple[Offer, ...]

    @property
    def last(self) -> Offer:
        """The offer that holds now."""
        return self.offers[-1]

    def change(self) -> float:
        """Last price over first price, less 1. [-]"""
        return self.last.price_usd_per_h.value / self.offers[0].price_usd_per_h.value - 1.0


def price_histories(catalog: Catalog) -> tuple[PriceSeries, ...]:
    """All ways to rent with more than one price, those with the most prices first."""
    groups: dict[tuple[object, ...], list[Offer]] = {}
    for offer in catalog.offers.values():
        gpu = offer.gpu or offer.partial_gpu or offer.gpu_label
        key = (offer.provider, offer.instance_type, offer.region, offer.term, offer.market, gpu, offer.gpu_count)
        groups.setdefault(key, []).append(offer)
    found = [PriceSeries(offers=tuple(sorted(group, key=_when))) for group in groups.values() if len(group) > 1]
    return tuple(sorted(found, key=lambda series: (-len(series.offers), series.last.id)))


def _when(offer: Offer) -> tuple[bool, dt.date, str]:
    """A retired offer stands before the one that replaced it, whatever their dates."""
    return (offer.retired_on is None, first_day(offer.price_usd_per_h.as_of) or dt.date.min, offer.id)
