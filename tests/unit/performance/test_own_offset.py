"""What a few rows of one software say of others: by hand, and never beyond what was seen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.performance.own_offset import (
    MOST_CONFIGURATIONS,
    ROW_SPREAD,
    SPREAD,
    OwnEntry,
    evenly,
    leave_one_out,
    own_offset,
    own_rows_offset,
    software_key,
)


def entries(*log_ratios: float, model: str = "m") -> list[OwnEntry]:
    return [
        OwnEntry(model=model, ids=(f"f:{at}",), files=("f",), log_ratio=ratio) for at, ratio in enumerate(log_ratios)
    ]


def test_rows_that_agree_move_all_of_their_stack() -> None:
    agreeing = np.array([0.2, 0.2, 0.2])
    expected = SPREAD**2 / (SPREAD**2 + ROW_SPREAD**2 / 3) * 0.2
    assert own_rows_offset(agreeing) == pytest.approx(expected)
    assert own_rows_offset(-agreeing) == pytest.approx(-expected)


@pytest.mark.parametrize(
    "rows", [[0.2, -0.2, 0.1], [0.3, 0.0, 0.0], [0.1, 0.6, 0.1], [0.0, 0.0, 0.0], [0.5, 0.01, 0.02]]
)
def test_rows_that_do_not_help_each_other_move_nothing(rows: list[float]) -> None:
    assert own_rows_offset(np.array(rows)) == 0.0


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(rows=st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=6))
def test_an_offset_never_goes_beyond_what_was_seen(rows: list[float]) -> None:
    found = own_rows_offset(np.array(rows))
    assert min(0.0, *rows) <= found <= max(0.0, *rows)


def test_more_than_three_rows_count_together() -> None:
    """One of five is better alone, all together aren't: 0.16 each way of the others, and 0.03."""
    rows = np.array([0.2, 0.2, 0.2, 0.2, 0.03])
    assert leave_one_out(rows)[4] > 0.03
    assert leave_one_out(rows).sum() < 0.8 * np.abs(rows).sum()
    assert own_rows_offset(rows) > 0.15
    assert own_rows_offset(np.array([0.2, 0.2, 0.03])) == 0.0
    # Their median is 0.2, but with each other they come out further off than without.
    assert own_rows_offset(np.array([0.3, 0.2, 0.2, -0.2, -0.25])) == 0.0


def test_each_row_is_predicted_by_the_others_alone() -> None:
    # Two rows that agree at 0.3: shrunk by 0.15² / (0.15² + 0.08² / 2), whatever the third says.
    shrunk = SPREAD**2 / (SPREAD**2 + ROW_SPREAD**2 / 2) * 0.3
    assert leave_one_out(np.array([0.3, 0.3, -0.1]))[2] == pytest.approx(shrunk + 0.1)


def test_fewer_than_three_configurations_say_nothing() -> None:
    assert own_offset("g", "vision", "s", entries(0.2, 0.2)) is None
    assert own_offset("g", "vision", "s", []) is None
    found = own_offset("g", "vision", "s", entries(0.2, 0.2, 0.2))
    assert found is not None and found.used and found.rows == 3
    assert found.offset == -own_rows_offset(np.array([0.2, 0.2, 0.2]))
    assert found.cold_error == pytest.approx(0.2) and found.own_error < 0.05
    assert found.words("card")[0] == "own_rows_slower"


def test_rows_that_do_not_help_say_so_and_widen_the_interval() -> None:
    found = own_offset("g", "vision", "s", entries(0.4, -0.4, 0.4, -0.4))
    assert found is not None and not found.used and found.offset == 0
    code, params = found.words("card")
    assert code == "own_rows_no_help" and params["error"] > params["error_without"] == pytest.approx(0.4)
    # Four rows stay within 0.4, what was assumed counts as five: 4/9 x 0.4 + 5/9 x 0.1.
    assert found.half_width(0.1, 0.05) == pytest.approx(4 / 9 * 0.4 + 5 / 9 * 0.1)


def test_an_interval_never_falls_below_the_floor() -> None:
    found = own_offset("g", "vision", "s", entries(*[-0.2] * 200))
    assert found is not None and found.used
    assert found.words("card")[0] == "own_rows_faster"
    assert found.half_width(0.26, 0.0) < 0.09
    assert found.half_width(0.26, 0.09) == 0.09


@pytest.mark.parametrize(
    ("framework", "key"),
    [
        ("PyTorch 2.9.0+cu128", "pytorch"),
        ("PyTorch 2.8", "pytorch"),
        ("planner measure (PyTorch 2.9, transformers 4)", "planner measure"),
        ("own code", "own code"),
        ("", "own software"),
        (None, "own software"),
        ("2.1", "own software"),
    ],
)
def test_versions_and_remarks_are_no_part_of_a_name(framework: str | None, key: str) -> None:
    assert software_key(framework) == key


def test_very_many_configurations_are_looked_at_in_even_steps() -> None:
    assert evenly(3) == [0, 1, 2]
    found = evenly(100_000)
    assert len(found) == MOST_CONFIGURATIONS and (found[0], found[-1]) == (0, 99_999)


def test_rows_far_off_move_nothing_and_say_to_check_their_unit() -> None:
    far = own_offset("g", "vision", "s", entries(np.log(10), np.log(11), np.log(9)))
    assert far is not None and not far.used
    code, params = far.words("card")
    assert (code, params["factor"]) == ("own_rows_far", pytest.approx(10))
    near = own_offset("g", "vision", "s", entries(np.log(2.9), np.log(2.8), np.log(2.9)))
    assert near is not None and near.used and near.words("card")[0] == "own_rows_slower"
