"""Step time of a known model as a few non-negative terms of the card."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from planner.performance.transfer.cards import Card, PrecisionClass

Array = npt.NDArray[np.float64]

TERMS: Final = ("matmul", "traffic", "vector", "step", "unit")
"""Parts of the time of one sample: by matmul rate, bandwidth, fp32 rate, by step (shared by its batch), and fixed."""
ELEMENT_BYTES: Final[dict[PrecisionClass, float]] = {"16-bit": 2.0, "tf32": 4.0, "fp32": 4.0}
# Rates of the card on which each term is its own coefficient, so that all are of one size.
_TYPICAL_MATMUL, _TYPICAL_BANDWIDTH, _TYPICAL_VECTOR, _TYPICAL_BYTES = 100.0, 1000.0, 20.0, 2.0


def basis_of(card: Card, precision: PrecisionClass, batch: float) -> tuple[float, ...]:
    """What each coefficient is multiplied by on a card, in the order of `TERMS`. [-]"""
    return (
        _TYPICAL_MATMUL / card.matmul_tflop_per_s,
        _TYPICAL_BANDWIDTH / card.bandwidth_gb_per_s * ELEMENT_BYTES[precision] / _TYPICAL_BYTES,
        _TYPICAL_VECTOR / card.vector_tflop_per_s,
        1.0 / max(batch, 1.0),
        1.0,
    )


def part_times(terms: tuple[float, ...], card: Card, precision: PrecisionClass, batch: float) -> tuple[float, ...]:
    """Seconds of a sample by part, in the order of `TERMS`.

    Parameters
    ----------
    terms : tuple of float
        Logs of the coefficients. [log s]
    card, precision : Card, PrecisionClass
        Rates, and bytes of a value.
    batch : float
        Samples of a step. [-]
    """
    parts = zip(terms, basis_of(card, precision, batch), strict=True)
    return tuple(math.exp(log) * factor for log, factor in parts)


def log_speeds(terms: Array, basis: Array) -> tuple[Array, Array]:
    """Log of samples a second of many rows, and how it changes with the log of each coefficient (rows by terms)."""
    parts = np.exp(terms) * basis
    seconds = parts.sum(axis=1)
    return -np.log(seconds), -parts / seconds[:, None]
