"""Cash of one strategy by fiscal year and quarter, its tax, and what a ceiling on a quarter's cash would move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from planner.cost.course import Array
from planner.cost.lines import CostLine, Group
from planner.strategy.fiscal import QUARTER, YEAR, Span, spans
from planner.strategy.kernel import Choice, Evaluation, kernel
from planner.strategy.machines import Machine
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from planner.units import HALF_CENT_USD

NOT_CASH = "opportunity"
_LOAN_KINDS = ("loan_proceeds", "loan_repayment", "running_loan")


@dataclass(frozen=True, slots=True, kw_only=True)
class YearMoney:
    """Money of a fiscal year. Resale and money borrowed come in and are negative."""

    span: Span
    purchases_usd: float
    running_usd: float
    resale_usd: float
    financing_usd: float
    present_value_usd: float
    tax_paid_usd: float
    tax_back_usd: float

    @property
    def cash_usd(self) -> float:
        """All of it."""
        return self.purchases_usd + self.running_usd + self.resale_usd + self.financing_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """What is bought of a machine type in a month, with its tax, less what is borrowed for it."""

    machine: str
    month: int
    usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarterMoney:
    """Money of a quarter: what is paid, less what is borrowed; resale isn't set against it."""

    span: Span
    paid_usd: float
    purchases: tuple[Purchase, ...]
    ceiling_usd: float | None
    to_move: tuple[Purchase, ...]  # those that would have to go to another quarter
    enough: bool  # whether that brings the quarter under the ceiling

    @property
    def above_usd(self) -> float:
        """What is paid beyond the ceiling."""
        return 0.0 if self.ceiling_usd is None else max(self.paid_usd - self.ceiling_usd, 0.0)

    @property
    def over(self) -> bool:
        """Whether the ceiling is broken."""
        return self.above_usd > HALF_CENT_USD


def by_month(amounts: Array) -> Array:
    """Amounts by time as amounts by month: those at the start of the plan stand in month 1."""
    return np.concatenate([[amounts[0] + amounts[1]], amounts[2:]])


def fiscal_spans(problem: PlanProblem, months: int, size: int) -> list[Span]:
    """Fiscal periods of a plan."""
    return spans(months, size, problem.views.starts, problem.views.fiscal_year_starts)


def years(problem: PlanProblem, theta: Theta, choice: Choice, evaluation: Evaluation) -> list[YearMoney]:
    """Money by fiscal year, what machines that are there already are worth left out: it is no cash."""
    groups: dict[Group, Array] = {
        group: _sum(evaluation, group) for group in ("capex", "opex", "residual", "financing")
    }
    value = by_month(np.sum(list(groups.values()), axis=0) * evaluation.discount[0])
    monthly = {group: by_month(amounts) for group, amounts in groups.items()}
    tax = tax_by_month(problem, theta, choice)
    back = tax if problem.tax_recoverable else np.zeros_like(tax)

    def total(amounts: Array, span: Span) -> float:
        return float(amounts[span.first - 1 : span.last].sum())

    return [
        YearMoney(
            span=span,
            purchases_usd=total(monthly["capex"], span),
            running_usd=total(monthly["opex"], span),
            resale_usd=total(monthly["residual"], span),
            financing_usd=total(monthly["financing"], span),
            present_value_usd=total(value, span),
            tax_paid_usd=total(tax, span),
            tax_back_usd=total(back, span),
        )
        for span in fiscal_spans(problem, len(value), YEAR)
    ]


def _sum(evaluation: Evaluation, group: Group) -> Array:
    lines = [line.amount[0] for line in evaluation.lines if line.group == group and line.kind != NOT_CASH]
    return np.asarray(np.sum([np.zeros_like(evaluation.discount[0]), *lines], axis=0))


def tax_by_month(problem: PlanProblem, theta: Theta, choice: Choice) -> Array:
    """Tax on all that suppliers invoice: the difference between a plan that bears it and one that gets it back."""
    sums = []
    for recoverable in (False, True):
        found = kernel(replace(problem, tax_recoverable=recoverable), theta, choice)
        invoiced = [line for line in found.lines if line.group != "residual" and line.kind not in _LOAN_KINDS]
        sums.append(np.sum([np.zeros_like(found.discount[0]), *(line.amount[0] for line in invoiced)], axis=0))
    return by_month(sums[0] - sums[1])


def with_tax(problem: PlanProblem, theta: Theta, line: CostLine) -> Array:
    """Money of a line of one row with the tax on it, by time."""
    rate = 0.0 if problem.tax_recoverable or not line.taxed else float(theta[0, problem.tax_rate_at])
    return np.asarray(line.amount[0] * (1.0 + rate))


def quarters(problem: PlanProblem, theta: Theta, evaluation: Evaluation) -> list[QuarterMoney]:
    """Cash by quarter, and which purchases would have to move where it is above the ceiling."""
    paid = by_month(_sum(evaluation, "capex") + _sum(evaluation, "opex") + _sum(evaluation, "financing"))
    bought = list(_purchases(problem, theta, evaluation))
    found = []
    for span in fiscal_spans(problem, len(paid), QUARTER):
        amount = float(paid[span.first - 1 : span.last].sum())
        here = tuple(purchase for purchase in bought if span.first <= purchase.month <= span.last)
        ceiling = problem.views.ceiling_usd_per_quarter
        above = 0.0 if ceiling is None else amount - ceiling
        moved = _to_move(here, above) if above > HALF_CENT_USD else ()
        found.append(
            QuarterMoney(
                span=span,
                paid_usd=amount,
                purchases=here,
                ceiling_usd=ceiling,
                to_move=moved,
                enough=sum(purchase.usd for purchase in moved) >= above - HALF_CENT_USD,
            )
        )
    return found


def _purchases(problem: PlanProblem, theta: Theta, evaluation: Evaluation) -> Iterator[Purchase]:
    for machine in problem.machines:
        lines = [
            line
            for line in evaluation.lines
            if line.resource == machine.id
            and (line.group == "capex" or line.kind == "loan_proceeds")
            and line.kind != NOT_CASH
        ]
        if lines:
            monthly = by_month(np.sum([with_tax(problem, theta, line) for line in lines], axis=0))
            for at in np.flatnonzero(monthly > HALF_CENT_USD).tolist():
                yield Purchase(machine=machine.id, month=at + 1, usd=float(monthly[at]))


def _to_move(purchases: tuple[Purchase, ...], above_usd: float) -> tuple[Purchase, ...]:
    """The smallest purchase that is enough; else the largest together, as many as it takes."""
    ordered = sorted(purchases, key=lambda purchase: -purchase.usd)
    alone = [purchase for purchase in ordered if purchase.usd >= above_usd - HALF_CENT_USD]
    if alone:
        return (alone[-1],)
    moved: list[Purchase] = []
    for purchase in ordered:
        if sum(other.usd for other in moved) < above_usd - HALF_CENT_USD:
            moved.append(purchase)
    return tuple(moved)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquired:
    """What a machine type costs to have in one way, by time, with its tax: purchases, resale, loan or lease."""

    usd: Array
    discount: Array

    @property
    def present_value_usd(self) -> float:
        """All of it, discounted."""
        return float((self.usd * self.discount).sum())


def lease_and_purchase(
    problem: PlanProblem, theta: Theta, choice: Choice, index: int
) -> tuple[Acquired, Acquired] | None:
    """The same machines leased and bought, all else as planned; None where the type has no lease terms."""
    ways = problem.machines[index].lease_or_buy
    if ways is None or not choice.machine_count[0, index]:
        return None
    leased, bought = (_acquired(problem, theta, choice, index, way) for way in ways)
    return leased, bought


def _acquired(problem: PlanProblem, theta: Theta, choice: Choice, index: int, machine: Machine) -> Acquired:
    machines = (*problem.machines[:index], machine, *problem.machines[index + 1 :])
    found = kernel(replace(problem, machines=machines), theta, choice)
    lines = [
        with_tax(problem, theta, line)
        for line in found.lines
        if line.resource == machine.id and line.group != "opex" and line.kind != NOT_CASH
    ]
    return Acquired(usd=np.sum([np.zeros_like(found.discount[0]), *lines], axis=0), discount=found.discount[0])
