"""Comparing strategies: ranking with its reason, money spent so far, payback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from planner.strategy.kernel import Evaluation
from planner.units import HALF_CENT_USD

NEAR_TIE_SHARE = 0.02  # below this difference a plan says "about the same"


class Ranked(Protocol):
    """What ranking needs to know of a strategy."""

    @property
    def id(self) -> str: ...
    @property
    def feasible(self) -> bool: ...
    @property
    def present_value_usd(self) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """The strategy to choose and why, as a code with parameters; `strategy` is None when none is feasible."""

    strategy: str | None
    runner_up: str | None
    reason_code: str
    reason_params: Mapping[str, object]


def recommend(strategies: Sequence[Ranked]) -> Recommendation:
    """The feasible strategy with the lowest present value; of equal ones the first, which is the simpler.

    Reasons: `none_feasible`, `only_feasible`, `same_as` (another strategy is the same plan), `near_tie` (within 2 %),
    `cheapest`.
    """
    feasible = sorted((s for s in strategies if s.feasible), key=lambda s: s.present_value_usd)
    if not feasible:
        return Recommendation(strategy=None, runner_up=None, reason_code="none_feasible", reason_params={})
    best = feasible[0]
    cost = {"strategy": best.id, "present_value_usd": best.present_value_usd}
    if len(feasible) == 1:
        others = [s.id for s in strategies if s.id != best.id]
        params = {**cost, "others": others}
        return Recommendation(strategy=best.id, runner_up=None, reason_code="only_feasible", reason_params=params)
    same = [s for s in feasible if s.present_value_usd - best.present_value_usd < HALF_CENT_USD]
    best = next(s for s in strategies if s in same)
    others_left = [s for s in feasible if s not in same]
    cost["strategy"] = best.id
    if not others_left:
        twin = next(s.id for s in same if s is not best)
        return Recommendation(
            strategy=best.id, runner_up=twin, reason_code="same_as", reason_params={**cost, "runner_up": twin}
        )
    second = others_left[0]
    saving = second.present_value_usd - best.present_value_usd
    params = {
        **cost,
        "runner_up": second.id,
        "saving_usd": saving,
        "saving_share": saving / second.present_value_usd if second.present_value_usd > 0 else 0.0,
    }
    near = saving < NEAR_TIE_SHARE * abs(second.present_value_usd)
    code = "near_tie" if near else "cheapest"
    return Recommendation(strategy=best.id, runner_up=second.id, reason_code=code, reason_params=params)


def cumulative_usd(
    evaluation: Evaluation, *, with_resale: bool = True, cash_only: bool = False, discounted: bool = False
) -> np.ndarray:
    """Money spent up to each time, shape [rows, H + 1]; column 0 is the start of the plan. [USD]"""
    lines = [
        line
        for line in evaluation.lines
        if (with_resale or line.group != "residual") and not (cash_only and line.id.startswith("opportunity"))
    ]
    if not lines:
        return np.zeros_like(evaluation.discount)
    amounts = np.sum([line.amount for line in lines], axis=0)
    return np.asarray(np.cumsum(amounts * evaluation.discount if discounted else amounts, axis=1))


def cash_at_start_usd(evaluation: Evaluation) -> float:
    """What has to be paid at the start of a plan of one row. [USD]"""
    return float(cumulative_usd(evaluation, with_resale=False, cash_only=True)[0, 0])


def payback_month(dearer_purchase: Evaluation, other: Evaluation, *, discounted: bool = False) -> int | None:
    """First month at whose end the cash of the dearer purchase, resale not counted, is at most the other's.

    Returns
    -------
    int or None
        None when that doesn't happen within the horizon.
    """
    mine, theirs = (
        cumulative_usd(evaluation, with_resale=False, cash_only=True, discounted=discounted)[0]
        for evaluation in (dearer_purchase, other)
    )
    last = max(len(mine), len(theirs))  # commitments of one may be paid for longer
    mine, theirs = (np.pad(sums, (0, last - len(sums)), mode="edge") for sums in (mine, theirs))
    months = np.flatnonzero(mine[1:] <= theirs[1:])
    return int(months[0]) + 1 if len(months) else None
