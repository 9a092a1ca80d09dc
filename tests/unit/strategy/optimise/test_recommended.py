"""What is recommended keeps waits and the ceiling on cash, where the best mix was searched for."""

from __future__ import annotations

from typing import Any

from planner.strategy.evaluate import Result, searched
from tests.planning import small_plan, solve


def eager_plan(changes: dict[str, Any]) -> dict[str, Any]:
    """500 one-hour runs a month on machines, of which one could book 511 hours."""
    plan = small_plan(
        {"jobs.work.runs_per_month": 500, "offers.rented.price_usd_per_h": 5.0, "horizon_months": 2, **changes}
    )
    del plan["machines"]["own"]["count"]
    return plan


def codes(result: Result) -> set[str]:
    return {issue.code for issue in result.warnings if issue.code.startswith("aside")}


def test_a_cheaper_way_in_which_jobs_wait_too_long_is_set_aside() -> None:
    named = solve(eager_plan({"jobs.work.deadline_h": 2.5}))
    found = searched(named)
    assert named.recommendation.strategy == "local"
    assert found.recommendation.strategy == "optimal"
    assert found.recommendation.runner_up != "local"
    assert found.set_aside["local"] == ("aside_for_waiting",)
    assert codes(found) == {"aside_for_waiting"}


def test_without_a_limit_nothing_is_set_aside() -> None:
    found = searched(solve(eager_plan({})))
    assert found.recommendation.strategy == "local"
    assert not found.set_aside
    assert codes(found) == set()


def test_a_cheaper_way_above_a_quarters_cash_is_set_aside() -> None:
    rented = {"offers.rented.price_usd_per_h": 0.6, "horizon_months": 12}  # 900 USD a quarter; a machine is 1,500
    free, held = (
        searched(solve(eager_plan({**rented, **ceiling}))) for ceiling in ({}, {"cash_ceiling_usd_per_quarter": 1000})
    )
    assert free.recommendation.strategy == "local"
    assert held.recommendation.strategy == "cloud"
    assert held.set_aside == {"local": ("aside_for_ceiling",), "hybrid": ("aside_for_ceiling",)}
    assert codes(held) == {"aside_for_ceiling"}
