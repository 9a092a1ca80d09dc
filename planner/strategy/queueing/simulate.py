"""Event by event: attempts are submitted, wait for free GPUs, run, and come again when they fail."""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from planner.strategy.queueing.attempts import Attempts, Repair
from planner.strategy.queueing.breakdowns import Breakdowns, Failing
from planner.strategy.queueing.hours import ALWAYS, Powered
from planner.strategy.queueing.machines import Machines, Running
from planner.strategy.queueing.streams import Overflow, Stream, Submissions, draw

_OF_FAILURES = 1  # beside a seed: draws of failures, which don't move those of submissions


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Machines of one type that jobs share."""

    machines: int
    gpus: int  # of each
    powered: Powered = ALWAYS
    failing: Failing | None = None
    awaited: tuple[tuple[float, int], ...] = ()  # hour from which machines are there, and how many: the last of them

    def there(self, hour: float) -> int:
        """Machines that are there before a moment of the wall clock."""
        return self.machines - sum(count for comes, count in self.awaited if comes >= hour)


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
        A stream with overflow gives an attempt away at the last moment at which rented machines still keep its limit,
        or own ones no longer do, whichever comes first; one whose machine failed stays.
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
    return Course(pool, streams, submissions, breakdowns).run()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stopped:
    """An attempt whose machine failed."""

    saved_h: float
    submitted_h: float
    since_h: float


class Course:
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
        self.repairs: list[tuple[int, float, float]] = []  # machine, failure, return
        self.leaves: dict[tuple[int, int], float] = {}  # when a waiting attempt goes to rented ones, by stream and run
        self.departures: list[tuple[float, int, int]] = []  # a heap of the same, with some that don't wait any more
        for machine in range(self._await(pool)):
            self._works(machine, 0.0)

    def _await(self, pool: Pool) -> int:
        """Machines that come later are taken until then, as by a repair; the number of those that are there."""
        there = first = pool.machines - sum(count for _, count in pool.awaited)
        for hour, count in sorted(pool.awaited):
            comes = float(self.powered.inside(np.array([hour]))[0])
            for machine in range(first, first + count):
                self.machines.take((machine,), pool.gpus)
                heapq.heappush(self.running, (comes, -1 - machine, len(self.streams), 0, (machine,)))
            first += count
        return there

    def run(self) -> Attempts:
        """Carry out all submissions."""
        for arrival in self.arrivals():
            self.until(arrival[0])
            self.arrive(*arrival)
        return self.finish()

    def finish(self) -> Attempts:
        """All that is left ends."""
        while self.open:
            self.step()
        return self._attempts()

    def with_runs(self, index: int, duration_h: Sequence[Sequence[float]]) -> tuple[Course, list[int]]:
        """A copy in which a stream has more runs, with these attempts each, and their numbers; without failures."""
        other = copy(self)
        other.machines = self.machines.copy()
        other.made = [list(made) for made in self.made]
        other.waiting = [deque(waiting) for waiting in self.waiting]
        other.running = list(self.running)
        other.started = []
        numbers = [len(self.made[index]) + place for place in range(len(duration_h))]
        other.made[index] += [0] * len(duration_h)
        other.durations, other.first = list(self.durations), list(self.first)
        other.durations[index] = [*self.durations[index], *(hours for run in duration_h for hours in run)]
        for run in duration_h:
            other.first[index] = [*other.first[index], other.first[index][-1] + len(run)]
        return other, numbers

    def arrivals(self) -> list[tuple[float, int, int]]:
        """Moment, stream and number of each run, in the order of their turn."""
        inside = [self.powered.inside(times) for times in self.submitted]
        stream = np.repeat(np.arange(len(self.streams)), [len(times) for times in inside])
        moment = np.concatenate(inside) if inside else np.zeros(0)
        run = np.concatenate([np.arange(len(times)) for times in inside]) if inside else np.zeros(0, dtype=int)
        order = np.lexsort((run, stream, moment))
        return list(zip(moment[order].tolist(), stream[order].tolist(), run[order].tolist(), strict=True))

    def until(self, now: float) -> None:
        """All that happens until a moment."""
        while (
            (self.running and self.running[0][0] <= now)
            or (self.failures and self.failures[0][0] <= now)
            or (self.departures and self._next_leave() < now)
        ):
            self.step()

    def arrive(self, now: float, index: int, number: int) -> None:
        """A run is submitted."""
        self.submit(index, number, now, float(self.submitted[index][number]))
        self.start(now)

    def step(self) -> None:
        """What ends next ends, or the next machine fails, or an attempt has waited too long."""
        ends = self.running[0][0] if self.running else math.inf
        fails = self.failures[0][0] if self.failures else math.inf
        if self.departures and self._next_leave() < min(ends, fails):
            self._leave(*heapq.heappop(self.departures))
        elif fails < ends:
            self._fail(*heapq.heappop(self.failures))
        else:
            self._end_next()

    def submit(self, index: int, number: int, now: float, wall_h: float | None = None) -> None:
        """An attempt waits from now on, which on the wall is a moment of its own where machines are off."""
        self.waiting[index].append((now, number))
        overflow = self.streams[index].overflow
        if overflow is None:
            return
        lasts = self._next_duration(index, -1)
        if self.powered.always:
            leaves = now + max(0.0, overflow.limit_h - max(lasts, overflow.rented_h))
        else:
            leaves = self._leaves_by_night(overflow, lasts, now, wall_h)
        self.leaves[index, number] = leaves
        heapq.heappush(self.departures, (leaves, index, number))

    def _leaves_by_night(self, overflow: Overflow, lasts: float, now: float, wall_h: float | None) -> float:
        """When an attempt goes, in hours that machines are on, with a limit on the wall. [h]"""
        wall = self.powered.starts(np.array(now)) if wall_h is None else wall_h
        ends = [wall + overflow.limit_h - overflow.rented_h, wall + overflow.limit_h]
        rented, own = self.powered.inside(np.array(ends, dtype=float)).tolist()
        return float(max(now, min(rented, own - lasts)))

    def _next_leave(self) -> float:
        """When the next attempt has waited too long."""
        while self.departures:
            leaves, index, number = self.departures[0]
            if self.leaves.get((index, number)) == leaves:
                return leaves
            heapq.heappop(self.departures)  # it has begun in the meantime
        return math.inf

    def _leave(self, now: float, index: int, number: int) -> None:
        """An attempt goes to rented machines and ends there."""
        at, moment = next((at, moment) for at, (moment, waits) in enumerate(self.waiting[index]) if waits == number)
        del self.waiting[index][at]
        overflow = self.streams[index].overflow
        assert overflow is not None
        end = now + overflow.rented_h
        if not self.powered.always:
            end = float(self.powered.inside(self.powered.ends(np.array(now)) + overflow.rented_h))
        self._began(index, number, moment, now, end, ())
        self.start(now)

    def _end_next(self) -> None:
        """The next attempt ends; a failed one is submitted again. All that ends at this moment ends first."""
        now = self.running[0][0]
        while self.running and self.running[0][0] == now:
            _, _, index, number, occupied = heapq.heappop(self.running)
            self.machines.release(occupied, self.taken[index])
            if index == len(self.streams):  # not an attempt but a repair, or a delivery
                self._works(occupied[0], now)
                continue
            self.open -= 1
            if self.made[index][number] < self.first[index][number + 1] - self.first[index][number]:
                self.submit(index, number, now)
        self.start(now)

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
        self.repairs.append((machine, now, repaired))
        heapq.heappush(self.running, (repaired, -1 - machine, len(self.streams), 0, (machine,)))
        self.start(now)

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

    def start(self, now: float) -> None:
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

    def _next_duration(self, index: int, at: int = 0) -> float:
        number = self.waiting[index][at][1]
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
        self._began(index, number, moment, now, end, occupied)
        return True

    def _began(self, index: int, number: int, moment: float, now: float, end: float, occupied: tuple[int, ...]) -> None:
        attempt = self.first[index][number] + self.made[index][number]
        if self.stopped and (before := self.stopped.get((index, attempt))) is not None:
            moment = before.since_h
        if self.leaves:
            self.leaves.pop((index, number), None)
        self.made[index][number] += 1
        failed = attempt + 1 < self.first[index][number + 1]
        heapq.heappush(self.running, (end, len(self.started), index, number, occupied))
        self.started.append([index, number, attempt, occupied, moment, now, end, failed])

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
        machine = np.array([machines[0] if machines else -1 for machines in occupied], dtype=np.int64)
        started_wall, ended_wall = self.powered.starts(started.astype(float)), self.powered.ends(ended.astype(float))
        if not self.powered.always and np.any(machine < 0):  # rented machines are on by night
            away = machine < 0
            leaves = np.maximum(self.powered.ends(started[away].astype(float)), submitted_wall[away])
            rented_h = [0.0 if found.overflow is None else found.overflow.rented_h for found in self.streams]
            started_wall[away], ended_wall[away] = leaves, leaves + np.array(rented_h)[stream[away]]
        return Attempts(
            stream=stream.astype(np.int64),
            run=run.astype(np.int64),
            attempt=attempt.astype(np.int64),
            machine=machine,
            occupied=tuple(occupied),
            submitted_h=submitted_wall,
            started_h=started_wall,
            ended_h=ended_wall,
            failed=failed.astype(bool),
            parts=bool(self.stopped),
            repairs=self._repairs(),
        )

    def _repairs(self) -> tuple[Repair, ...]:
        if not self.repairs:
            return ()
        machines, failed, back = zip(*self.repairs, strict=True)
        failed_h, back_h = self.powered.starts(np.array(failed)), self.powered.ends(np.array(back))
        return tuple(
            Repair(machine=machine, failed_h=start, back_h=end)
            for machine, start, end in zip(machines, failed_h.tolist(), back_h.tolist(), strict=True)
        )
