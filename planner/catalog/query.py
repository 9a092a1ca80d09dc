"""Finds records by what a user types, and offers by what a plan may choose from."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping
from typing import Protocol, TypeVar

from planner.catalog.records import Catalog, Gpu, Host, Market, Offer, Site, Status, Term, Workload
from planner.errors import UnknownIdError
from planner.validation import near


class _Named(Protocol):
    @property
    def id(self) -> str: ...


_Record = TypeVar("_Record", bound=_Named)


def find_gpu(catalog: Catalog, text: str, field: str = "") -> Gpu:
    """GPU by id or alias, in any case.

    Raises
    ------
    UnknownIdError
        With the nearest ids; `field` names the input at fault.
    """
    return _find("GPU", catalog.gpus, ((gpu.id, gpu.aliases) for gpu in catalog.gpus.values()), text, field)


def find_host(catalog: Catalog, text: str, field: str = "") -> Host:
    """Host by id; raises as `find_gpu`."""
    return _find("host", catalog.hosts, (), text, field)


def find_offer(catalog: Catalog, text: str, field: str = "") -> Offer:
    """Offer by id; raises as `find_gpu`."""
    return _find("offer", catalog.offers, (), text, field)


def find_site(catalog: Catalog, text: str, field: str = "") -> Site:
    """Site by id; raises as `find_gpu`."""
    return _find("site", catalog.sites, (), text, field)


def find_workload(catalog: Catalog, text: str, field: str = "") -> Workload:
    """Workload by id or alias; raises as `find_gpu`."""
    aliases = ((workload.id, workload.aliases) for workload in catalog.workloads.values())
    return _find("workload", catalog.workloads, aliases, text, field)


def _find(
    kind: str,
    records: Mapping[str, _Record],
    aliases: Iterable[tuple[str, Iterable[str]]],
    text: str,
    field: str,
) -> _Record:
    if text in records:
        return records[text]
    ids = {id.casefold(): id for id in records}
    for id, names in aliases:
        ids.update({name.casefold(): id for name in names})
    wanted = str(text).strip().casefold()
    if wanted in ids:
        return records[ids[wanted]]
    close = dict.fromkeys(ids[name.casefold()] for name in near(wanted, ids, count=5))
    raise UnknownIdError(kind, str(text), list(close)[:3], field=field)


DEFAULT_TERMS: tuple[Term, ...] = ("on_demand",)
DEFAULT_MARKETS: tuple[Market, ...] = ("cloud",)
DEFAULT_STATUSES: tuple[Status, ...] = ("current",)


def find_offers(
    catalog: Catalog,
    *,
    today: dt.date,
    terms: Collection[Term] = DEFAULT_TERMS,
    markets: Collection[Market] = DEFAULT_MARKETS,
    statuses: Collection[Status] = DEFAULT_STATUSES,
    providers: Collection[str] | None = None,
    regions: Collection[str] | None = None,
    gpus: Collection[str] | None = None,
    include_estimates: bool = False,
) -> tuple[Offer, ...]:
    """Offers that a plan may choose from; without arguments the default pool.

    The default pool holds what anyone can rent today at a price that someone prints: current, on demand, not on a
    marketplace, not estimated. An offer whose GPU is unclear is never in a pool: it can't be planned with.

    Parameters
    ----------
    catalog : Catalog
        Where the offers are.
    today : date
        Day of the run, from which an offer's status follows.
    terms, markets, statuses : collection of str
        What an offer may be.
    providers, regions, gpus : collection of str, optional
        Ids of providers, names of regions, ids of GPUs; all if omitted.
    include_estimates : bool
        Whether offers with an estimated price count.

    Returns
    -------
    tuple of Offer
        Sorted by id.
    """
    return tuple(
        offer
        for offer in catalog.offers.values()
        if offer.gpu is not None
        and offer.term in terms
        and offer.market in markets
        and (include_estimates or not offer.price_usd_per_h.estimate)
        and (providers is None or offer.provider in providers)
        and (regions is None or offer.region in regions)
        and (gpus is None or offer.gpu in gpus)
        and offer.status(today) in statuses
    )


def check_offer_conflicts(catalog: Catalog, *, today: dt.date) -> tuple[tuple[str, str], ...]:
    """Pairs of ids of current offers that sell the same: a price change that left the old row current."""
    first: dict[tuple[object, ...], str] = {}
    pairs = []
    for offer in catalog.offers.values():
        if offer.status(today) != "current":
            continue
        key = (offer.provider, offer.instance_type, offer.region, offer.term, offer.gpu_count, offer.market, offer.gpu)
        other = first.setdefault(key, offer.id)
        if other != offer.id:
            pairs.append((other, offer.id))
    return tuple(pairs)
