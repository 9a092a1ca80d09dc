"""What interruptions of spot instances are expected to cost a run: paid time, waiting, and when on-demand wins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from planner.performance.duration import interrupted_s
from planner.units import H_PER_MONTH, H_PER_YEAR, S_PER_H, Numeric

_NEVER_PER_S = 1e-15  # once in thirty million years: keeps 0 / 0 away
_LARGEST_EXPONENT = 50.0
_MOST_SHARE = 1.0 - 1e-9  # samples of a wide range may leave what a share can be


def hazard_per_s(interrupted_share_per_month: Numeric, nodes: Numeric) -> Numeric:
    """Rate of interruptions of a gang: it stops when any of its nodes is taken away.

    Parameters
    ----------
    interrupted_share_per_month : numeric
        Share of instances that are interrupted within a month of 730 h, below 1. [-]
    nodes : numeric
        Instances of the run. [-]

    Returns
    -------
    numeric
        Constant hazard `-ln(1 - share) / month`, times the nodes. [1/s]

    Examples
    --------
    >>> round(hazard_per_s(0.075, 1) * 3600, 10)
    0.0001067966
    """
    share = np.minimum(interrupted_share_per_month, _MOST_SHARE)
    return -np.log1p(-share) / (H_PER_MONTH * S_PER_H) * nodes


def run_hazard_per_s(
    interrupted_share_per_month: Numeric, nodes: Numeric, *, gpus: Numeric, failures_per_gpu_year: Numeric
) -> Numeric:
    """Interruptions of a run from both causes: its instances are taken away, or a GPU fails.

    Parameters
    ----------
    interrupted_share_per_month, nodes : numeric
        As `hazard_per_s`.
    gpus : numeric
        GPUs of the run. [-]
    failures_per_gpu_year : numeric
        0 where hardware failures aren't counted. [1/year]

    Returns
    -------
    numeric
        Rate. [1/s]
    """
    return hazard_per_s(interrupted_share_per_month, nodes) + failures_per_gpu_year * gpus / (H_PER_YEAR * S_PER_H)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotRun:
    """Expected course of one attempt on spot instances. Times in seconds of the run, not of its nodes together."""

    uninterrupted_s: Numeric  # start-up and work, paid where nothing happens
    paid_s: Numeric
    startup_s: Numeric  # of the paid time, at every start
    waiting_s: Numeric  # for instances, not paid
    interruptions: Numeric
    interrupted_probability: Numeric

    @property
    def total_s(self) -> Numeric:
        """From the first start to the end. [s]"""
        return self.paid_s + self.waiting_s


def spot_run(
    startup_s: Numeric, busy_s: Numeric, segments: Numeric, hazard: Numeric, load_s: Numeric, reacquire_s: Numeric
) -> SpotRun:
    """Expected course of an attempt that goes back to its last checkpoint whenever it is interrupted.

    Parameters
    ----------
    startup_s : numeric
        From the start of an instance until work begins. [s]
    busy_s : numeric
        Work with its checkpoints. [s]
    segments : numeric
        Equal parts of it, each saved at its end. [-]
    hazard : numeric
        Interruptions of the whole run arrive as a Poisson process, during restarts too. [1/s]
    load_s : numeric
        Loading the last checkpoint after a restart. [s]
    reacquire_s : numeric
        Wait for new instances after an interruption, not paid. [s]

    References
    ----------
    .. [1] J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps," FGCS 22(3), 2006,
       eq. 13. The start before any work is lost alike: `(exp(h S) - 1) / h`.

    Examples
    --------
    >>> run = spot_run(39.4, 75_920.0, 10.0, hazard_per_s(0.075, 1), 300.0, 1800.0)
    >>> round(float(run.paid_s), 3), round(float(run.total_s), 3)
    (75968.715, 75972.771)
    """
    rate = np.maximum(hazard, _NEVER_PER_S)
    first = np.expm1(np.minimum(rate * startup_s, _LARGEST_EXPONENT)) / rate
    paid = first + interrupted_s(busy_s, segments, 1.0 / rate, startup_s + load_s)
    interruptions = rate * paid
    uninterrupted = startup_s + busy_s
    return SpotRun(
        uninterrupted_s=uninterrupted,
        paid_s=paid,
        startup_s=startup_s * (1.0 + interruptions),
        waiting_s=reacquire_s * interruptions,
        interruptions=interruptions,
        interrupted_probability=-np.expm1(-rate * uninterrupted),
    )


def on_demand_wins_at_per_h(
    startup_s: float, busy_s: float, segments: float, load_s: float, *, billed_s: float, price_ratio: float
) -> float:
    """Interruptions an hour of the whole run from which on-demand is cheaper; a share of a month saturates near 1.

    Parameters
    ----------
    startup_s, busy_s, segments, load_s : float
        As `spot_run`.
    billed_s : float
        Billed time of a session that isn't interrupted. [s]
    price_ratio : float
        On-demand price over spot price. [-]

    Returns
    -------
    float
        0 where spot is never cheaper. [1/h]
    """
    allowed_s = billed_s * (price_ratio - 1.0)  # beyond the uninterrupted session

    def excess_s(rate: float) -> float:
        run = spot_run(startup_s, busy_s, segments, rate, load_s, 0.0)
        return float(run.paid_s - run.uninterrupted_s) - allowed_s

    if allowed_s <= 0:
        return 0.0
    most = _LARGEST_EXPONENT / (startup_s + load_s + busy_s / segments)
    return float(brentq(excess_s, _NEVER_PER_S, most, xtol=1e-18, rtol=1e-12)) * S_PER_H
