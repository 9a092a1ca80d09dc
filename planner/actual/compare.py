"""Hours and invoices against one way of a plan: drift of each job, resource, bill and month."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from planner.actual.drift import BillDrift, Comparison, JobDrift, MonthDrift
from planner.actual.effects import Effects, HourEffects, added, amount_in, bill_effects, hour_effects, quantity_in
from planner.actual.known import NOT_CASH
from planner.actual.planned import PlannedLine, PlannedWay
from planner.actual.resources import energy_drift, resource_drift
from planner.actual.rows import Hours, Invoiced
from planner.cost.course import Array
from planner.errors import InputError, Problem, TableError
from planner.strategy.evaluate import Result, StrategyResult
from planner.strategy.kernel import kernel
from planner.strategy.ranges import sampled_theta

Driver = tuple[str, str]
"""A job on a resource."""


def strategy_to_follow(result: Result, id: str | None, *, field: str = "--strategy") -> StrategyResult:
    """The way that is compared: the one named, else the recommended one.

    Raises
    ------
    InputError
        None is recommended, or the one named isn't costed.
    """
    wanted = id or result.recommendation.strategy
    if wanted is None:
        raise InputError("actual_no_way", field=field)
    found = next(strategy for strategy in result.strategies if strategy.id == wanted)
    if found.evaluation is None:
        raise InputError("actual_way_impossible", field=field, value=wanted)
    return found


def compare(
    way: PlannedWay, hours: Sequence[Hours], invoice: Sequence[Invoiced], *, file: str = "invoice"
) -> Comparison:
    """Compare what was reported with a way of a plan. A cell without a row is unknown, never zero.

    Parameters
    ----------
    way : PlannedWay
        The plan.
    hours, invoice : sequence
        Rows as they were read; one of the two may be empty.
    file : str
        Name of the invoice for problems.

    Raises
    ------
    TableError
        Two rows of the invoice cover the same line of the plan in one month.
    InputError
        Neither has a row.
    """
    if not hours and not invoice:
        raise InputError("actual_nothing", field="--hours")
    last = max([*(row.month for row in hours), *(row.month for row in invoice)])
    covered = _covered(way, invoice, file)
    by_month: dict[int, dict[Driver, HourEffects]] = {}
    for row in hours:
        planned = way.run(row.job, row.resource)
        if planned is not None:
            by_month.setdefault(row.month, {})[row.job, row.resource] = hour_effects(planned, row)
    metered = _metered(way, hours)
    bills = tuple(
        _bill(row, lines, by_month.get(row.month, {}), metered) for row, lines in zip(invoice, covered, strict=True)
    )
    low, high, cumulative = _likely(way, bills)
    return Comparison(
        way=way,
        hours=tuple(hours),
        last_month=last,
        months=tuple(_month(way, month, bills, hours, cumulative) for month in range(1, last + 1)),
        jobs=_jobs(way, hours, bills, by_month, last),
        bills=bills,
        resources=resource_drift(way, hours, bills),
        energy=energy_drift(way, bills, metered),
        billed_low_usd=low,
        billed_high_usd=high,
    )


def _covered(way: PlannedWay, invoice: Sequence[Invoiced], file: str) -> list[tuple[PlannedLine, ...]]:
    """Lines of the plan that each row is for; no line may be paid for by two rows of one month."""
    found, problems = [], []
    first: dict[tuple[int, str], Invoiced] = {}
    for row in invoice:
        lines = way.lines_of(row.resource, row.kind)
        found.append(lines)
        for line in lines:
            other = first.setdefault((row.month, line.id), row)
            if other is not row:
                problems.append(
                    Problem(
                        file=file, record="", field="resource", line=row.line,
                        found=f"{row.resource} {row.kind or '(all lines)'}, of which {line.id} is part",
                        expected=f"each line once in a month: line {other.line} has it for {other.resource}",
                    )
                )  # fmt: skip
                break
    if problems:
        raise TableError("table_invalid", problems)
    return found


def _metered(way: PlannedWay, hours: Sequence[Hours]) -> dict[tuple[int, str], float]:
    """Energy by month and resource, where every reported job and every planned one has its own. [kWh]"""
    found: dict[tuple[int, str], float] = {}
    for month, resource in dict.fromkeys((row.month, row.resource) for row in hours):
        rows = [row for row in hours if (row.month, row.resource) == (month, resource)]
        wanted = {run.job for run in way.routed() if run.resource == resource and run.runs[month - 1]}
        if wanted <= {row.job for row in rows} and all(row.kwh is not None for row in rows):
            found[month, resource] = sum(row.kwh or 0.0 for row in rows)
    return found


def _bill(
    row: Invoiced,
    lines: tuple[PlannedLine, ...],
    hours: Mapping[Driver, HourEffects],
    metered: Mapping[tuple[int, str], float],
) -> BillDrift:
    quantity = row.quantity
    kinds = {line.kind for line in lines}
    if quantity is None and kinds == {"electricity"}:
        each = [metered.get((row.month, line.resource)) for line in lines]
        quantity = None if None in each else sum(kwh for kwh in each if kwh is not None)
    units = {line.unit for line in lines}
    return BillDrift(
        month=row.month,
        resource=row.resource,
        kind=row.kind,
        lines=lines,
        planned_usd=sum(amount_in(line, row.month) for line in lines),
        actual_usd=row.amount_usd,
        quantity_planned=sum(quantity_in(line, row.month) for line in lines) if len(units) == 1 else None,
        quantity=quantity,
        unit=next(iter(units)) if len(units) == 1 else "",
        effects=bill_effects(lines, row.month, row.amount_usd, quantity, hours),
    )


def _month(
    way: PlannedWay, month: int, bills: Sequence[BillDrift], hours: Sequence[Hours], cumulative: Array
) -> MonthDrift:
    mine = [bill for bill in bills if bill.month == month]
    low, high = np.quantile(cumulative[:, month - 1], [0.1, 0.9])
    return MonthDrift(
        month=month,
        planned_usd=sum(amount_in(line, month) for line in way.lines),
        billed_planned_usd=sum(bill.planned_usd for bill in mine) if mine else None,
        actual_usd=sum(bill.actual_usd for bill in mine) if mine else None,
        effects=added(bill.effects for bill in mine),
        has_hours=any(row.month == month for row in hours),
        expects_hours=any(run.runs[month - 1] for run in way.routed()),
        cumulative_low_usd=float(low),
        cumulative_high_usd=float(high),
    )


def _likely(way: PlannedWay, bills: Sequence[BillDrift]) -> tuple[float | None, float | None, Array]:
    """10th and 90th percentile of what the plan has for the bills, and draws of its cash by month, summed up."""
    evaluation = kernel(way.problem, sampled_theta(way.problem), way.choice)
    lines = {line.id: line.amount for line in evaluation.lines if line.kind != NOT_CASH}
    rows, times = evaluation.discount.shape
    total = np.sum([*lines.values(), np.zeros((rows, times))], axis=0)
    by_month = np.concatenate([total[:, :1] + total[:, 1:2], total[:, 2:]], axis=1)
    billed = np.zeros(rows)
    for bill in bills:
        for line in bill.lines:
            amounts = lines.get(line.id)
            if amounts is not None:
                billed += amounts[:, bill.month] + (amounts[:, 0] if bill.month == 1 else 0.0)
    low, high = (float(end) for end in np.quantile(billed, [0.1, 0.9]))
    return (low, high, np.cumsum(by_month, axis=1)) if bills else (None, None, np.cumsum(by_month, axis=1))


def _jobs(
    way: PlannedWay,
    hours: Sequence[Hours],
    bills: Sequence[BillDrift],
    by_month: Mapping[int, Mapping[Driver, HourEffects]],
    last: int,
) -> tuple[JobDrift, ...]:
    planned = {(run.job, run.resource) for run in way.routed()}
    order = {job.id: at for at, job in enumerate(way.problem.jobs)}
    drivers = sorted(planned | {(row.job, row.resource) for row in hours}, key=lambda each: (order[each[0]], each[1]))
    found = []
    for job, resource in drivers:
        rows = [row for row in hours if (row.job, row.resource) == (job, resource)]
        run = way.run(job, resource)
        months = tuple(row.month for row in rows)
        runs_planned = 0.0 if run is None else sum(run.runs[month - 1] for month in months)
        hours_each = 0.0 if run is None else run.attempts_per_run * run.gpu_h_per_attempt
        effects = [by_month[month][job, resource] for month in months if (job, resource) in by_month.get(month, {})]
        found.append(
            JobDrift(
                job=job,
                resource=resource,
                planned=run,
                months=months,
                unknown_months=tuple(
                    month
                    for month in range(1, last + 1)
                    if month not in months and run is not None and run.runs[month - 1]
                ),
                runs_planned=runs_planned,
                runs=sum(row.runs for row in rows),
                attempts=_sum_known(row.attempts for row in rows),
                gpu_hours_planned=runs_planned * hours_each,
                gpu_hours=sum(row.gpu_hours for row in rows),
                kwh=_sum_known(row.kwh for row in rows),
                hours=HourEffects(
                    runs_gpu_h=sum(each.runs_gpu_h for each in effects),
                    attempts_gpu_h=sum(each.attempts_gpu_h for each in effects),
                    speed_gpu_h=sum(each.speed_gpu_h for each in effects),
                )
                if run is not None
                else None,
                usd=added(_of_driver((job, resource), bill, by_month.get(bill.month, {})) for bill in bills),
            )
        )
    return tuple(found)


def _of_driver(driver: Driver, bill: BillDrift, hours: Mapping[Driver, HourEffects]) -> Effects:
    """What a job's hours add to a bill whose drivers are all known."""
    if any(each not in hours for line in bill.lines for each in line.drivers):
        return Effects()
    prices = [line.usd_per_gpu_h(bill.month) for line in bill.lines if driver in line.drivers]
    if not prices:
        return Effects()
    price, found = sum(prices), hours[driver]
    return Effects(
        runs_usd=found.runs_gpu_h * price,
        attempts_usd=found.attempts_gpu_h * price,
        speed_usd=found.speed_gpu_h * price,
    )


def _sum_known(values: Iterable[float | None]) -> float | None:
    total, some = 0.0, False
    for value in values:
        if value is None:
            return None
        total, some = total + value, True
    return total if some else None
