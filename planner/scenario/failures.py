"""How often a machine fails, as a scenario may say it."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BeforeValidator

from planner.scenario.values import check_number
from planner.units import H_PER_YEAR

TYPICAL: Final = "typical"
"""What is assumed of machines of this size."""


def _check_failures(value: object) -> float | str:
    if value == TYPICAL:
        return TYPICAL
    expected = f"a number from 0 to {H_PER_YEAR:,.0f}, or '{TYPICAL}'"
    try:
        number = check_number(value)
    except ValueError:
        raise ValueError(expected) from None
    if not 0 <= number <= H_PER_YEAR:
        raise ValueError(expected)
    return number


def _check_repair(value: object) -> float:
    number = check_number(value)
    if not 0 <= number <= H_PER_YEAR:
        raise ValueError(f"a number from 0 to {H_PER_YEAR:,.0f}")
    return number


FailuresPerYear = Annotated[float | str, BeforeValidator(_check_failures)]
RepairH = Annotated[float, BeforeValidator(_check_repair)]
