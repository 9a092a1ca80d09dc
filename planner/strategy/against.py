"""A strategy against a baseline: net present value, payback, internal rate of return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import brentq

from planner.cost.course import Array
from planner.strategy.break_even import Reason, paybacks
from planner.strategy.candidates import Kind
from planner.strategy.compare import cumulative_usd
from planner.strategy.evaluate import StrategyResult
from planner.strategy.kernel import Evaluation
from planner.strategy.problem import Issue
from planner.units import HALF_CENT_USD, MONTHS_PER_YEAR

_LEAST_IRR = -0.999  # a year; below it nothing is left that a rate could describe

NoRate = Literal[
    "no_investment",  # it never takes more money than the baseline
    "nothing_back",  # what it takes more never comes back in any part
    "borrows",  # it takes less first and more later: its rate would be that of a loan
    "several_rates",  # money goes both ways in turns, so that several rates may fit
    "below_all",  # hardly anything of it comes back
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstBaseline:
    """What a strategy earns over the baseline. Pairs are undiscounted, then in present values."""

    baseline: Kind
    npv_usd: float
    payback: tuple[int | None, int | None]  # month
    payback_reasons: tuple[Reason | None, Reason | None]
    irr_per_year: float | None  # real
    irr_reason: NoRate | None


def find_baseline(strategies: Sequence[StrategyResult], asked: Kind | None) -> StrategyResult | None:
    """The strategy that is asked for, else renting all; None where that doesn't do all the work within its limits."""
    return next((way for way in strategies if way.id == (asked or "cloud") and way.feasible), None)


def baseline_issue(strategies: Sequence[StrategyResult], asked: Kind | None) -> list[Issue]:
    """A warning where the baseline that is asked for can't be carried out."""
    if asked is None or find_baseline(strategies, asked) is not None:
        return []
    return [Issue(code="baseline_infeasible", field="baseline", params={"value": asked})]


def against_baseline(strategy: StrategyResult, baseline: StrategyResult | None) -> AgainstBaseline | None:
    """Net present value, payback and internal rate of a strategy over the baseline.

    Returns
    -------
    AgainstBaseline or None
        None for the baseline itself, without one, and for a strategy that can't be costed.
    """
    mine = strategy.evaluation
    if baseline is None or baseline.evaluation is None or mine is None or strategy.id == baseline.id:
        return None
    months, reasons = paybacks(mine, baseline.evaluation)
    rate, why = internal_rate(flows_usd(mine, baseline.evaluation))
    return AgainstBaseline(
        baseline=baseline.kind,
        npv_usd=baseline.present_value_usd - strategy.present_value_usd,
        payback=months,
        payback_reasons=reasons,
        irr_per_year=rate,
        irr_reason=why,
    )


def flows_usd(mine: Evaluation, baseline: Evaluation) -> Array:
    """What the baseline costs more than a strategy, by time; all lines count, as in present values."""
    sums = [cumulative_usd(evaluation)[0] for evaluation in (mine, baseline)]
    last = max(len(total) for total in sums)
    own, other = (np.diff(np.pad(total, (0, last - len(total)), mode="edge"), prepend=0.0) for total in sums)
    return np.asarray(other - own)


def internal_rate(flows: Array) -> tuple[float | None, NoRate | None]:
    """Rate a year at which flows at the ends of months have no present value, where just one does.

    One rate fits where flows change sign once; or where their running sum does and ends above 0, and then it is the
    only one above 0 (C. J. Norstrom, J. Financial and Quantitative Analysis 7(3), 1972).

    Parameters
    ----------
    flows : array
        Money by month from the start on, negative where it is paid. [USD]

    Returns
    -------
    tuple
        The rate [1/year], or None and why.

    Examples
    --------
    >>> rate, _ = internal_rate(np.array([-100.0] + [0.0] * 11 + [110.0]))
    >>> round(rate, 9)
    0.1
    """
    signs = _signs(flows)
    if not len(signs) or (len(signs) == 1 and signs[0] > 0):
        return None, "no_investment"
    if len(signs) == 1:
        return None, "nothing_back"
    if signs[0] > 0:
        return None, "borrows"
    most = (1.0 + _LEAST_IRR) ** (-1.0 / MONTHS_PER_YEAR)
    if len(signs) > 2:
        sums = _signs(np.cumsum(flows))
        if len(sums) != 2 or sums[-1] < 0:
            return None, "several_rates"
        most = 1.0
    begun = np.trim_zeros(np.where(np.abs(flows) < HALF_CENT_USD, 0.0, flows), "f")

    def value(factor: float) -> float:
        return float(np.polynomial.polynomial.polyval(factor, begun))

    if value(most) < 0:
        return None, "below_all"
    factor = brentq(value, 0.0, most, xtol=1e-15, rtol=1e-14)
    return float(factor**-MONTHS_PER_YEAR - 1.0), None


def _signs(amounts: Array) -> Array:
    """Signs in turn, equal ones next to each other once, amounts below half a cent left out."""
    signs = np.sign(amounts[np.abs(amounts) >= HALF_CENT_USD])
    return np.asarray(signs[np.diff(signs, prepend=0.0) != 0])
