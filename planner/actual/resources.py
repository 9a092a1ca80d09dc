"""Prices and energy of resources, as paid and metered, beside the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.actual.drift import BillDrift, EnergyDrift, ResourceDrift
from planner.actual.effects import added
from planner.actual.planned import PlannedWay
from planner.actual.rows import Hours


def resource_drift(way: PlannedWay, hours: Sequence[Hours], bills: Sequence[BillDrift]) -> tuple[ResourceDrift, ...]:
    """Hours, bills and the price of an hour or kWh of each resource that the plan or a row names."""
    names = [
        *(run.resource for run in way.routed()),
        *(row.resource for row in hours),
        *(bill.resource for bill in bills),
    ]
    found = []
    for resource in dict.fromkeys(names):
        mine = [bill for bill in bills if bill.resource == resource]
        rows = [row for row in hours if row.resource == resource]
        planned_h = 0.0
        for row in rows:
            run = way.run(row.job, resource)
            if run is not None:
                planned_h += run.runs[row.month - 1] * run.attempts_per_run * run.gpu_h_per_attempt
        planned_price, price, unit = paid_price(way, resource, mine, hours)
        found.append(
            ResourceDrift(
                resource=resource,
                months=tuple(sorted({bill.month for bill in mine})),
                gpu_hours_planned=planned_h,
                gpu_hours=sum(row.gpu_hours for row in rows),
                planned_usd=sum(bill.planned_usd for bill in mine),
                actual_usd=sum(bill.actual_usd for bill in mine),
                price_planned_usd=planned_price,
                price_usd=price,
                price_unit=unit,
                effects=added(bill.effects for bill in mine),
            )
        )
    return tuple(found)


def paid_price(
    way: PlannedWay, resource: str, bills: Sequence[BillDrift], hours: Sequence[Hours]
) -> tuple[float | None, float | None, str]:
    """Planned and paid price of a unit, over the bills for hourly rental or for electricity alone, and the unit.

    What was billed is the quantity of the bill; without it node-hours as reported. None where neither is known.
    """
    for kind, unit in (("rental", "node-hour"), ("electricity", "kWh")):
        mine = [bill for bill in bills if bill.lines and {line.kind for line in bill.lines} == {kind}]
        prices = [{line.prices_usd[bill.month - 1] for line in bill.lines} for bill in mine]
        if not mine or any(len(each) != 1 for each in prices):
            continue
        usual = [next(iter(each)) for each in prices]
        quantities = [bill.quantity if bill.quantity is not None else _node_hours(way, bill, hours) for bill in mine]
        known = [(bill, price, each) for bill, price, each in zip(mine, usual, quantities, strict=True) if each]
        billed = sum(each for _, _, each in known)
        if billed <= 0:
            return usual[0], None, unit
        without = sum(bill.actual_usd for bill, each in zip(mine, quantities, strict=True) if each == 0)
        paid = sum(bill.actual_usd for bill, _, _ in known) + without
        return sum(price * each for _, price, each in known) / billed, paid / billed, unit
    return None, None, ""


def _node_hours(way: PlannedWay, bill: BillDrift, hours: Sequence[Hours]) -> float | None:
    """Reported hours of whole instances behind a bill for rental; None where some job's aren't known."""
    total = 0.0
    for line in bill.lines:
        for driver in line.drivers:
            rows = [row for row in hours if (row.month, row.job, row.resource) == (bill.month, *driver)]
            run = way.run(*driver)
            if line.kind != "rental" or not rows or run is None or run.pair.offer is None:
                return None
            total += rows[0].gpu_hours / way.problem.offers[run.pair.offer].gpu_count
    return total


def energy_drift(
    way: PlannedWay, bills: Sequence[BillDrift], metered: Mapping[tuple[int, str], float]
) -> tuple[EnergyDrift, ...]:
    """Energy by resource: as billed with its kWh, else as reported with the hours."""
    cells: dict[tuple[int, str], tuple[float, float]] = {}
    billed: set[tuple[int, str]] = set()
    for bill in bills:
        if bill.quantity is not None and bill.lines and {line.kind for line in bill.lines} == {"electricity"}:
            planned = sum(line.kwh[bill.month - 1] for line in bill.lines)
            cells[bill.month, bill.resource] = (planned, bill.quantity)
            billed |= {(bill.month, line.resource) for line in bill.lines}
    for (month, resource), kwh in metered.items():
        if (month, resource) not in billed:
            lines = [line for line in way.lines if line.resource == resource]
            cells[month, resource] = (sum(line.kwh[month - 1] for line in lines), kwh)
    return tuple(
        EnergyDrift(
            resource=resource,
            months=tuple(sorted(month for month, name in cells if name == resource)),
            planned_kwh=sum(planned for (_, name), (planned, _) in cells.items() if name == resource),
            actual_kwh=sum(actual for (_, name), (_, actual) in cells.items() if name == resource),
        )
        for resource in dict.fromkeys(name for _, name in sorted(cells))
    )
