"""Cost lines of owned machines: purchase, resale, electricity, space, upkeep, people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.cost.capex import residual_ratio
from planner.cost.course import Array, scaled
from planner.cost.lines import CostLine
from planner.energy.facility import metered_kwh
from planner.strategy.fleet import powered_h_of_one
from planner.strategy.machines import Cohort, Machine, SaleColumns
from planner.strategy.rows import Rows
from planner.strategy.start_lines import kept_value_lines
from planner.units import MONTHS_PER_YEAR


def purchase_lines(rows: Rows, index: int) -> list[CostLine]:
    """Cards, hosts and installation at every purchase, and today's value of machines owned already.

    Machines that are there already and get new cards buy these at the start.
    """
    machine = rows.problem.machines[index]
    cohorts = list(zip(machine.cohorts, rows.cohort_units(index), strict=True))
    whole = [(month, units) for cohort, units in cohorts for month in cohort.bought]
    cards = whole + [(0, units) for cohort, units in cohorts if cohort.new_cards]
    lines = []
    for kind, unit, bought, factor, column, included in (
        ("gpu", "card", cards, machine.gpus, machine.gpu_price_at, machine.gpu_includes_tax),
        ("host", "host", whole, 1, machine.host_price_at, machine.host_includes_tax),
        ("installation", "machine", whole, 1, machine.installation_at, False),
    ):
        if any(units.any() for _, units in bought) and rows.p(column).any():
            lines.append(
                CostLine(
                    id=f"{kind}.{machine.id}",
                    group="capex",
                    resource=machine.id,
                    job="",
                    unit=unit,
                    unit_price=rows.paid(rows.p(column), included),
                    course=rows.events(bought, factor),
                    price_factor=None if kind == "installation" else rows.hardware_factor,
                    taxed=None if included else "tax_purchase",
                    price_at=(column,) if kind == "installation" else (column, *rows.problem.hardware_change),
                    minor_at=_counting_columns(rows, index),
                )
            )
    return lines + kept_value_lines(rows, index)


def resale_lines(rows: Rows, index: int) -> list[CostLine]:
    """Sales of cards and hosts, each at its age; a line for every date, since the price differs."""
    machine = rows.problem.machines[index]
    lines = []
    for cohort, units in zip(machine.cohorts, rows.cohort_units(index), strict=True):
        if not units.any():
            continue
        for columns in cohort.sales:
            first = cohort.owned and columns.position == 0  # later units of that cohort were bought by the plan
            suffix = f"{machine.id}.{_history(cohort)}m{columns.sale.month}"
            owned = (first and not cohort.new_cards, first)
            bought = 0 if first else cohort.purchase_months[columns.position - cohort.owned]
            lines += _sale_lines(rows, machine, cohort, columns, units, suffix, owned, bought)
    return lines


def _history(cohort: Cohort) -> str:
    """What tells sales of a cohort from those of others at the same time, which are of another age."""
    if cohort.owned:
        return f"{cohort.name}."
    ordered = cohort.purchase_months[0]
    return f"bought{ordered}." if ordered else ""


def _sale_lines(
    rows: Rows,
    machine: Machine,
    cohort: Cohort,
    columns: SaleColumns,
    units: Array,
    suffix: str,
    owned: tuple[bool, bool],
    bought: int,
) -> list[CostLine]:
    """Of cards and hosts; `owned` says of each whether it was there already, else `bought` when it was paid."""
    lines = []
    paid = rows.price_factor(rows.problem.hardware_change_at, np.array([bought]))
    for kind, was_owned, unit, factor, price_at, today_at, included, sold_at, bought_at in (
        ("resale_gpu", owned[0], "card", machine.gpus, machine.gpu_price_at, cohort.resale_gpu_today_at,
         machine.gpu_includes_tax, columns.gpu_sold_at, columns.gpu_bought_at),
        ("resale_host", owned[1], "host", 1, machine.host_price_at, cohort.resale_host_today_at,
         machine.host_includes_tax, columns.host_sold_at, columns.host_bought_at),
    ):  # fmt: skip
        if was_owned and not cohort.value_counts and cohort.leased_until is None:
            continue
        base_at = today_at if was_owned and today_at is not None else price_at
        base = rows.without_tax(rows.p(base_at), included and not was_owned)
        unit_price = -base * residual_ratio(rows.p(sold_at), rows.p(bought_at)) * (1.0 if paid is None else paid[:, 0])
        if unit_price.any():
            lines.append(
                CostLine(
                    id=f"{kind}.{suffix}",
                    group="residual",
                    resource=machine.id,
                    job="",
                    unit=unit,
                    unit_price=unit_price,
                    course=rows.events([(columns.sale.month, units)], factor),
                    price_at=(base_at, sold_at, bought_at, *(() if was_owned else rows.problem.hardware_change)),
                    minor_at=(machine.useful_life_at,),
                )
            )
    return lines


def machine_kwh(rows: Rows, index: int) -> Array:
    """Energy at the meter of all machines of a type by month: busy hours at load, the other powered ones idle."""
    machine = rows.problem.machines[index]
    powered_h = rows.there[:, index] * powered_h_of_one(machine, rows.theta)[:, None]
    idle_h = np.maximum(powered_h - rows.busy_h[:, index], 0.0)
    pue = rows.p(machine.pue_at)[:, None]
    load_kwh = metered_kwh(rows.p(machine.load_w_at)[:, None], rows.busy_h[:, index], pue)
    return np.asarray(load_kwh + metered_kwh(rows.p(machine.idle_w_at)[:, None], idle_h, pue))


def _work_columns(rows: Rows, index: int) -> tuple[int, ...]:
    """Columns that decide how busy a machine type is."""
    columns: list[int] = []
    for i, pair in enumerate(rows.problem.pairs):
        if pair.machine == index and rows.used[i]:
            job = rows.problem.jobs[pair.job]
            columns += (pair.throughput_at, job.runs_per_month_at, job.attempts_per_run_at)
    return tuple(columns)


def _failure_columns(machine: Machine) -> tuple[int, ...]:
    """Columns that decide how much of a machine's time failures take."""
    failures = machine.failures
    return () if failures is None else (failures.per_year_at, failures.repair_h_at, failures.restart_s_at)


def _power_columns(rows: Rows, used: Sequence[int]) -> tuple[int, ...]:
    """Columns that decide the energy of machine types, with the grid it comes from."""
    columns = [rows.problem.site.grid_at]
    for index in used:
        machine = rows.problem.machines[index]
        columns += (machine.load_w_at, machine.idle_w_at, machine.pue_at, machine.powered_h_at)
        columns += (*_work_columns(rows, index), *_failure_columns(machine))
    return tuple(columns)


def _counting_columns(rows: Rows, index: int) -> tuple[int, ...]:
    """Columns that decide how many machines are bought and when."""
    machine = rows.problem.machines[index]
    if machine.fixed_count is not None:
        return (machine.useful_life_at,)
    work = _work_columns(rows, index)
    hours = (machine.target_utilisation_at, machine.powered_h_at, *_failure_columns(machine))
    return (machine.useful_life_at, *hours, *work)


def running_lines(rows: Rows, index: int) -> list[CostLine]:
    """Electricity (unless it is in the rent of the space) and maintenance of a machine type."""
    machine, site = rows.problem.machines[index], rows.problem.site
    lines = []
    if not site.power_included:
        kwh = rows.monthly(machine_kwh(rows, index))
        lines.append(
            CostLine(
                id=f"electricity.{machine.id}",
                group="opex",
                resource=machine.id,
                job="",
                unit="kWh",
                unit_price=rows.paid(rows.p(site.electricity_at), site.electricity_includes_tax),
                course=kwh,
                kwh_course=kwh,
                kg_co2e_course=scaled(kwh, rows.p(site.grid_at)),
                taxed=None if site.electricity_includes_tax else "tax_local",
                price_at=(site.electricity_at,),
                driver_at=(machine.load_w_at, machine.idle_w_at, machine.pue_at, *_work_columns(rows, index)),
                minor_at=(site.grid_at, machine.powered_h_at, *_failure_columns(machine)),
            )
        )
    if rows.p(machine.maintenance_at).any():
        gpu_usd = rows.without_tax(rows.p(machine.gpu_price_at), machine.gpu_includes_tax)
        host_usd = rows.without_tax(rows.p(machine.host_price_at), machine.host_includes_tax)
        price_years = rows.there[:, index] * (machine.gpus * gpu_usd + host_usd)[:, None] / MONTHS_PER_YEAR
        lines.append(
            CostLine(
                id=f"maintenance.{machine.id}",
                group="opex",
                resource=machine.id,
                job="",
                unit="USD-year",
                unit_price=rows.p(machine.maintenance_at),
                course=rows.monthly(price_years),
                taxed="tax_local",
                price_at=(machine.maintenance_at,),
                driver_at=(machine.gpu_price_at, machine.host_price_at),
            )
        )
    return lines


def site_lines(rows: Rows, used: Sequence[int]) -> list[CostLine]:
    """Space of the owned machines together: a colocation contract, rented room."""
    site = rows.problem.site
    owning = rows.there[:, list(used)].any(axis=1).astype(float)
    if not owning.any():
        return []
    lines = []
    if site.colocation_kw_at is not None and site.colocation_price_at is not None:
        kwh = (
            rows.monthly(np.sum([machine_kwh(rows, index) for index in used], axis=0)) if site.power_included else None
        )
        power = _power_columns(rows, used) if site.power_included else ()
        lines.append(
            CostLine(
                id="colocation.contract",
                group="opex",
                resource="site",
                job="",
                unit="kW-month",
                unit_price=rows.paid(rows.p(site.colocation_price_at), site.colocation_includes_tax),
                course=rows.monthly(owning * rows.p(site.colocation_kw_at)[:, None]),
                kwh_course=kwh,
                kg_co2e_course=None if kwh is None else scaled(kwh, rows.p(site.grid_at)),
                taxed=None if site.colocation_includes_tax else "tax_local",
                price_at=(site.colocation_price_at,),
                driver_at=(site.colocation_kw_at,),
                minor_at=power,
            )
        )
    if rows.p(site.space_at).any():
        lines.append(
            CostLine(
                id="colocation.space",
                group="opex",
                resource="site",
                job="",
                unit="month",
                unit_price=rows.p(site.space_at),
                course=rows.monthly(owning),
                taxed="tax_local",
                price_at=(site.space_at,),
            )
        )
    return lines


def staff_lines(rows: Rows, index: int) -> list[CostLine]:
    """People who look after the machines of a type."""
    machine = rows.problem.machines[index]
    fte_years = rows.there[:, index] * rows.p(machine.fte_at)[:, None] / MONTHS_PER_YEAR
    if not (fte_years.any() and rows.p(rows.problem.wage_at).any()):
        return []
    return [
        CostLine(
            id=f"staff_local.{machine.id}",
            group="opex",
            resource=machine.id,
            job="",
            unit="FTE-year",
            unit_price=rows.p(rows.problem.wage_at),
            course=rows.monthly(fte_years),
            price_at=(rows.problem.wage_at,),
            driver_at=(machine.fte_at,),
        )
    ]
