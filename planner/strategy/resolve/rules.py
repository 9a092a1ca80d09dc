"""Why a job may not use a place, whatever its size: in the house, pins, regions, terms, quotas."""

from __future__ import annotations

from planner.scenario.jobs import JobInput
from planner.strategy.problem import Fit, Issue
from planner.strategy.resolve.pins import pinned_out
from planner.strategy.resolve.places import Place
from planner.strategy.resolve.resources import ResourceNames


def not_allowed(id: str, entry: JobInput, place: Place, names: ResourceNames) -> list[Issue]:
    """The first rule that keeps a job off a place, if any does."""
    return _must_stay(id, entry, place) or pinned_out(id, entry, place, names) or _as_rented(id, entry, place)


def _must_stay(id: str, entry: JobInput, place: Place) -> list[Issue]:
    if place.offer is None or not entry.in_house:
        return []
    return [Issue(code="in_house_only", field=f"jobs.{id}.in_house", params={"job": id, "resource": place.id})]


def _as_rented(id: str, entry: JobInput, place: Place) -> list[Issue]:
    if place.offer is None:
        return []
    if entry.terms is not None and place.term not in entry.terms:
        term = {"job": id, "resource": place.id, "term": place.term, "allowed": entry.terms}
        return [Issue(code="term_not_allowed", field=f"jobs.{id}.terms", params=term)]
    if entry.regions and place.region not in entry.regions:
        params = {
            "job": id,
            "resource": place.id,
            "region": place.region or "unknown",
            "allowed": list(entry.regions),
        }
        return [Issue(code="region_not_allowed", field=f"jobs.{id}.regions", params=params)]
    return quota_too_small(id, place, entry.gpus or 1)


def quota_too_small(id: str, place: Place, gpus: int) -> list[Issue]:
    """That a quota is below the whole instances which a run of so many GPUs takes, if it is."""
    quota = place.quota
    needed = -(-gpus // place.gpus_per_node) * place.gpus_per_node
    if quota is None or needed <= quota.gpus:
        return []
    params = {"job": id, "resource": place.id, "value": quota.gpus, "needed": needed}
    code = "quota_zero" if quota.gpus == 0 else "quota_below_run"
    return [Issue(code=code, field=f"rental.quota_gpus.{quota.id}", params=params)]


def block_too_short(id: str, place: Place, attempt_h: float) -> list[Issue]:
    """That an attempt takes longer than a block of capacity lasts, if it does."""
    if place.block_h is None or attempt_h <= place.block_h:
        return []
    params = {"job": id, "resource": place.id, "needs_h": attempt_h, "block_h": place.block_h}
    return [Issue(code="block_too_short", field=f"rental.commitments.{place.id}.days", params=params)]


def within_quota(id: str, place: Place, fit: Fit, problems: list[Issue]) -> list[Issue]:
    """Problems of a candidate; that it doesn't fit into memory is the quota's doing where more GPUs would hold it."""
    least = None if fit.prediction is None or fit.fits else fit.prediction.min_gpus
    return problems if least is None else quota_too_small(id, place, least) or problems
