"""Two files and a plan -> the comparison, and the plan of the remaining months."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.actual.carried import Replan
from planner.actual.compare import compare
from planner.actual.demand_then import Demand
from planner.actual.drift import Comparison
from planner.actual.known import known_names
from planner.actual.planned import PlannedWay
from planner.actual.replan import replan
from planner.actual.rows import read_hours, read_invoice
from planner.catalog.records import Catalog
from planner.performance.evidence import Evidence
from planner.scenario.load import check_document
from planner.scenario.schema import Scenario
from planner.strategy.evaluate import Result, StrategyResult, evaluate


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsFile:
    """Content of a file and its name, for problems."""

    content: bytes
    file: str


def against_plan(
    scenario: Scenario, result: Result, strategy: StrategyResult, *, hours: RowsFile | None, invoice: RowsFile | None
) -> Comparison:
    """Read hours and invoice and compare them with a way of a plan.

    Parameters
    ----------
    scenario : Scenario
        Of the plan.
    result : Result
        The plan.
    strategy : StrategyResult
        The way that was followed.
    hours, invoice : RowsFile or None
        What is known.

    Raises
    ------
    TableError
        A file is faulty, or pays a line of the plan twice; nothing of it is kept.
    InputError
        There is neither.
    """
    names = known_names(scenario, result, strategy)
    return compare(
        PlannedWay(result, strategy),
        () if hours is None else read_hours(hours.content, names, file=hours.file),
        () if invoice is None else read_invoice(invoice.content, names, file=invoice.file),
        file="" if invoice is None else invoice.file,
    )


def plan_anew(
    document: Mapping[str, Any],
    scenario: Scenario,
    comparison: Comparison,
    month: int | None,
    catalog: Catalog,
    evidence: Evidence,
    *,
    today: dt.date,
    demand: Demand = "planned",
) -> tuple[Replan, Result]:
    """The rest of a plan as a scenario, planned.

    Parameters
    ----------
    document, scenario : mapping, Scenario
        The plan's scenario, as written and checked.
    comparison : Comparison
        What happened.
    month : int or None
        First month of the new plan; None: the one after the last with a row.
    catalog, evidence, today
        As for `evaluate`.
    demand : Demand
        As for `replan`.

    Raises
    ------
    InputError
        No month of the plan is left, or the new plan can't be resolved.
    """
    first = comparison.last_month + 1 if month is None else month
    found = replan(document, scenario, comparison, first, demand=demand)
    rest = check_document(found.document, file="the new plan")
    return found, evaluate(rest, catalog, evidence, today=today)
