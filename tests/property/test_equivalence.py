"""Questions that are the same question get the same answer."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.scenario.money import parse_money
from planner.scenario.paths import get_value, numeric_paths, with_overrides
from planner.strategy.allocate import allocate
from planner.strategy.candidates import KINDS, Kind
from planner.strategy.kernel import kernel
from tests.planning import costed, problem_of
from tests.property.plans import line_amounts, plans, quick, totals


@quick
@given(plan=plans(changing=True), share=st.sampled_from([0, 1]))
def test_hybrid_at_share_0_or_1_is_cloud_or_local(plan: dict[str, Any], share: int) -> None:
    """Machines follow the work here; a fixed number would be bought in the hybrid anyway."""
    shared = copy.deepcopy(plan)
    for job in shared["jobs"].values():
        job["local_share"] = share
    hybrid, other = costed(shared, "hybrid"), costed(plan, "local" if share else "cloud")
    assert totals(hybrid) == pytest.approx(totals(other), rel=1e-12)
    assert line_amounts(hybrid) == line_amounts(other)


@quick
@given(plan=plans(owned=False), kind=st.sampled_from(KINDS))
def test_twice_the_horizon_of_constant_demand_doubles_running_costs(plan: dict[str, Any], kind: Kind) -> None:
    problem = problem_of(plan)
    choice = allocate(problem, problem.theta(), kind).choice
    assert choice is not None
    long = problem_of(with_overrides(plan, {"horizon_months": 2 * plan["horizon_months"]}))
    once, twice = kernel(problem, problem.theta(), choice), kernel(long, long.theta(), choice)
    assert twice.opex_usd[0] == pytest.approx(2 * once.opex_usd[0], abs=0.005)
    assert twice.kwh[0] == pytest.approx(2 * once.kwh[0])
    running = {line.id for line in once.lines if line.group == "opex"}
    assert {line.id for line in twice.lines if line.group == "opex"} == running


@quick
@given(plan=plans(changing=True), kind=st.sampled_from(KINDS), usd_per_unit=st.sampled_from([0.14, 1.15, 3.0, 0.0067]))
def test_prices_in_another_currency(plan: dict[str, Any], kind: Kind, usd_per_unit: float) -> None:
    foreign = with_overrides(plan, {"currencies.ABC.usd_per_unit": usd_per_unit})
    for path in numeric_paths(plan):
        value = get_value(plan, path)
        if "_usd" in path and value is not None:
            section, _, name = path.rpartition(".")
            here = get_value(foreign, section)
            del here[name]
            stem, _, rest = name.partition("_usd")
            here[stem + rest] = f"{value / usd_per_unit!r} ABC"
    assert totals(costed(foreign, kind)) == pytest.approx(totals(costed(plan, kind)), rel=1e-9, abs=1e-6)


@quick
@given(
    amount=st.floats(0.01, 1e9, allow_nan=False),
    rate=st.floats(0.001, 1000, allow_nan=False),
)
def test_currency_in_and_out_are_inverse(amount: float, rate: float) -> None:
    plan = {
        "schema_version": 1,
        "horizon_months": 1,
        "currency": "ABC",
        "currencies": {"ABC": {"usd_per_unit": rate}},
        "staff": {"cost_per_fte_year": f"{amount!r} ABC"},
        "jobs": {"a": {"workload": "bert-large-squad", "runs_per_month": 1}},
        "rental": {"offers": []},
    }
    assert parse_money(f"{amount!r} ABC").amount == amount
    problem = problem_of(plan)
    in_usd = float(problem.theta()[0, problem.wage_at])
    assert in_usd == pytest.approx(amount * rate, rel=1e-12)
    assert in_usd / problem.usd_per_unit == pytest.approx(amount, rel=1e-12)
