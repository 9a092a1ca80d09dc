"""The loss of fits and the weights of their rows, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from planner.performance.percent_errors import blended, median_and_p90
from planner.performance.robust import group_weights, robust, robust_slope


def test_small_errors_count_by_their_squares_and_large_ones_by_their_size() -> None:
    errors = np.array([-1e-4, 0.0, 1e-4, np.sqrt(3), -1e6])
    assert robust(errors)[:3] == pytest.approx(errors[:3])
    assert robust(errors)[3] == pytest.approx(np.sqrt(2))  # 2 (sqrt(1 + 3) - 1)
    assert robust(errors)[4] ** 2 == pytest.approx(2e6, rel=1e-5)


def test_the_slope_is_that_of_the_loss() -> None:
    errors = np.linspace(-5, 5, 10)
    numeric = (robust(errors + 1e-5) - robust(errors - 1e-5)) / 2e-5
    assert robust_slope(errors) == pytest.approx(numeric, rel=1e-6)


def test_a_group_weighs_as_the_root_of_its_size() -> None:
    weights = group_weights(["a", "a", "a", "a", "b"])
    assert (weights[:4] ** 2).sum() == pytest.approx(2.0)
    assert weights[4] == 1.0


def test_errors_in_percent_and_blended_widths() -> None:
    assert median_and_p90(np.log([0.9, 1.2, 1.0])) == pytest.approx((10.0, 18.0))
    assert blended(0.1, 0.4, count=5, of_usual=10) == pytest.approx(0.3)
