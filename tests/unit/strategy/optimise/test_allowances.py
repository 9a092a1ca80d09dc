"""Free hours and credits that compete are used in the order in which the kernel uses them."""

from __future__ import annotations

from typing import Any

import pytest

from planner.strategy.optimise.rounds import AGREED
from planner.strategy.optimise.search import optimise
from tests.mixes import small_mix
from tests.planning import problem_of


def competing(seed: int) -> dict[str, Any]:
    """A credit that lapses soon, one that doesn't, and free hours that could be kept until it has lapsed."""
    plan = small_mix(seed, few_runs=False)
    plan["rental"] |= {"upload_gb": 300, "ingress_usd_per_gb": 0.05, "credits": {
        "early": {"amount_usd": 400, "expires_month": 1},
        "late": {"amount_usd": 300, "from_month": 2},
    }}  # fmt: skip
    plan["offers"]["x"] |= {"free_node_hours_total": 120, "free_node_hours_per_month": 60}
    plan["offers"]["y"] |= {"free_node_hours_total": 150}
    plan["offers"]["block"] = {**plan["offers"]["z"], "term": "reserved_1y", "price_usd_per_h": 0.2}
    plan["offers"]["z"] |= {"free_node_hours_total": 100}  # of what the block doesn't cover too
    plan["rental"]["offers"] += ["block"]
    plan["rental"]["commitments"] = {"block": {"nodes": 1, "overflow": "z"}}
    for job in plan["jobs"].values():
        job["throughput"]["block"] = job["throughput"]["z"]
        job["growth_per_month"] = 0.2
    return plan


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_the_programme_uses_allowances_as_the_kernel_does(seed: int) -> None:
    problem = problem_of(competing(seed))
    found = optimise(problem, problem.theta(), {})
    assert found.choice is not None
    assert abs(found.rounds[-1].deviation) < AGREED
    assert len(found.rounds) == 1


def test_a_running_term_takes_of_a_credit_what_it_costs_in_every_plan() -> None:
    plan = competing(1)
    plan["rental"]["commitments"]["block"]["elapsed_months"] = 10
    plan["rental"]["credits"] = {"gift": {"amount_usd": 200}}
    problem = problem_of(plan)
    assert any(offer.commitment is not None and offer.commitment.running for offer in problem.offers)
    found = optimise(problem, problem.theta(), {})
    assert found.rounds[0].deviation == pytest.approx(0.0, abs=AGREED)
