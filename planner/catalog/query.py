"""Finds records by what a user types, and offers by what a plan may choose from."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping
from typing import Protocol, TypeVar

from planner.catalog.records import (
    Catalog,
    Gpu,
    HardwarePrice,
    Host,
    Market,
    Offer,
    PartialGpu,
    Site,
    Status,
    Term,
    Workload,
    first_day,
)
from planner.catalog.spelling import Named, gpus_spelled, models_spelled
from planner.errors import InputError, UnknownIdError
from planner.validation import near


class _Named(Protocol):
    @property
    def id(self) -> str: ...


_Record = TypeVar("_Record", bound=_Named)


def find_gpu(catalog: Catalog, text: str, field: str = "") -> Gpu:
    """GPU to plan with, by id or alias, in any case.

    Raises
    ------
    InputError
        Several GPUs share the spelling (`gpu_ambiguous`), or too little is known of this one (`gpu_incomplete`).
    UnknownIdError
        With the nearest ids; `field` names the input at fault.
    """
    known = find_accelerator(catalog, text, field)
    if isinstance(known, PartialGpu):
        reason = known.reason or f"unknown: {', '.join(known.missing)}"
        raise InputError("gpu_incomplete", field=field, value=str(text), gpu=known.id, reason=reason)
    return known


def find_accelerator(catalog: Catalog, text: str, field: str = "") -> Gpu | PartialGpu:
    """Accelerator by id, alias or another usual spelling, also one that can't be planned with.

    Raises
    ------
    InputError
        Several accelerators share the spelling (`gpu_ambiguous`).
    UnknownIdError
        With the nearest ids; `field` names the input at fault.
    """
    records: dict[str, Gpu | PartialGpu] = {**catalog.gpus, **catalog.partial_gpus}
    meant = accelerators_named(catalog, text)
    if len(meant) > 1:
        raise InputError("gpu_ambiguous", field=field, value=str(text), could_be=list(meant))
    name = meant[0] if meant else text
    return _find("GPU", records, ((gpu.id, gpu.aliases) for gpu in records.values()), name, field)


def accelerators_named(catalog: Catalog, text: str) -> tuple[str, ...]:
    """Ids of the accelerators that a text can mean: by id or alias, else by what is left without vendor and hyphens."""
    wanted = str(text).strip().casefold()
    for label in catalog.ambiguous.values():
        if label.label.casefold() == wanted:
            return label.could_be
    records: list[Gpu | PartialGpu] = [*catalog.gpus.values(), *catalog.partial_gpus.values()]
    for gpu in records:
        if gpu.id.casefold() == wanted or any(alias.casefold() == wanted for alias in gpu.aliases):
            return (gpu.id,)
    gpus = tuple(Named(gpu.id, gpu.aliases, gpu.memory_gb.value if gpu.memory_gb else None) for gpu in records)
    shared = tuple(Named(label.label, label.could_be) for label in catalog.ambiguous.values())
    return gpus_spelled(wanted, gpus, shared)


def prices_of(catalog: Catalog, item: str, condition: str | None = None) -> tuple[HardwarePrice, ...]:
    """Purchase prices of a GPU, host, system or part, newest first; undated ones last."""
    found = [
        price
        for price in catalog.hardware.values()
        if price.item == item and (condition is None or price.condition == condition)
    ]
    found.sort(key=lambda price: (first_day(price.price_usd.as_of) or dt.date.min, price.id), reverse=True)
    return tuple(found)


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
    """Workload by id, alias or another usual spelling; raises UnknownIdError, also where several share it."""
    aliases = [(workload.id, workload.aliases) for workload in catalog.workloads.values()]
    meant = workloads_named(catalog, text)
    if len(meant) > 1:
        raise UnknownIdError("workload", str(text), list(meant), field=field)
    return _find("workload", catalog.workloads, aliases, meant[0] if meant else text, field)


def workloads_named(catalog: Catalog, text: str) -> tuple[str, ...]:
    """Ids of the workloads that a text can mean: by id or alias, else by the model's name without owner and release."""
    wanted = str(text).strip().casefold()
    for workload in catalog.workloads.values():
        if workload.id.casefold() == wanted or any(alias.casefold() == wanted for alias in workload.aliases):
            return (workload.id,)
    return models_spelled(wanted, tuple(Named(one.id, one.aliases) for one in catalog.workloads.values()))


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
