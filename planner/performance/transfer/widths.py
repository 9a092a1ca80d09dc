"""How far off transferred speeds are: half-widths of their 80 % interval, from rows and hosts left out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.performance.transfer.likeness import Array
from planner.performance.transfer.links import Kind

COVERED: Final = 0.8
EXCHANGE_FLOOR: Final = 0.015  # of a step, whatever share of it is exchange
_ROWS_OF_THE_USUAL = 5  # for which the errors of all other models count
_ALIKE_NOISE = 0.2  # of two cards of the same rates
_FARTHEST_VARIANCE = 2.0  # what a card like none that was measured adds, in variances of one among them


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWidths:
    """Of one model on one card: where it was measured on the card, on a new card, and in new software."""

    known: float
    new_gpu: float
    new_stack: float


def covering(misses: Sequence[float] | Array) -> float:
    """What covers four of five errors."""
    return float(np.quantile(misses, COVERED))


def shrunk(misses: Sequence[float] | Array, usual: float) -> float:
    """What covers a model's errors, the nearer to what is usual the fewer there are."""
    if not len(misses):
        return usual
    share = len(misses) / (len(misses) + _ROWS_OF_THE_USUAL)
    return share * covering(misses) + (1 - share) * usual


def strangeness(card: Array, measured: Array) -> float:
    """How unlike all measured cards a card is, from 0 for one among them to 1 for one far from all.

    Parameters
    ----------
    card : array
        Its features, logs of rates and sizes.
    measured : array
        Those of each measured card.
    """
    among = np.exp(-0.5 * ((measured[:, None, :] - measured[None, :, :]) ** 2).sum(axis=2))
    near = np.exp(-0.5 * ((measured - card) ** 2).sum(axis=1))
    explained = near @ np.linalg.solve(among + _ALIKE_NOISE * np.eye(len(measured)), near)
    return float(max(1.0 - explained, 0.0))


def single_width(widths: ModelWidths, *, new_gpu: bool, new_stack: bool, strange: float) -> float:
    """Half-width on one card."""
    width = widths.known
    if new_gpu:
        width = widths.new_gpu * math.sqrt(1 + _FARTHEST_VARIANCE * strange)
    return math.hypot(width, widths.new_stack) if new_stack else width


def exchange_width(kind: Kind, share: float, by_kind: Mapping[str, float]) -> float:
    """Half-width that several cards add, by the share of the step that they exchange or wait."""
    return by_kind[kind] * (EXCHANGE_FLOOR + share)
