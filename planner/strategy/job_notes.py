"""What a plan should say of a job on its resource beside the prediction: times beyond it, rates assumed."""

from __future__ import annotations

from planner.catalog.source_ids import ASSUMPTIONS
from planner.strategy.problem import Issue, Pair, PlanProblem
from planner.units import H_PER_MONTH


def job_notes(problem: PlanProblem, pair: Pair, attempt_h: float) -> list[Issue]:
    """Warnings of one job on one resource.

    An attempt that is longer than the whole plan, of which only a share is counted; and spot instances for which nobody
    published how often they are taken away, with what is assumed.
    """
    job = problem.jobs[pair.job]
    issues = []
    plan_h = problem.horizon_months * H_PER_MONTH
    if attempt_h > plan_h:
        params = {"job": job.id, "attempt_h": attempt_h, "plan_h": plan_h}
        issues.append(Issue(code="run_longer_than_plan", field=f"jobs.{job.id}", params=params))
    if pair.spot is not None:
        share = problem.parameters[pair.spot.interrupted_share_at]
        if all(source.startswith(ASSUMPTIONS) for source in share.sources):
            params = {"offer": pair.resource, "share": share.value, "low": share.low, "high": share.high}
            field = f"offers.{pair.resource}.interrupted_share_per_month"
            issues.append(Issue(code="spot_share_assumed", field=field, params=params))
    return issues
