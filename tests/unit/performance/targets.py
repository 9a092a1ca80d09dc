"""Published runs of the benchmarks and errors on those left out, worked out once for all tests."""

from __future__ import annotations

from functools import lru_cache

from planner.catalog.load import load_catalog
from planner.catalog.records import Catalog
from planner.performance.constants import constants_of
from planner.performance.percent_errors import median_and_p90
from planner.performance.time_to_target.baselines import baselines
from planner.performance.time_to_target.fit import by_benchmark, peak_of
from planner.performance.time_to_target.held_out import SPLITS, Miss, baseline_errors, misses
from planner.performance.time_to_target.runs import Run, published_runs


@lru_cache
def catalog() -> Catalog:
    return load_catalog()


@lru_cache
def runs_of() -> dict[str, list[Run]]:
    return by_benchmark(published_runs(catalog(), constants_of(catalog().assumptions)))


@lru_cache
def left_out(benchmark: str, split: str) -> list[Miss]:
    return misses(SPLITS[split](runs_of()[benchmark]))


def errors(benchmark: str, split: str) -> tuple[float, float]:
    return median_and_p90([miss.error for miss in left_out(benchmark, split)])


@lru_cache
def baselines_of(benchmark: str, split: str) -> dict[str, tuple[float, float]]:
    rules = baselines(peak_of(catalog()))
    return {
        name: median_and_p90(baseline_errors(SPLITS[split](runs_of()[benchmark]), rule)) for name, rule in rules.items()
    }


def baseline(benchmark: str, split: str) -> list[tuple[float, float]]:
    return list(baselines_of(benchmark, split).values())
