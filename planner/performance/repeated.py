"""Published speeds of one configuration as the answer to a row of a table that has it too, but isn't one of them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from planner.catalog.source_ids import MEASUREMENTS
from planner.measurements.prediction import RowPrediction

MOST_SOURCES = 8
"""Rows that are named of those an answer rests on. [-]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One published speed, as far as it tells whether a row of a table is this very measurement."""

    id: str
    date: str
    origin: str  # source, or the software of a source
    speed: float


def repeated(
    rows: Sequence[Published], *, id: str, date: str | None, origin: str, half_width: float, novelty: str
) -> RowPrediction | None:
    """Median of the rows that aren't the asked one itself; None where none is left.

    Parameters
    ----------
    rows : sequence of Published
        Of the asked row's configuration.
    id, date, origin
        Of the asked row. A row of its id is taken for itself, and so is one of its origin and date, however these are
        spelled, or of its origin where it has no date: a table that was published must not answer itself.
    half_width : float
        Of the 80 % interval on the log where all rows agree; how far they lie apart is added in quadrature. [-]
    novelty : str
        What the answer is said to know.
    """
    asked = _spelled(origin)
    others = [row for row in rows if row.id != id and not (_spelled(row.origin) == asked and _same_day(row.date, date))]
    if not others:
        return None
    speed = median(row.speed for row in others)
    apart = max(abs(math.log(row.speed / speed)) for row in others)
    factor = math.exp(math.hypot(half_width, apart))
    return RowPrediction(
        predicted=speed,
        low=speed / factor,
        high=speed * factor,
        basis="measured",
        novelty=novelty,
        sources=tuple(f"{MEASUREMENTS}{row.id}" for row in sorted(others, key=lambda row: row.id)[:MOST_SOURCES]),
    )


def _spelled(origin: str) -> str:
    """An origin as a key: letters and digits of what stands before a version."""
    return re.sub(r"[^a-z0-9/.]", "", origin.casefold().partition("@")[0])


def _same_day(one: str, other: str | None) -> bool:
    """Whether two dates can be one, as far as both are known: of a month and a day in it, yes."""
    return not one or not other or one.startswith(other) or other.startswith(one)
