"""Fits the published targets: `python -m planner.performance.time_to_target.fit [--held-out] [--write]`."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import yaml

from planner.catalog.load import load_catalog
from planner.catalog.query import find_accelerator
from planner.catalog.records import Catalog
from planner.performance.constants import constants_of
from planner.performance.data_file import SCHEMA_VERSION
from planner.performance.percent_errors import covering, median_and_p90, shrunk
from planner.performance.time_to_target.baselines import Rate, baselines
from planner.performance.time_to_target.benchmarks import BENCHMARKS
from planner.performance.time_to_target.held_out import SPLITS, Miss, baseline_errors, misses
from planner.performance.time_to_target.model import NOVELTIES, Novelty, Target, fit_target
from planner.performance.time_to_target.runs import Run, peak_tflop_per_s, published_runs
from planner.performance.time_to_target.targets import TARGETS_FILE, as_entry

FEWEST_OF_BENCHMARK = 6
_ROWS_OF_THE_USUAL = 8  # for which the errors of all benchmarks count
HEAD = """# How long systems take to the targets of MLPerf Training, as a batch law and terms of the system. Written by
# `python -m planner.performance.time_to_target.fit --write` from measurements/mlperf_time_to_train.csv; what a figure
# means stands in docs/estimator.md. Offsets and half widths are of logs: the widths cover four of five errors of runs
# that the fit hadn't seen.
"""


def by_benchmark(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Runs of each benchmark that has enough of them."""
    found = {id: [run for run in runs if run.benchmark == id] for id in sorted(BENCHMARKS)}
    return {id: rows for id, rows in found.items() if len(rows) >= FEWEST_OF_BENCHMARK}


def widths(held_out: Mapping[str, Sequence[Miss]]) -> dict[str, dict[Novelty, float]]:
    """Half widths of each benchmark by novelty: what covers its errors, the nearer to all benchmarks' the fewer it has.

    Parameters
    ----------
    held_out : mapping
        Errors of each benchmark on runs that were left out.
    """
    sizes: dict[str, dict[Novelty, list[float]]] = {
        id: {novelty: [abs(miss.error) for miss in found if miss.novelty == novelty] for novelty in NOVELTIES}
        for id, found in held_out.items()
    }
    usual = {novelty: [size for of in sizes.values() for size in of[novelty]] for novelty in NOVELTIES}
    found: dict[str, dict[Novelty, float]] = {}
    for id, of in sizes.items():
        found[id], least = {}, 0.0
        for novelty in NOVELTIES:
            least = max(least, shrunk(of[novelty], covering(usual[novelty]), _ROWS_OF_THE_USUAL))
            found[id][novelty] = least  # what is newer is never narrower
    return found


def held_out_of(runs: Sequence[Run]) -> list[Miss]:
    """Errors behind the widths: of systems, the newest round and cards left out, each as new as it was to the fit."""
    known = [*misses(SPLITS["unseen system"](runs)), *misses(SPLITS["newest round"](runs))]
    return [miss for miss in known if miss.novelty != "new-gpu"] + misses(SPLITS["unseen GPU"](runs))


def fit_all(runs: Sequence[Run]) -> list[Target]:
    """All targets with their widths."""
    groups = by_benchmark(runs)
    found = widths({id: held_out_of(rows) for id, rows in groups.items()})
    return [
        dataclasses.replace(fit_target(rows), half_widths=MappingProxyType(found[id])) for id, rows in groups.items()
    ]


def document(targets: Sequence[Target]) -> dict[str, Any]:
    """Targets as they are written."""
    return {"schema_version": SCHEMA_VERSION, "targets": [as_entry(target) for target in targets]}


def peak_of(catalog: Catalog) -> Rate:
    """Dense peak of a run's card in the precision of its benchmark."""

    def peak(run: Run) -> float:
        return peak_tflop_per_s(find_accelerator(catalog, run.gpu), BENCHMARKS[run.benchmark])

    return peak


def report(runs: Sequence[Run], targets: Sequence[Target], peak: Rate) -> str:
    """Every split with this estimator and the baselines, median and 90th percentile in percent, and coverage."""
    lines = []
    shipped = {target.benchmark: target for target in targets}
    covered: dict[str, list[bool]] = {}
    half_widths: dict[str, list[float]] = {}
    for split, left_out in SPLITS.items():
        names = list(baselines(peak))
        lines.append(
            f"{split:18} {'n':>4} {'here':>13} " + " ".join(f"{name:>15}" for name in names) + "  covered half-width"
        )
        for id, rows in by_benchmark(runs).items():
            found = misses(left_out(rows))
            if not found:
                continue
            sides = [shipped[id].half_widths[miss.novelty] for miss in found]
            inside = [abs(miss.error) <= side for miss, side in zip(found, sides, strict=True)]
            half_widths.setdefault(split, []).extend(sides)
            covered.setdefault(split, []).extend(inside)
            others = [median_and_p90(baseline_errors(left_out(rows), rule)) for rule in baselines(peak).values()]
            ours = median_and_p90([miss.error for miss in found])
            cells = [f"{f'{middle:.1f} / {high:.1f}':>15}" for middle, high in others]
            here = f"{ours[0]:.1f} / {ours[1]:.1f}"
            lines.append(
                f"{id:18} {len(found):4} {here:>13} {' '.join(cells)} {np.mean(inside):8.0%} {_percent(sides):10.1f}"
            )
        share, width = np.mean(covered[split]), _percent(half_widths[split])
        lines += [f"{'all':18} {len(covered[split]):4} covered {share:.0%}, median half-width {width:.1f} %", ""]
    return "\n".join(lines)


def _percent(half_widths: Sequence[float]) -> float:
    """Median of half the intervals over their predictions. [%]"""
    return float(np.median(100 * np.sinh(half_widths)))


def main() -> None:
    """Fit, report what runs left out give, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", action="store_true", help="print errors on systems, rounds and GPUs left out")
    parser.add_argument("--write", action="store_true", help="write data/targets.yaml")
    options = parser.parse_args()
    catalog = load_catalog()
    runs = published_runs(catalog, constants_of(catalog.assumptions))
    targets = fit_all(runs)
    for target in targets:
        shown = ", ".join(f"{novelty} {width:.3f}" for novelty, width in target.half_widths.items())
        print(f"{target.benchmark:18} half widths: {shown}")
    if options.held_out:
        print(report(runs, targets, peak_of(catalog)))
    if options.write:
        text = HEAD + yaml.safe_dump(document(targets), sort_keys=False, width=120)
        TARGETS_FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
