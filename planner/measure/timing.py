"""Times something by repeating it until the repeats agree: a median with its spread."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

SPREAD_LIMIT = 0.05
"""Spread above which a measurement counts as unsettled: two of them may then differ by more than 10 %."""

Clock = Callable[[], float]
"""Seconds since some moment, read when all work given to the device is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How long to repeat. Defaults suit a GPU; `limit_s` bounds one timing, a single slow run may exceed it."""

    limit_s: float = 20.0
    warm_up_s: float = 1.0
    warm_up_runs: int = 3
    least_samples: int = 10
    most_samples: int = 80
    least_sample_s: float = 0.05  # shorter runs are timed several at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Time of one run, from several samples."""

    median_s: float
    spread: float  # the larger of interquartile range and drift, over the median [-]
    samples: int
    total_s: float  # of all samples together, without warm-up
    runs: int  # in all samples together
    counted: float | None = None  # by which the gauge rose meanwhile

    @property
    def settled(self) -> bool:
        """Whether the samples agree well enough to rely on the median."""
        return self.spread <= SPREAD_LIMIT


def spread_of(samples: Sequence[float]) -> float:
    """How far samples lie apart: the larger of their interquartile range and their drift, over their median.

    Parameters
    ----------
    samples : sequence of float
        In the order they were taken; at least two. [s]

    Returns
    -------
    float
        Drift is the difference between the medians of the first and the second half: a GPU that heats up and slows down
        shows there and not in the range. Infinite where the median is zero. [-]
    """
    middle = median(samples)
    if middle <= 0:
        return math.inf
    low, _, high = quantiles(samples, n=4, method="inclusive")
    half = len(samples) // 2
    drift = abs(median(samples[:half]) - median(samples[half:]))
    return max(high - low, drift) / middle


def time_runs(run: Callable[[], object], clock: Clock, rule: Rule, gauge: Callable[[], float] | None = None) -> Timing:
    """Time of one run, repeated until the samples agree or the time is up.

    Parameters
    ----------
    run : callable
        What is timed. It is first run without being timed, for `warm_up_s` and `warm_up_runs` at least.
    clock : callable
        Waits for the device, then says the time. [s]
    rule : Rule
        When to stop. Agreement is only looked at after 10, 20, 40, ... samples, since whoever looks after each of them
        finds a lucky moment.
    gauge : callable, optional
        A counter that is read before the first and after the last sample, such as of energy.

    Returns
    -------
    Timing
        With at least three samples, however slow they are.
    """
    begin = now = clock()
    warm_ups = 0
    while warm_ups < 1 or (
        (warm_ups < rule.warm_up_runs or now - begin < rule.warm_up_s) and now - begin < rule.limit_s
    ):
        run()
        warm_ups += 1
        now = clock()
    one_s = (now - begin) / warm_ups  # too long if the first one compiled something: then samples hold fewer runs
    together = max(1, math.ceil(rule.least_sample_s / one_s)) if one_s > 0 else 1
    samples: list[float] = []
    counted_before = gauge() if gauge is not None else 0.0
    start = now = clock()
    check_at = rule.least_samples
    while True:
        before = clock()
        for _ in range(together):
            run()
        now = clock()
        samples.append((now - before) / together)
        count = len(samples)
        if count >= 3 and (now - start >= rule.limit_s or count >= rule.most_samples):
            break
        if count == check_at:
            if spread_of(samples) <= SPREAD_LIMIT:
                break
            check_at *= 2
    counted = gauge() - counted_before if gauge is not None else None
    return Timing(
        median_s=median(samples),
        spread=spread_of(samples),
        samples=len(samples),
        total_s=now - start,
        runs=together * len(samples),
        counted=counted,
    )
