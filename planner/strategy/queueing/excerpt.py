"""A part of one simulated course for a picture: the attempts of a typical month, by machine and GPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from planner.cost.course import Array
from planner.strategy.queueing.attempts import Attempts
from planner.strategy.queueing.simulate import Pool
from planner.strategy.queueing.streams import H_PER_DAY, H_PER_WEEK, OFFICE_OPENS_H, Stream
from planner.units import H_PER_MONTH, H_PER_YEAR, MONTHS_PER_YEAR

MOST_ATTEMPTS: Final = 400
"""In a picture, beyond which a shorter time is shown."""
_SPANS_H = (H_PER_MONTH, H_PER_WEEK, H_PER_DAY, 1.0)
_FEWEST_ATTEMPTS = 4  # in a month, below which a year is shown
_SLACK_H = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """GPUs side by side on one machine that an attempt holds; several of these where it holds others too."""

    attempt: int  # index in the course
    machine: int
    first_gpu: int
    gpus: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """What runs between two moments of a course."""

    month: int  # from 1
    start_h: float
    end_h: float
    attempts: int  # that run within
    placed: tuple[Placed, ...]


def month_work_h(streams: Sequence[Stream]) -> Array:
    """Expected GPU-hours of work by month. [h]"""
    by_stream = [
        np.array(stream.runs_per_month) * stream.attempts_per_run * stream.duration_h * stream.gpus * stream.machines
        for stream in streams
    ]
    return np.asarray(np.sum(by_stream, axis=0))


def typical_month(work_h: Array) -> int:
    """Month, from 1, whose work is nearest the median; of equal ones that in the middle, where queues have settled.

    >>> typical_month(np.array([1.0, 5.0, 3.0, 9.0, 3.0]))
    3
    """
    apart = np.abs(work_h - np.median(work_h))
    nearest = np.flatnonzero(apart <= apart.min() * (1 + 1e-9) + 1e-12)
    return int(nearest[np.argmin(np.abs(nearest - (len(work_h) - 1) / 2))]) + 1


def excerpt(pool: Pool, streams: Sequence[Stream], course: Attempts, months: int) -> Excerpt:
    """The typical month of a course, or its first whole week, day or hour where more than 400 attempts run.

    Where hardly anything runs in the month, it is the year around it.

    Parameters
    ----------
    pool : Pool
        The machines.
    streams : sequence of Stream
        What was submitted.
    course : Attempts
        What became of it.
    months : int
        Simulated months.
    """
    month = typical_month(month_work_h(streams)[:months])
    begins = (month - 1) * H_PER_MONTH
    week = float(np.ceil(begins / H_PER_WEEK) * H_PER_WEEK)
    for span_h in _SPANS_H:
        start = begins if span_h == H_PER_MONTH else week + (OFFICE_OPENS_H if span_h < H_PER_DAY else 0.0)
        within = _within(course, start, start + span_h)
        if len(within) <= MOST_ATTEMPTS:
            break
    if span_h == H_PER_MONTH and len(within) < _FEWEST_ATTEMPTS:
        start = begins - (month - 1) % int(MONTHS_PER_YEAR) * H_PER_MONTH
        span_h = min(H_PER_YEAR, months * H_PER_MONTH - start)
        within = _within(course, start, start + span_h)
    placed = _placed(pool, [stream.gpus for stream in streams], course, within[:MOST_ATTEMPTS].tolist())
    return Excerpt(month=month, start_h=start, end_h=start + span_h, attempts=len(within), placed=placed)


def _within(course: Attempts, start_h: float, end_h: float) -> npt.NDArray[np.intp]:
    return np.flatnonzero((course.started_h < end_h) & (course.ended_h > start_h))


def _placed(pool: Pool, taken: Sequence[int], course: Attempts, within: Sequence[int]) -> tuple[Placed, ...]:
    """Which GPUs of its machines each attempt holds: side by side where that many are free."""
    free_from = [[-np.inf] * pool.gpus for _ in range(pool.machines)]
    placed = []
    for attempt in within:
        gpus, now, end = taken[course.stream[attempt]], course.started_h[attempt], course.ended_h[attempt]
        for machine in course.occupied[attempt]:
            free = [gpu for gpu, since in enumerate(free_from[machine]) if since <= now + _SLACK_H]
            held = next(
                (free[at : at + gpus] for at in range(len(free) - gpus + 1) if free[at + gpus - 1] - free[at] < gpus),
                free[:gpus],
            )
            for gpu in held:
                free_from[machine][gpu] = end
            placed += [
                Placed(attempt=attempt, machine=machine, first_gpu=first, gpus=count) for first, count in _blocks(held)
            ]
    return tuple(placed)


def _blocks(gpus: Sequence[int]) -> list[tuple[int, int]]:
    """First and number of each group of neighbours.

    >>> _blocks([0, 1, 4, 6, 7])
    [(0, 2), (4, 1), (6, 2)]
    """
    blocks: list[tuple[int, int]] = []
    for gpu in gpus:
        if blocks and sum(blocks[-1]) == gpu:
            blocks[-1] = (blocks[-1][0], blocks[-1][1] + 1)
        else:
            blocks.append((gpu, 1))
    return blocks
