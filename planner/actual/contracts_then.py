"""Loans and leases that run when a later month of a plan begins: what is left to pay of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from planner.actual.carried import Replan, say
from planner.actual.drift import Comparison
from planner.cost.course import Array
from planner.cost.finance import real_share
from planner.strategy.finance_lines import leased_by_time
from planner.strategy.financing import Lease, Loan
from planner.strategy.machines import Machine
from planner.strategy.rows import Rows

_LEAST_USD = 1e-9


def carry_contracts(found: Replan, comparison: Comparison, index: int, entry: dict[str, Any]) -> None:
    """Write what is left to pay of a machine type's loans and leases into its entry.

    Nominal amounts are put into prices of the old plan's start as of the new plan's: there inflation goes on from them.

    Parameters
    ----------
    found : Replan
        To which is added what was carried over.
    comparison : Comparison
        The way that was followed.
    index : int
        Of the machine type.
    entry : dict
        Of the machine type in the new scenario, which is changed.
    """
    machine, past = comparison.way.problem.machines[index], found.month - 1
    entry.pop("still_to_pay", None)
    contracts = [*_running(comparison, machine, past), *_begun(comparison, index, past)]
    if not contracts:
        return
    entry["still_to_pay"] = {f"contract{number}": contract for number, contract in enumerate(contracts, start=1)}
    payments = max(contract["from_month"] + contract["payments"] - 1 for contract in contracts)
    params = {"machine": machine.id, "count": len(contracts), "months": payments}
    say(found.carried, "replan_contracts", f"machines.{machine.id}.still_to_pay", **params)


def _running(comparison: Comparison, machine: Machine, past: int) -> Iterator[dict[str, Any]]:
    """Of contracts that ran already when the old plan began."""
    theta = comparison.way.theta
    for contract in machine.contracts:
        if contract.last_month > past:
            usd = float(theta[0, contract.amount_at] * real_share(theta[0, contract.inflation_at], past))
            yield _entry(contract.kind, contract.from_month - past, contract.last_month - past, usd)


def _begun(comparison: Comparison, index: int, past: int) -> Iterator[dict[str, Any]]:
    """Of what was borrowed or leased since, and of leases of machines that are on their way."""
    way = comparison.way
    finance = way.problem.machines[index].finance
    if finance is None:
        return
    inflation = way.theta[0, finance.inflation_at]
    if isinstance(finance, Loan):
        lines = {line.kind: line for line in way.evaluation.lines if line.resource == way.problem.machines[index].id}
        if "loan_proceeds" not in lines:
            return
        amounts = lines["loan_proceeds"].quantity[0] * lines["loan_repayment"].unit_price[0]
        times, first = np.flatnonzero(amounts[: past + 1]), 1
    else:
        amounts, times = _leased(comparison, index, finance, past)
        first = 0 if finance.in_advance else 1
    for time in times.tolist():
        last = time + first + finance.term_months - 1
        usd = float(amounts[time] * real_share(inflation, past - time))
        if last > past and usd > _LEAST_USD:
            yield _entry("loan" if isinstance(finance, Loan) else "lease", time + first - past, last - past, usd)


def _leased(comparison: Comparison, index: int, lease: Lease, past: int) -> tuple[Array, Any]:
    """A month's payment for what is leased from each time on, and these times: in the past, and of new machines that
    come later, whose lease is agreed."""
    way = comparison.way
    rows = Rows(
        problem=way.problem,
        theta=way.theta,
        routing=way.choice.routing,
        by_month=way.choice.by_month,
        count=way.choice.machine_count,
    )
    column, _, leased, _ = leased_by_time(rows, index, lease)
    agreed = leased[0] * way.theta[0, column]
    agreed[past + 1 :] *= _new_share(comparison, rows, index, past)[past + 1 : len(agreed)]
    return agreed, np.flatnonzero(agreed)


def _new_share(comparison: Comparison, rows: Rows, index: int, past: int) -> Array:
    """Of the units that come at each time, those that are ordered already and replace none, by time."""
    begun, new = np.zeros(rows.last_month + 1), np.zeros(rows.last_month + 1)
    for cohort, units in zip(comparison.way.problem.machines[index].cohorts, rows.cohort_units(index), strict=True):
        for position, month in enumerate(cohort.purchase_months):
            begun[month + cohort.delivery_months] += units[0]
            if position == 0 and not cohort.owned and month <= past:
                new[month + cohort.delivery_months] += units[0]
    return np.divide(new, begun, out=np.zeros_like(new), where=begun > 0)


def _entry(kind: str, first: int, last: int, usd: float) -> dict[str, Any]:
    from_month = max(first, 1)
    return {"kind": kind, "from_month": from_month, "payments": last - from_month + 1, "nominal_usd_per_month": usd}
