"""What became of every attempt of a simulated course."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner.cost.course import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A time in which a machine was away, on the wall clock."""

    machine: int
    failed_h: float
    back_h: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """Every attempt of a simulation in the order of their starts, on the wall clock.

    One that is rented occupies no machine, and its first one is -1. One that was on a machine that failed has several
    rows, one for each time that it had machines.
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
    parts: bool = False  # whether some attempt has several rows
    repairs: tuple[Repair, ...] = ()

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
