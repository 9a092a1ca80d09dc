"""Event by event: attempts are submitted, wait for free GPUs, run, and come again when they fail."""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from planner.cost.lines import Array
from planner.strategy.queueing.breakdowns import Breakdowns, Failing
from planner.strategy.queueing.hours import ALWAYS, Powered
from planner.strategy.queueing.machines import Machines, Running
from planner.strategy.queueing.streams import Stream, Submissions, draw

_OF_FAILURES = 1  # beside a seed: draws of failures, which don't move those of submissions


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Machines of one type that jobs share."""

    machines: int
    gpus: int  # of each
    powered: Powered = ALWAYS
    failing: Failing | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """Every attempt of a simulation in the order of their starts, on the wall clock.

    One that was on a machine that failed has several rows, one for each time that it had machines.
    """

    stream: npt.NDArray[np.int64]
    run: npt.NDArray[np.int64]
    attempt: npt.NDArray[np.int64]  # of the stream's
    machine: npt.NDArray[np.int64]  # the first that it occupies
    occupied: tuple[tuple[int, ...], ...]  # all machines that it occupies
    submitted_h: Array
    started_h: Array
    ended_h: Array
    failed: npt.NDArray[np.bool_]  # comes again, because it failed or its machine did
    parts: bool  # whether some attempt has several rows

    @property
    def wait_h(self) -> Array:
        """From each attempt's submission to its start. [h]"""
        return self.started_h - self.submitted_h

    def of(self, stream: int) -> npt.NDArray[np.bool_]:
        """Which attempts are a stream's."""
        return np.asarray(self.stream == stream)

    def whole(self, stream: int) -> tuple[Array, Array, Array]:
        """Submission, wait and end of each attempt of a stream, its rows put together. [h]"""
        mine = self.of(stream)
        submitted, wait, ended = self.submitted_h[mine], self.wait_h[mine], self.ended_h[mine]
        if not self.parts:
            return submitted, wait, ended
        _, first, at = np.unique(self.attempt[mine], return_index=True, return_inverse=True)
        last = np.zeros(len(first))
        np.maximum.at(last, at, ended)
        return submitted[first], np.bincount(at, weights=wait).astype(np.float64), last

    def turnaround_h(self, stream: int) -> Array:
        """From the submission of each run's first attempt to the end of its last. [h]"""
        mine = self.of(stream)
        run = self.run[mine]
        first, last = np.full(run.max(initial=-1) + 1, np.inf), np.zeros(run.max(initial=-1) + 1)
        np.minimum.at(first, run, self.submitted_h[mine])
        np.maximum.at(last, run, self.ended_h[mine])
        return np.asarray(last - first)


def simulate(pool: Pool, streams: Sequence[Stream], seed: int) -> Attempts:
    """One random course of the months, all that was submitted in them carried out.

    Parameters
    ----------
    pool : Pool
        The machines.
    streams : sequence of Stream
        What is submitted.
    seed : int
        The same seed gives the same course, and a stream the same submissions whatever stands behind it.

    Raises
    ------
    ValueError
        As `carry_out`.
    """
    seeds = np.random.SeedSequence(seed).spawn(len(streams))
    drawn = [draw(stream, np.random.default_rng(own)) for stream, own in zip(streams, seeds, strict=True)]
    failing, breakdowns = pool.failing, None
    if failing is not None:
        up_h = failing.up_h(np.random.default_rng([seed, _OF_FAILURES]))
        breakdowns = Breakdowns(up_h=up_h, repair_h=failing.repair_h)
    return carry_out(pool, streams, drawn, breakdowns)


def carry_out(
    pool: Pool, streams: Sequence[Stream], submissions: Sequence[Submissions], breakdowns: Breakdowns | None = None
) -> Attempts:
    """What becomes of submissions.

    Higher priority goes first, then the earlier submission. While the first in line waits for several GPUs, others that
    are over before it could start go ahead of it (the scheduler is taken to know how long they take).

    Parameters
    ----------
    pool : Pool
        At least the machines and GPUs that one attempt of each stream takes.
    streams : sequence of Stream
        What each takes, and its priority.
    submissions : sequence of Submissions
        Of each stream.
    breakdowns : Breakdowns, optional
        Failures of machines. All that runs on one stops as a whole, and goes first among its stream's once more, back
        at what it had saved.

    Raises
    ------
    ValueError
        A stream whose attempts take more than the pool has.

    References
    ----------
    .. [1] D. G. Feitelson and A. Mu'alem Weil, "Utilization and Predictability in Scheduling the IBM SP2 with
       Backfilling," 12th International Parallel Processing Symposium, 1998 (going ahead, there called EASY).
    """
    for stream in streams:
        if stream.gpus > pool.gpus or stream.machines > pool.machines:
            raise ValueError(f"{stream.id} takes more than there is")
    return _Course(pool, streams, submissions, breakdowns).run()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stopped:
    """An attempt whose machine failed."""

    saved_h: float
    submitted_h: float
    since_h: float


class _Course:
    """State of a simulation; times are hours that the machines have been on."""

    def __init__(
        self, pool: Pool, streams: Sequence[Stream], drawn: Sequence[Submissions], breakdowns: Breakdowns | None
    ) -> None:
        self.powered = pool.powered
        self.streams = streams
        self.machines = Machines(pool.machines, pool.gpus)
        self.taken = [*(stream.gpus for stream in streams), pool.gpus]
        self.durations = [submissions.duration_h.tolist() for submissions in drawn]
        self.first = [submissions.first_attempt.tolist() for submissions in drawn]
        self.made = [[0] * len(submissions.submitted_h) for submissions in drawn]  # attempts of each run so far
        self.submitted = [submissions.submitted_h for submissions in drawn]
        self.waiting: list[deque[tuple[float, int]]] = [deque() for _ in streams]  # moment and run
        self.running: list[Running] = []
        self.started: list[list[Any]] = []  # stream, run, attempt, machines, submission, start, end, whether it failed
        self.open = sum(len(durations) for durations in self.durations)  # attempts that haven't ended
        self.stopped: dict[tuple[int, int], _Stopped] = {}  # by stream and attempt
        self.breakdowns = breakdowns
        self.failures: list[tuple[float, int]] = []  # a heap: moment and machine
        for machine in range(pool.machines):
            self._works(machine, 0.0)

    def run(self) -> Attempts:
        inside = [self.powered.inside(times) for times in self.submitted]
        stream = np.repeat(np.arange(len(self.streams)), [len(times) for times in inside])
        moment = np.concatenate(inside) if inside else np.zeros(0)
        run = np.concatenate([np.arange(len(times)) for times in inside]) if inside else np.zeros(0, dtype=int)
        order = np.lexsort((run, stream, moment))
        arrivals = zip(moment[order].tolist(), stream[order].tolist(), run[order].tolist(), strict=True)
        for now, index, number in arrivals:
            while (self.running and self.running[0][0] <= now) or (self.failures and self.failures[0][0] <= now):
                self._next()
            self.waiting[index].append((now, number))
            self._start(now)
        while self.open:
            self._next()
        return self._attempts()

    def _next(self) -> None:
        """What ends next ends, or the next machine fails."""
        if self.failures and not (self.running and self.running[0][0] <= self.failures[0][0]):
            self._fail(*heapq.heappop(self.failures))
        else:
            self._end_next()

    def _end_next(self) -> None:
        """The next attempt ends; a failed one is submitted again. All that ends at this moment ends first."""
        now = self.running[0][0]
        while self.running and self.running[0][0] == now:
            _, _, index, number, occupied = heapq.heappop(self.running)
            self.machines.release(occupied, self.taken[index])
            if index == len(self.streams):  # not an attempt but a repair
                self._works(occupied[0], now)
                continue
            self.open -= 1
            if self.made[index][number] < self.first[index][number + 1] - self.first[index][number]:
                self.waiting[index].append((now, number))
        self._start(now)

    def _works(self, machine: int, now: float) -> None:
        """A machine works from now on, until it fails."""
        if self.breakdowns is not None:
            heapq.heappush(self.failures, (now + next(self.breakdowns.up_h), machine))

    def _fail(self, now: float, machine: int) -> None:
        """A machine fails: what runs on it stops everywhere, and it is taken by its repair."""
        assert self.breakdowns is not None
        hit = [entry for entry in self.running if machine in entry[4]]
        if hit:
            self.running = [entry for entry in self.running if machine not in entry[4]]
            heapq.heapify(self.running)
        for _, order, index, number, occupied in sorted(hit, key=lambda entry: -entry[1]):
            self.machines.release(occupied, self.taken[index])
            self._stop(self.started[order], index, number, now)
        self.machines.take((machine,), self.taken[-1])
        repaired = now + self.breakdowns.repair_h
        heapq.heappush(self.running, (repaired, -1 - machine, len(self.streams), 0, (machine,)))
        self._start(now)

    def _stop(self, row: list[Any], index: int, number: int, now: float) -> None:
        """An attempt goes back to what it had saved and waits again, before the others of its stream."""
        self.made[index][number] -= 1
        attempt, began, stream = row[2], row[5], self.streams[index]
        before = self.stopped.get((index, attempt))
        saved, submitted = (0.0, row[4]) if before is None else (before.saved_h, before.submitted_h)
        worked = max(0.0, now - began - (0.0 if before is None else stream.restart_h))
        part = self.durations[index][attempt] / stream.segments
        saved += math.floor(worked / part + 1e-9) * part if part > 0 else worked
        self.stopped[index, attempt] = _Stopped(saved_h=saved, submitted_h=submitted, since_h=now)
        row[6], row[7] = now, True
        self.waiting[index].appendleft((submitted, number))

    def _start(self, now: float) -> None:
        """Start all that may start now."""
        while line := self._line():
            first = line[0]
            if self._start_next(first, now):
                continue
            smaller = [index for index in line[1:] if self._takes_less(index, first)]
            if not smaller:
                return
            gpus, machines = self.taken[first], self.streams[first].machines
            first_starts = self.machines.next_fit_h(gpus, machines, self.running, self.taken)
            for index in smaller:
                if now + self._next_duration(index) <= first_starts and self._start_next(index, now):
                    break
            else:
                return

    def _takes_less(self, index: int, other: int) -> bool:
        fewer_machines = self.streams[index].machines < self.streams[other].machines
        return self.taken[index] < self.taken[other] or fewer_machines

    def _line(self) -> list[int]:
        """Streams with waiting attempts, in the order of their turn."""
        if len(self.streams) == 1:
            return [0] if self.waiting[0] else []
        some = [index for index, line in enumerate(self.waiting) if line]
        if len(some) > 1:
            some.sort(key=lambda index: (-self.streams[index].priority, self.waiting[index][0][0]))
        return some

    def _next_duration(self, index: int) -> float:
        number = self.waiting[index][0][1]
        attempt = self.first[index][number] + self.made[index][number]
        duration: float = self.durations[index][attempt]
        if self.stopped and (before := self.stopped.get((index, attempt))) is not None:
            return duration - before.saved_h + self.streams[index].restart_h
        return duration

    def _start_next(self, index: int, now: float) -> bool:
        occupied = self.machines.place(self.taken[index], self.streams[index].machines)
        if occupied is None:
            return False
        end = now + self._next_duration(index)
        moment, number = self.waiting[index].popleft()
        attempt = self.first[index][number] + self.made[index][number]
        if self.stopped and (before := self.stopped.get((index, attempt))) is not None:
            moment = before.since_h
        self.made[index][number] += 1
        failed = attempt + 1 < self.first[index][number + 1]
        heapq.heappush(self.running, (end, len(self.started), index, number, occupied))
        self.started.append([index, number, attempt, occupied, moment, now, end, failed])
        return True

    def _attempts(self) -> Attempts:
        columns: list[Sequence[Any]] = list(zip(*self.started, strict=True)) or [()] * 8
        occupied = columns.pop(3)
        stream, run, attempt, submitted, started, ended, failed = (np.array(column) for column in columns)
        submitted_wall = self.powered.starts(submitted.astype(float))
        first = np.ones(len(stream), dtype=bool)
        seen: dict[tuple[int, int], bool] = {}
        for at, key in enumerate(zip(stream.tolist(), run.tolist(), strict=True)):
            first[at] = key not in seen
            seen[key] = True
        for index, times in enumerate(self.submitted):  # a run that was submitted at night waits from then on
            mine = first & (stream == index)
            submitted_wall[mine] = times[run[mine].astype(int)]
        return Attempts(
            stream=stream.astype(np.int64),
            run=run.astype(np.int64),
            attempt=attempt.astype(np.int64),
            machine=np.array([machines[0] for machines in occupied], dtype=np.int64),
            occupied=tuple(occupied),
            submitted_h=submitted_wall,
            started_h=self.powered.starts(started.astype(float)),
            ended_h=self.powered.ends(ended.astype(float)),
            failed=failed.astype(bool),
            parts=bool(self.stopped),
        )
