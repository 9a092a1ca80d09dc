"""The rest of the old plan beside the new one, way by way."""

from __future__ import annotations

from dataclasses import dataclass

from planner.actual.known import NOT_CASH
from planner.strategy.evaluate import StrategyResult
from planner.strategy.kernel import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """Cash of a plan's months from one on, and the energy of these. What machines would bring isn't cash."""

    running_usd: float
    purchase_usd: float
    resale_usd: float
    financing_usd: float  # loans and leases; negative where more is borrowed than paid back
    kwh: float

    @property
    def total_usd(self) -> float:
        """All of it; resale is negative."""
        return self.running_usd + self.purchase_usd + self.resale_usd + self.financing_usd


def rest_of(evaluation: Evaluation, month: int) -> Rest:
    """What is paid from a month on, that is after the end of the month before.

    Parameters
    ----------
    evaluation : Evaluation
        One row.
    month : int
        From 1, for which what is paid at the start counts too.
    """
    first = 0 if month == 1 else month
    sums = {"opex": 0.0, "capex": 0.0, "residual": 0.0, "financing": 0.0}
    kwh = 0.0
    for line in evaluation.lines:
        if line.kind == NOT_CASH:
            continue
        sums[line.group] += float(line.amount[0, first:].sum())
        if line.kwh is not None:
            kwh += float(line.kwh[0, first:].sum())
    return Rest(
        running_usd=sums["opex"],
        purchase_usd=sums["capex"],
        resale_usd=sums["residual"],
        financing_usd=sums["financing"],
        kwh=kwh,
    )


def rest_of_way(strategy: StrategyResult, month: int) -> Rest | None:
    """The same of a strategy; None for one that isn't costed."""
    return None if strategy.evaluation is None else rest_of(strategy.evaluation, month)
