"""How alike two runs of measured models are: the covariance of what the terms of their models leave unexplained."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

# Standard deviations of logs, judged with the published rows in view and rounded, so that they aren't fitted to any.
_CARD: Final = 0.05  # of a card, for all models alike, shared with cards of like rates and sizes
_CARD_MODEL: Final = 0.06  # the same of a single model
_CARD_MODEL_OTHER: Final = 0.15  # more of models measured outside the suite that ran on all cards
_ONE_CARD: Final = 0.03  # of a card by itself, such as its cooling
_SOFTWARE: Final = 0.06  # of a release, for all models alike, shared with releases near to it
_DRIFT: Final = 0.015  # of each minor release, for all models alike
_SOFTWARE_MODEL: Final = 0.06
_SOFTWARE_PRECISION: Final = 0.04
_SOFTWARE_MODEL_PRECISION: Final = 0.04
_SOFTWARE_MODEL_OTHER: Final = 0.10
_MODEL_PRECISION: Final = 0.10  # of a model in one precision, beyond the bytes and rates of that
ROW_SPREAD: Final = 0.04  # of a row by itself
_RELEASES_ALIKE: Final = 12.0  # minor releases after which software has little in common
NO_RELEASE: Final = -1000.0
_MIDDLE_RELEASE: Final = 13.0  # from which drift is counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Runs, as what of them counts for likeness: codes of names, features of cards, releases of software."""

    model: Codes
    gpu: Codes
    precision: Codes
    software: Codes
    release: Array  # minor releases of PyTorch, counted on; NO_RELEASE for other software
    other: Array  # 1 outside the suite, else 0
    features: Array  # rows by features

    def take(self, rows: Codes) -> Places:
        """Some of the runs."""
        picked: dict[str, Any] = {field.name: getattr(self, field.name)[rows] for field in fields(self)}
        return replace(self, **picked)


def covariance(one: Places, two: Places) -> Array:
    """Covariance of the logs of speed of each run of one with each of two, beyond what terms explain."""
    squares = ((one.features[:, None, :] - two.features[None, :, :]) ** 2).sum(axis=2)
    card = np.exp(-0.5 * squares)
    model = _same(one.model, two.model)
    precision = _same(one.precision, two.precision)
    other = model * one.other[:, None] * two.other[None, :]
    apart = np.abs(one.release[:, None] - two.release[None, :])
    with_release = (one.release[:, None] != NO_RELEASE) & (two.release[None, :] != NO_RELEASE)
    software = np.where(with_release, np.exp(-apart / _RELEASES_ALIKE), _same(one.software, two.software))
    drift = np.where(with_release, np.outer(one.release - _MIDDLE_RELEASE, two.release - _MIDDLE_RELEASE), 0.0)
    total: Array = (
        card * (_CARD**2 + _CARD_MODEL**2 * model + _CARD_MODEL_OTHER**2 * other)
        + _ONE_CARD**2 * _same(one.gpu, two.gpu)
        + software * (_SOFTWARE**2 + _SOFTWARE_MODEL**2 * model + _SOFTWARE_MODEL_OTHER**2 * other)
        + software * precision * (_SOFTWARE_PRECISION**2 + _SOFTWARE_MODEL_PRECISION**2 * model)
        + _DRIFT**2 * drift
        + _MODEL_PRECISION**2 * model * precision
    )
    return total


def variance(places: Places) -> Array:
    """Variance of the log of speed of each run, beyond what terms explain: its covariance with itself."""
    drift = np.where(places.release != NO_RELEASE, places.release - _MIDDLE_RELEASE, 0.0)
    of_card = _CARD**2 + _CARD_MODEL**2 + _ONE_CARD**2
    of_software = _SOFTWARE**2 + _SOFTWARE_MODEL**2 + _SOFTWARE_PRECISION**2 + _SOFTWARE_MODEL_PRECISION**2
    elsewhere = (_CARD_MODEL_OTHER**2 + _SOFTWARE_MODEL_OTHER**2) * places.other**2
    total: Array = of_card + of_software + _MODEL_PRECISION**2 + elsewhere + _DRIFT**2 * drift**2
    return total


def _same(one: Codes, two: Codes) -> Array:
    same: Array = (one[:, None] == two[None, :]).astype(np.float64)
    return same
