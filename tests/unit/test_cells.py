"""Cells of tables that people type: what is read, and what is wrong in words."""

from __future__ import annotations

import pytest

from planner.cells import CellError, check_point, collect, number, positive, shown, whole


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1), ("-2.5", -2.5), ("+.5", 0.5), ("3.", 3), ("1e3", 1000), ("1.5E-3", 0.0015)]
)
def test_numbers_have_a_decimal_point(text: str, value: float) -> None:
    assert number("column", text) == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "a number"),
        ("fast", "a number"),
        ("nan", "a number"),
        ("1_000", "a number"),
        ("\uff18", "a number"),
        ("0x10", "a number"),
        ("1e999", "a finite number"),
        ("1,5", "a decimal point: 1.5"),
        ("1,500", "a number without a comma: 1.500 or 1500"),
        ("1,234,567", "a number without thousands marks: 1234567"),
        ("1.234.567,5", "a number without thousands marks: 1234567.5"),
    ],
)
def test_what_is_no_number_is_said_with_what_may_be_meant(text: str, expected: str) -> None:
    with pytest.raises(CellError) as caught:
        number("column", text)
    fault = caught.value
    assert (fault.field, fault.found, fault.expected) == ("column", f"'{text}'" if text else "nothing", expected)


@pytest.mark.parametrize(("text", "expected"), [("0", "at least 1"), ("1.5", "whole number"), ("", "whole number")])
def test_counts_are_whole(text: str, expected: str) -> None:
    assert whole("gpus", "8") == 8
    with pytest.raises(CellError) as caught:
        whole("gpus", text)
    assert expected in caught.value.expected


def test_zero_where_it_may_be() -> None:
    assert positive("fee", "0", zero=True) == 0
    for text, zero in (("0", False), ("-1", False), ("-1", True)):
        with pytest.raises(CellError):
            positive("fee", text, zero=zero)


def test_a_point_that_may_mark_thousands() -> None:
    check_point("price", "1.23")
    check_point("price", "0.123")
    with pytest.raises(CellError) as caught:
        check_point("price", "1.234 EUR")
    assert caught.value.expected == "1.2340 EUR if the point marks decimals, 1234 EUR if thousands"


def test_faults_are_collected() -> None:
    faults: list[CellError] = []
    assert collect(faults, lambda: number("a", "1")) == 1
    assert collect(faults, lambda: number("a", "x")) is None
    assert [fault.field for fault in faults] == ["a"]


def test_long_cells_are_cut() -> None:
    assert shown("x" * 60) == f"'{'x' * 60}'"
    assert shown("x" * 61) == f"'{'x' * 57}...'"
    assert shown("") == "nothing"
