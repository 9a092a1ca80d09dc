"""Failures of shared machines and their repair, in hours that machines are switched on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

_BLOCK = 256  # draws at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """How often each machine of a pool fails while it works, and how long it is away then."""

    per_h: float
    repair_h: float

    def up_h(self, rng: np.random.Generator) -> Iterator[float]:
        """Random times from the moment a machine works until it fails. [h]"""
        while True:
            yield from rng.exponential(1.0 / self.per_h, _BLOCK).tolist()


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdowns:
    """The failures of one course. `up_h` is drawn from in the order in which machines begin to work."""

    up_h: Iterator[float]
    repair_h: float
