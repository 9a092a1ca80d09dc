"""Microseconds of one evaluation on one core, by method."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks import baselines
from planner.catalog.records import Catalog
from planner.measurements.rows import LanguageRow
from planner.performance.constants import Constants
from planner.performance.fit_steps import FitRows
from planner.performance.predict_rows import predict_language_rows
from planner.performance.rows.predict import CHUNK
from planner.performance.step import step_times

ROWS, ROUNDS = 12_288, 15


def microseconds(
    data: FitRows,
    facts: Sequence[baselines.Facts],
    language: Sequence[LanguageRow],
    catalog: Catalog,
    constants: Constants,
) -> dict[str, float]:
    """Median processor time of one evaluation. The step alone takes arrays of all rows, repeated to many."""
    many = np.resize(np.arange(len(data)), ROWS)
    chunks = [data.inputs.take(many[start : start + CHUNK]) for start in range(0, ROWS, CHUNK)]
    whole = data.inputs.take(many)
    hidden = [language[row].without_measured() for row in many[:4096]]
    work: dict[str, tuple[Callable[[], object], int]] = {
        "this estimator, step alone": (lambda: [step_times(chunk, constants) for chunk in chunks], ROWS),
        "this estimator, step alone, one array": (lambda: step_times(whole, constants), ROWS),
        "this estimator, from a table's row to interval": (lambda: predict_language_rows(hidden, catalog), len(hidden)),
        "40 % MFU": (lambda: baselines.usual_mfu(facts), len(facts)),
        "bandwidth ratio": (lambda: baselines.bandwidth_ratio(facts, facts, data.log_measured), len(facts)),
    }
    return {name: _median_us(once, 3 if "interval" in name else ROUNDS) / count for name, (once, count) in work.items()}


def _median_us(work: Callable[[], object], rounds: int) -> float:
    work()
    durations = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        durations.append(time.process_time() - start)
    return 1e6 * statistics.median(durations)
