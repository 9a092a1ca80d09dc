"""The site of the owned machines: tariff, PUE, grid, space."""

from __future__ import annotations

from planner.catalog.query import find_site
from planner.catalog.records import Figure, Site
from planner.errors import InputError
from planner.scenario.schema import Scenario
from planner.strategy.parameters import ParameterTable, given
from planner.strategy.problem import LocalSite
from planner.strategy.resolve.figures import Figures


def resolve_site(scenario: Scenario, figures: Figures, table: ParameterTable) -> tuple[LocalSite, Figure]:
    """The site's columns, and its PUE for machines without one of their own.

    Raises
    ------
    InputError
        When there are machines but nothing says what their electricity costs.
    UnknownIdError
        When the catalog has no such site.
    """
    given_site = scenario.site
    site = find_site(figures.catalog, given_site.id, field="site.id") if given_site.id is not None else None
    needed = bool(scenario.machines)
    if site is None and needed:
        for name in ("electricity_usd_per_kwh", "pue", "grid_kg_co2e_per_kwh"):
            if getattr(given_site, name) is None:
                raise InputError("site_incomplete", field=f"site.{name}", known=sorted(figures.catalog.sites))
    electricity, includes_tax = _electricity(scenario, figures, site)
    pue = figures.given_or(given_site.pue, lambda: site.pue if site is not None else given(1.0))
    grid = figures.given_or(
        given_site.grid_kg_co2e_per_kwh,
        lambda: figures.catalog.grids[site.grid].kg_co2e_per_kwh if site is not None else given(0.0),
    )
    space = given_site.space_usd_per_month
    colocation = given_site.colocation
    return (
        LocalSite(
            electricity_at=table.add("site.electricity_usd_per_kwh", electricity, "USD/kWh"),
            electricity_includes_tax=includes_tax,
            grid_at=table.add("site.grid_kg_co2e_per_kwh", grid, "kg/kWh"),
            space_at=table.add(
                "site.space_usd_per_month",
                figures.usd_or(space, lambda: figures.assumed("space_usd_per_month"), field="site.space_usd_per_month"),
                "USD/month",
            ),
            colocation_kw_at=None
            if colocation is None
            else table.add("site.colocation.contracted_kw", given(colocation.contracted_kw), "kW"),
            colocation_price_at=None
            if colocation is None
            else table.add(
                "site.colocation.price_usd_per_kw_month",
                figures.usd_or(
                    colocation.price_usd_per_kw_month,
                    lambda: figures.assumed("colocation_usd_per_kw_month"),
                    field="site.colocation.price_usd_per_kw_month",
                ),
                "USD/(kW month)",
            ),
            colocation_includes_tax=colocation is not None and colocation.includes_tax,
            power_included=colocation is not None and colocation.power == "included",
        ),
        pue,
    )


def _electricity(scenario: Scenario, figures: Figures, site: Site | None) -> tuple[Figure, bool]:
    given_site = scenario.site
    if given_site.tariff is not None and site is not None and given_site.tariff not in site.tariffs:
        raise InputError("unknown_tariff", field="site.tariff", value=given_site.tariff, known=sorted(site.tariffs))
    if given_site.electricity_usd_per_kwh is not None:
        price = figures.usd(given_site.electricity_usd_per_kwh, field="site.electricity_usd_per_kwh")
        return price, bool(given_site.electricity_includes_tax)
    if site is None:
        return given(0.0), False
    tariff = site.tariffs[given_site.tariff or site.default_tariff]
    included = given_site.electricity_includes_tax
    return tariff.usd_per_kwh, tariff.includes_tax if included is None else included
