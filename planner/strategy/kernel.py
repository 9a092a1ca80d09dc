"""The one evaluation core: problem x parameter values x choice -> money, hours and energy as arrays.

One row is a plan, a grid of rows a sweep, sampled rows a Monte Carlo run. Rows of `theta` and of the choice broadcast
against each other. Time runs over columns t = 0..H: column 0 is the start of the plan, column k the end of month k.
Commitments, loans and leases that outlast the horizon of H months add columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from planner.cost.course import Array, Weights, added, not_negative
from planner.cost.finance import discount_factor
from planner.cost.lines import CostLine, Group, TaxKind
from planner.strategy.committed_lines import commitment_lines
from planner.strategy.finance_lines import acquisition_lines, financing_lines
from planner.strategy.fleet import powered_h_by_month
from planner.strategy.ingress_lines import ingress_lines
from planner.strategy.owned_lines import resale_lines, running_lines, site_lines, staff_lines
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from planner.strategy.relief_lines import relief_lines
from planner.strategy.rented_lines import cloud_staff_lines, provider_lines, rental_lines
from planner.strategy.rows import Rows
from planner.strategy.running_contracts import running_buyout_lines, running_contract_lines
from planner.strategy.sessions import SharesByMonth
from planner.strategy.start_lines import sold_lines, sold_value_lines

_TAX_GROUPS: Final[Mapping[TaxKind, Group]] = {"tax_purchase": "capex", "tax_lease": "financing"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is decided: machines of each type, and the share of each job's runs on each pair, per row.

    Over the pairs of a job shares sum to 1, or to less where some runs can't be done.
    """

    machine_count: Array  # [rows, machines], whenever they come
    routing: Array  # [rows, pairs]; of the runs of all months
    by_month: SharesByMonth = field(
        default_factory=dict
    )  # of pairs whose share differs by month; `routing` has its mean, weighted by demand


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What a choice costs, draws and takes. Arrays have shape [rows] unless noted."""

    lines: tuple[CostLine, ...]
    discount: Array  # [rows, H + 1]
    tco_usd: Array
    present_value_usd: Array
    capex_usd: Array
    residual_usd: Array
    opex_usd: Array
    financing_usd: Array
    kwh: Array
    kg_co2e: Array
    machine_count: Array  # [rows, machines]
    machines_there: Array  # [rows, machines, months or 1]; one month where all are there from the start
    load: Array  # [rows, machines, months or 1]: busy over powered hours; one month where all are alike
    utilisation: Array  # [rows, machines]: load of a mean month
    runs_per_month: Array  # [rows, pairs], successful runs of a mean month


def kernel(problem: PlanProblem, theta: Theta, choice: Choice) -> Evaluation:
    """Evaluate choices under parameter values.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    theta : array, shape [rows or 1, parameters]
        Parameter values.
    choice : Choice
        With as many rows as theta, or one of the two has a single row.

    Returns
    -------
    Evaluation
        Lines and sums, by row.
    """
    count = max(len(theta), len(choice.routing))
    rows = Rows(
        problem=problem,
        theta=np.broadcast_to(theta, (count, theta.shape[1])),
        routing=np.broadcast_to(choice.routing, (count, choice.routing.shape[1])),
        by_month=choice.by_month,
        count=np.broadcast_to(choice.machine_count, (count, choice.machine_count.shape[1])),
    )
    lines = cost_lines(rows)
    times = np.arange(rows.last_month + 1.0)
    rates = rows.p(problem.discount_rate_at)
    if np.all(rates == rates[0]):
        rates = rates[:1]
    return _summed(rows, lines, np.asarray(discount_factor(rates[:, None], times)))


def cost_lines(rows: Rows) -> list[CostLine]:
    """Every line with a quantity, in the order of a statement, each tax after what it taxes."""
    used = [index for index in range(len(rows.problem.machines)) if rows.count[:, index].any()]
    purchases = [line for index in used for line in acquisition_lines(rows, index)]
    purchases += [line for index in used for line in running_buyout_lines(rows, index)] + sold_value_lines(rows)
    financing = [line for index in used for line in financing_lines(rows, index)] + running_contract_lines(rows)
    resales = sold_lines(rows) + [line for index in used for line in resale_lines(rows, index)]
    running = [line for index in used for line in running_lines(rows, index)] + site_lines(rows, used)
    staff = [line for index in used for line in staff_lines(rows, index)]
    billed = rental_lines(rows) + commitment_lines(rows) + provider_lines(rows) + ingress_lines(rows)
    rented = billed + relief_lines(rows, billed)
    return [
        *purchases,
        *_tax_lines(rows, "tax_purchase", purchases),
        *resales,
        *financing,
        *_tax_lines(rows, "tax_lease", financing),
        *running,
        *staff,
        *_tax_lines(rows, "tax_local", running),
        *rented,
        *cloud_staff_lines(rows),
        *_tax_lines(rows, "tax_rented", rented),
    ]


def _tax_lines(rows: Rows, kind: TaxKind, lines: Sequence[CostLine]) -> list[CostLine]:
    """Tax on what suppliers invoice, timed as what it taxes; none when it is recovered."""
    taxed = [line for line in lines if line.taxed == kind]
    if rows.problem.tax_recoverable or not rows.tax_rate.any() or not taxed:
        return []
    return [
        CostLine(
            id=kind,
            group=_TAX_GROUPS.get(kind, "opex"),
            resource="cloud" if kind == "tax_rented" else "site",
            job="",
            unit="USD taxed",
            unit_price=rows.tax_rate,
            course=not_negative(added([line.amount_course for line in taxed])),  # credits leave last digits
            price_at=(rows.problem.tax_rate_at,),
            driver_at=tuple(column for line in taxed for column in (*line.price_at, *line.driver_at)),
        )
    ]


def _summed(rows: Rows, lines: Sequence[CostLine], discount: Array) -> Evaluation:
    """Sums of lines; `discount` has a single row where it is the same in all."""
    zero = np.zeros(len(rows.theta))
    groups = dict.fromkeys(("capex", "residual", "opex", "financing"), zero)
    present_value, kwh, kg_co2e = zero, zero, zero
    even, worth = Weights(None), Weights(discount)
    priced: dict[int, tuple[Weights, Weights]] = {}
    for line in lines:
        now, then = even, worth
        if (factor := line.price_factor) is not None:
            now, then = priced.setdefault(id(factor), (Weights(factor), Weights(factor * discount)))
        groups[line.group] = groups[line.group] + line.unit_price * now.total(line.course)
        present_value = present_value + line.unit_price * then.total(line.course)
        if line.kwh_course is not None and line.kg_co2e_course is not None:
            kwh = kwh + even.total(line.kwh_course)
            kg_co2e = kg_co2e + even.total(line.kg_co2e_course)
    powered = powered_h_by_month(rows.problem, rows.theta, rows.there)
    busy, powered_too = np.broadcast_arrays(rows.busy_h, powered)
    load = np.divide(busy, powered_too, out=np.zeros(busy.shape), where=powered_too > 0)
    utilisation = load.mean(axis=2)
    if powered.shape[2] > 1:  # months with more machines count for more
        hours = powered.sum(axis=2)
        utilisation = np.divide(busy.sum(axis=2), hours, out=np.zeros(hours.shape), where=hours > 0)
    return Evaluation(
        lines=tuple(lines),
        discount=np.broadcast_to(discount, (len(rows.theta), discount.shape[1])),
        tco_usd=groups["capex"] + groups["residual"] + groups["opex"] + groups["financing"],
        present_value_usd=present_value,
        capex_usd=groups["capex"],
        residual_usd=groups["residual"],
        opex_usd=groups["opex"],
        financing_usd=groups["financing"],
        kwh=kwh,
        kg_co2e=kg_co2e,
        machine_count=rows.count,
        machines_there=rows.there,
        load=load,
        utilisation=utilisation,
        runs_per_month=rows.runs * [rows.problem.jobs[pair.job].mean_factor for pair in rows.problem.pairs],
    )
