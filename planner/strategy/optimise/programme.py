"""A mixed-integer programme: variables and rows as they come, then solved by HiGHS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from planner.cost.course import Array
from planner.strategy.optimise.quiet import silenced

_TIME_OUT: Final = 1  # status of scipy


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """The values found, how far the best possible may be below them, and whether time ran out."""

    values: Array | None  # None: there are none, or none was found in time
    bound: float  # the objective isn't below it
    timed_out: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    """A programme as arrays: least `cost`, with rows `low <= matrix @ values <= high`."""

    cost: Array
    least: Array
    most: Array
    whole: npt.NDArray[np.bool_]
    matrix: csr_array
    low: Array
    high: Array
    period: npt.NDArray[np.int64]  # of each variable, -1 where it is of all

    def solve(self, *, gap: float, time_limit_s: float) -> Solved:
        """By HiGHS."""
        scale = float(np.abs(self.cost).max(initial=0.0)) or 1.0
        rows = [LinearConstraint(self.matrix, self.low, self.high)] if len(self.low) else []
        with silenced():
            found = milp(
                self.cost / scale,
                integrality=self.whole.astype(np.int64),
                bounds=Bounds(self.least, self.most),
                constraints=rows,
                options={"mip_rel_gap": gap, "time_limit": max(time_limit_s, 0.0)},
            )
        bound = getattr(found, "mip_dual_bound", None)
        if bound is None or not np.isfinite(bound):
            bound = found.fun if found.fun is not None and found.status == 0 else -np.inf
        return Solved(values=found.x, bound=float(bound) * scale, timed_out=found.status == _TIME_OUT)


class Programme:
    """Variables with costs, and rows over them; to be minimised."""

    def __init__(self) -> None:
        self._cost: list[Array] = []
        self._upper: list[Array] = []
        self._whole: list[npt.NDArray[np.bool_]] = []
        self._period: list[npt.NDArray[np.int64]] = []
        self._count = 0
        self._rows: list[tuple[Array, Array, float, float]] = []

    def add(
        self, cost: Array, *, upper: Array | float = np.inf, whole: object = False, period: int | None = None
    ) -> npt.NDArray[np.int64]:
        """Variables of at least 0, of one period or of all; returns their places."""
        cost = np.atleast_1d(np.asarray(cost, dtype=np.float64))
        self._cost.append(cost)
        self._upper.append(np.broadcast_to(np.asarray(upper, dtype=np.float64), cost.shape))
        self._whole.append(np.broadcast_to(np.asarray(whole, dtype=np.bool_), cost.shape))
        self._period.append(np.full(len(cost), -1 if period is None else period))
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

    def arrays(self, objective: Array | None = None) -> Arrays:
        """All variables and rows, with their own costs or another objective."""
        lengths = [len(places) for places, *_ in self._rows]
        entries = [np.concatenate([row[at] for row in self._rows]) if lengths else np.zeros(0) for at in (0, 1)]
        low, high = (np.array([row[at] for row in self._rows], dtype=np.float64) for at in (2, 3))
        return Arrays(
            cost=self.costs if objective is None else objective,
            least=np.zeros(self._count),
            most=self.uppers,
            whole=np.concatenate(self._whole),
            matrix=csr_array(
                (entries[1], (np.repeat(np.arange(len(lengths)), lengths), entries[0].astype(np.int64))),
                shape=(len(lengths), self._count),
            ),
            low=low,
            high=high,
            period=np.concatenate(self._period),
        )

    def solve(self, *, gap: float, time_limit_s: float, objective: Array | None = None) -> Solved:
        """The least total cost, or the least of another objective over the same rows."""
        return self.arrays(objective).solve(gap=gap, time_limit_s=time_limit_s)
