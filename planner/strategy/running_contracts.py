"""Loans and leases that run when a plan begins: what is left to pay, and what is bought at the end of such a lease.

What is left is paid in every way, whether its machines are used or not; what is bought belongs to ways that use them.
"""

from __future__ import annotations

import numpy as np

from planner.cost.course import Array
from planner.cost.finance import real_share
from planner.cost.lines import CostLine
from planner.strategy.rows import Rows


def running_contract_lines(rows: Rows) -> list[CostLine]:
    """Nominal payments of contracts that run already, in constant prices, after the horizon too."""
    return [
        CostLine(
            id=f"running_{contract.kind}.{machine.id}.{contract.name}",
            group="financing",
            resource=machine.id,
            job="",
            unit="month",
            unit_price=rows.p(contract.amount_at),
            course=_worth(rows, contract.inflation_at, range(contract.from_month, contract.last_month + 1)),
            taxed="tax_lease" if contract.kind == "lease" else None,
            price_at=(contract.amount_at,),
            minor_at=(contract.inflation_at,),
        )
        for machine in rows.problem.machines
        for contract in machine.contracts
    ]


def running_buyout_lines(rows: Rows, index: int) -> list[CostLine]:
    """Machines that are bought at the end of a lease that runs already, where that ends within the plan."""
    machine = rows.problem.machines[index]
    lines = []
    for cohort, units in zip(machine.cohorts, rows.cohort_units(index), strict=True):
        ends, price_at, inflation_at = cohort.leased_until, cohort.buyout_at, cohort.inflation_at
        if ends is None or price_at is None or inflation_at is None or ends > rows.problem.horizon_months:
            continue
        if units.any() and rows.p(price_at).any():
            lines.append(
                CostLine(
                    id=f"buyout.{machine.id}.{cohort.name}",
                    group="capex",
                    resource=machine.id,
                    job="",
                    unit="machine",
                    unit_price=rows.p(price_at),
                    course=_worth(rows, inflation_at, range(ends, ends + 1)) * units[:, None],
                    taxed="tax_purchase",
                    price_at=(price_at,),
                    minor_at=(inflation_at,),
                )
            )
    return lines


def _worth(rows: Rows, inflation_at: int, months: range) -> Array:
    """One nominal dollar in each month, in prices of the start of the plan."""
    result = np.zeros((len(rows.theta), rows.last_month + 1))
    for month in months:
        result[:, month] = real_share(rows.p(inflation_at), month)
    return result
