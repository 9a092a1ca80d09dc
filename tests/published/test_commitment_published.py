"""A one-year commitment over nine months of demand, to the cent: what is counted is written in docs/model.md.

Prices of 8 H100 as printed for p5.48xlarge: 98.32 USD/h on demand, 62.9248 USD/h reserved for a year.
"""

from __future__ import annotations

from typing import Any

import pytest

from planner.strategy.evaluate import Result, StrategyResult
from tests.planning import CENT, by_id, document, evaluation, solve, strategy

UPFRONT = {"rental.commitments.reserved.payment": "upfront"}


def cloud(overrides: dict[str, Any] | None = None, *, committed: bool = True) -> StrategyResult:
    plan = document("committed-node", overrides)
    if not committed:
        del plan["rental"]["commitments"], plan["offers"]["reserved"]
    result: Result = solve(plan)
    return strategy(result, "cloud")


@pytest.mark.parametrize(
    ("overrides", "committed", "tco", "present_value"),
    [({}, True, 558103.65, 543532.37), (UPFRONT, True, 558103.65, 557856.36), ({}, False, 582054.40, 570123.06)],
)
def test_totals(overrides: dict[str, Any], committed: bool, tco: float, present_value: float) -> None:
    found = evaluation(cloud(overrides, committed=committed))
    assert found.tco_usd[0] == pytest.approx(tco, abs=CENT)
    assert found.present_value_usd[0] == pytest.approx(present_value, abs=CENT)
    assert found.capex_usd[0] == found.residual_usd[0] == 0
    assert found.kwh[0] == pytest.approx(49_681.587, abs=0.00051)
    assert found.kg_co2e[0] == pytest.approx(18_357.346, abs=0.00051)


def test_lines_and_the_months_after_the_horizon() -> None:
    found = evaluation(cloud())
    lines = by_id(found)
    commitment, overflow = lines["commitment.reserved"], lines["overflow.reserved"]
    assert commitment.quantity[0].tolist() == [0.0, *[730.0] * 12]
    assert commitment.amount[0].sum() == pytest.approx(551_221.25, abs=CENT)
    assert (commitment.amount * found.discount)[0].sum() == pytest.approx(536_897.26, abs=CENT)
    assert commitment.amount[0, 10:].sum() == pytest.approx(137_805.31, abs=CENT)  # paid after the horizon
    assert overflow.quantity[0].tolist() == [*[0.0] * 9, 70.0, 0.0, 0.0, 0.0]
    assert (overflow.amount * found.discount)[0].sum() == pytest.approx(6_635.11, abs=CENT)
    assert commitment.kwh is not None
    assert commitment.kwh[0, 10:].sum() == 0  # unused hours draw nothing


def test_paid_upfront_it_stands_at_the_start() -> None:
    commitment = by_id(evaluation(cloud(UPFRONT)))["commitment.reserved"]
    assert commitment.quantity[0].tolist() == [8760.0, *[0.0] * 12]


@pytest.mark.parametrize(("used_h", "committed"), [(622.0, False), (624.0, True)])
def test_the_commitment_is_chosen_from_its_break_even_use_on(used_h: float, committed: bool) -> None:
    """Undiscounted it breaks even at 12 x 62.9248 / (9 x 98.32) = 0.8533 of 730 h: 622.93 h a month."""
    overrides = {"discount_rate": 0, "jobs.train.runs_per_month": used_h}
    plan = document("committed-node", overrides)
    del plan["jobs"]["train"]["runs_by_month"]
    (job,) = strategy(solve(plan), "cloud").jobs
    assert (job.resource == "reserved") == committed
