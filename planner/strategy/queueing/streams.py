"""What comes to shared machines: runs of one kind, when they are submitted and how long their attempts take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from planner.cost.course import Array
from planner.units import H_PER_MONTH
from planner.workload.job import Arrivals

H_PER_DAY: Final = 24.0
H_PER_WEEK: Final = 168.0
OFFICE_OPENS_H: Final = 9.0
"""Time of day at which people begin to submit runs, and machines that aren't always on are switched on. [h]"""
_OFFICE_H = 8.0  # a day, on five days a week
_OFFICE_DAYS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """Rented machines to which an attempt goes when it has waited so long that it would miss its limit."""

    limit_h: float  # from submission to end, of every attempt
    rented_h: float  # from the moment it goes there to its end


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Runs of one job on one type of machine. Times are of one attempt."""

    id: str
    runs_per_month: tuple[float, ...]  # successful ones, by month
    duration_h: float
    attempts_per_run: float = 1.0  # expected; each attempt succeeds with the same probability
    variation: float = 0.0  # of durations: standard deviation over mean
    gpus: int = 1  # on each machine that an attempt occupies
    machines: int = 1  # that an attempt occupies together
    priority: int = 0  # the higher goes first
    together: int = 1  # runs submitted at one moment
    arrivals: Arrivals = "even"
    segments: float = 1.0  # equal parts of an attempt, each saved at its end, to which a failed machine takes it back
    restart_h: float = 0.0  # from the moment that it has a machine again until work goes on
    overflow: Overflow | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Submissions:
    """The runs of a stream, in the order of their submission."""

    submitted_h: Array  # [runs]
    first_attempt: npt.NDArray[np.int64]  # [runs + 1]: where each run's attempts begin
    duration_h: Array  # [attempts]


def draw(stream: Stream, rng: np.random.Generator) -> Submissions:
    """Random submissions of a stream over its months.

    Parameters
    ----------
    stream : Stream
        The expected numbers; what comes is random around them (Poisson), runs submitted together as one.
    rng : Generator
        Source of all randomness.

    Returns
    -------
    Submissions
        Attempts of a run are geometric; durations follow a gamma distribution with the stream's variation, which is the
        exponential one for a variation of 1.
    """
    moments = []
    for month, runs in enumerate(stream.runs_per_month):
        begins, ends = month * H_PER_MONTH, (month + 1) * H_PER_MONTH
        number = rng.poisson(runs / stream.together)
        if stream.arrivals == "office_hours":
            times = after_office_h(rng.uniform(office_h_until(begins), office_h_until(ends), number))
        else:
            times = rng.uniform(begins, ends, number)
        moments.append(np.sort(times))
    submitted = np.repeat(np.concatenate(moments) if moments else np.zeros(0), stream.together)
    attempts = rng.geometric(1.0 / stream.attempts_per_run, len(submitted))
    total = int(attempts.sum())
    if stream.variation > 0:
        shape = stream.variation**-2
        durations = rng.gamma(shape, stream.duration_h / shape, total)
    else:
        durations = np.full(total, stream.duration_h)
    return Submissions(
        submitted_h=submitted,
        first_attempt=np.concatenate([[0], np.cumsum(attempts)]),
        duration_h=durations,
    )


def office_h_until(time_h: float) -> float:
    """Office hours that are over at a moment. [h]"""
    week, rest = divmod(time_h, H_PER_WEEK)
    day, hour = divmod(rest, H_PER_DAY)
    today = min(max(hour - OFFICE_OPENS_H, 0.0), _OFFICE_H) if day < _OFFICE_DAYS else 0.0
    return (week * _OFFICE_DAYS + min(day, _OFFICE_DAYS)) * _OFFICE_H + today


def after_office_h(office_h: Array) -> Array:
    """The moment after which so many office hours are over, in office hours itself. [h]"""
    week, share = np.divmod(office_h, _OFFICE_DAYS * _OFFICE_H)
    day, hour = np.divmod(share, _OFFICE_H)
    return np.asarray(week * H_PER_WEEK + day * H_PER_DAY + OFFICE_OPENS_H + hour)
