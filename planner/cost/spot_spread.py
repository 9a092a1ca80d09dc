"""How far attempts on spot instances may lie from what is expected of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from planner.cost.course import Array

SAMPLES: Final = 2_000
_SEED = 20_261_130
_MOST_DRAWN = 30  # losses of a course that are drawn one by one; the sum of more is normal for all that one can see
_MOST_SPANS = 1e12  # that are counted; more spread no more, in share of the whole
_NEARLY_UNIFORM = 1e-4  # interruptions expected within a span, below which they are spread evenly over it
_LARGEST_EXPONENT = 27.0  # such a span never goes through, and its tries can still be counted


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotCourses:
    """Random courses of some attempts, one after the other; of each course the sum over them. [s]"""

    paid_s: Array
    waiting_s: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """10th, 50th and 90th percentile."""

    p10: float
    p50: float
    p90: float

    @classmethod
    def of(cls, values: Array) -> Quantiles:
        """Of drawn values."""
        p10, p50, p90 = np.quantile(values, [0.1, 0.5, 0.9]).tolist()
        return cls(p10=p10, p50=p50, p90=p90)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotSpread:
    """Paid time, and time from the first start to the end, of an attempt or of several together. [s]"""

    paid_s: Quantiles
    total_s: Quantiles
    late_probability: float | None  # of ending after the limit, the wait for capacity included; None without a limit


def spot_courses(
    rng: np.random.Generator,
    startup_s: float,
    busy_s: float,
    segments: float,
    hazard: float,
    load_s: float,
    reacquire_s: float,
    *,
    attempts: int = 1,
    samples: int = SAMPLES,
) -> SpotCourses:
    """Draw courses of attempts whose expected course is `planner.cost.spot.spot_run`.

    Parameters
    ----------
    rng : Generator
        Source of all randomness.
    startup_s, busy_s, segments, hazard, load_s, reacquire_s : float
        As `spot_run`.
    attempts : int
        In each course.
    samples : int
        Courses.

    Notes
    -----
    A span of time, be it a start, a restart or a segment of work, is tried until no interruption falls into it: the
    tries that fail are geometric with the success `exp(-hazard span)`, those of many spans negative binomial, and each
    loses a time that is exponential, cut at the span. So a course takes a handful of draws, however long it is.
    """
    if attempts > (most := int(_MOST_SPANS / segments)):
        part = spot_courses(
            rng, startup_s, busy_s, segments, hazard, load_s, reacquire_s, attempts=most, samples=samples
        )
        return SpotCourses(paid_s=part.paid_s * (attempts / most), waiting_s=part.waiting_s * (attempts / most))
    restart_s = startup_s + load_s
    segment_s = busy_s / segments
    starts = _failures(rng, np.full(samples, attempts), startup_s, hazard)
    segments_lost = _failures(rng, np.full(samples, max(1, round(attempts * segments))), segment_s, hazard)
    restarts_lost = _failures(rng, segments_lost, restart_s, hazard)
    lost_s = (
        _lost_s(rng, starts, startup_s, hazard)
        + _lost_s(rng, segments_lost, segment_s, hazard)
        + _lost_s(rng, restarts_lost, restart_s, hazard)
    )
    paid_s = attempts * (startup_s + busy_s) + lost_s + segments_lost * restart_s
    waiting_s = np.asarray(reacquire_s * (starts + segments_lost + restarts_lost), dtype=np.float64)
    return SpotCourses(paid_s=paid_s, waiting_s=waiting_s)


def _failures(
    rng: np.random.Generator, successes: npt.NDArray[np.int64], span_s: float, hazard: float
) -> npt.NDArray[np.int64]:
    """Tries that fail before so many spans have gone through."""
    probability = float(np.exp(-min(hazard * span_s, _LARGEST_EXPONENT)))
    failed = np.zeros(len(successes), dtype=np.int64)
    some = successes > 0
    if probability < 1.0 and some.any():
        failed[some] = rng.negative_binomial(successes[some], probability)
    return failed


def _lost_s(rng: np.random.Generator, counts: npt.NDArray[np.int64], span_s: float, hazard: float) -> Array:
    """Sum of so many times to an interruption, each of which fell within the span. [s]"""
    lost = np.zeros(len(counts))
    exponent = min(hazard * span_s, _LARGEST_EXPONENT)
    few = np.where(counts <= _MOST_DRAWN, counts, 0)
    drawn = rng.random(int(few.sum()))
    if exponent < _NEARLY_UNIFORM:
        mean, variance = span_s / 2, span_s**2 / 12
        times = drawn * span_s
    else:
        mean = 1 / hazard - span_s / np.expm1(exponent)
        variance = 1 / hazard**2 - (span_s / (2 * np.sinh(exponent / 2))) ** 2
        times = -np.log1p(drawn * np.expm1(-exponent)) / hazard
    lost += np.bincount(np.repeat(np.arange(len(counts)), few), weights=times, minlength=len(counts))
    many = np.flatnonzero(counts > _MOST_DRAWN)
    if len(many):
        number = counts[many]
        lost[many] = np.maximum(rng.normal(mean * number, np.sqrt(max(variance, 0.0) * number)), 0.0)
    return lost


@lru_cache(maxsize=512)
def spot_spread(
    startup_s: float,
    busy_s: float,
    segments: float,
    hazard: float,
    load_s: float,
    reacquire_s: float,
    *,
    attempts: int = 1,
    limit_s: float | None = None,
    available_share: float = 1.0,
    retry_s: float = 0.0,
) -> SpotSpread:
    """Percentiles of attempts on spot instances, from 2,000 courses that are the same at every call.

    Parameters
    ----------
    startup_s, busy_s, segments, hazard, load_s, reacquire_s : float
        As `spot_run`.
    attempts : int
        Whose times are added up.
    limit_s : float, optional
        From the first request for instances to the end. [s]
    available_share : float
        Chance that a request for the first instances is granted. [-]
    retry_s : float
        From a refused request to the next. [s]
    """
    rng = np.random.default_rng(_SEED)
    courses = spot_courses(rng, startup_s, busy_s, segments, hazard, load_s, reacquire_s, attempts=attempts)
    total_s = courses.paid_s + courses.waiting_s
    late = None
    if limit_s is not None:
        refused = rng.geometric(available_share, len(total_s)) - 1
        late = float(np.mean(total_s + refused * retry_s > limit_s * (1 + 1e-9)))
    return SpotSpread(paid_s=Quantiles.of(courses.paid_s), total_s=Quantiles.of(total_s), late_probability=late)
