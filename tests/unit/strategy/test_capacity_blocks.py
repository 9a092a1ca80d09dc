"""Blocks of capacity, to the cent by hand: whole blocks paid before they begin, work beyond them on demand.

Two instances of 8 H100 for 14 days in months 3 and 9, at the 39.33 USD/h printed for a block of p5.48xlarge: 2 x 14 x
24 = 672 node-hours each, 26,429.76 USD at the start of either month. The 500 h of work in month 3 fit, of the 800 h in
month 9 128 are left over, and the 100 h of the seven other months go on demand at 98.32 USD/h: 828 h, 81,408.96 USD.
"""

from __future__ import annotations

from typing import Any

import pytest

from planner.errors import InputError
from planner.report.document import plan_document
from planner.strategy.evaluate import Result
from planner.strategy.kernel import Evaluation
from tests.planning import CENT, by_id, document, evaluation, present_value, problem_of, solve, strategy

BLOCK: dict[str, Any] = {
    "offers.reserved.term": "capacity_block",
    "offers.reserved.price_usd_per_h": 39.33,
    "offers.reserved.billing_unit_s": 86_400,
    "offers.reserved.minimum_s": 86_400,
    "rental.commitments.reserved": {"nodes": 2, "days": 14, "months": [9, 3]},
    "jobs.train.runs_per_month": 100,
    "jobs.train.runs_by_month": {3: 500, 9: 800},
}


def planned(changes: dict[str, Any] | None = None) -> Result:
    return solve(document("committed-node", {**BLOCK, **(changes or {})}))


def cloud(changes: dict[str, Any] | None = None) -> Evaluation:
    return evaluation(strategy(planned(changes), "cloud"))


def test_blocks_are_paid_whole_before_they_begin_and_the_rest_goes_on_demand() -> None:
    found = cloud()
    lines = by_id(found)
    assert set(lines) == {"commitment.reserved", "overflow.reserved"}
    block, overflow = lines["commitment.reserved"], lines["overflow.reserved"]
    assert block.quantity[0].tolist() == [0, 0, 672, 0, 0, 0, 0, 0, 672, 0]
    assert overflow.quantity[0].tolist() == [0, 100, 100, 0, 100, 100, 100, 100, 100, 128]
    assert block.amount[0].sum() == pytest.approx(52_859.52, abs=CENT)
    assert overflow.amount[0].sum() == pytest.approx(81_408.96, abs=CENT)
    # by hand, v = 1.05 ^ (-1/12): 26,429.76 (v^2 + v^8), and 9,832 (v + v^2 + v^4 + ... + v^8) + 12,584.96 v^9
    assert present_value(block, found) == pytest.approx(51_799.63, abs=CENT)
    assert present_value(overflow, found) == pytest.approx(79_653.29, abs=CENT)
    assert found.tco_usd[0] == pytest.approx(134_268.48, abs=CENT)
    assert found.present_value_usd[0] == pytest.approx(131_452.92, abs=CENT)


def test_energy_is_that_of_the_work_not_of_the_hours_paid_for() -> None:
    kwh = by_id(cloud())["commitment.reserved"].kwh
    assert kwh is not None
    assert kwh[0, [1, 3, 9]] == pytest.approx([hours * 7.112 * 1.18 for hours in (100, 500, 800)])


def test_a_block_that_goes_on_into_the_next_month_covers_both() -> None:
    """One instance for 60 days from month 3 on: 1,440 h, 730 of them in that month and 710 in the next."""
    changes = {"rental.commitments.reserved": {"days": 60, "months": [3]}, "jobs.train.runs_by_month": {3: 700, 4: 720}}
    lines = by_id(cloud(changes))
    assert lines["overflow.reserved"].quantity[0].tolist() == [0, 100, 100, 0, 10, 100, 100, 100, 100, 100]
    late = {"rental.commitments.reserved": {"days": 60, "months": [9, 1]}, "offers.reserved.price_usd_per_h": 1}
    evaluated = cloud(late)
    assert by_id(evaluated)["commitment.reserved"].quantity[0].tolist() == [1440.0, *[0.0] * 7, 1440.0, 0.0, 0.0]
    assert len(plan_document(planned(late))["strategies"][1]["months"]) == 10  # the block ends in month 10


def test_a_plan_takes_blocks_only_where_they_are_cheaper() -> None:
    """Two blocks of 672 h cost what 537.6 h on demand do: with 500 h in them they are left alone, with 600 h taken."""
    for hours, used in ((250, "on-demand"), (300, "reserved")):
        changes = {"jobs.train.runs_by_month": {3: hours, 9: hours}, "discount_rate": 0}
        (job,) = strategy(planned(changes), "cloud").jobs
        assert job.resource == used


def test_runs_that_a_block_cannot_hold_go_elsewhere() -> None:
    for changes, code in (
        ({"jobs.train.gpus": 24}, "too_many_gpus"),  # three instances, the block has two
        ({"jobs.train.samples": 3600 * 400}, "block_too_short"),  # 400 h, the block lasts 336
    ):
        problem = problem_of(document("committed-node", {**BLOCK, **changes}))
        (pair,) = (pair for pair in problem.pairs if pair.resource == "reserved")
        assert [issue.code for issue in pair.problems] == [code]
        assert [pair.feasible for pair in problem.pairs if pair.resource == "on-demand"] == [True]


@pytest.mark.parametrize(
    ("asked", "code", "key"),
    [
        ({"months": [3]}, "block_incomplete", "days"),
        ({"days": 14}, "block_incomplete", "months"),
        ({"days": 14, "months": [10]}, "month_after_horizon", "months"),
        ({"days": 14, "months": [3, 3]}, "block_month_twice", "months"),
        ({"days": 14, "months": [3], "payment": "monthly"}, "block_upfront", "payment"),
        ({"days": 14, "months": [3], "renew": True}, "commitment_key", "renew"),
        ({"days": 14, "months": [3], "from_month": 2}, "commitment_key", "from_month"),
    ],
)
def test_blocks_that_cannot_be(asked: dict[str, object], code: str, key: str) -> None:
    with pytest.raises(InputError) as refused:
        planned({"rental.commitments.reserved": asked})
    assert (refused.value.code, refused.value.field) == (code, f"rental.commitments.reserved.{key}")


def test_days_are_whole_steps_of_the_offer() -> None:
    week = {"offers.reserved.billing_unit_s": 7 * 86_400, "offers.reserved.minimum_s": 14 * 86_400}
    assert cloud(week).tco_usd[0] == pytest.approx(134_268.48, abs=CENT)
    for days in (7, 15):
        with pytest.raises(InputError) as refused:
            planned({**week, "rental.commitments.reserved.days": days})
        assert "at least 14 days in steps of 7" in str(refused.value)


def test_reserved_offers_have_no_days() -> None:
    with pytest.raises(InputError) as refused:
        problem_of(document("committed-node", {"rental.commitments.reserved.days": 14}))
    assert (refused.value.code, refused.value.field) == ("commitment_key", "rental.commitments.reserved.days")
