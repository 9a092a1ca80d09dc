"""resolve(scenario, catalog) -> PlanProblem: every look-up, unit and currency, done once."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

from planner.catalog.records import Catalog, Figure, Gpu
from planner.performance.evidence import Evidence
from planner.scenario.schema import Scenario
from planner.strategy.machines import Machine, Sold
from planner.strategy.offers import RentedProvider
from planner.strategy.parameters import ParameterTable, by_default, given
from planner.strategy.problem import Issue, PlanProblem
from planner.strategy.resolve.commitments import with_commitments
from planner.strategy.resolve.credits import resolve_credits
from planner.strategy.resolve.figures import Figures
from planner.strategy.resolve.financing import resolve_views
from planner.strategy.resolve.likely import with_likely
from planner.strategy.resolve.limits import resolve_limits
from planner.strategy.resolve.machines import resolve_machine
from planner.strategy.resolve.names import check_names, check_throughput_keys, resolve_groups
from planner.strategy.resolve.offers import pool, resolve_offer
from planner.strategy.resolve.pairs import PairFinder, resolve_job
from planner.strategy.resolve.pins import check_pins
from planner.strategy.resolve.places import places
from planner.strategy.resolve.quotas import resolve_quotas
from planner.strategy.resolve.resources import ResourceNames
from planner.strategy.resolve.site import resolve_site
from planner.strategy.resolve.transfers import amount_column, transfer_issues


def resolve(scenario: Scenario, catalog: Catalog, evidence: Evidence, *, today: dt.date) -> PlanProblem:
    """Look everything up that a scenario needs.

    Parameters
    ----------
    scenario : Scenario
        The checked question.
    catalog : Catalog
        Facts and assumptions.
    evidence : Evidence
        Measurements the estimator may see.
    today : date
        Day of the run: decides which offers are current.

    Returns
    -------
    PlanProblem
        Candidates and the flat parameter table.

    Raises
    ------
    InputError, UnknownIdError
        What the scenario asks can't be looked up or contradicts itself; the field is named.
    """
    figures = Figures(catalog, scenario.currencies)
    table = ParameterTable()
    check_names(scenario, catalog)
    check_throughput_keys(scenario, catalog)
    currency = figures.rate(scenario.currency, field="currency")
    site, site_pue = resolve_site(scenario, figures, table)
    warnings: list[Issue] = []
    machines: list[tuple[Machine, Gpu]] = []
    sold: list[Sold] = []
    for id in scenario.machines:
        type = resolve_machine(id, scenario, figures, table, site_pue)
        if type.sold is not None:
            hosts_stay = type.sold.host_at is None
            sold.append(replace(type.sold, upgraded=len(machines) if hosts_stay else None))
        if type.machine is not None:
            machines.append((type.machine, type.gpu))
        warnings += type.warnings
    pooled, found = pool(scenario, figures, today)
    warnings += found + transfer_issues(scenario)
    providers: list[RentedProvider] = []
    plain = [resolve_offer(item, scenario, figures, table, providers) for item in pooled]
    offers = list(zip(with_commitments(scenario, plain, table), pooled, strict=True))
    names = ResourceNames.of(scenario, catalog)
    quotas = resolve_quotas(scenario, [offer for offer, _ in offers], providers, names)
    finder = PairFinder(scenario=scenario, catalog=catalog, evidence=evidence, table=table, names=names)
    jobs, pairs = [], []
    all_places = places(machines, offers, providers, quotas, table)
    check_pins(scenario, all_places, names)
    for index, (id, entry) in enumerate(scenario.jobs.items()):
        job, workload = resolve_job(id, entry, figures, table, scenario)
        jobs.append(job)
        pairs += finder.find_all(index, job, workload, all_places)

    def rate_or(name: str, value: float | None) -> Figure:
        return by_default(name, catalog.assume(name)) if value is None else given(value)

    staff = scenario.staff
    problem = PlanProblem(
        name=scenario.name,
        groups=resolve_groups(scenario),
        horizon_months=scenario.horizon_months,
        currency=scenario.currency,
        usd_per_unit=currency.value,
        currency_as_of=currency.as_of,
        catalog_as_of=catalog.as_of,
        jobs=tuple(jobs),
        machines=tuple(machine for machine, _ in machines),
        sold=tuple(sold),
        offers=tuple(offer for offer, _ in offers),
        providers=tuple(providers),
        quotas=quotas,
        pairs=tuple(pairs),
        site=site,
        owned_value_counts=scenario.owned_value_counts,
        tax_recoverable=scenario.tax.recoverable,
        tax_rate_at=table.add("tax.rate", rate_or("tax_rate", scenario.tax.rate), "-"),
        discount_rate_at=table.add("discount_rate", rate_or("discount_rate", scenario.discount_rate), "1/year"),
        wage_at=table.add(
            "staff.cost_usd_per_fte_year",
            figures.usd_or(
                staff.cost_usd_per_fte_year,
                lambda: figures.assumed("staff_usd_per_fte_year"),
                field="staff.cost_usd_per_fte_year",
            ),
            "USD/year",
        ),
        fte_cloud_at=table.add("staff.fte_cloud", rate_or("fte_cloud", staff.fte_cloud), "FTE"),
        storage_gb_at=table.add("rental.storage_gb", given(scenario.rental.storage_gb), "GB"),
        upload_gb_at=amount_column("rental.upload_gb", scenario.rental.upload_gb, table),
        credits=resolve_credits(scenario, figures, table, providers),
        rental_change_at=_change(
            "rental.price_change_per_year",
            rate_or("rental_price_change_per_year", scenario.rental.price_change_per_year),
            table,
        ),
        hardware_change_at=_change(
            "hardware_price_change_per_year",
            rate_or("hardware_price_change_per_year", scenario.hardware_price_change_per_year),
            table,
        ),
        warnings=tuple(warnings),
        views=resolve_views(scenario, figures),
        limits=resolve_limits(scenario, figures),
        parameters=(),
        moved_share=catalog.assume("range_share_moved").value,
        level_share=catalog.assume("range_share_price_on_demand").value,
    )
    markets = [(offer, item.offer.market) for offer, item in offers]
    return replace(problem, parameters=with_likely(table.freeze(), scenario, catalog, markets))


def _change(path: str, change: Figure, table: ParameterTable) -> int | None:
    """Column of how prices change a year; None where they stay. Its range is a suggestion and isn't drawn from."""
    return table.add(path, replace(change, low=None, high=None), "1/year", floor=-1.0) if change.value else None
