"""What every record is made of: a source, a figure with its range and date, a fact in words."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where figures come from. `kind` "estimate" marks every figure that cites it as an estimate."""

    id: str
    title: str
    url: str | None = None
    retrieved: dt.date | None = None
    kind: Literal["published", "estimate", "definition", "scenario"] = "published"
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number with its range, source and date. The unit is in the name of the field that holds it.

    `as_of` is as exact as it is known: "2026-11-09", "2026-11", "2026" or None. `estimate` is true when a source is an
    estimate or the record says so.
    """

    value: float
    low: float | None = None
    high: float | None = None
    sources: tuple[str, ...]
    as_of: str | None = None
    as_of_note: str = ""
    estimate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What a source states in words or as a version, such as "HBM3" or "525.60.13", with source and date."""

    value: str
    sources: tuple[str, ...]
    as_of: str | None = None
    as_of_note: str = ""
    estimate: bool = False


def first_day(as_of: str | None) -> dt.date | None:
    """First day of a date known to the day, month or year; None stays None."""
    if as_of is None:
        return None
    parts = [int(part) for part in as_of.split("-")]
    return dt.date(parts[0], parts[1] if len(parts) > 1 else 1, parts[2] if len(parts) > 2 else 1)
