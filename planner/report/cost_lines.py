"""Cost lines and months of a strategy -> entries of the JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner.cost.lines import CostLine
from planner.report.provenance import is_estimate, line_sources
from planner.strategy.kernel import Evaluation
from planner.strategy.parameters import Parameter


def line_entry(line: CostLine, evaluation: Evaluation, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """One cost line, summed over the plan's time."""
    amount = line.amount[0]
    prices = {} if line.price_factor is None else {"unit_price_by_month_usd": _prices_by_month(line)}
    return {
        "id": line.id,
        "group": line.group,
        "resource": line.resource,
        "job": line.job,
        "reduces": line.reduces,
        "amount_usd": float(amount.sum()),
        "present_value_usd": float((amount * evaluation.discount[0]).sum()),
        "quantity": float(line.quantity[0].sum()),
        "unit": line.unit,
        "unit_price_usd": float(line.mean_price[0]),
        **prices,
        "estimate": is_estimate(line, parameters),
        "sources": list(line_sources(line, parameters)),
        "kwh": 0.0 if line.kwh is None else float(line.kwh[0].sum()),
        "kg_co2e": 0.0 if line.kg_co2e is None else float(line.kg_co2e[0].sum()),
        "by_month_usd": _by_month(amount.tolist()),
    }


def _by_month(amounts: list[float]) -> list[float]:
    """Amounts by month, those at the start of the plan in month 1. [USD]"""
    return [amounts[0] + amounts[1], *amounts[2:]]


def _prices_by_month(line: CostLine) -> list[float]:
    """Unit price by month, that of what is bought at the start of the plan in month 1. [USD]"""
    first, *later = line.price[0].tolist()
    return [first, *later[1:]] if line.quantity[0, 0] else later


def month_entries(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Money and energy by month; purchases at the start of the plan stand in month 1, as in the CSV."""
    months = evaluation.discount.shape[1] - 1
    sums = {group: [0.0] * (months + 1) for group in ("capex", "residual", "opex", "financing")}
    kwh, kg_co2e = [0.0] * (months + 1), [0.0] * (months + 1)
    for line in evaluation.lines:
        for time, amount in enumerate(line.amount[0].tolist()):
            sums[line.group][max(time, 1)] += amount
        if line.kwh is not None and line.kg_co2e is not None:
            for time in range(1, months + 1):
                kwh[time] += float(line.kwh[0, time])
                kg_co2e[time] += float(line.kg_co2e[0, time])
    entries, so_far = [], 0.0
    for month in range(1, months + 1):
        amount = sum(sums[group][month] for group in sums)
        so_far += amount
        entries.append(
            {
                "month": month,
                "capex_usd": sums["capex"][month],
                "residual_usd": sums["residual"][month],
                "opex_usd": sums["opex"][month],
                "financing_usd": sums["financing"][month],
                "amount_usd": amount,
                "cumulative_usd": so_far,
                "kwh": kwh[month],
                "kg_co2e": kg_co2e[month],
            }
        )
    return entries
