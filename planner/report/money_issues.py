"""Warnings about the money of a plan: quarters above the cash ceiling, and a baseline that can't be carried out."""

from __future__ import annotations

from planner.messages import render
from planner.strategy.against import baseline_issue
from planner.strategy.cash import Purchase, QuarterMoney, quarters
from planner.strategy.evaluate import Result
from planner.strategy.problem import Issue


def money_issues(result: Result) -> list[Issue]:
    """What a plan breaks of what its scenario asks of its money; it is never changed for it."""
    issues = baseline_issue(result.strategies, result.problem.views.baseline)
    if result.problem.views.ceiling_usd_per_quarter is None:
        return issues
    for way in result.strategies:
        if way.evaluation is not None:
            found = quarters(result.problem, result.theta, way.evaluation)
            issues += [_above(way.id, quarter) for quarter in found if quarter.over]
    return issues


def purchase_names(purchases: tuple[Purchase, ...]) -> str:
    """Purchases in words."""
    return ", ".join(
        render("purchase_named", machine=each.machine, month=each.month, amount_usd=each.usd) for each in purchases
    )


def _above(way: str, quarter: QuarterMoney) -> Issue:
    first, last = quarter.span.first, quarter.span.last
    params = {
        "way": render(f"strategy_{way}"),
        "quarter": quarter.span.label,
        "months": f"month {first}" if first == last else f"months {first} to {last}",
        "paid_usd": quarter.paid_usd,
        "above_usd": quarter.above_usd,
        "ceiling_usd": quarter.ceiling_usd,
        "purchases": purchase_names(quarter.to_move) or None,
    }
    code = "quarter_above_ceiling" if quarter.enough else "quarter_above_ceiling_anyway"
    return Issue(code=code, field="cash_ceiling_usd_per_quarter", params=params)
