"""Quantities over time, by row: as arrays, or as stretches of time within which they stay the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Span = tuple[int, int]
"""Times from the first up to, not including, the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretches:
    """A quantity that is the same within each of some stretches of time that don't overlap, and 0 at other times.

    What is the same in all months takes one number a row instead of one a month, and so do its sums.
    """

    each: Mapping[Span, Array]  # [rows]
    times: int
    rows: int

    def times_factor(self, factor: Array | float) -> Stretches:
        """The quantity times a number, by row or the same in all."""
        each = {span: np.asarray(quantity * factor) for span, quantity in self.each.items()}
        return Stretches(each=each, times=self.times, rows=self.rows)

    def any(self) -> bool:
        """Whether there is any quantity at all."""
        return any(quantity.any() for quantity in self.each.values())

    def dense(self) -> Array:
        """By row and time."""
        result = np.zeros((self.rows, self.times))
        for (first, end), quantity in self.each.items():
            result[:, first:end] = quantity[:, None]
        return result


Course: TypeAlias = Array | Stretches
"""A quantity by row and time."""


def dense(course: Course) -> Array:
    """A quantity by row and time, as an array."""
    return course.dense() if isinstance(course, Stretches) else course


def scaled(course: Course, factor: Array) -> Course:
    """A quantity times a number a row."""
    return course.times_factor(factor) if isinstance(course, Stretches) else course * factor[:, None]


def added(courses: list[Course]) -> Course:
    """The sum of quantities: as stretches where all are of the same ones, or of times that don't overlap."""
    known = [course for course in courses if isinstance(course, Stretches)]
    spans = sorted({span for course in known for span in course.each})
    if len(known) < len(courses) or any(one[1] > other[0] for one, other in pairwise(spans)):
        return np.asarray(np.sum([dense(course) for course in courses], axis=0))
    each: dict[Span, Array] = {}
    for course in known:
        for span, quantity in course.each.items():
            each[span] = each[span] + quantity if span in each else quantity
    return Stretches(each=each, times=known[0].times, rows=known[0].rows)


def not_negative(course: Course) -> Course:
    """The quantity where it is above 0, else 0."""
    if isinstance(course, Stretches):
        each = {span: np.maximum(quantity, 0.0) for span, quantity in course.each.items()}
        return Stretches(each=each, times=course.times, rows=course.rows)
    return np.maximum(course, 0.0)


class Weights:
    """Weights by row and time, such as discount factors, whose sums over stretches are found once.

    Without an array all weights are 1.
    """

    def __init__(self, by_time: Array | None) -> None:
        self.by_time = by_time
        self._sums: dict[Span, Array | float] = {}

    def total(self, course: Course) -> Array:
        """Sum over time of a quantity times the weights. [rows]"""
        if not isinstance(course, Stretches):
            return np.asarray((course if self.by_time is None else course * self.by_time).sum(axis=1))
        total = np.zeros(course.rows)
        for span, quantity in course.each.items():
            total += quantity * self._over(span)
        return total

    def _over(self, span: Span) -> Array | float:
        if span not in self._sums:
            first, end = span
            by_time = self.by_time
            self._sums[span] = float(end - first) if by_time is None else by_time[:, first:end].sum(axis=1)
        return self._sums[span]
