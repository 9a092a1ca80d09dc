"""Limits of a plan on money, energy and emissions, and how near it comes to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from planner.cost.course import Array
from planner.strategy.fiscal import QUARTER, spans
from planner.strategy.kernel import Evaluation
from planner.strategy.measures import CAPEX, COST, KG_CO2E, KWH, PAID, by_time
from planner.strategy.problem import Issue, PlanProblem
from planner.units import HALF_CENT_USD

LimitKind = Literal["total", "capex", "cash_per_month", "cash_per_quarter", "energy_kwh", "kg_co2e"]
MEASURE_OF: Final[dict[LimitKind, int]] = {
    "total": COST,
    "capex": CAPEX,
    "cash_per_month": PAID,
    "cash_per_quarter": PAID,
    "energy_kwh": KWH,
    "kg_co2e": KG_CO2E,
}
_MONEY: Final = ("total", "capex", "cash_per_month", "cash_per_quarter")
_SLACK = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The most that a plan may come to in one measure, over its whole time or in each month or quarter."""

    kind: LimitKind
    most: float  # USD, kWh or kg
    field: str  # of the scenario

    @property
    def money(self) -> bool:
        """Whether it is in USD."""
        return self.kind in _MONEY

    @property
    def slack(self) -> float:
        """What isn't seen as breaking it."""
        return HALF_CENT_USD if self.money else _SLACK * max(self.most, 1.0)


def limits_of(problem: PlanProblem, *, ceiling: bool) -> tuple[Limit, ...]:
    """Limits that a scenario sets; the ceiling on a quarter's cash only where it is asked for."""
    asked = problem.limits
    values: list[tuple[LimitKind, float | None, str]] = [
        ("total", asked.total_usd, "limits.total_usd"),
        ("capex", asked.capex_usd, "limits.capex_usd"),
        ("cash_per_month", asked.cash_usd_per_month, "limits.cash_usd_per_month"),
        (
            "cash_per_quarter",
            problem.views.ceiling_usd_per_quarter if ceiling else None,
            "cash_ceiling_usd_per_quarter",
        ),
        ("energy_kwh", asked.energy_kwh, "limits.energy_kwh"),
        ("kg_co2e", asked.kg_co2e, "limits.kg_co2e"),
    ]
    return tuple(Limit(kind=kind, most=most, field=field) for kind, most, field in values if most is not None)


def limit_spans(problem: PlanProblem, limit: Limit, times: int) -> list[npt.NDArray[np.int64]]:
    """Times that are summed up under a limit: what is paid at the start counts in month 1."""
    if limit.kind not in ("cash_per_month", "cash_per_quarter"):
        return [np.arange(times)]
    size = 1 if limit.kind == "cash_per_month" else QUARTER
    views = problem.views
    months = [(month, month) for month in range(1, times)]
    if size > 1:
        months = [(span.first, span.last) for span in spans(times - 1, size, views.starts, views.fiscal_year_starts)]
    return [np.arange(first if first > 1 else 0, last + 1) for first, last in months]


def limit_values(problem: PlanProblem, evaluation: Evaluation, limits: Sequence[Limit]) -> Array:
    """What an evaluation comes to under each limit, of the spans the most. [rows, limits]"""
    if not limits:
        return np.zeros((len(evaluation.discount), 0))
    times = evaluation.discount.shape[1]
    found = by_time(evaluation, times)
    return np.stack(
        [
            np.max(
                [found[:, MEASURE_OF[limit.kind], span].sum(axis=1) for span in limit_spans(problem, limit, times)],
                axis=0,
            )
            for limit in limits
        ],
        axis=1,
    )


def limits_broken(problem: PlanProblem, evaluation: Evaluation, limits: Sequence[Limit]) -> npt.NDArray[np.bool_]:
    """Which limits each row breaks. [rows, limits]"""
    values = limit_values(problem, evaluation, limits)
    most = np.array([limit.most + limit.slack for limit in limits])
    return np.asarray(values > most, dtype=np.bool_)


def limit_problems(problem: PlanProblem, evaluation: Evaluation) -> list[Issue]:
    """The limits that a plan of one row breaks; a ceiling on a quarter's cash is warned of elsewhere."""
    limits = limits_of(problem, ceiling=False)
    values = limit_values(problem, evaluation, limits)
    broken = limits_broken(problem, evaluation, limits)
    return [
        Issue(
            code=f"over_limit_{limit.kind}",
            field=limit.field,
            params={"value": float(values[0, at]), "most": limit.most}
            if not limit.money
            else {"value_usd": float(values[0, at]), "most_usd": limit.most},
        )
        for at, limit in enumerate(limits)
        if broken[0, at]
    ]
