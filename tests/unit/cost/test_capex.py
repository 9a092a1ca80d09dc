"""When units are bought and sold, and for how much."""

from __future__ import annotations

import numpy as np
import pytest

from planner.cost.capex import Sale, Schedule, interpolate_ratio, residual_ratio, unit_schedule
from planner.errors import InputError


def schedule(horizon: int, life: int, *, first_age: int = 0, replacement_age: int = 0, owned: bool = False) -> Schedule:
    return unit_schedule(
        horizon_months=horizon,
        useful_life_months=life,
        first_age=first_age,
        replacement_age=replacement_age,
        owned=owned,
    )


def sales(found: Schedule) -> list[tuple[int, int, int]]:
    return [(sale.month, sale.bought_age, sale.sold_age) for sale in found.sales]


def test_sold_after_the_last_month() -> None:
    assert schedule(24, 36) == Schedule(purchase_months=(0,), sales=(Sale(month=24, bought_age=0, sold_age=24),))


def test_replaced_at_the_end_of_its_life() -> None:
    found = schedule(60, 36)
    assert found.purchase_months == (0, 36)
    assert sales(found) == [(36, 0, 36), (60, 0, 24)]


def test_a_life_that_ends_with_the_horizon_triggers_no_replacement() -> None:
    assert schedule(36, 36).purchase_months == (0,)
    assert sales(schedule(36, 36)) == [(36, 0, 36)]
    assert schedule(72, 36).purchase_months == (0, 36)
    assert schedule(73, 36).purchase_months == (0, 36, 72)


def test_bought_used_ends_its_life_sooner_each_time() -> None:
    found = schedule(40, 36, first_age=20, replacement_age=20)
    assert found.purchase_months == (0, 16, 32)
    assert sales(found) == [(16, 20, 36), (32, 20, 36), (40, 20, 28)]


def test_owned_already_is_not_bought_but_replaced() -> None:
    found = schedule(36, 48, first_age=30, owned=True)
    assert found.purchase_months == (18,)
    assert sales(found) == [(18, 30, 48), (36, 0, 18)]


@pytest.mark.parametrize(
    ("ages", "field"),
    [
        ({"first_age": 36, "owned": True}, "owned.age_months"),
        ({"first_age": 36, "replacement_age": 36}, "age_months"),
    ],
)
def test_past_its_life_already(ages: dict[str, int], field: str) -> None:
    with pytest.raises(InputError) as caught:
        schedule(24, 36, **ages)
    assert (caught.value.code, caught.value.field) == ("past_useful_life", field)
    assert caught.value.params == {"value": 36, "useful_life_months": 36}


def test_ratio_of_a_used_unit_is_over_what_it_was_worth_when_bought() -> None:
    assert residual_ratio(0.5, 1.0) == 0.5
    assert residual_ratio(0.3, 0.6) == 0.5


def test_ratio_is_capped_at_one() -> None:
    assert residual_ratio(0.9, 0.6) == 1.0
    assert residual_ratio(np.array([0.3, 0.9]), np.array([0.6, 0.6])).tolist() == [0.5, 1.0]


def test_ratio_is_linear_between_the_ages_given_and_from_new() -> None:
    ratios = {24: 0.6, 36: 0.5}
    assert interpolate_ratio(ratios, 0) == 1.0
    assert interpolate_ratio(ratios, 12) == pytest.approx(0.8)
    assert interpolate_ratio(ratios, 30) == pytest.approx(0.55)
    assert interpolate_ratio(ratios, 36) == 0.5


def test_no_ratio_beyond_the_last_age() -> None:
    with pytest.raises(InputError) as caught:
        interpolate_ratio({24: 0.6}, 25)
    assert caught.value.params == {"age_months": 25, "last_age_months": 24}
