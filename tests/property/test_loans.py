"""A loan at the discount rate is worth nothing and costs nothing, whatever is bought and when."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.planning import costed
from tests.property.plans import between, plans, quick


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
    cash = costed(plan, "local")
    plan = {**plan, "inflation_per_year": inflation}
    rate = (1 + plan["discount_rate"]) * (1 + inflation) - 1
    interest = max(rate + dearer, 0.0)
    loan = {
        "kind": "loan",
        "term_months": term,
        "financed_share": share,
        "nominal_interest_per_year": interest,
    }
    plan["machines"] = {id: {**machine, "finance": loan} for id, machine in plan["machines"].items()}
    borrowed = costed(plan, "local")
    assert borrowed.capex_usd[0] == pytest.approx(cash.capex_usd[0])
    difference = borrowed.present_value_usd[0] - cash.present_value_usd[0]
    if interest == pytest.approx(rate, abs=1e-12):
        assert difference == pytest.approx(0, abs=1e-6)
    else:
        assert difference * (interest - rate) > 0
