"""The most work for a budget: what was found as rows of a document, and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner.messages import Tender, render
from planner.report.plain import plain
from planner.strategy.evaluate import Result
from planner.strategy.optimise.most_work import MostWork


def with_most_work(document: Mapping[str, Any], found: MostWork, result: Result, jobs: Sequence[str]) -> dict[str, Any]:
    """A document with `most_work`.

    Parameters
    ----------
    document : mapping
        Of the plan of the most work, or of the work as written where there is none.
    found : MostWork
        What the search says.
    result : Result
        Behind the document.
    jobs : sequence of str
        Ids of the jobs that grow.
    """
    problem, theta = result.problem, result.theta
    best = None if result.optimum is None else result.optimum.evaluation
    total_usd = None if best is None or found.factor == 0 else float(best.tco_usd[0])
    loosened = () if result.optimum is None else result.optimum.relaxations
    needed = [one.needed for one in loosened if one.limit.kind == "total"]
    entry = plain(
        {
            "factor": found.factor,
            "beyond": found.beyond,
            "tried": found.tried,
            "budget_usd": problem.limits.total_usd,
            "total_usd": total_usd,
            "needed_usd": needed[0] if needed else None,
            "jobs": [
                {
                    "id": job.id,
                    "grows": job.id in jobs,
                    "runs_per_month": float(theta[0, job.runs_per_month_at]),
                    "runs": float(theta[0, job.runs_per_month_at]) * job.mean_factor * problem.horizon_months,
                }
                for job in problem.jobs
            ]
            if found.factor > 0
            else [],
        }
    )
    return {**document, "most_work": entry}


def most_work_text(document: Mapping[str, Any]) -> list[str]:
    """How much work the budget pays for."""
    found, currency = document["most_work"], document["currency"]
    tender = None if currency["code"] == "USD" else Tender(code=currency["code"], usd_per_unit=currency["usd_per_unit"])
    if found["factor"] == 0:
        params = {"budget_usd": found["budget_usd"], "needed_usd": found["needed_usd"]}
        return [render("most_work_none", tender, **params)]
    runs = ", ".join(f"{job['runs']:,.6g} {job['id']}" for job in found["jobs"])
    if found["beyond"] is None:
        return [render("most_work_unlimited", tender, budget_usd=found["budget_usd"], factor=found["factor"])]
    params = {"budget_usd": found["budget_usd"], "total_usd": found["total_usd"], "factor": f"{found['factor']:.4g}"}
    return [render("most_work", tender, runs=runs, beyond=f"{found['beyond']:.4g}", **params)]
