"""A mixed-integer programme: variables and rows as they come, then solved by HiGHS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from planner.cost.lines import Array

_TIME_OUT: Final = 1  # status of scipy


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """The values found, how far the best possible may be below them, and whether time ran out."""

    values: Array | None  # None: there are none, or none was found in time
    bound: float  # the objective isn't below it
    timed_out: bool


class Programme:
    """Variables with costs, and rows over them; to be minimised."""

    def __init__(self) -> None:
        self._cost: list[Array] = []
        self._upper: list[Array] = []
        self._whole: list[Array] = []
        self._count = 0
        self._rows: list[tuple[Array, Array, float, float]] = []

    def add(self, cost: Array, *, upper: Array | float = np.inf, whole: object = False) -> npt.NDArray[np.int64]:
        """Variables of at least 0; returns their places."""
        cost = np.atleast_1d(np.asarray(cost, dtype=np.float64))
        self._cost.append(cost)
        self._upper.append(np.broadcast_to(np.asarray(upper, dtype=np.float64), cost.shape))
        self._whole.append(np.broadcast_to(np.asarray(whole, dtype=np.float64), cost.shape))
        places = np.arange(self._count, self._count + len(cost))
        self._count += len(cost)
        return places

    def row(self, places: Sequence[int] | Array, factors: Sequence[float] | Array, low: float, high: float) -> None:
        """That a weighted sum of variables lies within limits; a place may stand more than once."""
        self._rows.append((np.asarray(places, dtype=np.int64), np.asarray(factors, dtype=np.float64), low, high))

    @property
    def costs(self) -> Array:
        """By variable."""
        return np.concatenate(self._cost)

    @property
    def uppers(self) -> Array:
        """By variable."""
        return np.concatenate(self._upper)

    def solve(self, *, gap: float, time_limit_s: float, objective: Array | None = None) -> Solved:
        """The least total cost, or the least of another objective over the same rows."""
        cost = self.costs if objective is None else objective
        scale = float(np.abs(cost).max()) or 1.0
        constraints = []
        if self._rows:
            lengths = [len(places) for places, *_ in self._rows]
            matrix = csr_array(
                (
                    np.concatenate([factors for _, factors, _, _ in self._rows]),
                    (np.repeat(np.arange(len(lengths)), lengths), np.concatenate([row[0] for row in self._rows])),
                ),
                shape=(len(lengths), self._count),
            )
            low, high = (np.array([row[at] for row in self._rows]) for at in (2, 3))
            constraints.append(LinearConstraint(matrix, low, high))
        found = milp(
            cost / scale,
            integrality=np.concatenate(self._whole),
            bounds=Bounds(0.0, self.uppers),
            constraints=constraints,
            options={"mip_rel_gap": gap, "time_limit": time_limit_s},
        )
        bound = getattr(found, "mip_dual_bound", None)
        if bound is None or not np.isfinite(bound):
            bound = found.fun if found.fun is not None and found.status == 0 else -np.inf
        return Solved(values=found.x, bound=float(bound) * scale, timed_out=found.status == _TIME_OUT)
