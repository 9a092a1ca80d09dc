"""A computed plan as pages show it, and the same plan with the best mix, which takes seconds to find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from planner.report.break_even import break_even_entries
from planner.report.candidates import Candidate, candidates
from planner.report.certainty import flips_entry, sensitivity_entries, uncertainty_entry
from planner.report.document import plan_document
from planner.report.export import plan_csv
from planner.report.finance import with_finance
from planner.report.front import pareto_entry
from planner.report.job_places import JobPlaces
from planner.report.jobs_csv import jobs_csv
from planner.report.optimum import with_optimum
from planner.report.shares import groups_of
from planner.report.why_not import why_not_text
from planner.strategy.evaluate import Result, searched
from planner.strategy.progress import tell
from ui.background import Work
from ui.simulations import Simulations


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A computed plan as the page shows it; `csv` makes the file of the command line."""

    document: dict[str, Any]
    report: dict[str, Any]
    csv: Callable[[], str]
    simulations: Simulations
    candidates: Callable[[], tuple[Candidate, ...]]
    places: JobPlaces
    break_even: Callable[[], list[dict[str, Any]]]  # between its ways
    finance: Callable[[], dict[str, Any]]  # the report with its money views
    groups: Callable[[str], list[dict[str, Any]]]  # what each pays for in a way
    jobs_csv: Callable[[], str]
    why_not: Callable[[str | None], str]  # against a way, or the next best
    result: Result  # behind it, for what else is asked of it
    with_best_mix: Work[Plan]
    """The plan in which the best mix was searched for too; of such a plan, itself."""
    uncertainty: Work[dict[str, Any]]  # percentiles and chances of its ways
    certainty: Work[dict[str, Any]]  # those, what moves the answer most, what would turn it
    front: Work[dict[str, Any] | None]  # cleaner and quicker plans than the best mix

    @property
    def best_known(self) -> Plan:
        """The plan with the best mix once that was found, until then this one."""
        return self.with_best_mix.answer or self

    def price_usd_per_h(self, path: str) -> float | None:
        """What the plan takes for the price of an offer at a path, None where it isn't among those looked at."""
        parameters = self.result.problem.parameters
        return next((parameter.value for parameter in parameters if parameter.id == path), None)


def plan_of(result: Result, document: dict[str, Any]) -> Plan:
    """What pages show of a result; nothing that takes long is computed yet."""
    report = plan_document(result)
    if result.optimum is not None:
        report = with_optimum(report, result)
    entries = cache(lambda: break_even_entries(result))
    uncertainty = Work(lambda: uncertainty_entry(result))
    best: Work[Plan] = Work(partial(_with_best_mix, result, document))
    plan = Plan(
        document=document,
        report=report,
        csv=lambda: plan_csv(best.result().result),
        simulations=Simulations(result),
        candidates=cache(lambda: candidates(result)),
        places=JobPlaces(result),
        break_even=entries,
        finance=cache(lambda: with_finance(report, result)),
        groups=cache(lambda way: groups_of(result, way)),
        jobs_csv=lambda: jobs_csv(report, result),
        why_not=cache(lambda way: why_not_text({**report, "break_even": entries()}, way)),
        result=result,
        with_best_mix=best,
        uncertainty=uncertainty,
        certainty=Work(partial(_certainty, result, uncertainty)),
        front=Work(lambda: pareto_entry(best.result().result)),
    )
    if result.optimum is not None:
        best.set(plan)
    return plan


def _certainty(result: Result, uncertainty: Work[dict[str, Any]]) -> dict[str, Any]:
    """The parts of a plan's document on how sure it is."""
    tell("uncertainty", 0, 3)
    if not uncertainty.known:
        uncertainty.set(uncertainty_entry(result))
    tell("sensitivity", 1, 3)
    bars = sensitivity_entries(result)
    tell("flips", 2, 3)
    return {"uncertainty": uncertainty.answer, "sensitivity": bars, "flips": flips_entry(result)}


def _with_best_mix(result: Result, document: dict[str, Any]) -> Plan:
    plan = plan_of(searched(result), document)
    tell("uncertainty", 0)
    plan.uncertainty.set(uncertainty_entry(plan.result))  # a fraction of the search, and wanted with it
    return plan
