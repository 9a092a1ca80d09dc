"""What cards and hosts cost, and what owned ones would bring today."""

from __future__ import annotations

from planner.catalog.query import find_gpu
from planner.catalog.records import Catalog, Figure, Gpu, HardwarePrice, Host, first_day
from planner.errors import InputError
from planner.scenario.machines import MachineInput
from planner.scenario.owned import OwnedUnits
from planner.strategy.resolve.cohorts import residual_curve
from planner.strategy.resolve.figures import Figures, combined, interpolated


def hardware_price(catalog: Catalog, item: str, condition: str) -> HardwarePrice | None:
    """The newest purchase price of a card or host, or None where the catalog has none."""
    found = [price for price in catalog.hardware.values() if price.item == item and price.condition == condition]
    dated = [(first_day(price.price_usd.as_of), price) for price in found]
    dated.sort(key=lambda pair: (pair[0] is not None, pair[0] or 0, pair[1].id))
    return dated[-1][1] if dated else None


def card_price(entry: MachineInput, gpu: Gpu, figures: Figures, field: str) -> tuple[Figure, bool]:
    """Price of a card, and whether tax is in it. [USD]

    Raises
    ------
    InputError
        The catalog has no price of it.
    """
    told = entry.prices_include_tax
    if entry.gpu_price_usd is not None:
        return figures.usd(entry.gpu_price_usd, field=field), bool(told)
    price = hardware_price(figures.catalog, gpu.id, entry.condition)
    if price is None:
        raise InputError("missing_price", field=field, item=gpu.id, condition=entry.condition)
    return price.price_usd, price.includes_tax if told is None else told


def host_price_of(entry: MachineInput, host: Host | None, figures: Figures, field: str) -> tuple[Figure, bool]:
    """Price of a host, and whether tax is in it; a used one is priced as new where nothing else is known. [USD]

    Raises
    ------
    InputError
        Neither a price nor a host is given, or the catalog has no price of it.
    """
    told = entry.prices_include_tax
    if entry.host_price_usd is not None:
        return figures.usd(entry.host_price_usd, field=f"{field}.host_price_usd"), bool(told)
    if host is None:
        raise InputError("missing_host", field=f"{field}.host", known=sorted(figures.catalog.hosts))
    price = hardware_price(figures.catalog, host.id, entry.condition) or hardware_price(figures.catalog, host.id, "new")
    if price is None:
        raise InputError("missing_price", field=f"{field}.host_price_usd", item=host.id, condition=entry.condition)
    return price.price_usd, price.includes_tax if told is None else told


def resale_today(
    entry: MachineInput,
    owned: OwnedUnits,
    host_price: tuple[Figure, bool],
    tax_rate: Figure,
    figures: Figures,
    field: str,
    name: str = "owned",
) -> tuple[Figure, Figure]:
    """What one owned card and one owned host would bring today, without the tax that a price may include. [USD]

    Raises
    ------
    InputError
        The catalog has no price of the card, or a resale curve ends before their age.
    """
    gpu = find_gpu(figures.catalog, entry.gpu, field=f"{field}.gpu")
    used = hardware_price(figures.catalog, gpu.id, "used")

    def aged(price: Figure, taxed: bool, part: str) -> Figure:
        try:
            age_months = owned.age_months + (owned.host_older if part == "host" else 0)
            ratio = interpolated(residual_curve(entry, gpu, figures, part), age_months)
        except InputError as error:
            raise InputError(error.code, field=f"{field}.residual_{part}", **error.params) from None
        if not taxed:
            return combined(lambda usd, share: usd * share, price, ratio)
        return combined(lambda usd, share, rate: usd * share / (1.0 + rate), price, ratio, tax_rate)

    return (
        figures.usd_or(
            owned.resale_gpu_usd,
            lambda: (
                used.price_usd
                if used is not None
                else aged(*card_price(entry, gpu, figures, f"{field}.gpu_price_usd"), "gpu")
            ),
            field=f"{field}.{name}.resale_gpu_usd",
        ),
        figures.usd_or(
            owned.resale_host_usd, lambda: aged(*host_price, "host"), field=f"{field}.{name}.resale_host_usd"
        ),
    )
