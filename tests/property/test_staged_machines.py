"""Machines that come in stages: every run is done once, every cent is in some month."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.report.document import plan_document
from tests.planning import small_plan, solve
from tests.property.plans import quick

HORIZON = 24
RESALE = {"machines.own.residual_gpu": {84: 0.1}, "machines.own.residual_host": {84: 0.1}}


@st.composite
def staged(draw: st.DrawFn) -> dict[str, Any]:
    delivery = draw(st.integers(0, 8))
    stages = draw(st.dictionaries(st.integers(0, HORIZON - delivery - 1), st.integers(1, 4), min_size=1, max_size=4))
    return {
        **RESALE,
        "horizon_months": HORIZON,
        "discount_rate": 0.04,
        "tax.rate": draw(st.sampled_from([0, 0.19])),
        "jobs.work.runs_per_month": draw(st.floats(50, 2000)),
        "jobs.work.growth_per_month": draw(st.sampled_from([0, 0.03, -0.05])),
        "machines.own.count": None,
        "machines.own.purchases": stages,
        "machines.own.delivery_months": delivery,
        "machines.own.useful_life_months": draw(st.integers(6, 60)),
    }


@quick
@given(changes=staged())
def test_runs_and_cents_add_up(changes: dict[str, Any]) -> None:
    result = solve(small_plan(changes))
    mix = result.strategies[2]
    assert mix.evaluation is not None
    months = np.arange(HORIZON)
    demand = changes["jobs.work.runs_per_month"] * (1 + changes["jobs.work.growth_per_month"]) ** months
    assert sum(job.runs for job in mix.jobs) == pytest.approx(demand.sum())
    entry = plan_document(result)["strategies"][2]
    assert sum(month["amount_usd"] for month in entry["months"]) == pytest.approx(mix.tco_usd)
    [machine] = entry["machines"]
    complete = max(changes["machines.own.purchases"]) + changes["machines.own.delivery_months"]
    assert machine["count_by_month"] == sorted(machine["count_by_month"])
    assert machine["count_by_month"][complete:] == [machine["count"]] * (HORIZON - complete)
    assert max([0.0, *machine["load"][:complete]]) <= machine["target_utilisation"] * (1 + 1e-9)
    bought = sum(line["quantity"] for line in entry["lines"] if line["id"] == "gpu.own")
    sold = sum(line["quantity"] for line in entry["lines"] if line["id"].startswith("resale_gpu.own"))
    assert sold == bought


@quick
@given(count=st.integers(1, 4), runs=st.floats(50, 2000))
def test_one_stage_at_the_start_is_a_number_of_machines(count: int, runs: float) -> None:
    changes = {"jobs.work.runs_per_month": runs, "machines.own.count": None}
    counted = plan_document(solve(small_plan({**changes, "machines.own.count": count})))
    assert plan_document(solve(small_plan({**changes, "machines.own.purchases": {0: count}}))) == counted
