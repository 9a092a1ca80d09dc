"""Who pays what: months by job and by resource, and groups, as rows of a plan's document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from planner.cost.course import Array
from planner.report.plain import plain
from planner.strategy.attribution import Attribution, amount_with_tax, is_tax
from planner.strategy.evaluate import Result, StrategyResult
from planner.strategy.kernel import Evaluation


def with_shares(document: Mapping[str, Any], result: Result) -> dict[str, Any]:
    """A plan's document with jobs and resources in its months, and with groups.

    Kept apart from the document itself: the Plan page is drawn without it.
    """
    strategies = [
        {**entry, "months": month_shares(entry["months"], result, strategy), "groups": group_entries(result, strategy)}
        for entry, strategy in zip(document["strategies"], result.strategies, strict=True)
    ]
    return {**document, "strategies": strategies}


def month_shares(months: Sequence[Mapping[str, Any]], result: Result, strategy: StrategyResult) -> list[dict[str, Any]]:
    """Months with what is for each job on its resource, what nobody uses, and what each resource costs."""
    evaluation, shares = strategy.evaluation, strategy.attribution
    if evaluation is None or shares is None:
        return []
    usd, kwh, kg_co2e = (_by_month(values).tolist() for values in (shares.amount_usd, shares.kwh, shares.kg_co2e))
    runs, gpu_hours = _work(shares, strategy, len(months))
    resources = _resources(result, evaluation)
    entries = []
    for at, month in enumerate(months):
        jobs = [
            {
                "job": job.job,
                "resource": job.resource,
                "runs": runs[row][at],
                "gpu_hours": gpu_hours[row][at],
                "amount_usd": usd[row][at],
                "kwh": kwh[row][at],
                "kg_co2e": kg_co2e[row][at],
            }
            for row, job in enumerate(strategy.jobs)
            if runs[row][at] or usd[row][at] or kwh[row][at]
        ]
        entry = {
            **month,
            "jobs": jobs,
            "unassigned_usd": usd[-1][at],
            "unassigned_kwh": kwh[-1][at],
            "unassigned_kg_co2e": kg_co2e[-1][at],
            "resources": [row[at] for row in resources if row[at] is not None],
        }
        entries.append(plain(entry))
    return entries


def _by_month(values: Array) -> Array:
    """Columns by month, what stands at the start of the plan in month 1, as in all months of the document."""
    return np.concatenate([values[:, :1] + values[:, 1:2], values[:, 2:]], axis=1)


def _work(shares: Attribution, strategy: StrategyResult, months: int) -> tuple[list[list[float]], list[list[float]]]:
    """Successful runs, and GPU-hours as a job's `gpu_hours` counts them, by pair and month; none after the horizon."""
    after = ((0, 0), (0, months - shares.runs.shape[1]))
    whole = np.array([job.gpu_hours / job.runs for job in strategy.jobs])[:, None]
    return np.pad(shares.runs, after).tolist(), np.pad(shares.runs * whole, after).tolist()


def _resources(result: Result, evaluation: Evaluation) -> list[list[dict[str, Any] | None]]:
    """Rows of each resource by month, tax with what it is on; None where it neither costs, draws nor works."""
    problem = result.problem
    tax = 0.0 if problem.tax_recoverable else float(result.theta[0, problem.tax_rate_at])
    times = evaluation.discount.shape[1]
    loads = {
        machine.id: np.broadcast_to(evaluation.load[0, index], problem.horizon_months).tolist()
        for index, machine in enumerate(problem.machines)
        if evaluation.machine_count[0, index] > 0
    }
    sums = {id: np.zeros((3, times)) for id in loads}
    for line in evaluation.lines:
        if is_tax(line):
            continue
        mine = sums.setdefault(line.resource, np.zeros((3, times)))
        mine[0] += amount_with_tax(line, tax)
        if line.kwh is not None and line.kg_co2e is not None:
            mine[1:] += line.kwh[0], line.kg_co2e[0]
    rows = []
    for id, values in sums.items():
        load = [*loads.get(id, []), *[None] * times]
        usd, kwh, kg_co2e = _by_month(values).tolist()
        rows.append(
            [
                {"resource": id, "amount_usd": usd[at], "kwh": kwh[at], "kg_co2e": kg_co2e[at], "load": load[at]}
                if usd[at] or kwh[at] or load[at]
                else None
                for at in range(times - 1)
            ]
        )
    return rows


def groups_of(result: Result, way: str) -> list[dict[str, Any]]:
    """`group_entries` of a strategy by its id."""
    return group_entries(result, next(strategy for strategy in result.strategies if strategy.id == way))


def group_entries(result: Result, strategy: StrategyResult) -> list[dict[str, Any]]:
    """What each group's jobs cost and draw; last, without an id, jobs of no group and machines that no job uses.

    Empty where the scenario has no groups. The entries add up to the strategy's totals, in every month too.
    """
    groups, shares = result.problem.groups, strategy.attribution
    if not groups or shares is None:
        return []
    owners = [result.problem.jobs[job.pair.job].group for job in strategy.jobs]
    head = [(group.id, group.name, group.people) for group in groups]
    return [
        _group_entry(id, name, people, strategy, shares, [row for row, owner in enumerate(owners) if owner == id])
        for id, name, people in [*head, (None, None, None)]
    ]


def _group_entry(
    id: str | None,
    name: str | None,
    people: int | None,
    strategy: StrategyResult,
    shares: Attribution,
    rows: list[int],
) -> dict[str, Any]:
    mine = rows if id is not None else [*rows, len(strategy.jobs)]  # the last row is what nobody uses
    usd, kwh, kg_co2e = (
        _by_month(values[mine].sum(axis=0)[None])[0] for values in (shares.amount_usd, shares.kwh, shares.kg_co2e)
    )
    jobs = [strategy.jobs[row] for row in rows]
    entry: dict[str, Any] = plain(
        {
            "id": id,
            "name": name,
            "people": people,
            "jobs": list(dict.fromkeys(job.job for job in jobs)),
            "runs": sum(job.runs for job in jobs),
            "gpu_hours": sum(job.gpu_hours for job in jobs),
            "amount_usd": float(usd.sum()),
            "amount_usd_per_person": None if people is None else float(usd.sum()) / people,
            "kwh": float(kwh.sum()),
            "kg_co2e": float(kg_co2e.sum()),
            "months": [
                {"month": month, "amount_usd": amount, "kwh": energy}
                for month, (amount, energy) in enumerate(zip(usd.tolist(), kwh.tolist(), strict=True), start=1)
            ],
        }
    )
    return entry
