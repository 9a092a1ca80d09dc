"""Step time of a known model as a few non-negative terms of the card, fitted to all cards it was measured on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from planner.performance.transfer.cards import Card

Array = npt.NDArray[np.float64]

TERMS: Final = ("matmul", "traffic", "vector", "step", "unit")
"""Parts of the time of one sample: by matmul rate, bandwidth, fp32 rate, by step (shared by its batch), and fixed."""
# Rates of the card on which each term is its own coefficient, so that all are of one size.
_TYPICAL_MATMUL, _TYPICAL_BANDWIDTH, _TYPICAL_VECTOR = 100.0, 1000.0, 20.0
# Logs of the share of the median time that is expected of a term, and how far off they may be: judgements, made with
# the published rows in view.
_EXPECTED: Final = np.array([-1.2, -0.9, -2.0, -3.5, -4.0])
_TERM_SPREAD: Final = np.array([1.0, 0.7, 1.0, 1.0, 0.8])
SOURCE_SPREAD = 0.12  # log of how much faster one source's software is
_ROW_SPREAD = 0.07
_MOST_EVALUATIONS = 60
_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Measured speeds of one model on single cards, as arrays of one length."""

    matmul_tflop_per_s: Array
    vector_tflop_per_s: Array
    bandwidth_gb_per_s: Array
    element_bytes: Array
    batch: Array
    source: npt.NDArray[np.int64]  # index into `sources`
    card: npt.NDArray[np.int64]  # which card, for weights
    log_speed: Array  # of samples a second
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Logs of the coefficients, in the order of `TERMS`, and of how slow each source's software is."""

    logs: tuple[float, ...]
    sources: tuple[tuple[str, float], ...]


def part_times(terms: Array, samples: Samples) -> tuple[Array, ...]:
    """Seconds of a sample on each row's card by part, in the order of `TERMS`."""
    a, b, c, d, e = np.exp(terms)
    return (
        a * _TYPICAL_MATMUL / samples.matmul_tflop_per_s,
        b * _TYPICAL_BANDWIDTH / samples.bandwidth_gb_per_s * samples.element_bytes / 2.0,
        c * _TYPICAL_VECTOR / samples.vector_tflop_per_s,
        d / np.maximum(samples.batch, 1.0),
        np.full(len(samples.batch), e),
    )


def log_time(terms: Array, offsets: Array, samples: Samples) -> Array:
    """Log of the seconds of a sample on each row's card.

    Parameters
    ----------
    terms, offsets : array
        Five logs of coefficients, and a log for each source.
    samples : Samples
        Rates of the cards; what was measured is not looked at.
    """
    matmul, traffic, vector, step, unit = part_times(terms, samples)
    logs: Array = np.log(matmul + traffic + vector + step + unit) + offsets[samples.source]
    return logs


def robust(errors: Array) -> Array:
    """Residuals whose squares grow like the errors themselves where these are large: soft L1, for some rows only."""
    softened: Array = np.sign(errors) * np.sqrt(2.0 * (np.sqrt(1.0 + errors * errors) - 1.0))
    return softened


def fit_terms(samples: Samples) -> Terms:
    """Terms of a model from its rows: least squares on logs, outliers weighing less, with what is expected as prior.

    A card with many rows counts less than its rows would: the fourth root of their number.
    """
    from scipy.optimize import least_squares  # takes as long to load as a plan, which never fits

    start = _EXPECTED - np.median(samples.log_speed)
    start[3] += np.log(np.median(np.maximum(samples.batch, 1.0)))
    count = np.bincount(samples.card)[samples.card]
    weight = count**-0.25
    n_sources = len(samples.sources)

    def residuals(values: Array) -> Array:
        error = (-log_time(values[:5], values[5:], samples) - samples.log_speed) / _ROW_SPREAD
        return np.concatenate([weight * robust(error), (values[:5] - start) / _TERM_SPREAD, values[5:] / SOURCE_SPREAD])

    found = least_squares(
        residuals, np.concatenate([start, np.zeros(n_sources)]), max_nfev=_MOST_EVALUATIONS,
        xtol=_TOLERANCE, ftol=_TOLERANCE,
    ).x  # fmt: skip
    return Terms(
        logs=tuple(float(value) for value in found[:5]),
        sources=tuple(zip(samples.sources, (float(value) for value in found[5:]), strict=True)),
    )


def samples_of(
    cards: Sequence[Card],
    *,
    names: Sequence[str],
    element_bytes: Sequence[float],
    batches: Sequence[float],
    sources: Sequence[str],
    speeds: Sequence[float],
    known_sources: tuple[str, ...],
) -> Samples:
    """Rows of one model as arrays; a source that isn't known counts as the first."""
    cards_by_name = {name: at for at, name in enumerate(dict.fromkeys(names))}
    return Samples(
        matmul_tflop_per_s=np.array([card.matmul_tflop_per_s for card in cards]),
        vector_tflop_per_s=np.array([card.vector_tflop_per_s for card in cards]),
        bandwidth_gb_per_s=np.array([card.bandwidth_gb_per_s for card in cards]),
        element_bytes=np.array(element_bytes, dtype=float),
        batch=np.array(batches, dtype=float),
        source=np.array([known_sources.index(name) if name in known_sources else 0 for name in sources]),
        card=np.array([cards_by_name[name] for name in names]),
        log_speed=np.log(np.array(speeds, dtype=float)),
        sources=known_sources,
    )
