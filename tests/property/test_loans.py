"""A loan at the discount rate is worth nothing and costs nothing, whatever is bought and when."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.strategy.allocate import allocate
from planner.strategy.kernel import kernel
from tests.planning import problem_of
from tests.property.plans import between, plans, quick
from tests.property.test_kernel_rows import assert_same_row


@quick
@given(
    plan=plans(),
    inflation=between(0, 0.1),
    term=st.integers(1, 60),
    share=between(0.1, 1),
    dearer=st.sampled_from([-0.01, 0.0, 0.01]),
)
def test_a_loan_at_the_discount_rate_leaves_the_present_value(
    plan: dict[str, Any], inflation: float, term: int, share: float, dearer: float
) -> None:
    plan = {**plan, "inflation_per_year": inflation}
    rate = (1 + plan["discount_rate"]) * (1 + inflation) - 1
    interest = max(rate + dearer, 0.0)
    loan = {"kind": "loan", "term_months": term, "financed_share": share, "nominal_interest_per_year": interest}
    financed = {id: {**machine, "finance": loan} for id, machine in plan["machines"].items()}
    bought, lent = problem_of(plan), problem_of({**plan, "machines": financed})
    choice = allocate(bought, bought.theta(), "local").choice
    assert choice is not None
    cash, borrowed = (kernel(problem, problem.theta(), choice) for problem in (bought, lent))
    assert borrowed.capex_usd[0] == pytest.approx(cash.capex_usd[0])
    difference = borrowed.present_value_usd[0] - cash.present_value_usd[0]
    if interest == pytest.approx(rate, abs=1e-12):
        assert difference == pytest.approx(0, abs=1e-6)
    elif any(line.kind == "loan_proceeds" for line in borrowed.lines):
        assert difference * (interest - rate) > 0
    else:  # all machines are there already
        assert difference == 0


@quick
@given(plan=plans(), lease=st.booleans(), term=st.integers(1, 14), data=st.data())
def test_a_financed_plan_is_one_row_of_a_sweep(
    plan: dict[str, Any], lease: bool, term: int, data: st.DataObject
) -> None:
    loan = {"kind": "loan", "term_months": term, "nominal_interest_per_year": 0.07, "financed_share": 0.7}
    terms = {"kind": "lease", "lease_factor_per_month": 0.04}
    for machine in plan["machines"].values():
        most = machine["useful_life_months"] - machine.get("age_months", 0)
        machine["finance"] = {**terms, "term_months": min(term, most)} if lease else loan
    problem = problem_of({**plan, "inflation_per_year": 0.03})
    theta = problem.theta()
    choice = allocate(problem, theta, "local").choice
    assert choice is not None
    column = data.draw(st.integers(0, len(problem.parameters) - 1))
    sweep = np.vstack([theta, theta])
    sweep[1, column] *= 0.5
    found = kernel(problem, sweep, choice)
    assert_same_row(kernel(problem, theta, choice), found, 0)
    assert_same_row(kernel(problem, sweep[1:], choice), found, 1)
