"""Figures that are computed from others, with their ranges and origins."""

from __future__ import annotations

import pytest

from planner.catalog.records import Figure
from planner.errors import InputError
from planner.scenario.money import Money
from planner.scenario.schema import CurrencyInput
from planner.strategy.parameters import ParameterTable, by_default, given
from planner.strategy.resolve.figures import Figures, combined, interpolated
from tests.planning import catalog


def test_combined_range_adds_deviations_in_quadrature() -> None:
    one = Figure(value=100, low=97, high=104, sources=("a",), as_of="2026-11-01")
    other = Figure(value=10, low=6, high=13, sources=("b", "a"), as_of="2026-03", estimate=True)
    found = combined(lambda x, y: x + y, one, other)
    assert (found.value, found.low, found.high) == (110, pytest.approx(105), pytest.approx(115))
    assert found.sources == ("a", "b")
    assert found.as_of == "2026-03"
    assert found.estimate


def test_combined_of_exact_figures_has_no_range() -> None:
    found = combined(lambda x, y: x * y, given(3), given(4))
    assert (found.value, found.low, found.high, found.estimate) == (12, None, None, False)


def test_a_falling_formula_swaps_the_ends() -> None:
    found = combined(lambda x: 1 / x, Figure(value=0.5, low=0.25, high=1, sources=("a",)))
    assert (found.value, found.low, found.high) == (2, 1, 4)


def test_residual_between_ages() -> None:
    curve = catalog().residuals["gpu-consumer"].ratio_by_age_months
    found = interpolated(curve, 18)
    assert found.value == pytest.approx((0.8 + 0.65) / 2)
    assert found.low == pytest.approx((0.48 + 0.39) / 2)
    assert found.high == pytest.approx((1.0 + 0.845) / 2)
    assert found.estimate
    assert interpolated(curve, 0).value == 1
    with pytest.raises(InputError):
        interpolated(curve, 85)


def test_money_in_another_currency_rests_on_its_rate() -> None:
    found = Figures(catalog()).usd(Money(amount=8000, currency="CNY"), field="x")
    assert (found.value, found.low, found.high) == pytest.approx((1120, 1040, 1200))
    assert found.sources == ("scenario", "fixture-estimate")
    assert found.estimate
    own = Figures(catalog(), {"CNY": CurrencyInput(usd_per_unit=0.2)})
    found = own.usd(Money(amount=8000, currency="CNY"), field="x")
    assert (found.value, found.low, found.sources) == (1600, None, ("scenario",))
    assert Figures(catalog()).usd(Money(amount=3), field="x") == given(3)


def test_currency_without_a_rate() -> None:
    with pytest.raises(InputError) as caught:
        Figures(catalog()).usd(Money(amount=1, currency="ABC"), field="site.electricity_usd_per_kwh")
    assert (caught.value.code, caught.value.field) == ("unknown_currency", "site.electricity_usd_per_kwh")
    assert caught.value.params["value"] == "ABC"


def test_a_parameter_is_added_once() -> None:
    table = ParameterTable()
    assert table.add("a", given(1), "-") == table.add("a", given(2), "-") == 0
    assert table.add("b", by_default("tax_rate", given(3)), "-") == 1
    assert [(p.id, p.value, p.sources) for p in table.freeze()] == [
        ("a", 1, ("scenario",)),
        ("b", 3, ("assumptions:tax_rate",)),
    ]
