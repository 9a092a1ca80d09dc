"""Inputs of a scenario that are nothing but a column of the parameter table: a sweep needs no new problem for them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from planner.errors import PlannerError
from planner.scenario.axes import Axis
from planner.strategy.problem import PlanProblem

_NAME: Final = r"[A-Za-z0-9._-]+"
_PLAIN: Final = re.compile(
    "|".join(
        (
            r"discount_rate",
            r"hardware_price_change_per_year",
            r"tax\.rate",
            r"site\.(electricity_usd_per_kwh|pue|grid_kg_co2e_per_kwh|space_usd_per_month)",
            r"site\.colocation\.(contracted_kw|price_usd_per_kw_month)",
            r"staff\.(cost_usd_per_fte_year|fte_cloud|fte_per_machine)",
            rf"jobs\.{_NAME}\.(runs_per_month|attempts_per_run)",
            rf"machines\.{_NAME}\.(gpu_price_usd|host_price_usd|installation_usd|load_w|idle_w|pue|fte_per_machine"
            r"|powered_h_per_month|target_utilisation|maintenance_share_per_year)",
            rf"offers\.{_NAME}\.(price_usd_per_h|load_w|idle_w|pue|grid_kg_co2e_per_kwh)",
            r"rental\.(idle_tail_s|price_change_per_year|storage_gb|storage_usd_per_gb_month|egress_usd_per_gb"
            r"|free_egress_gb_per_month|ingress_usd_per_gb)",
        )
    )
)
"""Paths whose values no rule of `resolve` compares with anything in between: where the ends of a range lead to the
same problem, so does all within. Speeds, deadlines and start-up times aren't among them: they decide GPU counts."""
_MOST_CORNERS: Final = 16
ProblemsAt = Callable[[Mapping[str, float]], Sequence[PlanProblem]]
"""Problems, one for each option at the start, with values at paths."""


def is_plain(axis: Axis) -> bool:
    """Whether values of an axis may change nothing but the column of that name."""
    return _PLAIN.fullmatch(axis.path) is not None and len(set(axis.values)) > 1


def only_columns(axes: Sequence[Axis], base: Sequence[PlanProblem], problems_at: ProblemsAt) -> bool:
    """Whether values of all axes only change the columns of these names.

    Parameters
    ----------
    axes : sequence of Axis
        Such as `is_plain`.
    base : sequence of PlanProblem
        The scenario with its own values.
    problems_at : callable
        Problems with values at these paths.

    Notes
    -----
    Resolving the scenario at the ends of the axes in all combinations (of many axes, all least and all greatest values,
    and each end alone) must give the same problem but for those columns.
    """
    ends = [(min(axis.values), max(axis.values)) for axis in axes]
    corners = list(itertools.product(*ends))
    if len(corners) > _MOST_CORNERS:
        alone = [(*corners[0][:at], end[1], *corners[0][at + 1 :]) for at, end in enumerate(ends)]
        corners = [corners[0], *alone, corners[-1]]
    return all(
        _same({axis.path: value for axis, value in zip(axes, corner, strict=True)}, base, problems_at)
        for corner in corners
    )


def _same(values: Mapping[str, float], base: Sequence[PlanProblem], problems_at: ProblemsAt) -> bool:
    try:
        found = problems_at(values)
    except PlannerError:
        return False
    return len(found) == len(base) and all(
        _differ_only_in(values, one, other) for one, other in zip(base, found, strict=True)
    )


def _differ_only_in(values: Mapping[str, float], base: PlanProblem, found: PlanProblem) -> bool:
    if [parameter.id for parameter in base.parameters] != [parameter.id for parameter in found.parameters]:
        return False
    theta = base.theta()
    for path, value in values.items():
        column = next((at for at, parameter in enumerate(base.parameters) if parameter.id == path), None)
        if column is None:
            return False
        theta[0, column] = value
    if not np.array_equal(theta, found.theta()):
        return False
    return replace(base, parameters=(), warnings=()) == replace(found, parameters=(), warnings=())
