"""Cost lines of how machines are paid for: loans with their repayments, leases, and what is bought at a lease's end.

Instalments and payments of a contract are the same number of dollars every month, so in constant prices each is worth
less than the one before it.
"""

from __future__ import annotations

import numpy as np

from planner.cost.course import Array
from planner.cost.finance import instalment, real_share
from planner.cost.lines import CostLine
from planner.strategy.financing import Lease, Loan
from planner.strategy.machines import Machine
from planner.strategy.owned_lines import purchase_lines
from planner.strategy.rows import Rows

_LEASED = ("gpu", "host")  # what a lease takes the place of; installation is paid all the same


def acquisition_lines(rows: Rows, index: int) -> list[CostLine]:
    """What is bought of a machine type: all of it, or of leased machines what the lease leaves."""
    machine = rows.problem.machines[index]
    lines = purchase_lines(rows, index)
    if not isinstance(machine.finance, Lease):
        return lines
    return [line for line in lines if line.kind not in _LEASED] + _buyout_lines(rows, index, machine.finance)


def financing_lines(rows: Rows, index: int) -> list[CostLine]:
    """Loan or lease of a machine type; none where it is paid for in cash."""
    finance = rows.problem.machines[index].finance
    if isinstance(finance, Loan):
        return _loan_lines(rows, index, finance)
    return _lease_lines(rows, index, finance) if isinstance(finance, Lease) else []


def _loan_lines(rows: Rows, index: int, loan: Loan) -> list[CostLine]:
    """Borrowed at each purchase, with the tax that is paid on it, and paid back."""
    machine = rows.problem.machines[index]
    bought = [line for line in purchase_lines(rows, index) if line.kind != "opportunity"]
    if not bought:
        return []
    rate = 0.0 if rows.problem.tax_recoverable else rows.tax_rate[:, None]
    paid = np.sum([line.amount * (1.0 + rate if line.taxed else 1.0) for line in bought], axis=0)
    borrowed = paid * rows.p(loan.share_at)[:, None]
    prices = tuple(column for line in bought for column in line.price_at)
    return [
        CostLine(
            id=f"loan_proceeds.{machine.id}",
            group="financing",
            resource=machine.id,
            job="",
            unit="USD borrowed",
            unit_price=-np.ones(len(rows.theta)),
            course=borrowed,
            price_at=(loan.share_at,),
            driver_at=prices,
        ),
        CostLine(
            id=f"loan_repayment.{machine.id}",
            group="financing",
            resource=machine.id,
            job="",
            unit="USD borrowed",
            unit_price=np.asarray(instalment(rows.p(loan.interest_at), loan.term_months)),
            course=_in_months(rows, borrowed, range(1, loan.term_months + 1), rows.p(loan.inflation_at)),
            price_at=(loan.interest_at,),
            driver_at=(loan.share_at, *prices),
            minor_at=(loan.inflation_at,),
        ),
    ]


def _lease_lines(rows: Rows, index: int, lease: Lease) -> list[CostLine]:
    """Payments of each lease over its whole term, beyond the horizon too."""
    machine = rows.problem.machines[index]
    column, unit, leased, drivers = leased_by_time(rows, index, lease)
    if not leased.any():
        return []
    first = 0 if lease.in_advance else 1
    return [
        CostLine(
            id=f"lease.{machine.id}",
            group="financing",
            resource=machine.id,
            job="",
            unit=unit,
            unit_price=rows.p(column),
            course=_in_months(rows, leased, range(first, first + lease.term_months), rows.p(lease.inflation_at)),
            taxed="tax_lease",
            price_at=(column,),
            driver_at=drivers,
            minor_at=(lease.inflation_at,),
        )
    ]


def leased_by_time(rows: Rows, index: int, lease: Lease) -> tuple[int, str, Array, tuple[int, ...]]:
    """Column of a lease's payment, the unit that it is for, how much is leased from each time on, and what drives that.

    Parameters
    ----------
    rows : Rows
        A kernel call.
    index : int
        Of the machine type.
    lease : Lease
        Its lease.
    """
    machine = rows.problem.machines[index]
    drivers: tuple[int, ...] = ()
    if lease.payment_at is not None:
        column, unit, leased = lease.payment_at, "machine-month", _started(rows, index)
    else:
        assert lease.factor_at is not None
        priced = [line for line in purchase_lines(rows, index) if line.kind in _LEASED]
        included = {"gpu": machine.gpu_includes_tax, "host": machine.host_includes_tax}
        net = [line.amount / _gross(rows, included[line.kind]) for line in priced]
        ordered = _delivered(machine, sum(net, start=rows.at([]))) + _under_way(rows, index)
        column, unit, leased = lease.factor_at, "USD leased", ordered
        drivers = tuple(column for line in priced for column in line.price_at)
    return column, unit, leased, drivers


def _gross(rows: Rows, included: bool) -> Array | float:
    """What a price that was paid holds over the price without tax."""
    return 1.0 + rows.tax_rate[:, None] if included and not rows.problem.tax_recoverable else 1.0


def _buyout_lines(rows: Rows, index: int, lease: Lease) -> list[CostLine]:
    """Machines bought at the end of their lease, where that ends within the plan."""
    machine = rows.problem.machines[index]
    if lease.buyout_at is None:
        return []
    within = _started(rows, index)
    within[:, max(rows.problem.horizon_months - lease.term_months + 1, 0) :] = 0.0
    if not within.any() or not rows.p(lease.buyout_at).any():
        return []
    return [
        CostLine(
            id=f"buyout.{machine.id}",
            group="capex",
            resource=machine.id,
            job="",
            unit="machine",
            unit_price=rows.p(lease.buyout_at),
            course=_in_months(rows, within, (lease.term_months,), rows.p(lease.inflation_at)),
            taxed="tax_purchase",
            price_at=(lease.buyout_at,),
            minor_at=(lease.inflation_at,),
        )
    ]


def _delivered(machine: Machine, ordered: Array) -> Array:
    """What goes with orders, at the time when these come: leases begin then."""
    delivery = max(cohort.delivery_months for cohort in machine.cohorts)
    moved = np.roll(ordered, delivery, axis=1)
    moved[:, :delivery] = 0.0  # the last orders come within the plan, so nothing is lost at its end
    return moved


def _under_way(rows: Rows, index: int) -> Array:
    """Prices without tax, by the time when they come, of machines ordered before the plan begins; their lease begins
    then."""
    machine = rows.problem.machines[index]
    cards = machine.gpus * rows.without_tax(rows.p(machine.gpu_price_at), machine.gpu_includes_tax)
    price_usd = cards + rows.without_tax(rows.p(machine.host_price_at), machine.host_includes_tax)

    def then_usd(month: int) -> Array:
        factor = rows.price_factor(rows.problem.hardware_change_at, np.array([month]))
        return price_usd if factor is None else price_usd * factor[:, 0]

    return rows.at(
        (month + cohort.delivery_months, units * then_usd(month))
        for cohort, units in zip(machine.cohorts, rows.cohort_units(index), strict=True)
        for month in cohort.purchase_months[: cohort.paid]
    )


def _started(rows: Rows, index: int) -> Array:
    """Machines of a type that come into the plan, by time."""
    return rows.at(
        (month + cohort.delivery_months, units)
        for cohort, units in zip(rows.problem.machines[index].cohorts, rows.cohort_units(index), strict=True)
        for month in cohort.purchase_months
    )


def _in_months(rows: Rows, begun: Array, months: tuple[int, ...] | range, inflation: Array) -> Array:
    """Nominal amounts due so many months after each beginning, in constant prices."""
    result = np.zeros_like(begun)
    starts = np.flatnonzero(begun.any(axis=0))
    for month in months:
        worth = np.asarray(real_share(inflation, month))
        for start in starts.tolist():
            result[:, start + month] += begun[:, start] * worth
    return result
