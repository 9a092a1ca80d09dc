"""Months of a plan in fiscal years and quarters."""

from __future__ import annotations

import pytest

from planner.strategy.fiscal import QUARTER, YEAR, spans


def rows(*arguments, **options):
    return [(span.label, span.first, span.last) for span in spans(*arguments, **options)]


def test_without_a_calendar_periods_begin_with_the_plan() -> None:
    assert rows(30, YEAR) == [("1", 1, 12), ("2", 13, 24), ("3", 25, 30)]
    assert rows(4, QUARTER) == [("1", 1, 3), ("2", 4, 4)]
    assert rows(2, 1) == [("1", 1, 1), ("2", 2, 2)]


def test_fiscal_years_are_named_by_both_calendar_years_they_touch() -> None:
    assert rows(30, YEAR, (2027, 3), 10) == [("2026/27", 1, 7), ("2027/28", 8, 19), ("2028/29", 20, 30)]
    assert rows(13, YEAR, (2099, 10), 10) == [("2099/00", 1, 12), ("2100/01", 13, 13)]
    assert rows(12, YEAR, (2027, 2)) == [("2027", 1, 11), ("2028", 12, 12)]


def test_quarters_are_those_of_the_fiscal_year() -> None:
    assert rows(9, QUARTER, (2027, 2), 10) == [
        ("2026/27 Q2", 1, 2), ("2026/27 Q3", 3, 5), ("2026/27 Q4", 6, 8), ("2027/28 Q1", 9, 9),
    ]  # fmt: skip
    assert rows(3, QUARTER, (2027, 12), 1) == [("2027 Q4", 1, 1), ("2028 Q1", 2, 3)]


def test_months_have_their_date() -> None:
    assert [label for label, _, _ in rows(4, 1, (2027, 11), 10)] == ["2027-11", "2027-12", "2028-01", "2028-02"]
    assert [label for label, _, _ in rows(3, 1, (2027, 2), 4)] == ["2027-02", "2027-03", "2027-04"]


@pytest.mark.parametrize("size", [1, QUARTER, YEAR])
@pytest.mark.parametrize("year_starts", range(1, 13))
def test_every_month_is_in_one_period(size: int, year_starts: int) -> None:
    for start in range(1, 13):
        found = spans(40, size, (2027, start), year_starts)
        assert [month for span in found for month in range(span.first, span.last + 1)] == list(range(1, 41))
        assert all(span.last - span.first + 1 <= size for span in found)
        assert [span.number for span in found] == list(range(1, len(found) + 1))
        assert len({span.label for span in found}) == len(found)
