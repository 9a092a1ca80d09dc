"""Allowances that are used up: by hand, and never more than wanted or than there is."""

from __future__ import annotations

import numpy as np
import pytest

from planner.cost.allowances import share, within_total
from planner.cost.finance import price_factor


def test_each_row_has_an_allowance_of_its_own() -> None:
    wanted = np.array([[0.0, 3.0, 0.0, 4.0], [0.0, 3.0, 0.0, 4.0], [0.1, 0.2, 0.3, 0.4]])
    found = within_total(wanted, np.array([5.0, 100.0, 0.0]))
    assert found.tolist() == [[0, 3, 0, 2], wanted[1].tolist(), [0, 0, 0, 0]]


def test_what_is_left_over_is_taken_in_full_to_the_last_digit() -> None:
    wanted = np.full((1, 10), 0.1)
    assert within_total(wanted, np.array([1.1])).tolist() == wanted.tolist()
    assert within_total(wanted, np.array([0.55])).sum() == pytest.approx(0.55, abs=1e-12)


def test_a_share_of_nothing_is_none() -> None:
    assert share(np.array([1.0, 0.0]), np.array([4.0, 0.0])).tolist() == [0.25, 0.0]


def test_prices_change_by_the_same_share_every_year() -> None:
    assert price_factor(-0.5, np.array([0.0, 12.0, 24.0])) == pytest.approx([1, 0.5, 0.25])
    assert price_factor(0.21, 6.0) == pytest.approx(1.1)
