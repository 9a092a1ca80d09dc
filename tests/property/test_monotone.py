"""A dearer input or more work never lowers a cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planner.scenario.paths import with_overrides
from planner.strategy.allocate import allocate
from planner.strategy.candidates import KINDS, Kind
from planner.strategy.kernel import kernel
from planner.strategy.parameters import Theta
from tests.planning import costed, problem_of
from tests.property.plans import plans, quick

SLACK = 1e-9  # of the amount: the last binary digits

kinds = st.sampled_from(KINDS)

PRICES = (
    "site.electricity_usd_per_kwh",
    "site.space_usd_per_month",
    "site.colocation.price_usd_per_kw_month",
    "staff.cost_usd_per_fte_year",
    "rental.storage_usd_per_gb_month",
    "rental.egress_usd_per_gb",
    *(f"offers.{name}.price_usd_per_h" for name in ("one", "node")),
    *(f"machines.{name}.gpu_price_usd" for name in ("small", "large")),
    *(f"machines.{name}.host_price_usd" for name in ("small", "large")),
    *(f"machines.{name}.installation_usd" for name in ("small", "large")),
)
RATES = (
    "tax.rate",
    "staff.fte_cloud",
    *(f"machines.{name}.maintenance_share_per_year" for name in ("small", "large")),
    *(f"machines.{name}.fte_per_machine" for name in ("small", "large")),
)


def not_less(dearer: float, before: float) -> bool:
    return dearer >= before - SLACK * max(1.0, abs(before))


@quick
@given(plan=plans(changing=True), kind=kinds, factor=st.sampled_from([1.01, 1.5, 10]))
def test_dearer_with_the_same_choice(plan: dict[str, Any], kind: Kind, factor: float) -> None:
    """Every price and rate in a row of its own, against the row before the change."""
    problem = problem_of(plan)
    theta = problem.theta()
    choice = allocate(problem, theta, kind).choice
    assert choice is not None
    known = {parameter.id: column for column, parameter in enumerate(problem.parameters)}
    changed = [path for path in (*PRICES, *RATES) if path in known]
    assert len(changed) >= len(PRICES) + len(RATES) - 1
    rows = np.repeat(theta, len(changed) + 1, axis=0)
    for row, path in enumerate(changed, start=1):
        rows[row, known[path]] = rows[row, known[path]] * factor + (0.01 if path in RATES else 0.0)
    found = kernel(problem, rows, choice)
    for row, path in enumerate(changed, start=1):
        assert not_less(found.tco_usd[row], found.tco_usd[0]), path
        assert not_less(found.present_value_usd[row], found.present_value_usd[0]), path


@quick
@given(plan=plans(changing=True), kind=kinds, factor=st.sampled_from([1.05, 3]))
def test_dearer_when_planned_again(plan: dict[str, Any], kind: Kind, factor: float) -> None:
    problem = problem_of(plan)
    theta = problem.theta()

    def cheapest(row: Theta) -> float:
        choice = allocate(problem, row, kind).choice
        assert choice is not None
        return float(kernel(problem, row, choice).present_value_usd[0])

    before = cheapest(theta)
    for column, parameter in enumerate(problem.parameters):
        if parameter.id in PRICES or parameter.id in RATES:
            row = theta.copy()
            row[0, column] = row[0, column] * factor + (0.01 if parameter.id in RATES else 0.0)
            assert not_less(cheapest(row), before), parameter.id


@quick
@given(plan=plans(changing=True), more=st.sampled_from([1.001, 1.7, 20]))
def test_more_runs_never_cost_less(plan: dict[str, Any], more: float) -> None:
    busier = with_overrides(plan, {"jobs.a.runs_per_month": plan["jobs"]["a"]["runs_per_month"] * more})
    for kind in KINDS:
        before, after = (costed(each, kind).present_value_usd[0] for each in (plan, busier))
        assert not_less(after, before), kind
