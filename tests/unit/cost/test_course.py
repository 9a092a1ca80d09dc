"""Quantities over time in few numbers: the same as by month, in every sum."""

from __future__ import annotations

import numpy as np
import pytest

from planner.cost.course import Stretches, Weights, added, dense, not_negative, scaled

MONTHLY = Stretches(each={(1, 4): np.array([2.0, -1.0])}, times=5, rows=2)
EVENTS = Stretches(each={(0, 1): np.array([10.0, 0.0]), (4, 5): np.array([0.0, 7.0])}, times=5, rows=2)
LATER = Stretches(each={(3, 5): np.array([1.0, 1.0])}, times=5, rows=2)


def test_stretches_by_month() -> None:
    assert dense(MONTHLY).tolist() == [[0, 2, 2, 2, 0], [0, -1, -1, -1, 0]]
    assert dense(EVENTS).tolist() == [[10, 0, 0, 0, 0], [0, 0, 0, 0, 7]]
    assert dense(dense(EVENTS)).tolist() == dense(EVENTS).tolist()


@pytest.mark.parametrize("course", [MONTHLY, EVENTS, dense(MONTHLY)])
@pytest.mark.parametrize(
    "weights", [None, np.array([[1.0, 0.9, 0.8, 0.7, 0.6]]), np.arange(10.0).reshape(2, 5)], ids=["even", "one", "each"]
)
def test_sums_are_those_by_month(course: Stretches, weights: np.ndarray | None) -> None:
    expected = (dense(course) * (1.0 if weights is None else weights)).sum(axis=1)
    total = Weights(weights)
    for _ in range(2):
        np.testing.assert_allclose(total.total(course), expected, rtol=1e-15)


@pytest.mark.parametrize("courses", [[MONTHLY, MONTHLY], [MONTHLY, EVENTS], [MONTHLY, LATER], [MONTHLY, dense(EVENTS)]])
def test_added_courses_are_added_by_month(courses: list[Stretches]) -> None:
    np.testing.assert_array_equal(dense(added(courses)), sum(dense(course) for course in courses))


def test_stretches_that_overlap_are_added_by_month() -> None:
    assert isinstance(added([MONTHLY, EVENTS]), Stretches)
    assert not isinstance(added([MONTHLY, LATER]), Stretches)


@pytest.mark.parametrize("course", [MONTHLY, dense(MONTHLY)])
def test_scaled_and_cut_by_row(course: Stretches) -> None:
    np.testing.assert_array_equal(dense(scaled(course, np.array([3.0, 5.0]))), dense(course) * [[3.0], [5.0]])
    np.testing.assert_array_equal(dense(not_negative(course)), np.maximum(dense(course), 0))
