"""How far off targets are on runs that they weren't fitted to: whole systems, cards and rounds left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner.performance.time_to_target.model import FEWEST_RUNS, Novelty, Target, fit_target
from planner.performance.time_to_target.runs import Run

Array = npt.NDArray[np.float64]
Split = tuple[list[Run], list[Run]]  # known, left out


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """Log of predicted over measured minutes of a run that was left out, and how new it was to the fit."""

    run: Run
    error: float
    novelty: Novelty


def by_system(runs: Sequence[Run]) -> Iterator[Split]:
    """Each system left out with all its rows of the benchmark, of any round and submitter."""
    yield from _by(runs, lambda run: run.system)


def by_gpu(runs: Sequence[Run]) -> Iterator[Split]:
    """Each card left out with all its rows of the benchmark."""
    yield from _by(runs, lambda run: run.gpu)


def newest_round(runs: Sequence[Run]) -> Iterator[Split]:
    """The newest round left out, where there are older ones."""
    newest = max(run.year for run in runs)
    known = [run for run in runs if run.year < newest]
    if len(known) >= FEWEST_RUNS:
        yield known, [run for run in runs if run.year == newest]


SPLITS: Mapping[str, Callable[[Sequence[Run]], Iterator[Split]]] = {
    "unseen system": by_system,
    "newest round": newest_round,
    "unseen GPU": by_gpu,
}


def _by(runs: Sequence[Run], key: Callable[[Run], str]) -> Iterator[Split]:
    for value in dict.fromkeys(key(run) for run in runs):
        known = [run for run in runs if key(run) != value]
        if len(known) >= FEWEST_RUNS:
            yield known, [run for run in runs if key(run) == value]


def misses(splits: Iterator[Split], fit: Callable[[Sequence[Run]], Target] = fit_target) -> list[Miss]:
    """Errors of all runs that are left out in turn, the target refitted each time."""
    found = []
    for known, left in splits:
        target = fit(known)
        logs = np.log(target.minutes(left))
        for run, log in zip(left, logs, strict=True):
            assert run.minutes is not None
            found.append(Miss(run=run, error=float(log - np.log(run.minutes)), novelty=target.novelty(run)))
    return found


def baseline_errors(splits: Iterator[Split], predict: Callable[[Sequence[Run], Run], float]) -> list[float]:
    """Errors of a baseline on the same runs, from the same known ones."""
    found = []
    for known, left in splits:
        for run in left:
            assert run.minutes is not None
            found.append(float(np.log(predict(known, run) / run.minutes)))
    return found
