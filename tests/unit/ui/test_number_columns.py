"""Columns of numbers in words stand to the right, others don't."""

from ui import number_columns
from ui.formatting import MINUS, NBSP


def test_columns_of_nothing_but_numbers_stand_to_the_right():
    rows = [
        {"amount": "1,234.50", "minus": "", "share": f"4{NBSP}%", "name": "a", "mixed": "3", "empty": "", "n": 1},
        {"amount": "3.00", "minus": f"{MINUS}2", "share": "", "name": "4 b", "mixed": "x", "empty": "", "n": 2},
    ]
    found = number_columns.right(rows)
    assert list(found) == ["amount", "minus", "share"]
    assert {column["alignment"] for column in found.values()} == {"right"}
    assert number_columns.right([]) == {}
