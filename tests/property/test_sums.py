"""Lines add up to the totals, by group, by time and by run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.strategy.candidates import KINDS, Kind
from planner.strategy.compare import cumulative_usd
from tests.planning import costed, present_value, solve, strategy
from tests.property.plans import plans, quick

kinds = st.sampled_from(KINDS)


@quick
@given(plan=plans(changing=True), kind=kinds)
def test_lines_add_up_to_the_totals(plan: dict[str, Any], kind: Kind) -> None:
    found = costed(plan, kind)
    by_group = {"capex": 0.0, "residual": 0.0, "opex": 0.0}
    for line in found.lines:
        by_group[line.group] += float(line.amount[0].sum())
    assert found.capex_usd[0] == pytest.approx(by_group["capex"], rel=1e-12, abs=1e-9)
    assert found.residual_usd[0] == pytest.approx(by_group["residual"], rel=1e-12, abs=1e-9)
    assert found.tco_usd[0] == pytest.approx(sum(by_group.values()), rel=1e-12, abs=1e-9)
    assert found.opex_usd[0] == pytest.approx(found.tco_usd[0] - found.capex_usd[0] - found.residual_usd[0], abs=0.005)
    values = sum(present_value(line, found) for line in found.lines)
    assert found.present_value_usd[0] == pytest.approx(values, rel=1e-12, abs=1e-9)
    assert cumulative_usd(found)[0, -1] == pytest.approx(found.tco_usd[0], rel=1e-12, abs=1e-9)
    assert found.residual_usd[0] <= 0 <= found.capex_usd[0]
    assert found.kwh[0] == pytest.approx(sum(line.kwh[0].sum() for line in found.lines if line.kwh is not None))


@quick
@given(plan=plans(changing=True), kind=kinds)
def test_tax_is_the_rate_on_the_lines_it_taxes(plan: dict[str, Any], kind: Kind) -> None:
    found = costed(plan, kind)
    lines = {line.id: line for line in found.lines}
    for tax in ("tax_purchase", "tax_local", "tax_rented"):
        taxed = np.sum([line.amount[0] for line in found.lines if line.taxed == tax] or [np.zeros(1)], axis=0)
        due = 0.0 if plan["tax"]["recoverable"] else plan["tax"]["rate"] * taxed
        assert (lines[tax].amount[0] if tax in lines else 0.0) == pytest.approx(due, rel=1e-12)
    assert not any(line.taxed for line in found.lines if line.kind.startswith(("staff", "resale", "opportunity")))


@quick
@given(plan=plans(changing=True), kind=kinds)
def test_cost_of_runs_adds_up_to_the_whole(plan: dict[str, Any], kind: Kind) -> None:
    """Machines follow the work, so every line belongs to some run."""
    found = strategy(solve(plan), kind)
    total = sum(job.cost.amortised_usd * job.runs for job in found.jobs)
    assert total == pytest.approx(found.tco_usd, rel=1e-9, abs=1e-6)
