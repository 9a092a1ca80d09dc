"""How long the runs of each job wait and take on shared machines: repeated simulations, summed up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.cost.course import Array
from planner.strategy.queueing.attempts import Attempts
from planner.strategy.queueing.probes import Probed, simulate_with_probes
from planner.strategy.queueing.simulate import Pool, simulate
from planner.strategy.queueing.streams import Overflow, Stream
from planner.units import H_PER_MONTH

SEED: Final = 20_261_130
"""Of every plan, so that a plan repeats itself."""
_FEWEST_RUNS = 400  # of each job, over all repetitions: its 90th percentile then rests on the longest 40
_MOST_ATTEMPTS = 60_000  # over all repetitions, a quarter of a second; one repetition may take more
_MOST_OF_ONE = 200_000  # longer courses end earlier
_FEWEST_COURSES = 4  # to see how far courses differ
_ERROR_SHARE = 0.03  # standard error of each mean wait that is good enough, or
_ERROR_OF_DURATION = 0.005  # in mean durations, for waits too short to matter
_FEW_RUNS = 30  # of a job in all courses, below which more are added for a look
_ADDED_RUNS = 100  # to jobs with fewer, if that takes no more than
_MOST_FOLLOWED = 20_000  # runs of others, a fifth of a second
_LEEWAY = 5.0  # times that, before they are left out
_STRETCHES = 10  # of a single course, by which one sees how far it is off
_MOST_MACHINES = 5_000
_FEWEST_OF_MONTH = 10  # attempts, below which a month has no quantiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Mean, median and 90th percentile. [h]"""

    mean_h: float
    p50_h: float
    p90_h: float

    @classmethod
    def of(cls, hours: Array) -> Spread:
        """Of simulated times, at least one."""
        return cls(
            mean_h=float(hours.mean()), p50_h=float(np.quantile(hours, 0.5)), p90_h=float(np.quantile(hours, 0.9))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthWaiting:
    """Waits of the attempts that were submitted in one month, in all repetitions."""

    month: int
    attempts: int
    wait: Spread | None  # None: of fewer than ten attempts


@dataclass(frozen=True, slots=True, kw_only=True)
class JobWaiting:
    """One job on shared machines: waits of its attempts, turnaround of its runs, all attempts included."""

    job: str
    runs: int  # simulated, those that were added for a look among them
    wait: Spread
    turnaround: Spread
    late_share: float | None  # of attempts that end later than the limit after their submission; None without a limit
    longest_h: float  # wait of an attempt
    wait_error_h: float | None  # standard error of the mean wait; None where a single run tells nothing of it
    by_month: tuple[MonthWaiting, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """All jobs of a pool. `typical` is the first course, for a picture."""

    jobs: tuple[JobWaiting, ...]
    months: int
    repetitions: int
    typical: Attempts


def simulate_waiting(
    pool: Pool, streams: Sequence[Stream], limits_h: Sequence[float | None], seed: int = SEED
) -> Waiting:
    """Simulate a pool often enough to know each job's waits, or as often as there is time for.

    Parameters
    ----------
    pool : Pool
        The machines.
    streams : sequence of Stream
        Each with as many months.
    limits_h : sequence of float or None
        Longest time from submission to end of an attempt, by stream. [h]
    seed : int
        Of the first repetition.

    Raises
    ------
    ValueError
        As `simulate`.

    Notes
    -----
    Months are cut from the end where a single course would have more than 200,000 attempts and failures. A job without
    a single simulated run doesn't appear.
    """
    months = _months(pool, streams)
    cut = _cut(streams, months)
    attempts = sum(sum(stream.runs_per_month) * stream.attempts_per_run for stream in cut) + months * _failures(pool)
    rarest = min(sum(stream.runs_per_month) for stream in cut)
    wanted = max(_FEWEST_COURSES, math.ceil(_FEWEST_RUNS / max(rarest, 1e-9)))
    most = max(1, int(_MOST_ATTEMPTS / max(attempts, 1.0)))
    added = _added(pool, cut, min(wanted, most))
    if added:
        first, probed = simulate_with_probes(pool, cut, seed, added, _LEEWAY * _MOST_FOLLOWED)
    else:
        first, probed = simulate(pool, cut, seed), {}
    courses = [first, *(simulate(pool, cut, seed + at) for at in range(1, min(wanted, most)))]
    sums = np.array([_sums(course, cut) for course in courses])  # with room for as many again when it is full
    while len(courses) < most and not _known(cut, sums[: len(courses)]):
        courses.append(simulate(pool, cut, seed + len(courses)))
        if len(courses) > len(sums):
            sums = np.concatenate([sums, np.zeros_like(sums)])
        sums[len(courses) - 1] = _sums(courses[-1], cut)
    jobs = [
        found
        for index, (stream, limit_h) in enumerate(zip(cut, limits_h, strict=True))
        if (found := _job(stream.id, index, courses, probed.get(index, ()), limit_h, months)) is not None
    ]
    return Waiting(jobs=tuple(jobs), months=months, repetitions=len(courses), typical=courses[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflown:
    """What became of a stream's attempts with somewhere to go before they are late."""

    rented_share: float
    late_share: float


def simulate_overflow(
    pool: Pool, streams: Sequence[Stream], before: Waiting, seed: int = SEED
) -> tuple[Overflown | None, ...]:
    """The same courses once more, with streams that give attempts away before they are late.

    Parameters
    ----------
    pool : Pool
        The machines.
    streams : sequence of Stream
        Some with overflow.
    before : Waiting
        Of the same without overflow.
    seed : int
        That of `before`.

    Returns
    -------
    tuple
        By stream; None without overflow or without a single attempt.
    """
    courses = [simulate(pool, _cut(streams, before.months), seed + at) for at in range(before.repetitions)]
    return tuple(_overflown(index, stream.overflow, courses) for index, stream in enumerate(streams))


def _overflown(index: int, overflow: Overflow | None, courses: Sequence[Attempts]) -> Overflown | None:
    if overflow is None:
        return None
    attempts = rented = late = 0
    for course in courses:
        submitted, _, ended = course.whole(index)
        attempts += len(ended)
        rented += int(np.sum(course.machine[course.of(index)] < 0))
        late += int(np.sum(ended - submitted > overflow.limit_h * (1 + 1e-9)))
    return Overflown(rented_share=rented / attempts, late_share=late / attempts) if attempts else None


def _cut(streams: Sequence[Stream], months: int) -> list[Stream]:
    return [replace(stream, runs_per_month=stream.runs_per_month[:months]) for stream in streams]


def simulable(pool: Pool, streams: Sequence[Stream]) -> bool:
    """Whether a pool is small enough: neither thousands of machines nor 200,000 attempts and failures a month."""
    first_month = sum(stream.runs_per_month[0] * stream.attempts_per_run for stream in streams)
    return pool.machines <= _MOST_MACHINES and first_month + _failures(pool) <= _MOST_OF_ONE


def _failures(pool: Pool) -> float:
    """Of all machines in a month, at most."""
    return 0.0 if pool.failing is None else pool.machines * pool.powered.h_per_month * pool.failing.per_h


def _months(pool: Pool, streams: Sequence[Stream]) -> int:
    attempts = np.sum([np.array(stream.runs_per_month) * stream.attempts_per_run for stream in streams], axis=0)
    return max(1, int(np.searchsorted(np.cumsum(attempts + _failures(pool)), _MOST_OF_ONE, side="right")))


def _sums(course: Attempts, streams: Sequence[Stream]) -> list[tuple[float, float]]:
    """Number and sum of waits of each stream in one course. [-, h]"""
    waits = [course.whole(index)[1] for index in range(len(streams))]
    return [(float(len(wait)), float(wait.sum())) for wait in waits]


def _known(streams: Sequence[Stream], sums: Array) -> bool:
    """Whether the mean wait of every stream is known well enough, by `_sums` of all courses. [courses, streams, 2]"""
    for index, stream in enumerate(streams):
        count, total_h = sums[:, index, 0], sums[:, index, 1]
        error_h = _error_h(count, total_h)
        mean_h = float(total_h.sum() / count.sum()) if error_h is not None else 0.0
        if error_h is not None and error_h > max(_ERROR_SHARE * mean_h, _ERROR_OF_DURATION * stream.duration_h):
            return False
    return True


def _error_h(count: Array, total_h: Array) -> float | None:
    """Standard error of the mean over courses, which are independent, each weighted by its attempts. [h]

    References
    ----------
    .. [1] A. M. Law, "Simulation Modeling and Analysis," 5th ed., 2015, ch. 9 (replication/deletion); ratio estimator.
    """
    if len(count) < 2 or not count.sum():
        return None
    beyond = total_h - total_h.sum() / count.sum() * count
    return float(np.sqrt((beyond**2).sum() * len(count) / (len(count) - 1)) / count.sum())


def _error_of(waits: Sequence[Array]) -> float | None:
    """Likewise, of the waits of each part. [h]"""
    return _error_h(np.array([len(wait) for wait in waits], dtype=float), np.array([wait.sum() for wait in waits]))


def _added(pool: Pool, streams: Sequence[Stream], courses: int) -> dict[int, float]:
    """Runs to add to the first course for each stream of which few are simulated, as many as can be followed."""
    few = [index for index, stream in enumerate(streams) if 0 < courses * sum(stream.runs_per_month) < _FEW_RUNS]
    if pool.failing is not None or not few:
        return {}
    hours = len(streams[0].runs_per_month) * H_PER_MONTH
    others = sum(sum(stream.runs_per_month) * stream.attempts_per_run for stream in streams) / hours
    found = {}
    for index in few:
        followed = others * streams[index].duration_h * streams[index].attempts_per_run  # about as long as they take
        found[index] = min(_ADDED_RUNS, _MOST_FOLLOWED / len(few) / max(followed, 1.0))
    return found


def _job(
    id: str, index: int, courses: Sequence[Attempts], probed: Sequence[Probed], limit_h: float | None, months: int
) -> JobWaiting | None:
    waits, taken, runs, submitted = [], [], [], []
    for course in courses:
        moment, wait, ended = course.whole(index)
        waits.append(wait)
        taken.append(ended - moment)
        runs.append(course.turnaround_h(index))
        submitted.append(moment)
    error_h = _error_of(waits if len(courses) > 1 else _stretches(submitted[0], waits[0], months))
    by_month = _by_month(np.concatenate(submitted), np.concatenate(waits), months)
    if probed:  # too few runs for courses or stretches to differ by: each submission by itself, far from the next
        waits += [added.started_h - added.submitted_h for added in probed]
        taken += [added.ended_h - added.submitted_h for added in probed]
        runs += [added.turnaround_h for added in probed]
        error_h = _error_of(waits)
    turnaround = np.concatenate(runs)
    if not len(turnaround):
        return None
    late = None if limit_h is None else float(np.mean(np.concatenate(taken) > limit_h * (1 + 1e-9)))
    return JobWaiting(
        job=id,
        runs=len(turnaround),
        wait=Spread.of(np.concatenate(waits)),
        turnaround=Spread.of(turnaround),
        late_share=late,
        longest_h=float(max(wait.max() for wait in waits if len(wait))),
        wait_error_h=error_h,
        by_month=by_month,
    )


def _stretches(submitted_h: Array, wait_h: Array, months: int) -> list[Array]:
    """Waits of a single course by stretches of its time, long enough to know little of each other."""
    at = np.minimum(submitted_h // (months * H_PER_MONTH / _STRETCHES), _STRETCHES - 1)
    return [wait_h[at == stretch] for stretch in range(_STRETCHES)]


def _by_month(submitted_h: Array, wait_h: Array, months: int) -> tuple[MonthWaiting, ...]:
    """Waits by month of submission; attempts that come again after the last month are left out."""
    order = np.argsort(submitted_h, kind="stable")
    ends = np.searchsorted(submitted_h[order], H_PER_MONTH * np.arange(1, months + 1))
    parts = np.split(wait_h[order], ends)[:months]
    return tuple(
        MonthWaiting(month=month, attempts=len(part), wait=Spread.of(part) if len(part) >= _FEWEST_OF_MONTH else None)
        for month, part in enumerate(parts, start=1)
    )
