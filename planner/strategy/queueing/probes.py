"""One more run of a job that comes rarely, tried at random moments of a simulated course.

A run that is added to Poisson submissions finds what any run of them finds. So a copy of the course is followed from
the moment of the added run until its last attempt starts, with all that is submitted meanwhile, and then forgotten: the
course itself stays as it is, and tells more of a rare job than the few runs that happen to fall into it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.cost.course import Array
from planner.strategy.queueing.attempts import Attempts
from planner.strategy.queueing.simulate import Course, Pool
from planner.strategy.queueing.streams import Stream, Submissions, draw

_OF_PROBES = 2  # beside a seed and a stream: their draws don't move those of the course


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """Runs that were added at one moment, on the wall clock. [h]"""

    submitted_h: Array  # [attempts]
    started_h: Array
    ended_h: Array
    turnaround_h: Array  # [runs]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Probe:
    """What is added: the attempts of each run."""

    now: float  # in hours that machines have been on
    wall_h: float
    stream: int
    duration_h: tuple[tuple[float, ...], ...]


def simulate_with_probes(
    pool: Pool, streams: Sequence[Stream], seed: int, runs: Mapping[int, float], most: float
) -> tuple[Attempts, dict[int, list[Probed]]]:
    """The course of `simulate`, and what added runs find in it.

    Parameters
    ----------
    pool : Pool
        Machines that don't fail.
    streams : sequence of Stream
        What is submitted; none has overflow.
    seed : int
        As of `simulate`.
    runs : mapping of int to float
        How many are added, by stream; the expected number, by month as its own runs.
    most : float
        Runs that are followed in copies of the course. Beyond it nothing is said of added ones: those that took long
        would be missing among the others.

    References
    ----------
    .. [1] R. W. Wolff, "Poisson Arrivals See Time Averages," Operations Research 30(2), 1982.
    .. [2] G. Last and M. Penrose, "Lectures on the Poisson Process," 2017, ch. 4 (Mecke equation): courses that end.
    """
    seeds = np.random.SeedSequence(seed).spawn(len(streams))
    drawn = [draw(stream, np.random.default_rng(own)) for stream, own in zip(streams, seeds, strict=True)]
    course = Course(pool, streams, drawn, None)
    arrivals = course.arrivals()
    probes = sorted(
        (probe for index, expected in runs.items() for probe in _probes(pool, streams[index], index, expected, seed)),
        key=lambda probe: probe.now,
    )
    found: dict[int, list[Probed]] = {index: [] for index in runs}
    at, followed = 0, 0
    for probe in probes:
        while at < len(arrivals) and arrivals[at][0] < probe.now:
            course.until(arrivals[at][0])
            course.arrive(*arrivals[at])
            at += 1
        if followed <= most:
            course.until(probe.now)
            one, submitted = _follow(course, probe, arrivals, at)
            found[probe.stream].append(one)
            followed += submitted
    for arrival in arrivals[at:]:
        course.until(arrival[0])
        course.arrive(*arrival)
    return course.finish(), found if followed <= most else {}


def _probes(pool: Pool, stream: Stream, index: int, runs: float, seed: int) -> Iterator[_Probe]:
    """Submissions of a stream with another number of runs."""
    factor = runs / sum(stream.runs_per_month)
    more = replace(stream, runs_per_month=tuple(each * factor for each in stream.runs_per_month))
    drawn: Submissions = draw(more, np.random.default_rng([seed, _OF_PROBES, index]))
    inside = pool.powered.inside(drawn.submitted_h).tolist()
    first, hours = drawn.first_attempt.tolist(), drawn.duration_h.tolist()
    for start in range(0, len(inside), stream.together):
        attempts = tuple(tuple(hours[first[run] : first[run + 1]]) for run in range(start, start + stream.together))
        yield _Probe(now=inside[start], wall_h=float(drawn.submitted_h[start]), stream=index, duration_h=attempts)


def _follow(course: Course, probe: _Probe, arrivals: Sequence[tuple[float, int, int]], at: int) -> tuple[Probed, int]:
    """What becomes of added runs, and how many others are submitted until their last attempts start."""
    branch, numbers = course.with_runs(probe.stream, probe.duration_h)
    for number in numbers:
        branch.submit(probe.stream, number, probe.now, probe.wall_h)
    branch.start(probe.now)
    begin = at
    made, attempts = branch.made[probe.stream], [len(run) for run in probe.duration_h]
    while any(made[number] < count for number, count in zip(numbers, attempts, strict=True)):
        if at < len(arrivals) and not (branch.running and branch.running[0][0] <= arrivals[at][0]):
            branch.arrive(*arrivals[at])
            at += 1
        else:
            branch.step()
    rows = [row for row in branch.started if row[0] == probe.stream and row[1] >= numbers[0]]
    powered = course.powered
    moments, starts, ends = (np.array([row[place] for row in rows], dtype=float) for place in (4, 5, 6))
    again = np.array([row[2] > branch.first[probe.stream][row[1]] for row in rows])
    submitted_h = np.where(again, powered.starts(moments), probe.wall_h)
    ended_h = powered.ends(ends)
    run = np.array([row[1] - numbers[0] for row in rows])
    last = np.zeros(len(numbers))
    np.maximum.at(last, run, ended_h)
    return (
        Probed(
            submitted_h=submitted_h,
            started_h=powered.starts(starts),
            ended_h=ended_h,
            turnaround_h=last - probe.wall_h,
        ),
        at - begin,
    )
