"""The kernel's rows are plans of their own: an array result equals the scalar results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.strategy.allocate import allocate
from planner.strategy.candidates import KINDS, Kind
from planner.strategy.kernel import Choice, kernel
from tests.planning import problem_of
from tests.property.plans import line_amounts, plans, quick, totals


def assert_same_row(one: Any, many: Any, row: int) -> None:
    assert totals(many, row) == pytest.approx(totals(one), rel=1e-9, abs=1e-9)
    alone, together = line_amounts(one), line_amounts(many, row)
    assert alone.keys() == together.keys()
    for id, amounts in alone.items():
        np.testing.assert_allclose(together[id], amounts, rtol=1e-9, atol=1e-9, err_msg=id)
    for name in ("machine_count", "utilisation", "runs_per_month", "discount"):
        np.testing.assert_allclose(getattr(many, name)[row], getattr(one, name)[0], rtol=1e-9, err_msg=name)


@quick
@given(plan=plans(changing=True), kind=st.sampled_from(KINDS), factor=st.sampled_from([0.5, 3]), data=st.data())
def test_a_plan_is_one_row_of_a_sweep(plan: dict[str, Any], kind: Kind, factor: float, data: st.DataObject) -> None:
    problem = problem_of(plan)
    theta = problem.theta()
    choice = allocate(problem, theta, kind).choice
    assert choice is not None
    column = data.draw(st.integers(0, len(problem.parameters) - 1))
    sweep = np.vstack([theta, theta])
    sweep[1, column] *= factor
    found = kernel(problem, sweep, choice)
    assert_same_row(kernel(problem, theta, choice), found, 0)
    assert_same_row(kernel(problem, sweep[1:], choice), found, 1)


@quick
@given(plan=plans(changing=True))
def test_rows_of_values_and_choices_do_not_touch_each_other(plan: dict[str, Any]) -> None:
    problem = problem_of(plan)
    theta = problem.theta()
    picked = [allocate(problem, theta, kind).choice for kind in KINDS]
    choices = [choice for choice in picked if choice is not None]
    assert len(choices) == len(KINDS)
    stacked = Choice(
        machine_count=np.vstack([choice.machine_count for choice in choices]),
        routing=np.vstack([choice.routing for choice in choices]),
    )
    rows = theta * np.random.default_rng(0).uniform(0.8, 1.25, size=(len(choices), theta.shape[1]))
    together = kernel(problem, rows, stacked)
    one_theta = kernel(problem, theta, stacked)
    for row, choice in enumerate(choices):
        assert_same_row(kernel(problem, rows[row : row + 1], choice), together, row)
        assert_same_row(kernel(problem, theta, choice), one_theta, row)
