"""Rows of a programme for limits on money, energy and emissions."""

from __future__ import annotations

import numpy as np

from planner.cost.course import Array
from planner.strategy.limits import MEASURE_OF, Limit, limit_spans
from planner.strategy.optimise.mix import Mix


def with_limits(mix: Mix, limits: tuple[Limit, ...], *, slack: str | None = None) -> int | None:
    """Add rows for limits; one may be exceeded by a variable, whose place is returned, in the unit of the limit."""
    place = None
    if not limits:
        return None
    for limit in limits:
        spare = slack == limit.kind
        if spare:
            place = int(mix.programme.add(np.zeros(1))[0])
        for places, factors, base in limit_rows(mix, limit):
            scale = max(abs(limit.most), 1.0)
            if spare and place is not None:
                places, factors = np.append(places, place), np.append(factors, -1.0)
            mix.programme.row(places, factors / scale, -np.inf, (limit.most - base) / scale)
    return place


def limit_rows(mix: Mix, limit: Limit) -> list[tuple[Array, Array, float]]:
    """Places, what each adds, and what is there anyway, for each span of time of a limit; equal ones once."""
    measure = MEASURE_OF[limit.kind]
    month_masks = [np.zeros(mix.problem.horizon_months + 1, dtype=bool) for _ in mix.periods]
    for mask, period in zip(month_masks, mix.periods, strict=True):
        mask[list(period)] = True
    places = np.concatenate([places for places, _, _ in mix.effects])
    amounts = np.zeros((len(places), len(mix.found.discount)))
    for row, (_, effects, period_at) in enumerate(mix.effects):
        if period_at is None:
            amounts[row] = effects[measure]
        else:
            mask = month_masks[period_at]
            amounts[row, : len(mask)] = np.where(mask, effects[measure, : len(mask)], 0.0)
    spans = limit_spans(mix.problem, limit, len(mix.found.discount))
    found: dict[bytes, tuple[Array, Array, float]] = {}
    for span in spans:
        factors = amounts[:, span].sum(axis=1)
        base = float(mix.found.base[measure, span].sum())
        kept = np.abs(factors) > 0
        found.setdefault(
            np.round(factors, 9).tobytes() + np.float64(base).tobytes(), (places[kept], factors[kept], base)
        )
    return list(found.values())
