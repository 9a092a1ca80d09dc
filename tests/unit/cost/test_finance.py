"""Discounting by month."""

from __future__ import annotations

import numpy as np
import pytest

from planner.cost.finance import annuity_factor, discount_factor


def test_factor_of_a_year_and_of_the_start() -> None:
    assert discount_factor(0.25, 12) == pytest.approx(0.8)
    assert discount_factor(0.25, 0) == 1.0
    assert discount_factor(0.21, 6) == pytest.approx(1 / 1.1)


def test_annuity_adds_the_ends_of_the_months() -> None:
    assert annuity_factor(0.05, 36) == pytest.approx(33.421273, abs=5.01e-7)
    assert annuity_factor(0.0, 36) == 36.0
    assert annuity_factor(0.05, 1) == pytest.approx(discount_factor(0.05, 1))


def test_array_equals_scalars() -> None:
    rates = np.array([0.0, 0.05, 0.3])
    assert discount_factor(rates, 7).tolist() == [float(discount_factor(float(rate), 7)) for rate in rates]
    assert annuity_factor(rates, 24).tolist() == [float(annuity_factor(float(rate), 24)) for rate in rates]
