"""How far off transferred speeds are: half-widths of their 80 % interval, from rows and hosts left out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from planner.performance.constants import Constants
from planner.performance.transfer.likeness import Array
from planner.performance.transfer.links import Kind

_ALIKE_NOISE = 0.2  # of two cards of the same rates
_FARTHEST_VARIANCE = 1.0  # what a card like none that was measured adds, in variances of one among them


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWidths:
    """Of one model on one card: where it was measured on the card, and on a new card."""

    known: float
    new_gpu: float  # for data centres
    new_desktop_gpu: float  # for consumers and workstations, which differ more in power and software


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


def strange_factor(strange: float | Array) -> Array:
    """How much wider an interval is on a card unlike those that were measured. [-]"""
    return np.sqrt(1 + _FARTHEST_VARIANCE * np.asarray(strange, dtype=np.float64))


def single_width(
    widths: ModelWidths,
    *,
    new_gpu: bool,
    new_stack: bool,
    datacenter: bool,
    strange: float,
    of_stack: float,
    launch_share: float,
    constants: Constants,
) -> float:
    """Half-width on one card.

    Parameters
    ----------
    widths : ModelWidths
        Of the model.
    new_gpu, new_stack : bool
        Whether it wasn't measured on this card, or in this software.
    datacenter : bool
        Whether the card is sold for data centres.
    strange : float
        How unlike all measured cards a new one is, see `strangeness`. [-]
    of_stack : float
        What new software makes of the deviation that the rows behind the speed leave, on this card. [-]
    launch_share : float
        Share of the step that is the same for any batch: less sure where nothing of the kind was measured. [-]
    constants : Constants
        Which steps are bound by launches, and what that adds.
    """
    if not new_gpu and not new_stack:
        return widths.known
    width = max(widths.known, of_stack) if new_stack else widths.known
    if new_gpu:
        of_new = widths.new_gpu if datacenter else widths.new_desktop_gpu
        width = max(width, of_new * float(strange_factor(strange)))
    bound = launch_share > constants.launch_bound_share
    return math.hypot(width, constants.half_width_regime) if bound else width


def exchange_width(kind: Kind, share: float, by_kind: Mapping[str, float], constants: Constants) -> float:
    """Half-width that several cards add, by the share of the step that they exchange or wait."""
    return by_kind[kind] * (constants.exchange_floor_share + share)
