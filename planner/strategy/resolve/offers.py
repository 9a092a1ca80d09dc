"""The pool of rented offers: which ones may be used, and their columns."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace

from planner.catalog.query import find_gpu, find_offer, find_offers
from planner.catalog.records import Figure, Gpu, Offer, Provider
from planner.errors import InputError, UnknownIdError
from planner.scenario.rental import OfferInput
from planner.scenario.schema import Scenario
from planner.scenario.values import PLANNED_TERMS
from planner.strategy.offers import Availability, RentedOffer, RentedProvider, Spot
from planner.strategy.parameters import ParameterTable, given
from planner.strategy.problem import Issue
from planner.strategy.resolve.figures import Figures, combined
from planner.strategy.resolve.power import machine_power
from planner.strategy.resolve.transfers import uploads
from planner.validation import near

_OWN_BILLING_UNIT_S = 1.0  # an own quote says nothing else: by the second, no minimum


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledOffer:
    """An offer of the pool with its GPU and the user's own values for it."""

    offer: Offer
    gpu: Gpu
    own: OfferInput | None


def pool(scenario: Scenario, figures: Figures, today: dt.date) -> tuple[list[PooledOffer], list[Issue]]:
    """Offers that a plan may rent: the filters of `rental`, or the offers it names, and own quotes.

    Raises
    ------
    InputError
        A term that plans don't count yet, or an own quote that lacks its GPU, count or price.
    UnknownIdError
        No such offer, provider, region or GPU.
    """
    rental, catalog = scenario.rental, figures.catalog
    for term in rental.terms:
        _check_term(term, "rental.terms")
    warnings: list[Issue] = []
    chosen: dict[str, Offer] = {}
    if rental.offers is not None:
        for name in rental.offers:
            if name in scenario.offers and name not in catalog.offers:
                continue
            offer = find_offer(catalog, name, field="rental.offers")
            _check_term(offer.term, "rental.offers")
            warnings += _not_current(offer, today, "rental.offers")
            chosen[offer.id] = offer
    else:
        gpus = (
            None
            if rental.gpus is None
            else tuple(find_gpu(catalog, name, field="rental.gpus").id for name in rental.gpus)
        )
        found = find_offers(
            catalog,
            today=today,
            terms=tuple(rental.terms),
            markets=tuple(rental.markets),
            statuses=tuple(rental.statuses),
            providers=_known(rental.providers, sorted(catalog.providers), "rental.providers", "provider"),
            regions=_known(
                rental.regions, sorted({o.region for o in catalog.offers.values()}), "rental.regions", "region"
            ),
            gpus=gpus,
            include_estimates=rental.include_estimates,
        )
        chosen = {offer.id: offer for offer in found}
    for name in rental.commitments:
        field = f"rental.commitments.{name}"
        if name in scenario.offers and name not in catalog.offers:
            continue
        offer = find_offer(catalog, name, field=field)
        warnings += _not_current(offer, today, field)
        chosen[offer.id] = offer
    for name in rental.exclude:
        if name in (rental.offers or ()):
            raise InputError("offer_in_and_out", field="rental.exclude", value=name)
        excluded = name if name in scenario.offers else find_offer(catalog, name, field="rental.exclude").id
        chosen.pop(excluded, None)
    pooled = []
    for id, own in scenario.offers.items():
        if id in rental.exclude or (
            rental.offers is not None and id not in rental.offers and id not in rental.commitments
        ):
            continue
        if id in catalog.offers:
            base = catalog.offers[id]
            if own.price_usd_per_h is None and own.price_usd_per_gpu_h is None and id not in chosen:
                continue
            chosen[id] = _with_own_values(base, own, id, figures)
        else:
            chosen[id] = _own_quote(id, own, figures)
        if id not in rental.commitments:
            _check_term(chosen[id].term, f"offers.{id}.term")
    for id in sorted(chosen):
        offer = chosen[id]
        if offer.partial_gpu is not None:
            find_gpu(catalog, offer.partial_gpu, field="rental.offers")  # says why it can't be planned with
        if offer.gpu is None:
            raise InputError("offer_gpu_unclear", field="rental.offers", offer=id, label=offer.gpu_label)
        if offer.gpu_count != int(offer.gpu_count) or offer.gpu_count < 1:
            warnings.append(
                Issue(code="offer_part_gpu", field="rental.offers", params={"offer": id, "gpu_count": offer.gpu_count})
            )
            continue
        pooled.append(PooledOffer(offer=offer, gpu=catalog.gpus[offer.gpu], own=scenario.offers.get(id)))
    return pooled, warnings


def _not_current(offer: Offer, today: dt.date, field: str) -> list[Issue]:
    status = offer.status(today)
    if status == "current":
        return []
    params = {"offer": offer.id, "status": status, "as_of": offer.price_usd_per_h.as_of or "unknown"}
    return [Issue(code="offer_not_current", field=field, params=params)]


def _check_term(term: str, field: str) -> None:
    if term not in PLANNED_TERMS:
        raise InputError("term_not_planned", field=field, value=term, known=list(PLANNED_TERMS))


def _known(given_names: list[str] | None, known: list[str], field: str, kind: str) -> tuple[str, ...] | None:
    """The names as given, each checked against what the catalog has."""
    for name in given_names or ():
        if name not in known:
            raise UnknownIdError(kind, name, near(name, known), field=field)
    return None if given_names is None else tuple(given_names)


def _own_price(id: str, own: OfferInput, gpu_count: float, figures: Figures) -> Figure | None:
    if own.price_usd_per_h is not None:
        return figures.usd(own.price_usd_per_h, field=f"offers.{id}.price_usd_per_h")
    if own.price_usd_per_gpu_h is not None:
        per_gpu = figures.usd(own.price_usd_per_gpu_h, field=f"offers.{id}.price_usd_per_gpu_h")
        return combined(lambda price: price * gpu_count, per_gpu)
    return None


def _with_own_values(offer: Offer, own: OfferInput, id: str, figures: Figures) -> Offer:
    for name in ("gpu", "gpu_count", "provider", "region", "instance_type", "term", "market"):
        if getattr(own, name) is not None:
            raise InputError("offer_identity", field=f"offers.{id}.{name}", value=getattr(own, name), offer=id)
    _check_spot(id, own, offer.term)
    price = _own_price(id, own, offer.gpu_count, figures)
    return replace(
        offer,
        price_usd_per_h=offer.price_usd_per_h if price is None else price,
        includes_tax=offer.includes_tax if own.includes_tax is None else own.includes_tax,
        billing_unit_s=offer.billing_unit_s if own.billing_unit_s is None else given(own.billing_unit_s),
        minimum_s=offer.minimum_s if own.minimum_s is None else given(own.minimum_s),
        network_gbit_per_s=offer.network_gbit_per_s
        if own.network_gbit_per_s is None
        else given(own.network_gbit_per_s),
    )


def _own_quote(id: str, own: OfferInput, figures: Figures) -> Offer:
    for name in ("gpu", "gpu_count"):
        if getattr(own, name) is None:
            raise InputError("quote_incomplete", field=f"offers.{id}.{name}", offer=id)
    assert own.gpu is not None and own.gpu_count is not None
    price = _own_price(id, own, own.gpu_count, figures)
    if price is None:
        raise InputError("quote_incomplete", field=f"offers.{id}.price_usd_per_h", offer=id)
    _check_spot(id, own, own.term or "on_demand")
    gpu = find_gpu(figures.catalog, own.gpu, field=f"offers.{id}.gpu")
    return Offer(
        id=id,
        provider=own.provider or id,
        instance_type=own.instance_type or id,
        region=own.region or "",
        grid=None,
        gpu=gpu.id,
        gpu_label=gpu.name,
        gpu_count=own.gpu_count,
        term=own.term or "on_demand",
        market=own.market or "cloud",
        price_usd_per_h=price,
        printed_per_gpu=own.price_usd_per_gpu_h is not None,
        billing_unit_s=given(_OWN_BILLING_UNIT_S if own.billing_unit_s is None else own.billing_unit_s),
        minimum_s=given(0.0 if own.minimum_s is None else own.minimum_s),
        retired_on=None,
        interrupted_share_per_month=None,
        network_gbit_per_s=None if own.network_gbit_per_s is None else given(own.network_gbit_per_s),
        includes_tax=bool(own.includes_tax),
    )


def _check_spot(id: str, own: OfferInput, term: str) -> None:
    value = own.interrupted_share_per_month
    if value is not None and term != "spot":
        raise InputError(
            "interrupted_not_spot", field=f"offers.{id}.interrupted_share_per_month", value=value, term=term
        )


def resolve_offer(
    item: PooledOffer, scenario: Scenario, figures: Figures, table: ParameterTable, providers: list[RentedProvider]
) -> RentedOffer:
    """Columns of one offer; its provider is added to the list when it is new."""
    offer, own = item.offer, item.own or OfferInput()
    field = f"offers.{offer.id}"
    known = figures.catalog.providers.get(offer.provider)
    load_w, idle_w = machine_power(item.gpu, int(offer.gpu_count), None, figures)
    load_w = given(own.load_w) if own.load_w is not None else load_w
    idle_w = given(own.idle_w) if own.idle_w is not None else idle_w
    if idle_w.value > load_w.value:
        raise InputError("idle_above_load", field=f"{field}.idle_w", value=idle_w.value, load_w=load_w.value)

    def startup() -> Figure:
        return (
            known.startup_s
            if known is not None and known.startup_s is not None
            else figures.assumed("rented_startup_s")
        )

    def pue() -> Figure:
        return known.pue if known is not None and known.pue is not None else figures.assumed("rented_pue")

    def grid() -> Figure:
        if offer.grid is None:
            return figures.assumed("rented_grid_kg_co2e_per_kwh")
        return figures.catalog.grids[offer.grid].kg_co2e_per_kwh

    def column(name: str, figure: Figure, unit: str, *, floor: float = 0.0) -> int:
        return table.add(f"{field}.{name}", figure, unit, floor=floor)

    def free_hours(name: str, hours: float | None) -> int | None:
        if hours is None:
            return None
        if offer.term not in PLANNED_TERMS:
            raise InputError("free_hours_committed", field=f"{field}.{name}", value=hours, term=offer.term)
        return column(name, given(hours), "h/month" if name.endswith("month") else "h")

    def interrupted() -> Figure:
        known_share = offer.interrupted_share_per_month
        return figures.assumed("spot_interrupted_share_per_month") if known_share is None else known_share

    rented = RentedOffer(
        id=offer.id,
        provider=_provider_index(offer.provider, scenario, figures, table, providers),
        gpu=item.gpu.id,
        gpu_name=item.gpu.name,
        gpu_count=int(offer.gpu_count),
        region=offer.region,
        term=offer.term,
        includes_tax=offer.includes_tax,
        price_at=column("price_usd_per_h", offer.price_usd_per_h, "USD/h"),
        billing_unit_s_at=column("billing_unit_s", offer.billing_unit_s, "s"),
        minimum_s_at=column("minimum_s", offer.minimum_s, "s"),
        startup_s_at=column("startup_s", figures.given_or(own.startup_s, startup), "s"),
        idle_tail_s_at=table.add("rental.idle_tail_s", given(scenario.rental.idle_tail_s), "s"),
        load_w_at=column("load_w", load_w, "W"),
        idle_w_at=column("idle_w", idle_w, "W"),
        pue_at=column("pue", figures.given_or(own.pue, pue), "-", floor=1.0),
        grid_at=column("grid_kg_co2e_per_kwh", figures.given_or(own.grid_kg_co2e_per_kwh, grid), "kg/kWh"),
        free_h_per_month_at=free_hours("free_node_hours_per_month", own.free_node_hours_per_month),
        free_h_total_at=free_hours("free_node_hours_total", own.free_node_hours_total),
        spot=None,
        availability=_availability(field, offer, own, figures, table),
        commitment=None,
    )
    if offer.term != "spot":
        return rented
    share = figures.given_or(own.interrupted_share_per_month, interrupted)
    load_s = figures.given_or(scenario.rental.load_checkpoint_s, lambda: figures.assumed("restart_s"))
    reacquire_s = figures.given_or(scenario.rental.reacquire_s, lambda: figures.assumed("spot_reacquire_s"))
    reacquire_at = table.add("rental.reacquire_s", reacquire_s, "s")
    there = rented.availability
    if there is None:  # an estimate that is shown, and moves nothing
        chance = figures.assumed("spot_available_share")
        available_at = table.add(f"{field}.available_share", chance, "-", money=False)
    spot = Spot(
        interrupted_share_at=column("interrupted_share_per_month", share, "1/month"),
        startup_s_at=rented.startup_s_at,
        load_s_at=table.add("rental.load_checkpoint_s", load_s, "s"),
        reacquire_s_at=reacquire_at,
        available_share_at=available_at if there is None else there.available_share_at,
        retry_s_at=reacquire_at if there is None else there.retry_s_at,
    )
    return replace(rented, spot=spot)


def _availability(
    field: str, offer: Offer, own: OfferInput, figures: Figures, table: ParameterTable
) -> Availability | None:
    """Columns of how often instances are there; None where nothing is said: then they always are."""
    if own.available_share is None:
        return None
    if offer.term not in PLANNED_TERMS:
        raise InputError(
            "available_committed", field=f"{field}.available_share", value=own.available_share, term=offer.term
        )
    retry_s = figures.given_or(own.retry_s, lambda: figures.assumed("rented_retry_s"))
    return Availability(
        available_share_at=table.add(f"{field}.available_share", given(own.available_share), "-"),
        retry_s_at=table.add(f"{field}.retry_s", retry_s, "s"),
    )


def _provider_index(
    id: str, scenario: Scenario, figures: Figures, table: ParameterTable, providers: list[RentedProvider]
) -> int:
    for index, provider in enumerate(providers):
        if provider.id == id:
            return index
    known, rental = figures.catalog.providers.get(id), scenario.rental

    def or_assumed(name: str) -> Figure:
        figure: Figure | None = None if known is None else getattr(known, name)
        return figures.assumed(name) if figure is None else figure

    providers.append(
        RentedProvider(
            id=id,
            storage_price_at=table.add(
                f"providers.{id}.storage_usd_per_gb_month"
                if rental.storage_usd_per_gb_month is None
                else "rental.storage_usd_per_gb_month",
                figures.usd_or(
                    rental.storage_usd_per_gb_month,
                    lambda: or_assumed("storage_usd_per_gb_month"),
                    field="rental.storage_usd_per_gb_month",
                ),
                "USD/(GB month)",
            ),
            egress_price_at=table.add(
                f"providers.{id}.egress_usd_per_gb" if rental.egress_usd_per_gb is None else "rental.egress_usd_per_gb",
                figures.usd_or(
                    rental.egress_usd_per_gb, lambda: or_assumed("egress_usd_per_gb"), field="rental.egress_usd_per_gb"
                ),
                "USD/GB",
            ),
            free_egress_gb_at=table.add(
                f"providers.{id}.free_egress_gb_per_month"
                if rental.free_egress_gb_per_month is None
                else "rental.free_egress_gb_per_month",
                figures.given_or(rental.free_egress_gb_per_month, lambda: or_assumed("free_egress_gb_per_month")),
                "GB/month",
            ),
            ingress_price_at=_ingress_column(id, scenario, figures, table, known) if uploads(scenario) else None,
        )
    )
    return len(providers) - 1


def _ingress_column(
    id: str, scenario: Scenario, figures: Figures, table: ParameterTable, known: Provider | None
) -> int:
    """Price of incoming data: the scenario's, else the provider's, else as assumed."""
    asked = scenario.rental.ingress_usd_per_gb
    if asked is not None:
        price = figures.usd(asked, field="rental.ingress_usd_per_gb")
        return table.add("rental.ingress_usd_per_gb", price, "USD/GB")
    listed = None if known is None else known.ingress_usd_per_gb
    price = figures.assumed("ingress_usd_per_gb") if listed is None else listed
    return table.add(f"providers.{id}.ingress_usd_per_gb", price, "USD/GB")
