"""What is easily computed instead: the time of a known system, scaled."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import median

from planner.performance.time_to_target.runs import Run

Rate = Callable[[Run], float]


def scaled(known: Sequence[Run], run: Run, rate: Rate, *, by_rate: bool) -> float:
    """Minutes of a run from the nearest known system: with the same card where there is one, then by number of GPUs.

    Among other cards the one nearest in its rate comes first. GPUs count in proportion; `by_rate` the rate too.
    """
    same = [one for one in known if one.gpu == run.gpu]
    pool = same or list(known)

    def distance(one: Run) -> tuple[float, float]:
        card = abs(math.log(rate(one) / rate(run)))
        gpus = abs(math.log(one.gpus / run.gpus))
        return (round(card, 9), round(gpus, 9)) if by_rate else (round(gpus + card, 9), 0.0)

    nearest = min(distance(one) for one in pool)
    logs = [
        math.log(one.minutes * one.gpus / run.gpus * (rate(one) / rate(run) if by_rate else 1.0))
        for one in pool
        if one.minutes is not None and distance(one) == nearest
    ]
    return math.exp(median(logs))


def baselines(peak: Rate) -> Mapping[str, Callable[[Sequence[Run], Run], float]]:
    """The baselines by name; `peak` is the dense peak of a run's card in the precision of the benchmark."""

    def bandwidth(run: Run) -> float:
        return run.rates.bandwidth_gb_per_s

    return {
        "nearest system": lambda known, run: scaled(known, run, peak, by_rate=False),
        "TFLOPS ratio": lambda known, run: scaled(known, run, peak, by_rate=True),
        "bandwidth ratio": lambda known, run: scaled(known, run, bandwidth, by_rate=True),
    }
