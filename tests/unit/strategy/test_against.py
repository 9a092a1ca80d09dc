"""A strategy over a baseline: net present value, payback, and a rate of return only where there is one."""

from __future__ import annotations

import numpy as np
import pytest

from planner.errors import ScenarioError
from planner.report.document import plan_document
from planner.report.finance import against_entries, finance_entry
from planner.scenario.load import check_document
from planner.strategy.against import internal_rate
from tests.planning import document, small_plan, solve


def flows(**amounts: float):
    """Money by month: m0, m12."""
    found = np.zeros(37)
    for month, amount in amounts.items():
        found[int(month[1:])] += amount
    return found


def test_rate_of_one_sum_for_another() -> None:
    assert internal_rate(flows(m0=-100, m12=121)) == (pytest.approx(0.21), None)
    assert internal_rate(flows(m6=-100, m18=121)) == (pytest.approx(0.21), None)
    assert internal_rate(flows(m0=-100, m24=81)) == (pytest.approx(-0.1), None)
    assert internal_rate(flows(m0=-100, m12=60, m24=72)) == (pytest.approx(0.2), None)


def test_a_replacement_turns_the_flows_thrice_and_still_one_rate_is_right() -> None:
    found, reason = internal_rate(flows(m0=-100, m12=150, m18=-30, m36=60))
    assert reason is None
    assert np.sum(flows(m0=-100, m12=150, m18=-30, m36=60) * (1 + found) ** (-np.arange(37) / 12)) == pytest.approx(0)


@pytest.mark.parametrize(
    ("amounts", "reason"),
    [
        ({}, "no_investment"),
        ({"m0": 10.0, "m12": 5.0}, "no_investment"),
        ({"m0": 0.004, "m12": -0.004}, "no_investment"),
        ({"m0": -10.0, "m12": -5.0}, "nothing_back"),
        ({"m0": 100.0, "m12": -121.0}, "borrows"),
        ({"m0": -100.0, "m12": 230.0, "m24": -132.0}, "several_rates"),  # 10 % and 20 %
        ({"m0": -1e6, "m12": 0.01}, "below_all"),
    ],
)
def test_where_there_is_no_rate_it_is_said_why(amounts: dict[str, float], reason: str) -> None:
    assert internal_rate(flows(**amounts)) == (None, reason)


def test_owning_over_renting_by_hand() -> None:
    """Own: 1,500 at the start, 12.30 a month, 625 back; rent: 200 a month. 187.70 a month make 1,500 in month 8."""
    result = solve(small_plan({"discount_rate": 0.05}))
    entries = against_entries(result)
    own = entries["local"]
    assert entries["cloud"] is None
    discount = 1.05 ** (-np.arange(13) / 12)
    value = -1500 + 187.7 * discount[1:].sum() + 625 * discount[12]
    assert own["npv_usd"] == pytest.approx(value)
    assert [entry["month"] for entry in own["payback"]] == [8, 9]
    assert 187.7 * 8 > 1500 > 187.7 * discount[1:9].sum()
    rate = own["irr_per_year"]
    powers = (1 + rate) ** (-np.arange(13) / 12)
    assert -1500 + 187.7 * powers[1:].sum() + 625 * powers[12] == pytest.approx(0, abs=1e-6)
    assert own["irr_reason"] is None


def test_a_baseline_of_the_readers_own() -> None:
    entries = against_entries(solve(small_plan({"baseline": "local"})))
    assert entries["local"] is None
    assert entries["cloud"]["baseline"] == "local"
    assert entries["cloud"]["npv_usd"] == pytest.approx(1500 - 625 + 147.6 - 2400)
    assert {entry["reason"] for entry in entries["cloud"]["payback"]} == {"no_higher_purchase"}
    assert entries["cloud"]["irr_reason"] == "borrows"
    assert entries["hybrid"]["npv_usd"] == 0  # it is the same plan as owning all


def test_a_baseline_that_cannot_be_carried_out_is_said() -> None:
    asked = {"baseline": "cloud", "jobs.work.in_house": True}
    result = solve(small_plan(asked))
    assert set(against_entries(result).values()) == {None}
    assert finance_entry(result)["baseline"] is None
    (warning,) = [entry for entry in plan_document(result)["warnings"] if entry["field"] == "baseline"]
    assert warning["code"] == "baseline_infeasible"
    assert "found cloud" in warning["message"]


def test_without_a_way_to_rent_nothing_is_compared_and_nothing_is_warned_of() -> None:
    result = solve(small_plan({"jobs.work.in_house": True}))
    assert set(against_entries(result).values()) == {None}
    assert not any(entry["code"] == "baseline_infeasible" for entry in plan_document(result)["warnings"])


def test_an_unknown_baseline() -> None:
    with pytest.raises(ScenarioError) as caught:
        check_document(small_plan({"baseline": "rent"}))
    assert "'local', 'cloud' or 'hybrid'" in caught.value.problems[0].expected


def test_of_the_hybrid_lab_by_its_totals() -> None:
    entries = against_entries(solve(document("hybrid-lab")))
    assert entries["hybrid"]["npv_usd"] == pytest.approx(113_913.64 - 89_149.19, abs=0.0101)
