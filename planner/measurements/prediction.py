"""What validation asks of an estimator: a prediction for each row, made from its configuration alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from planner.measurements.rows import LanguageRow, MemoryRow, SampleRow, TimeRow

Basis = Literal["estimated", "transferred", "measured"]

_Row = TypeVar("_Row", LanguageRow, MemoryRow, SampleRow, TimeRow, contravariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPrediction:
    """The prediction of one row, in the unit of its table; low to high is an 80 % interval.

    `skipped` says why there is none; `choices` names what was filled in, such as "micro-batch 4".
    """

    predicted: float | None
    low: float | None = None
    high: float | None = None
    basis: Basis = "estimated"
    novelty: str = ""
    skipped: str | None = None
    choices: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()  # ids of the measurements it was taken from


class Predictor(Protocol[_Row]):
    """Predicts many rows at once, in their order. The rows come without what was measured."""

    def __call__(self, rows: Sequence[_Row], /) -> Sequence[RowPrediction]:
        """One prediction a row; a row that can't be predicted has its reason in `skipped`."""
        ...
