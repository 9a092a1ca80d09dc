"""How machines of a scenario are paid for, and what the views of its money are cut by."""

from __future__ import annotations

from dataclasses import replace

from planner.errors import InputError
from planner.scenario.finance import FinanceInput, LeaseTerms
from planner.scenario.machines import MachineInput
from planner.scenario.money import Money
from planner.scenario.schema import Scenario
from planner.strategy.financing import Contract, Lease, Loan, MoneyViews
from planner.strategy.machines import Cohort, Machine
from planner.strategy.parameters import ParameterTable, given
from planner.strategy.problem import Issue
from planner.strategy.resolve.figures import Figures


def lease_of(entry: MachineInput) -> LeaseTerms | None:
    """Terms of the lease that machines are under, or could be."""
    return None if entry.finance is None else entry.finance.lease


def with_contracts(
    machine: Machine, entry: MachineInput, scenario: Scenario, figures: Figures, table: ParameterTable
) -> Machine:
    """A machine type with the loans and leases that run already, and what buys machines at the end of a lease."""
    batches = {} if entry.owned is None else entry.owned.batches
    if not entry.still_to_pay and all(units.nominal_buyout_usd is None for units in batches.values()):
        return machine
    inflation = _inflation(scenario, figures, table)

    def column(name: str, amount: Money) -> int:
        field = f"machines.{machine.id}.{name}"
        return table.add(field, figures.usd(amount, field=field), "USD")

    contracts = tuple(
        Contract(
            name=name,
            kind=told.kind,
            from_month=told.from_month,
            payments=told.payments,
            amount_at=column(f"still_to_pay.{name}.nominal_usd_per_month", told.nominal_usd_per_month),
            inflation_at=inflation,
        )
        for name, told in entry.still_to_pay.items()
    )
    buyouts = {
        f"owned.{name}" if name else "owned": column(
            f"owned.{f'others.{name}.' if name else ''}nominal_buyout_usd", units.nominal_buyout_usd
        )
        for name, units in batches.items()
        if units.nominal_buyout_usd is not None
    }
    cohorts = tuple(
        replace(each, buyout_at=buyouts[each.name], inflation_at=inflation) if each.name in buyouts else each
        for each in machine.cohorts
    )
    return replace(machine, contracts=contracts, cohorts=cohorts)


def _inflation(scenario: Scenario, figures: Figures, table: ParameterTable) -> int:
    return table.add(
        "inflation_per_year",
        figures.given_or(scenario.inflation_per_year, lambda: figures.assumed("inflation_per_year")),
        "1/year",
    )


def with_finance(
    machine: Machine,
    leased: tuple[Cohort, ...] | None,
    entry: MachineInput,
    scenario: Scenario,
    figures: Figures,
    table: ParameterTable,
) -> tuple[Machine, list[Issue]]:
    """A machine type as it is paid for, with the other way beside it where it has a lease.

    Parameters
    ----------
    machine : Machine
        Bought in cash.
    leased : tuple of Cohort or None
        Its history where it is leased, for machines that have lease terms.
    """
    finance, field = entry.finance, f"machines.{machine.id}.finance"
    if finance is None or (finance.kind == "cash" and finance.lease is None):
        return machine, []
    inflation = _inflation(scenario, figures, table)
    bought = machine
    if finance.kind == "loan":
        bought = replace(machine, finance=_loan(finance, field, table, inflation))
    terms = finance.lease
    if terms is None or leased is None:
        return bought, []
    place = field if finance.kind == "lease" else f"{field}.lease_offer"
    buyouts = {each.name: (each.buyout_at, each.inflation_at) for each in machine.cohorts if each.owned}
    leased = tuple(
        replace(each, buyout_at=buyouts[each.name][0], inflation_at=buyouts[each.name][1]) if each.owned else each
        for each in leased
    )
    other = replace(machine, cohorts=leased, finance=_lease(terms, place, figures, table, inflation))
    planned = other if finance.kind == "lease" else bought
    return replace(planned, lease_or_buy=(other, bought)), _outlasting(planned, field, scenario.horizon_months)


def _loan(finance: FinanceInput, field: str, table: ParameterTable, inflation: int) -> Loan:
    assert finance.term_months is not None
    assert finance.nominal_interest_per_year is not None
    interest = given(finance.nominal_interest_per_year)
    return Loan(
        term_months=finance.term_months,
        share_at=table.add(f"{field}.financed_share", given(finance.financed_share), "-"),
        interest_at=table.add(f"{field}.nominal_interest_per_year", interest, "1/year"),
        inflation_at=inflation,
    )


def _lease(terms: LeaseTerms, field: str, figures: Figures, table: ParameterTable, inflation: int) -> Lease:
    assert terms.term_months is not None
    payment, factor, buyout = (
        terms.nominal_payment_usd_per_month,
        terms.lease_factor_per_month,
        terms.nominal_buyout_usd,
    )
    name = f"{field}.nominal_payment_usd_per_month"
    return Lease(
        term_months=terms.term_months,
        in_advance=terms.in_advance,
        payment_at=None if payment is None else table.add(name, figures.usd(payment, field=name), "USD/month"),
        factor_at=None if factor is None else table.add(f"{field}.lease_factor_per_month", given(factor), "1/month"),
        buyout_at=None
        if buyout is None
        else table.add(f"{field}.nominal_buyout_usd", figures.usd(buyout, field=f"{field}.nominal_buyout_usd"), "USD"),
        inflation_at=inflation,
    )


def _outlasting(machine: Machine, field: str, horizon_months: int) -> list[Issue]:
    """A warning where a lease is paid for beyond the plan."""
    begun = [month + cohort.delivery_months for cohort in machine.cohorts for month in cohort.purchase_months]
    if not isinstance(machine.finance, Lease) or not begun:
        return []
    last = max(begun) + machine.finance.last_payment
    if last <= horizon_months:
        return []
    params = {"machine": machine.id, "months": last - horizon_months, "last_month": last}
    return [Issue(code="lease_outlasts_plan", field=f"{field}.term_months", params=params)]


def resolve_views(scenario: Scenario, figures: Figures) -> MoneyViews:
    """Baseline, ceiling and calendar of a scenario."""
    ceiling, starts = scenario.cash_ceiling_usd_per_quarter, scenario.plan_starts
    field = "cash_ceiling_usd_per_quarter"
    return MoneyViews(
        baseline=scenario.baseline,
        ceiling_usd_per_quarter=None if ceiling is None else figures.usd(ceiling, field=field).value,
        starts=None if starts is None else (int(starts[:4]), int(starts[5:])),
        fiscal_year_starts=scenario.fiscal_year_starts,
    )


def check_lease(id: str, terms: LeaseTerms, bought_age: int, useful_life_months: int) -> None:
    """Raises InputError where a lease runs for longer than a machine lasts."""
    assert terms.term_months is not None
    most = useful_life_months - bought_age
    if terms.term_months > most:
        field = f"machines.{id}.finance.{'' if isinstance(terms, FinanceInput) else 'lease_offer.'}term_months"
        raise InputError("lease_longer_than_life", field=field, value=terms.term_months, months=most)
