"""Discounting by month."""

from __future__ import annotations

import numpy as np
import pytest

from planner.cost.finance import discount_factor, instalment, real_share


def test_factor_of_a_year_and_of_the_start() -> None:
    assert discount_factor(0.25, 12) == pytest.approx(0.8)
    assert discount_factor(0.25, 0) == 1.0
    assert discount_factor(0.21, 6) == pytest.approx(1 / 1.1)


def test_the_ends_of_36_months_make_the_printed_annuity() -> None:
    months = np.arange(1.0, 37.0)
    assert np.sum(discount_factor(0.05, months)) == pytest.approx(33.421273, abs=5.01e-7)
    assert np.sum(discount_factor(0.0, months)) == 36.0


def test_array_equals_scalars() -> None:
    rates = np.array([0.0, 0.05, 0.3])
    assert discount_factor(rates, 7).tolist() == [float(discount_factor(float(rate), 7)) for rate in rates]


def test_instalments_pay_back_with_interest() -> None:
    assert instalment(0.05, 36) * np.sum(discount_factor(0.05, np.arange(1.0, 37.0))) == pytest.approx(1.0)
    assert instalment(0.0, 10) == 0.1
    assert instalment(np.array([0.0, 0.06]), 12).tolist() == pytest.approx([1 / 12, 0.0859933933])


def test_inflation_wears_fixed_amounts_down() -> None:
    assert real_share(0.21, 6) == pytest.approx(1 / 1.1)
    assert real_share(0.0, 60) == 1.0
