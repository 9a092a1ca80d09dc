"""Result -> the CSV of a plan: one row a line and month, and a totals row a strategy."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from planner.cost.lines import CostLine
from planner.report.provenance import dated_sources
from planner.strategy.attribution import sharers
from planner.strategy.evaluate import Result, StrategyResult
from planner.strategy.problem import PlanProblem

COLUMNS = (
    "strategy", "month", "resource", "job", "line", "quantity", "unit", "unit_price_usd", "amount_usd", "kwh",
    "kg_co2e", "source", "jobs",
)  # fmt: skip
TOTAL = "total"
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def plan_csv(result: Result) -> str:
    """The plan as CSV, in full precision.

    `month` runs from 1; purchases at the start of the plan stand in month 1, replacement and resale at the end of month
    k in month k. Text cells that a spreadsheet would run as a formula are neutralised with an apostrophe.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for strategy in result.strategies:
        for row in _strategy_rows(strategy, result):
            writer.writerow([safe_cell(cell) for cell in row])
    return stream.getvalue()


def safe_cell(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula: text beginning with =, +, - or @ gets an apostrophe in front."""
    if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS):
        return "'" + cell
    return cell


def _jobs(line: CostLine, strategy: StrategyResult, problem: PlanProblem) -> list[str]:
    """The jobs that a line is for, in their order."""
    used = () if strategy.attribution is None else strategy.attribution.pairs
    found = {problem.pairs[index].job for index in sharers(problem, line, used)}
    return [problem.jobs[job].id for job in sorted(found)]


def _strategy_rows(strategy: StrategyResult, result: Result) -> Iterator[tuple[object, ...]]:
    evaluation = strategy.evaluation
    if evaluation is None:  # some job can't run: there is nothing to add up, so the totals stay empty
        yield (strategy.id, TOTAL, "", "", TOTAL, "", "", "", "", "", "", "", "")
        return
    for line in evaluation.lines:
        jobs = "; ".join(_jobs(line, strategy, result.problem))
        source = "; ".join(dated_sources(line, result.problem.parameters))
        for month, quantity, kwh, kg_co2e in _months(line):
            price = float(line.unit_price[0])
            yield (
                strategy.id, month, line.resource, line.job, line.id, quantity, line.unit, price, quantity * price, kwh,
                kg_co2e, source, jobs,
            )  # fmt: skip
    yield (
        strategy.id, TOTAL, "", "", TOTAL, "", "", "", float(evaluation.tco_usd[0]), float(evaluation.kwh[0]),
        float(evaluation.kg_co2e[0]), "", "",
    )  # fmt: skip


def _months(line: CostLine) -> Iterator[tuple[int, float, float, float]]:
    """Month, quantity and energy of every time at which the line has any; the start of the plan is part of month 1."""
    for time, quantity in enumerate(line.quantity[0].tolist()):
        kwh = 0.0 if line.kwh is None else float(line.kwh[0, time])
        kg_co2e = 0.0 if line.kg_co2e is None else float(line.kg_co2e[0, time])
        if quantity or kwh or kg_co2e:
            yield max(time, 1), quantity, kwh, kg_co2e
