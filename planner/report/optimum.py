"""The best mix as rows of a plan's document: how good it is, what holds it back, what was left out and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.report.document import issue_entry
from planner.report.plain import plain
from planner.strategy.evaluate import Result
from planner.strategy.optimise.records import Optimum, Rejected, Relaxation


def with_optimum(document: Mapping[str, Any], result: Result) -> dict[str, Any]:
    """A plan's document with `optimal`; null where the best mix wasn't searched for."""
    return {**document, "optimal": None if result.optimum is None else optimum_entry(result.optimum)}


def optimum_entry(found: Optimum) -> dict[str, Any]:
    """What the search found; the plan itself is the strategy of the same id."""
    entry: dict[str, Any] = plain(
        {
            "id": "optimal",
            "found": found.choice is not None,
            "same_as": found.same_as,
            "gap": found.gap,
            "timed_out": found.timed_out,
            "pruned": found.pruned,
            "binding_limits": [
                {
                    "limit": limit.limit,
                    "field": limit.field,
                    "value": limit.value,
                    "of": limit.of,
                    "usd_less": limit.usd_less,
                }
                for limit in found.binding
            ],
            "rejected": [_rejected_entry(one) for one in found.rejected],
            "relaxations": [_relaxation_entry(one) for one in found.relaxations],
            "rounds": [
                {
                    "present_value_usd": one.present_value_usd,
                    "deviation": one.deviation,
                    "loads": [{"machine": machine, "most": load} for machine, load in one.loads.items()],
                    "late": list(one.late),
                }
                for one in found.rounds
            ],
        }
    )
    return entry


def _rejected_entry(one: Rejected) -> dict[str, Any]:
    issue = issue_entry(one.reason)
    return {
        "option": one.option,
        "kind": one.kind,
        "usd_more": one.usd_more,
        "reason": issue["message"],
        "reason_code": issue["code"],
        "reason_params": issue["params"],
        "field": issue["field"],
    }


def _relaxation_entry(one: Relaxation) -> dict[str, Any]:
    return {"limit": one.limit.kind, "field": one.limit.field, "most": one.limit.most, "needed": one.needed}
