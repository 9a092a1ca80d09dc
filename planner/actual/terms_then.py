"""Commitments when a later month of a plan begins: terms that run, terms that are over, blocks still to come."""

from __future__ import annotations

from typing import Any

from planner.actual.carried import Replan, say
from planner.actual.drift import Comparison
from planner.scenario.schema import Scenario
from planner.strategy.offers import Commitment
from planner.units import H_PER_MONTH


def carry_terms(found: Replan, scenario: Scenario, comparison: Comparison) -> None:
    """Terms that run go on; what is over is left out, and what wasn't taken may still be."""
    way, past = comparison.way, found.month - 1
    taken = {line.resource for line in way.lines if line.kind == "commitment"}
    rental = found.document.get("rental") or {}
    entries = dict(rental.get("commitments") or {})
    over: list[str] = []
    for offer in way.problem.offers:
        commitment = offer.commitment
        if commitment is None or offer.id not in entries:
            continue
        entry, where = dict(entries[offer.id]), f"rental.commitments.{offer.id}"
        if entry.get("months"):  # blocks
            entry["months"] = [month - past for month in entry["months"] if month > past]
            end_h = past * H_PER_MONTH
            if any(start < past and start * H_PER_MONTH + commitment.term_h > end_h for start in commitment.starts):
                say(found.left, "replan_block", where, offer=offer.id)
            if entry["months"]:
                entries[offer.id] = entry
            else:
                del entries[offer.id]
                over.append(offer.id)
                say(found.left, "replan_commitment_over", where, offer=offer.id)
            continue
        entry.pop("elapsed_months", None)
        entry.pop("first_term_paid", None)
        start = _running(commitment, past)
        if offer.id in taken and start is not None:
            entry |= {"from_month": 1, **({"elapsed_months": past - start} if past > start else {})}
            if past == start and commitment.upfront:  # it was due at the very end of the month before
                entry["first_term_paid"] = True
            left = start + commitment.term_months - past
            say(found.carried, "replan_commitment", where, offer=offer.id, nodes=commitment.nodes, months=left)
        elif offer.id in taken and commitment.starts[-1] < past:
            del entries[offer.id]
            over.append(offer.id)
            say(found.left, "replan_commitment_over", where, offer=offer.id)
            continue
        else:
            entry["from_month"] = max(1, scenario.rental.commitments[offer.id].from_month - past)
        entries[offer.id] = entry
    if rental.get("commitments"):
        found.document["rental"] = {**rental, "commitments": entries}
    for id in over:
        _without_offer(found.document, id)


def _without_offer(document: dict[str, Any], id: str) -> None:
    """Leave out a quote that only its commitment brought in, wherever it is named."""
    document["offers"] = offers = dict(document.get("offers") or {})
    if "term" not in (offers.get(id) or {}):
        return
    del offers[id]
    rental = document["rental"]
    if rental.get("offers"):
        rental["offers"] = [offer for offer in rental["offers"] if offer != id]
    (rental.get("quota_gpus") or {}).pop(id, None)
    for job in document["jobs"].values():
        (job.get("throughput") or {}).pop(id, None)
        for key in ("only_on", "not_on"):
            if job.get(key):
                job[key] = [name for name in job[key] if name != id]


def _running(commitment: Commitment, past: int) -> int | None:
    """Start of the term that covers the month after `past`."""
    return next((start for start in commitment.starts if start <= past < start + commitment.term_months), None)
