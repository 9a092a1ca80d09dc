"""Plans that were followed, or observed otherwise, for some months, and their rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.actual.carried import Replan
from planner.actual.compare import strategy_to_follow
from planner.actual.drift import Comparison
from planner.actual.planned import PlannedWay
from planner.actual.run import RowsFile, against_plan, plan_anew
from planner.actual.templates import hours_template, invoice_template
from planner.scenario.load import check_document
from planner.strategy.evaluate import Result
from tests.planning import TODAY, catalog, evidence, solve

Plan = Mapping[str, Any]


def followed(plan: Plan, way: str, months: int) -> tuple[Result, Comparison]:
    """A plan, and months that went exactly by it."""
    result, scenario = solve(plan), check_document(plan)
    found = strategy_to_follow(result, way)
    planned = PlannedWay(result, found)
    files = (hours_template(planned, months), invoice_template(planned, months))
    hours, invoice = (RowsFile(content=text.encode(), file="rows.csv") for text in files)
    return result, against_plan(scenario, result, found, hours=hours, invoice=invoice)


def observed(
    plan: Plan, hours: str, bills: str = "", *, way: str = "cloud", month: int | None = None
) -> tuple[Replan, Result]:
    result, scenario = solve(plan), check_document(plan)
    hours = "month,job,resource,runs,attempts,gpu_hours\n" + hours
    bills = "month,resource,line,amount_usd,quantity\n" + bills
    comparison = against_plan(
        scenario, result, strategy_to_follow(result, way),
        hours=RowsFile(content=hours.encode(), file="h.csv"),
        invoice=RowsFile(content=bills.encode(), file="i.csv") if bills.count("\n") > 1 else None,
    )  # fmt: skip
    return plan_anew(plan, scenario, comparison, month, catalog(), evidence(), today=TODAY)


def codes(found: Replan) -> tuple[set[str], set[str]]:
    return {issue.code for issue in found.carried}, {issue.code for issue in found.left}
