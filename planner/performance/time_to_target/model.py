"""A benchmark as it was fitted: how long a system takes to its target, and how new that system is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt

from planner.performance.time_to_target.effects import (
    TIME_ROW_SPREAD,
    TIME_SPREADS,
    WORK_ROW_SPREAD,
    WORK_SPREADS,
    Offsets,
    fit_offsets,
    kinds_of,
    offset_of,
    setup_of,
)
from planner.performance.time_to_target.runs import Run
from planner.performance.time_to_target.samples import BatchLaw, fit_batch_law
from planner.performance.time_to_target.step import StepTerms, fit_step, log_minutes

Array = npt.NDArray[np.float64]
Novelty = Literal["known-setup", "known-gpu", "new-gpu"]

NOVELTIES: tuple[Novelty, ...] = ("known-setup", "known-gpu", "new-gpu")
"""Card, number of cards and batch were published for the benchmark, if by others; only its card was; not even that."""
FEWEST_RUNS = 3
_ANOTHER_CARD = 0.5  # logs of the number of GPUs that another card counts for, where the nearest setup is looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """A card, a number of them and the batch that was published for these."""

    gpu: str
    gpus: int
    batch: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A benchmark: its batch law, its step, what kinds of rows have in common, and what was published."""

    benchmark: str
    law: BatchLaw
    terms: StepTerms
    work_offsets: Mapping[str, Mapping[str, float]]
    time_offsets: Mapping[str, Mapping[str, float]]
    setups: tuple[Setup, ...]
    newest: float  # year of the newest round in the fit
    half_widths: Mapping[Novelty, float]  # of logs

    def batch_of(self, run: Run) -> float:
        """Batch of a run: its own, or that of the nearest setup that was published. [-]"""
        if run.batch is not None:
            return run.batch

        def distance(setup: Setup) -> tuple[float, float]:
            far = abs(math.log(setup.gpus / run.gpus)) + _ANOTHER_CARD * (setup.gpu != run.gpu)
            return far, setup.batch

        return min(self.setups, key=distance).batch

    def novelty(self, run: Run) -> Novelty:
        """How much of a run's system was published for this benchmark."""
        same = [setup for setup in self.setups if setup.gpu == run.gpu]
        if not same:
            return "new-gpu"
        batch = self.batch_of(run)
        known = any(setup.gpus == run.gpus and setup.batch == batch for setup in same)
        return "known-setup" if known else "known-gpu"

    def work(self, runs: Sequence[Run]) -> Array:
        """Samples or epochs to the target of each run. [-]"""
        batch = np.array([self.batch_of(run) for run in runs])
        offsets = [offset_of(self.work_offsets, kinds_of(run, b)) for run, b in zip(runs, batch, strict=True)]
        found: Array = np.exp(self.law.log_at(batch) + np.array(offsets))
        return found

    def minutes(self, runs: Sequence[Run]) -> Array:
        """Time of each run to the target, of which nothing that was measured is looked at. [min]"""
        batch = np.array([self.batch_of(run) for run in runs])
        offsets = [offset_of(self.time_offsets, kinds_of(run, b)) for run, b in zip(runs, batch, strict=True)]
        found: Array = np.exp(log_minutes(self.terms, runs, batch, self.work(runs)) + np.array(offsets))
        return found


def fit_target(runs: Sequence[Run]) -> Target:
    """A benchmark from published runs, without widths.

    Parameters
    ----------
    runs : sequence of Run
        Of one benchmark. Those without batch or work are left out.

    Raises
    ------
    ValueError
        Fewer runs than anything can be fitted to.
    """
    whole = [run for run in runs if run.batch is not None and run.work is not None and run.minutes is not None]
    if len(whole) < FEWEST_RUNS:
        raise ValueError(f"{len(whole)} runs")
    batch = np.array([run.batch for run in whole], dtype=float)
    work = np.array([run.work for run in whole], dtype=float)
    minutes = np.array([run.minutes for run in whole], dtype=float)
    kinds = [kinds_of(run, b) for run, b in zip(whole, batch, strict=True)]
    law = fit_batch_law(batch, work)
    work_offsets = fit_offsets(kinds, np.log(work) - law.log_at(batch), WORK_SPREADS, WORK_ROW_SPREAD)
    terms, of_card = fit_step(whole)
    cards = np.array([offset_of(of_card, kind) for kind in kinds])
    left = np.log(minutes) - log_minutes(terms, whole, batch, work) - cards
    time_offsets: Offsets = fit_offsets(kinds, left, TIME_SPREADS, TIME_ROW_SPREAD)
    for name, keys in of_card.items():
        for key, offset in keys.items():
            time_offsets[name][key] = time_offsets[name].get(key, 0.0) + offset
    setups = {setup_of(run, b): Setup(gpu=run.gpu, gpus=run.gpus, batch=b) for run, b in zip(whole, batch, strict=True)}
    return Target(
        benchmark=whole[0].benchmark,
        law=law,
        terms=terms,
        work_offsets=MappingProxyType(work_offsets),
        time_offsets=MappingProxyType(time_offsets),
        setups=tuple(setups[key] for key in sorted(setups)),
        newest=max(run.year for run in runs),
        half_widths=MappingProxyType({}),
    )
