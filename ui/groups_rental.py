"""What may be rented, as inputs of the Plan page: the pool of offers, and by subject quotas and moving data."""

from __future__ import annotations

from planner.catalog.records import Catalog
from planner.scenario.values import PLANNED_TERMS
from ui import formatting
from ui.group_parts import Document, Subject
from ui.i18n import t
from ui.inputs import Choice, Field, Input, Switch


def pool() -> list[Input]:
    """Where, how and at what prices."""
    return [
        Choice(
            path="rental.markets",
            label=t("hardware.markets"),
            options=("cloud", "marketplace"),
            words=lambda market: t(f"market.{market}"),
            many=True,
            default=["cloud"],
            help=t("hardware.markets_help"),
        ),
        Choice(
            path="rental.terms",
            label=t("hardware.terms"),
            options=PLANNED_TERMS,
            words=lambda term: t(f"term.{term}"),
            many=True,
            default=["on_demand"],
            help=t("hardware.terms_help"),
        ),
        Choice(
            path="rental.statuses",
            label=t("hardware.statuses"),
            options=("current", "stale", "retired"),
            words=lambda status: t(f"status.{status}"),
            many=True,
            default=["current"],
            help=t("hardware.statuses_help"),
        ),
    ]


def narrowed(document: Document, catalog: Catalog) -> list[Input]:
    """Which offers and GPUs of it, and the disk that is kept."""
    rentable = {id for id, offer in catalog.offers.items() if offer.term in PLANNED_TERMS and offer.gpu}
    return [
        Choice(
            path="rental.offers",
            label=t("hardware.offers"),
            options=sorted({*rentable, *document.get("offers", {})}),
            words=lambda id: _offer_words(catalog, id),
            many=True,
            empty_is_default=True,
            default=[],
            help=t("hardware.offers_help"),
        ),
        Choice(
            path="rental.gpus",
            label=t("hardware.gpus"),
            options=sorted(catalog.gpus),
            words=lambda id: catalog.gpus[id].name if id in catalog.gpus else id,
            many=True,
            empty_is_default=True,
            default=[],
            help=t("hardware.gpus_help"),
        ),
        Field(path="rental.storage_gb", label=t("hardware.storage"), help=t("hardware.storage_help")),
        Switch(
            path="rental.include_estimates",
            label=t("hardware.estimates"),
            default=False,
            help=t("hardware.estimates_help"),
        ),
    ]


def limits() -> Subject:
    """Quotas, and how fast data moves."""
    return Subject(id="rental", make=_limits)


def _limits() -> list[Input]:
    return [
        Field(
            path="rental.quota_gpus",
            label=t("hardware.quota"),
            kind="by_name",
            help=t("hardware.quota_help"),
            default=t("hardware.no_quota"),
            expected=t("hardware.quota_expected"),
        ),
        Field(
            path="rental.transfer_mbit_per_s",
            label=t("hardware.transfer"),
            help=t("hardware.transfer_help"),
            default=t("hardware.no_transfer"),
        ),
    ]


def _offer_words(catalog: Catalog, id: str) -> str:
    offer = catalog.offers.get(id)
    if offer is None:
        return id
    provider = catalog.providers[offer.provider].name if offer.provider in catalog.providers else offer.provider
    return t(
        "hardware.offer",
        instance=f"{provider} {offer.instance_type}",
        region=offer.region,
        term=t(f"term.{offer.term}"),
        price=formatting.price(offer.price_usd_per_h.value),
    )
