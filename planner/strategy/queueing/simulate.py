"""Event by event: attempts are submitted, wait for free GPUs, run, and come again when they fail."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from planner.cost.lines import Array
from planner.strategy.queueing.hours import ALWAYS, Powered
from planner.strategy.queueing.machines import Machines, Running
from planner.strategy.queueing.streams import Stream, Submissions, draw


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Machines of one type that jobs share."""

    machines: int
    gpus: int  # of each
    powered: Powered = ALWAYS
    awaited: tuple[tuple[float, int], ...] = ()  # hour from which machines are there, and how many: the last of them

    def there(self, hour: float) -> int:
        """Machines that are there before a moment of the wall clock."""
        return self.machines - sum(count for comes, count in self.awaited if comes >= hour)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """Every attempt of a simulation in the order of their starts, on the wall clock."""

    stream: npt.NDArray[np.int64]
    run: npt.NDArray[np.int64]
    machine: npt.NDArray[np.int64]  # the first that it occupies
    occupied: tuple[tuple[int, ...], ...]  # all machines that it occupies
    submitted_h: Array
    started_h: Array
    ended_h: Array
    failed: npt.NDArray[np.bool_]

    @property
    def wait_h(self) -> Array:
        """From each attempt's submission to its start. [h]"""
        return self.started_h - self.submitted_h

    def of(self, stream: int) -> npt.NDArray[np.bool_]:
        """Which attempts are a stream's."""
        return np.asarray(self.stream == stream)

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
    return carry_out(pool, streams, drawn)


def carry_out(pool: Pool, streams: Sequence[Stream], submissions: Sequence[Submissions]) -> Attempts:
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
    return _Course(pool, streams, submissions).run()


class _Course:
    """State of a simulation; times are hours that the machines have been on."""

    def __init__(self, pool: Pool, streams: Sequence[Stream], drawn: Sequence[Submissions]) -> None:
        self.powered = pool.powered
        self.streams = streams
        self.machines = Machines(pool.machines, pool.gpus)
        self.taken = [*(stream.gpus for stream in streams), pool.gpus]
        self.durations = [submissions.duration_h.tolist() for submissions in drawn]
        self.first = [submissions.first_attempt.tolist() for submissions in drawn]
        self.made = [[0] * len(submissions.submitted_h) for submissions in drawn]  # attempts of each run so far
        self.submitted = [submissions.submitted_h for submissions in drawn]
        self.waiting: list[deque[tuple[float, int]]] = [deque() for _ in streams]  # moment and run
        self.running: list[Running] = self._awaited(pool)
        self.started: list[tuple[int, int, tuple[int, ...], float, float, float, bool]] = []

    def _awaited(self, pool: Pool) -> list[Running]:
        """Machines that come later are taken until then, as by a stream after the others."""
        awaited: list[Running] = []
        first = pool.machines - sum(count for _, count in pool.awaited)
        for hour, count in sorted(pool.awaited):
            there = float(self.powered.inside(np.array([hour]))[0])
            for machine in range(first, first + count):
                self.machines.take((machine,), pool.gpus)
                awaited.append((there, machine - pool.machines, len(self.streams), 0, (machine,)))
            first += count
        heapq.heapify(awaited)
        return awaited

    def run(self) -> Attempts:
        inside = [self.powered.inside(times) for times in self.submitted]
        stream = np.repeat(np.arange(len(self.streams)), [len(times) for times in inside])
        moment = np.concatenate(inside) if inside else np.zeros(0)
        run = np.concatenate([np.arange(len(times)) for times in inside]) if inside else np.zeros(0, dtype=int)
        order = np.lexsort((run, stream, moment))
        arrivals = zip(moment[order].tolist(), stream[order].tolist(), run[order].tolist(), strict=True)
        for now, index, number in arrivals:
            while self.running and self.running[0][0] <= now:
                self._end_next()
            self.waiting[index].append((now, number))
            self._start(now)
        while self.running:
            self._end_next()
        return self._attempts()

    def _end_next(self) -> None:
        """The next attempt ends; a failed one is submitted again. All that ends at this moment ends first."""
        now = self.running[0][0]
        while self.running and self.running[0][0] == now:
            _, _, index, number, occupied = heapq.heappop(self.running)
            self.machines.release(occupied, self.taken[index])
            if index == len(self.streams):
                continue
            if self.made[index][number] < self.first[index][number + 1] - self.first[index][number]:
                self.waiting[index].append((now, number))
        self._start(now)

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
        duration: float = self.durations[index][self.first[index][number] + self.made[index][number]]
        return duration

    def _start_next(self, index: int, now: float) -> bool:
        occupied = self.machines.place(self.taken[index], self.streams[index].machines)
        if occupied is None:
            return False
        end = now + self._next_duration(index)
        moment, number = self.waiting[index].popleft()
        self.made[index][number] += 1
        failed = self.made[index][number] < self.first[index][number + 1] - self.first[index][number]
        heapq.heappush(self.running, (end, len(self.started), index, number, occupied))
        self.started.append((index, number, occupied, moment, now, end, failed))
        return True

    def _attempts(self) -> Attempts:
        columns: list[Sequence[Any]] = list(zip(*self.started, strict=True)) or [()] * 7
        occupied = columns.pop(2)
        stream, run, submitted, started, ended, failed = (np.array(column) for column in columns)
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
            machine=np.array([machines[0] for machines in occupied], dtype=np.int64),
            occupied=tuple(occupied),
            submitted_h=submitted_wall,
            started_h=self.powered.starts(started.astype(float)),
            ended_h=self.powered.ends(ended.astype(float)),
            failed=failed.astype(bool),
        )
