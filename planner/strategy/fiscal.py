"""Months of a plan in fiscal years and quarters."""

from __future__ import annotations

from dataclasses import dataclass

from planner.units import MONTHS_PER_YEAR

QUARTER, YEAR = 3, int(MONTHS_PER_YEAR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Months of a plan, from 1, that fall into one period."""

    number: int  # from 1
    label: str  # "2027", "2026/27 Q2"; without a calendar the number
    first: int
    last: int


def spans(months: int, size: int, starts: tuple[int, int] | None = None, year_starts: int | None = None) -> list[Span]:
    """Periods of a plan: those of the fiscal calendar, where the plan's first month is known, else from month 1 on.

    Parameters
    ----------
    months : int
        Months of the plan, those after its horizon included.
    size : int
        Months of a period: 1, 3 or 12.
    starts : tuple of int or None
        Year and month of month 1.
    year_starts : int or None
        Month of the year in which a fiscal year starts; None: 1.

    Returns
    -------
    list of Span
        In order, without gaps; the first and the last may be cut short.
    """
    start_of_year = year_starts or 1
    passed = 0 if starts is None else (starts[1] - start_of_year) % YEAR
    found: list[Span] = []
    first = 1
    while first <= months:
        last = min(first + size - 1 - (passed + first - 1) % size, months)
        number = len(found) + 1
        label = str(number) if starts is None else _label(starts, start_of_year, passed + first - 1, size)
        found.append(Span(number=number, label=label, first=first, last=last))
        first = last + 1
    return found


def _label(starts: tuple[int, int], year_starts: int, passed: int, size: int) -> str:
    """Name of the period that holds a month, `passed` months after the start of the plan's first fiscal year."""
    year = starts[0] - (starts[1] < year_starts) + passed // YEAR
    name = str(year) if year_starts == 1 else f"{year}/{(year + 1) % 100:02d}"
    if size == YEAR:
        return name
    if size == QUARTER:
        return f"{name} Q{passed % YEAR // QUARTER + 1}"
    month = (year_starts - 1 + passed % YEAR) % YEAR + 1
    return f"{year + (month < year_starts)}-{month:02d}"
