"""Predicts the throughput of measured rows from their configurations alone, many at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.catalog.records import Catalog
from planner.measurements.rows import LanguageRow
from planner.performance.constants import Constants
from planner.performance.device import Device, device_of
from planner.performance.rows.layout import gpus_per_node, plans_of
from planner.performance.rows.network import network_gbit_per_s
from planner.performance.rows.subject import RowError, Subject, subject_of
from planner.performance.scaling import Link, link_of
from planner.performance.stacks import Stack
from planner.performance.step import StepTimes, step_times
from planner.performance.step_inputs import StepInputs, StepPlan, Vector, numbers_of, stacked

CHUNK = 4096  # rows computed together: arrays that stay in the caches


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A row with everything settled; several plans are layouts among which the fastest counts."""

    subject: Subject
    plans: tuple[tuple[StepPlan, float], ...]

    @property
    def row(self) -> LanguageRow:
        """What is written in the table."""
        return self.subject.row


def complete_row(row: LanguageRow, catalog: Catalog, stacks: tuple[Stack, ...], constants: Constants) -> Run:
    """Settle a row's run by the rules of `subject` and `layout`.

    Raises
    ------
    RowError
        The GPU or model isn't one that the estimator can compute.
    """
    subject = subject_of(row, catalog, stacks)
    return Run(subject=subject, plans=plans_of(subject, constants))


class Arrays:
    """Runs as columns, with what belongs to each.

    Attributes
    ----------
    inputs : StepInputs
        All plans of all runs.
    log_work : Vector
        Log of the tokens of a step, by plan.
    of_run : array of int
        The run that a plan belongs to.
    """

    def __init__(self, runs: Sequence[Run], constants: Constants) -> None:
        self._devices: dict[tuple[str, str, float], Device] = {}
        self._links: dict[tuple[str, int, int, float | None], Link] = {}
        self._constants = constants
        numbers, work, of_run = [], [], []
        for at, run in enumerate(runs):
            device, link = self._device(run), self._link(run)
            for plan, batch in run.plans:
                numbers.append(numbers_of(run.subject.spec, run.subject.parameters, plan, device, link))
                work.append(math.log(batch * run.subject.seq_len))
                of_run.append(at)
        self.inputs: StepInputs = stacked(numbers)
        self.log_work: Vector = np.array(work)
        self.of_run = np.array(of_run)

    def _device(self, run: Run) -> Device:
        subject = run.subject
        key = (subject.gpu.id, subject.precision, subject.element_bytes)
        if key not in self._devices:
            device = device_of(subject.gpu, subject.precision, self._constants)
            self._devices[key] = replace(device, element_bytes=subject.element_bytes)
        return self._devices[key]

    def _link(self, run: Run) -> Link:
        subject, row = run.subject, run.row
        network = row.network_gbit_per_s or network_gbit_per_s(row.interconnect_inter)
        key = (subject.gpu.id, row.n_gpus or 1, gpus_per_node(subject), network)
        if key not in self._links:
            self._links[key] = link_of(subject.gpu, key[1], key[2], network, self._constants)
        return self._links[key]

    def log_speed(self, times: StepTimes) -> Vector:
        """Log of the formulas' tokens/s of each plan."""
        return self.log_work - np.log(times.total_s)

    def fastest(self, log_speed: Vector) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Index of the fastest plan of each run."""
        order = np.lexsort((-log_speed, self.of_run))
        first = np.ones(len(order), bool)
        first[1:] = self.of_run[order][1:] != self.of_run[order][:-1]
        return order[first]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedPrediction:
    """Formulas and stack of one row. Shares are of the step; the log offset is already in the speed."""

    tokens_per_s: float
    shares: dict[str, float]
    run: Run


def predict_runs(runs: Sequence[Run], constants: Constants) -> Iterator[SpeedPrediction]:
    """Tokens per second of each run, from the formulas and what is known of its stack and its GPU in it."""
    for start in range(0, len(runs), CHUNK):
        part = runs[start : start + CHUNK]
        arrays = Arrays(part, constants)
        times = step_times(arrays.inputs, constants)
        speed = arrays.log_speed(times)
        for run, at in zip(part, arrays.fastest(speed), strict=True):
            yield SpeedPrediction(
                tokens_per_s=math.exp(speed[at] + stack_offset(run.subject)),
                shares={name: float(seconds[at] / times.total_s[at]) for name, seconds in times.parts_s.items()},
                run=run,
            )


def stack_offset(subject: Subject) -> float:
    """Log by which the subject's stack is faster than the formulas, on its GPU where that was measured. [-]"""
    return subject.stack.offset + subject.stack.by_gpu.get(subject.gpu.id, 0.0)


__all__ = ["Arrays", "RowError", "Run", "SpeedPrediction", "complete_row", "predict_runs", "stack_offset"]
