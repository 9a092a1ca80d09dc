"""What one value of a scenario may be: the limits of numbers, and the forms of names and text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from planner.catalog.records import Term
from planner.scenario.money import Money, parse_money
from planner.units import H_PER_MONTH, S_PER_H

PLANNED_TERMS: tuple[Term, ...] = ("on_demand", "spot")
"""Terms of offers that plans count."""
SMALLEST, LARGEST = 1e-9, 1e18  # beyond these a number is a slip, and its products leave what floats can hold


def check_number(value: object) -> float | int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number")
    try:
        finite = math.isfinite(value)
    except OverflowError:
        finite = False
    if not finite:
        raise ValueError("a finite number")
    return value


def check_whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a whole number")
    number = check_number(value)
    if number != int(number):
        raise ValueError("a whole number")
    return int(number)


def check_positive(value: object) -> float:
    number = check_number(value)
    if number <= 0:
        raise ValueError("a number above 0")
    if not SMALLEST <= number <= LARGEST:
        raise ValueError(f"a number from {SMALLEST:g} to {LARGEST:g}")
    return number


def _between(low: float, high: float, unit: str) -> Callable[[object], float]:
    """Check of a figure of hardware: beyond the limits it is a slip of the unit or the decimal point."""

    def check(value: object) -> float:
        number = check_number(value)
        if number <= 0 < low:
            raise ValueError("a number above 0")
        if not low <= number <= high:
            raise ValueError(f"a number from {low:,.12g} to {high:,.12g} {unit}")
        return number

    return check


def _switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _not_negative(value: object) -> float:
    number = check_number(value)
    if number < 0:
        raise ValueError("a number of at least 0")
    return number if number == 0 else check_positive(number)


def _share(value: object) -> float:
    number = check_number(value)
    if not 0 <= number <= 1:
        raise ValueError("a share from 0 to 1")
    return number if number == 0 else check_positive(number)


def _planned_month(value: object) -> int:
    number = check_whole(value)
    if not 1 <= number <= 84:
        raise ValueError("a month of the plan, from 1 to 84 (what is past isn't planned)")
    return number


def _price(value: object) -> Money:
    money = parse_money(value)
    if money.amount <= 0:
        raise ValueError("an amount greater than 0")
    return _within_reason(money)


def _amount(value: object) -> Money:
    money = parse_money(value)
    if money.amount < 0:
        raise ValueError("an amount of 0 or more")
    return money if money.amount == 0 else _within_reason(money)


def _within_reason(money: Money) -> Money:
    if money.amount < SMALLEST:
        raise ValueError(f"an amount of at least {SMALLEST:.9f}")
    if money.amount > LARGEST:
        raise ValueError(f"an amount of at most {LARGEST:g}")
    return money


def check_id(value: object) -> str:
    """A name that a scenario may give to what is its own; raises ValueError with what is expected."""
    if not isinstance(value, str) or re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", value) is None:
        raise ValueError("a name of letters, digits, '-' or '_' that begins with a letter or digit, at most 64 long")
    return value


def _currency(value: object) -> str:
    if not isinstance(value, str) or re.fullmatch(r"[A-Z]{3}", value) is None:
        raise ValueError("three capital letters such as EUR")
    return value


def check_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("text")
    if not value.strip() or not all(character.isprintable() for character in value):
        raise ValueError("text in one line of printable characters")
    return value


def _job_class(value: object) -> object:
    if value == "service":
        raise ValueError("'development' or 'key' ('service' is reserved for serving, not planned yet)")
    return value


def _from_new(ratios: dict[int, float]) -> dict[int, float]:
    if ratios.get(0, 1.0) != 1.0:
        raise ValueError("a ratio of 1 at age 0, when the unit is new")
    return ratios


def _calendar_month(value: object) -> str:
    if isinstance(value, str) and re.fullmatch(r"(?a)20\d\d-(0[1-9]|1[0-2])", value):
        return value
    raise ValueError("a month such as 2026-10")


Id = Annotated[str, BeforeValidator(check_id)]
CurrencyCode = Annotated[str, BeforeValidator(_currency)]
Positive = Annotated[float, BeforeValidator(check_positive)]
NonNegative = Annotated[float, BeforeValidator(_not_negative)]
Switch = Annotated[bool, BeforeValidator(_switch)]
Share = Annotated[float, BeforeValidator(_share)]
Rate = Annotated[float, BeforeValidator(_share)]
MaintenanceShare = Annotated[float, BeforeValidator(check_number), Field(ge=0, le=100)]  # prices may have fallen
Interrupted = Annotated[float, BeforeValidator(_share), Field(lt=1)]  # all of them would be without end
Available = Annotated[float, BeforeValidator(check_positive), Field(le=1)]  # never would be no offer
AtLeastOne = Annotated[float, BeforeValidator(check_number), Field(ge=1, le=1e6)]
Pue = Annotated[float, BeforeValidator(check_number), Field(ge=1, le=5)]
KgPerKwh = Annotated[float, BeforeValidator(check_number), Field(ge=0, le=3)]
# Limits of hardware: about ten times what any card or machine on sale has.
CardGb = Annotated[float, BeforeValidator(_between(0.1, 10_000, "GB"))]
CardGbPerS = Annotated[float, BeforeValidator(_between(0.1, 100_000, "GB/s"))]
CardTflopPerS = Annotated[float, BeforeValidator(_between(0.001, 100_000, "TFLOP/s"))]
CardW = Annotated[float, BeforeValidator(_between(0.1, 20_000, "W"))]
CardIdleW = Annotated[float, BeforeValidator(_between(0, 20_000, "W"))]
Kw = Annotated[float, BeforeValidator(_between(0.001, 1_000_000, "kW"))]
MbitPerS = Annotated[float, BeforeValidator(_between(0.001, 1_000_000_000, "Mbit/s"))]
GbitPerS = Annotated[float, BeforeValidator(_between(0.001, 1_000_000, "Gbit/s"))]
Fte = Annotated[float, BeforeValidator(_between(0, 10_000, "FTE"))]
MachineW = Annotated[float, BeforeValidator(_between(0.1, 1_000_000, "W"))]
MachineIdleW = Annotated[float, BeforeValidator(_between(0, 1_000_000, "W"))]
Seconds = Annotated[float, BeforeValidator(_not_negative), Field(le=S_PER_H * H_PER_MONTH)]
Retry = Annotated[float, BeforeValidator(check_positive), Field(le=S_PER_H * H_PER_MONTH)]
BillingUnit = Annotated[float, BeforeValidator(check_positive), Field(le=S_PER_H * H_PER_MONTH)]
Count = Annotated[int, BeforeValidator(check_whole), Field(ge=1, le=1_000_000)]
GpuQuota = Annotated[int, BeforeValidator(check_whole), Field(ge=0, le=1_000_000)]
Month = Annotated[int, BeforeValidator(check_whole), Field(ge=1, le=84)]
CalendarMonth = Annotated[str, BeforeValidator(_calendar_month)]
Days = Annotated[int, BeforeValidator(check_whole), Field(ge=1, le=366)]
Growth = Annotated[float, BeforeValidator(check_number), Field(ge=-0.5, le=0.5)]  # a month; half is far beyond any plan
PriceChange = Annotated[float, BeforeValidator(check_number), Field(ge=-0.5, le=0.5)]  # a year
PurchaseMonth = Annotated[int, BeforeValidator(check_whole), Field(ge=0, le=84)]  # at whose end; 0: the start
DeliveryMonths = Annotated[int, BeforeValidator(check_whole), Field(ge=0, le=24)]
Months = Annotated[int, BeforeValidator(check_whole), Field(ge=1, le=84)]
AgeMonths = Annotated[int, BeforeValidator(check_whole), Field(ge=0, le=240)]
JobClass = Annotated[Literal["development", "key"], BeforeValidator(_job_class)]
Price = Annotated[Money, BeforeValidator(_price)]
Amount = Annotated[Money, BeforeValidator(_amount)]
ResidualRatios = Annotated[dict[AgeMonths, Share], Field(min_length=1), AfterValidator(_from_new)]
PlannedMonth = Annotated[int, BeforeValidator(_planned_month)]
