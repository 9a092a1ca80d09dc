"""The four groups of inputs of the Plan page and what their buttons say while they are closed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.catalog.records import Catalog, Figure, Site
from planner.scenario.paths import get_value
from planner.scenario.values import PLANNED_TERMS
from ui import formatting
from ui.formatting import USD, Currency
from ui.i18n import t
from ui.inputs import Choice, Field, Input, Switch
from ui.names import short_gpu, tariff_name
from ui.recipe_inputs import recipe_inputs

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One popover: `summary` stands on its button, `advanced` is folded; None leaves a place empty."""

    id: str
    icon: str
    summary: str
    main: Sequence[Input]
    advanced: Sequence[Input | None]

    @property
    def inputs(self) -> list[Input]:
        """All inputs of the group."""
        return [cell for cell in (*self.main, *self.advanced) if cell is not None]


def groups(
    document: Document,
    catalog: Catalog,
    used: Mapping[str, float] | None = None,
    rented_gpus: Sequence[str] = (),
    currency: Currency = USD,
) -> list[Group]:
    """Work, Hardware, Site, Money for a scenario; `used` are the plan's figures, `rented_gpus` the names it rents."""
    return [
        _work(document, catalog),
        _hardware(document, catalog, used or {}, rented_gpus),
        _site(document, catalog, currency),
        _money(document, catalog),
    ]


def _work(document: Document, catalog: Catalog) -> Group:
    main: list[Input] = []
    advanced: list[Input | None] = []
    for id, job in document["jobs"].items():
        here, names = f"jobs.{id}", {"job": id}
        main += [
            Field(path=f"{here}.runs_per_month", label=t("work.runs", **names), help=t("work.runs_help")),
            Field(
                path=f"{here}.deadline_h",
                label=t("work.deadline", **names),
                help=t("work.deadline_help"),
                default=t("work.no_deadline"),
            ),
        ]
        advanced += [
            Field(
                path=f"{here}.attempts_per_run",
                label=t("work.attempts", **names),
                help=t("work.attempts_help"),
                default=_assumed(catalog, "attempts_per_run"),
            ),
            Field(
                path=f"{here}.local_share",
                label=t("work.local_share", **names),
                kind="percent",
                help=t("work.local_share_help"),
                default=t("work.by_class"),
            ),
        ]
        job = job if isinstance(job, Mapping) else {}
        workload = catalog.workloads.get(job.get("workload", ""))
        if workload is not None and workload.unit == "tokens":
            advanced += [
                Field(path=f"{here}.tokens", label=t("work.tokens", **names), default=_figure(workload.tokens)),
                None,
            ]
        else:
            samples = _figure(workload.samples) if workload else ""
            epochs = formatting.plain(workload.epochs) if workload and workload.epochs else ""
            advanced += [
                Field(path=f"{here}.samples", label=t("work.samples", **names), default=samples),
                Field(path=f"{here}.epochs", label=t("work.epochs", **names), default=epochs),
            ]
        advanced += recipe_inputs(id, job, workload)
    runs = " + ".join(_word(get_value(document, f"jobs.{id}.runs_per_month"), 3) for id in document["jobs"])
    return Group(
        id="work",
        icon=":material/model_training:",
        summary=t("work.summary_one" if runs == "1" else "work.summary", runs=runs),
        main=main,
        advanced=advanced,
    )


def _hardware(document: Document, catalog: Catalog, used: Mapping[str, float], rented_gpus: Sequence[str]) -> Group:
    main: list[Input] = []
    advanced: list[Input] = []
    owned: list[str] = []
    for id, machine in document.get("machines", {}).items():
        here = f"machines.{id}"
        gpu = catalog.gpus.get(str(machine.get("gpu", "")))
        name = short_gpu(gpu.name) if gpu else id
        owned.append(name)
        condition = machine.get("condition", "new")
        main += [
            Field(
                path=f"{here}.count",
                label=t("hardware.count", machine=id),
                help=t("hardware.count_help"),
                default=t("hardware.count_auto"),
            ),
            Field(
                path=f"{here}.gpu_price_usd",
                label=t("hardware.gpu_price", machine=id),
                kind="money",
                help=t("hardware.price_help"),
                default=_used(used, f"{here}.gpu_price_usd")
                or _price_of(catalog, str(machine.get("gpu", "")), condition),
            ),
        ]
        advanced += [
            Field(
                path=f"{here}.host_price_usd",
                label=t("hardware.host_price", machine=id),
                kind="money",
                help=t("hardware.price_help"),
                default=_used(used, f"{here}.host_price_usd")
                or _price_of(catalog, str(machine.get("host", "")), condition),
            ),
            Field(
                path=f"{here}.useful_life_months",
                label=t("hardware.life", machine=id),
                help=t("hardware.life_help"),
                default=_used(used, f"{here}.useful_life_months") or t("field.by_default"),
            ),
            Field(
                path=f"{here}.powered_h_per_month",
                label=t("hardware.powered", machine=id),
                help=t("hardware.powered_help"),
                default=_assumed(catalog, "powered_h_per_month"),
            ),
            Field(
                path=f"{here}.target_utilisation",
                label=t("hardware.target", machine=id),
                kind="percent",
                help=t("hardware.target_help"),
                default=_assumed(catalog, "target_utilisation", percent=True),
            ),
        ]
    main += [
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
    rentable = {id for id, offer in catalog.offers.items() if offer.term in PLANNED_TERMS and offer.gpu}
    advanced += [
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
    return Group(
        id="hardware",
        icon=":material/memory:",
        summary=", ".join(dict.fromkeys([*owned, *rented_gpus])) or t("hardware.none"),
        main=main,
        advanced=advanced,
    )


def _site(document: Document, catalog: Catalog, currency: Currency) -> Group:
    site = catalog.sites.get(str(get_value(document, "site.id") or ""))
    tariff = str(get_value(document, "site.tariff") or (site.default_tariff if site else ""))
    price = get_value(document, "site.electricity_usd_per_kwh")
    if price is None and site is not None and tariff in site.tariffs:
        price = site.tariffs[tariff].usd_per_kwh.value
    shown = formatting.price(price, currency) if isinstance(price, int | float) else _word(price)
    name = site.name if site else t("site.none")
    main: list[Input] = [
        Choice(
            path="site.id",
            label=t("site.place"),
            options=list(catalog.sites),
            words=lambda id: catalog.sites[id].name if id in catalog.sites else id or t("site.none"),
        ),
        Choice(
            path="site.tariff",
            label=t("site.tariff"),
            options=[None, *(site.tariffs if site else ())],
            words=lambda id: tariff_name(id) if id else t("site.usual_tariff"),
            help=t("site.tariff_help"),
        ),
        Field(
            path="site.electricity_usd_per_kwh",
            label=t("site.electricity"),
            kind="money",
            help=t("hardware.price_help"),
            default=_figure(site.tariffs[tariff].usd_per_kwh) if site and tariff in site.tariffs else "",
        ),
        Field(
            path="site.pue",
            label=t("site.pue"),
            help=t("site.pue_help"),
            default=_figure(site.pue) if site else "",
        ),
    ]
    advanced: list[Input] = [
        Field(
            path="site.grid_kg_co2e_per_kwh",
            label=t("site.grid"),
            default=_grid(catalog, site),
        ),
        Field(
            path="site.space_usd_per_month",
            label=t("site.space"),
            kind="money",
            default=_assumed(catalog, "space_usd_per_month"),
        ),
    ]
    return Group(
        id="site",
        icon=":material/bolt:",
        summary=t("site.summary", place=name, price=shown) if price is not None else name,
        main=main,
        advanced=advanced,
    )


def _money(document: Document, catalog: Catalog) -> Group:
    rate = get_value(document, "discount_rate")
    if rate is None and "discount_rate" in catalog.assumptions:
        rate = catalog.assume("discount_rate").value
    main: list[Input] = [
        Field(path="horizon_months", label=t("money.horizon"), help=t("money.horizon_help")),
        Field(
            path="discount_rate",
            label=t("money.discount"),
            kind="percent",
            help=t("money.discount_help"),
            default=_assumed(catalog, "discount_rate", percent=True),
        ),
        Field(
            path="tax.rate",
            label=t("money.tax"),
            kind="percent",
            help=t("money.tax_help"),
            default=_assumed(catalog, "tax_rate", percent=True),
        ),
        Choice(
            path="currency",
            label=t("money.currency"),
            options=sorted({"USD", *catalog.fx, *document.get("currencies", {})}),
            words=str,
            default="USD",
            help=t("money.currency_help"),
        ),
        Field(
            path="staff.cost_usd_per_fte_year",
            label=t("money.wage"),
            kind="money",
            help=t("money.wage_help"),
            default=_assumed(catalog, "staff_usd_per_fte_year"),
        ),
        Switch(path="tax.recoverable", label=t("money.recoverable"), default=False, help=t("money.recoverable_help")),
    ]
    advanced: list[Input] = [
        Field(
            path="staff.fte_per_machine",
            label=t("money.fte_machine"),
            help=t("money.fte_help"),
            default=t("field.by_default"),
        ),
        Field(
            path="staff.fte_cloud",
            label=t("money.fte_cloud"),
            help=t("money.fte_help"),
            default=_assumed(catalog, "fte_cloud"),
        ),
        Switch(path="owned_value_counts", label=t("money.owned"), default=True, help=t("money.owned_help")),
    ]
    months = get_value(document, "horizon_months")
    shown = formatting.rate(rate) if isinstance(rate, int | float) else _word(rate)
    return Group(
        id="money",
        icon=":material/payments:",
        summary=t("money.summary", months=_word(months), rate=shown),
        main=main,
        advanced=advanced,
    )


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


def _word(value: Any, digits: int = 6) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return formatting.trimmed(value, digits)
    return formatting.escaped(str(value)) if value is not None else formatting.unknown()


def _figure(figure: Figure | None) -> str:
    if figure is None:
        return ""
    return f"{figure.value:.0f}" if figure.value.is_integer() else f"{figure.value:.10g}"  # not 1.5e+13 tokens


def _assumed(catalog: Catalog, id: str, *, percent: bool = False) -> str:
    if id not in catalog.assumptions:
        return ""
    value = catalog.assume(id).value
    return t("field.default", value=f"{value * 100:.10g}" if percent else f"{value:.10g}")


def _grid(catalog: Catalog, site: Site | None) -> str:
    return _figure(catalog.grids[site.grid].kg_co2e_per_kwh) if site and site.grid in catalog.grids else ""


def _used(used: Mapping[str, float], path: str) -> str:
    return f"{used[path]:.10g}" if path in used else ""


def _price_of(catalog: Catalog, item: str, condition: str) -> str:
    found = [price for price in catalog.hardware.values() if price.item == item and price.condition == condition]
    return _figure(found[0].price_usd) if len(found) == 1 else ""
