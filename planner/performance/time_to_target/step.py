"""Time of a run as a few non-negative terms of its system, fitted to all systems that were published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from planner.performance.robust import robust, robust_slope
from planner.performance.time_to_target.benchmarks import BENCHMARKS
from planner.performance.time_to_target.runs import Run
from planner.units import S_PER_MIN

Array = npt.NDArray[np.float64]

TERMS: Final = ("matmul", "traffic", "sample", "step", "nodes", "inside", "network")
"""Parts of a step: a sample's by matmul rate, bandwidth, and fixed; a step's, by doublings of nodes, in the node's
links, and in the network."""
# Of the system on which each term is its own coefficient, so that all are of one size: about an A100.
_TYPICAL_MATMUL, _TYPICAL_BANDWIDTH, _TYPICAL_INSIDE = 250.0, 2000.0, 20.0
_TYPICAL_NETWORK, _TYPICAL_FABRIC = 50.0, 200.0
# Logs of the share of a one-node step that is expected of a term, and how far off they may be; then the software's
# progress, overhead and offsets of cards: judgements, made with the published rows in view.
_EXPECTED: Final = np.log([0.45, 0.35, 0.06, 0.03, 0.010, 0.03, 0.03])
_TERM_SPREAD: Final = np.array([0.5, 0.5, 0.8, 1.0, 1.0, 1.0, 1.0])
_PROGRESS, _PROGRESS_SPREAD = 0.2, 0.1
_PROGRESS_YEARS = 1.5
_PROGRESS_FROM = 2024.0
_OVERHEAD_MIN, _OVERHEAD_LOG_SPREAD = 0.03, 0.8
_OFFSET_SPREADS = {"generation": 0.12, "gpu": 0.06}
_ROW_SPREAD = 0.06
_WEIGHT_POWER = -0.35  # of the number of rows with this card and number of cards
_MOST_EVALUATIONS = 60
_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTerms:
    """Logs of the coefficients in the order of `TERMS`, the software's progress, and what a run takes besides."""

    logs: tuple[float, ...]
    progress: float
    overhead_min: float


def features(runs: Sequence[Run], batch: Array) -> Array:
    """Each term of a step at a coefficient of 1, a row for each run."""
    gpus, nodes, local, matmul, bandwidth, inside, network, fabric = np.array(
        [
            (
                run.gpus, run.nodes, run.rates.local, run.rates.s_per_tflop, run.rates.bandwidth_gb_per_s,
                run.rates.inside_gb_per_s, run.rates.network_gb_per_s, run.rates.fabric_gb_per_s,
            )
            for run in runs
        ],
        dtype=float,
    ).T  # fmt: skip
    share = batch / gpus  # less than 1 where several GPUs work on a sample
    on_a_bus = np.array([1.0 if run.rates.switched else max(run.rates.local / 8, 1.0) for run in runs])
    return np.stack(
        [
            share * _TYPICAL_MATMUL * matmul,
            share * _TYPICAL_BANDWIDTH / bandwidth,
            share,
            0.5 + 0.5 * _TYPICAL_BANDWIDTH / bandwidth,  # launches, which don't change, and the optimizer's traffic
            np.log2(nodes) * np.sqrt(_TYPICAL_FABRIC / fabric),
            2 * (local - 1) / local * _TYPICAL_INSIDE / inside * on_a_bus,
            (nodes > 1) * _TYPICAL_NETWORK / network,
        ],
        axis=1,
    )


def software_age(runs: Sequence[Run]) -> Array:
    """How far the software of a benchmark has come since it was introduced, against what it had come in 2024. [-]"""
    introduced = BENCHMARKS[runs[0].benchmark].introduced
    ages = np.maximum(np.array([run.year for run in runs]) - introduced, 0.0)
    then = max(_PROGRESS_FROM - introduced, 0.0)
    progressed: Array = np.exp(-then / _PROGRESS_YEARS) - np.exp(-ages / _PROGRESS_YEARS)
    return progressed


def log_minutes(terms: StepTerms, runs: Sequence[Run], batch: Array, work: Array) -> Array:
    """Log of the minutes of runs on usual cards of their kind.

    `minutes = overhead + work / batch × step`, a step the sum of its terms, less by the software's progress.

    Parameters
    ----------
    terms : StepTerms
        Fitted to a benchmark.
    runs : sequence of Run
        What was measured is not looked at.
    batch : array
        Global batch of each. [-]
    work : array
        Samples or epochs to the target. [-]
    """
    seconds = features(runs, batch) @ np.exp(np.array(terms.logs)) / batch * work
    logs: Array = np.log(terms.overhead_min + seconds * np.exp(-terms.progress * software_age(runs)) / S_PER_MIN)
    return logs


def fit_step(runs: Sequence[Run]) -> tuple[StepTerms, dict[str, dict[str, float]]]:
    """Terms of a benchmark, and logs of how much longer each generation and card takes than its rates say.

    Fitted to the minutes of runs whose work is known, so to their speed: least squares on logs, outliers weighing
    less, with what is expected as prior. A system with many rows counts less than its rows would.
    """
    batch = np.array([run.batch for run in runs], dtype=float)
    minutes = np.array([run.minutes for run in runs], dtype=float)
    work = np.array([run.work for run in runs], dtype=float)
    terms, age, y = features(runs, batch), software_age(runs), np.log(minutes)
    single = np.array([run.nodes == 1 for run in runs])
    chosen = single if single.any() else np.ones_like(single)
    usual = np.median(terms[chosen], axis=0)
    usual[TERMS.index("nodes") :] = 1.0
    start = _EXPECTED + np.log(np.median((minutes * S_PER_MIN * batch / work)[chosen])) - np.log(usual)
    offsets = [(name, key) for name in _OFFSET_SPREADS for key in sorted({getattr(run, name) for run in runs})]
    of_card = np.array([[float(getattr(run, name) == key) for name, key in offsets] for run in runs])
    kinds = [(run.gpu, run.gpus) for run in runs]
    weight = np.array([float(kinds.count(kind)) for kind in kinds]) ** _WEIGHT_POWER
    n, k = len(TERMS), len(TERMS) + 2
    centre = np.concatenate([start, [_PROGRESS, np.log(_OVERHEAD_MIN)], np.zeros(len(offsets))])
    spread = np.concatenate(
        [_TERM_SPREAD, [_PROGRESS_SPREAD, _OVERHEAD_LOG_SPREAD], [_OFFSET_SPREADS[name] for name, _ in offsets]]
    )

    def parts(values: Array) -> tuple[Array, Array, Array]:
        by_term = terms * np.exp(values[:n])
        step = by_term.sum(axis=1)
        running = step / batch * work * np.exp(-values[n] * age) / S_PER_MIN
        return by_term / step[:, None], running, running + np.exp(values[n + 1])

    def errors(values: Array, total: Array) -> Array:
        found: Array = (np.log(total) + of_card @ values[k:] - y) / _ROW_SPREAD
        return found

    def residuals(values: Array) -> Array:
        _, _, total = parts(values)
        return np.concatenate([weight * robust(errors(values, total)), (values - centre) / spread])

    def jacobian(values: Array) -> Array:
        shares, running, total = parts(values)
        slope = robust_slope(errors(values, total))
        matrix = np.empty((len(y), len(values)))
        matrix[:, :n] = (running / total)[:, None] * shares
        matrix[:, n] = -running / total * age
        matrix[:, n + 1] = np.exp(values[n + 1]) / total
        matrix[:, k:] = of_card
        return np.vstack([matrix * (weight * slope / _ROW_SPREAD)[:, None], np.diag(1 / spread)])

    found = least_squares(
        residuals, centre, jacobian, method="lm", max_nfev=_MOST_EVALUATIONS, xtol=_TOLERANCE, ftol=_TOLERANCE
    ).x
    fitted = StepTerms(
        logs=tuple(float(value) for value in found[:n]),
        progress=float(found[n]),
        overhead_min=float(np.exp(found[n + 1])),
    )
    of: dict[str, dict[str, float]] = {name: {} for name in _OFFSET_SPREADS}
    for (name, key), value in zip(offsets, found[k:], strict=True):
        of[name][key] = float(value)
    return fitted, of
