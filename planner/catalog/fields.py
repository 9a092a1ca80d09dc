"""Types of the fields in the data files: figures with their ranges, dates known in part, ids of sources."""

from __future__ import annotations

import datetime as dt
import re
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from planner.strict_yaml import describe
from planner.yaml_scalars import as_given


def fault(found: str, expected: str) -> PydanticCustomError:
    """An error that says what was found and what would be right; `planner.validation` reads both."""
    return PydanticCustomError("expected", "expected {expected}", {"found": found, "expected": expected})


class Strict(BaseModel):
    """No unknown keys, no conversion of types, no infinity."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def _as_of_text(value: object) -> str:
    """A day, a month or a year as text."""
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, int) and not isinstance(value, bool) and 1990 <= value <= 2100:
        return str(value)
    if isinstance(value, str) and re.fullmatch(r"(19|20)\d\d(-(0[1-9]|1[0-2])(-\d\d)?)?", value):
        try:
            dt.date.fromisoformat((value + "-01-01")[:10])
        except ValueError:
            pass
        else:
            return value
    raise fault(describe(value), 'a day (2026-11-09), a month ("2026-11") or a year (2026)')


def as_of_or_none(value: object) -> str | None:
    """Text of a date as precise as it is known; None where the value isn't one."""
    try:
        return _as_of_text(value)
    except PydanticCustomError:
        return None


def _source_ids(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    if not items or not all(isinstance(item, str) and item for item in items):
        raise fault(describe(value), "the id of a source, or a list of such ids")
    if len(set(items)) < len(items):
        raise fault("a source named twice", "each source once")
    return tuple(items)


def _web_address(value: str) -> str:
    if not re.fullmatch(r"https?://\S+", value):
        raise fault(describe(value), "an address that begins with https://")
    return value


AsOf: TypeAlias = Annotated[str, BeforeValidator(_as_of_text)]
SourceIds: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_source_ids)]
Url: TypeAlias = Annotated[str, AfterValidator(_web_address)]
Text: TypeAlias = Annotated[str, Field(min_length=1)]


class FigureIn(Strict):
    """A number, alone or with its own range, source and date."""

    value: float
    low: float | None = None
    high: float | None = None
    source: SourceIds | None = None
    as_of: AsOf | None = None
    as_of_note: str = ""
    estimate: bool | None = None

    @model_validator(mode="after")
    def _range_holds_value(self) -> FigureIn:
        if (self.low is None) != (self.high is None):
            raise fault("one end of a range", "low and high, or neither")
        if self.low is not None and self.high is not None and not self.low <= self.value <= self.high:
            raise fault(
                f"low {as_given(self.low)}, value {as_given(self.value)}, high {as_given(self.high)}",
                "low <= value <= high",
            )
        return self


def _as_mapping(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float | dict):
        raise fault(describe(value), "a number, or a mapping with value, low, high, source and as_of")
    return value if isinstance(value, dict) else {"value": value}


def _within(low: float, high: float, words: str, *, open_low: bool = False) -> AfterValidator:
    def check(figure: FigureIn) -> FigureIn:
        for number in (figure.value, figure.low, figure.high):
            if number is not None and not (low < number <= high or (number == low and not open_low)):
                raise fault(as_given(number), words)
        return figure

    return AfterValidator(check)


_MOST = 1e30
Positive: TypeAlias = Annotated[
    FigureIn, BeforeValidator(_as_mapping), _within(0, _MOST, "a number above 0", open_low=True)
]
NonNegative: TypeAlias = Annotated[FigureIn, BeforeValidator(_as_mapping), _within(0, _MOST, "a number of at least 0")]
Share: TypeAlias = Annotated[FigureIn, BeforeValidator(_as_mapping), _within(0, 1, "a fraction of 1 (0 to 1)")]
PeakFraction: TypeAlias = Annotated[
    FigureIn,
    BeforeValidator(_as_mapping),
    _within(0, 1.5, "a fraction of the dense peak (above 0, to 1.5)", open_low=True),
]
Factor: TypeAlias = Annotated[FigureIn, BeforeValidator(_as_mapping), _within(1, 10, "a factor of at least 1 (to 10)")]
Count: TypeAlias = Annotated[int, Field(ge=1, le=1_000_000_000)]


class FactIn(Strict):
    """A word or version, alone or with its own source and date."""

    value: Text
    source: SourceIds | None = None
    as_of: AsOf | None = None
    as_of_note: str = ""
    estimate: bool | None = None


def _as_fact(value: object) -> object:
    if not isinstance(value, str | dict):
        raise fault(describe(value), "text in quotes, or a mapping with value, source and as_of")
    return value if isinstance(value, dict) else {"value": value}


TextFact: TypeAlias = Annotated[FactIn, BeforeValidator(_as_fact)]


class RecordIn(Strict):
    """What every record has: `source` and `as_of` hold for all its figures that don't say otherwise."""

    id: Text
    source: SourceIds = ()
    as_of: AsOf | None = None
    as_of_note: str = ""
    note: str = ""
