"""How far percentiles and chances of the examples lie apart from seed to seed.

    python benchmarks/percentile_stability.py [SAMPLES [SEEDS]]

Prints for each way the spread of P10, P50 and P90 over the seeds (largest less smallest over their mean), in percent,
and the seconds of one call. What is asked for is 1 % with 4,096 samples.
"""

from __future__ import annotations

import datetime as dt
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from planner.catalog.load import load_catalog  # noqa: E402
from planner.performance.evidence import load_evidence  # noqa: E402
from planner.scenario.load import load_scenario  # noqa: E402
from planner.strategy.evaluate import evaluate  # noqa: E402
from planner.strategy.uncertainty import Percentiles, uncertainty  # noqa: E402

TODAY = dt.date(2026, 11, 30)
FIGURES = ("present_value_usd", "tco_usd", "energy_kwh", "kg_co2e")


def spread(values: list[float]) -> float:
    """Largest less smallest, over their mean. [%]"""
    mean = abs(float(np.mean(values)))
    return 100 * (max(values) - min(values)) / mean if mean else 0.0


def main(samples: int, seeds: int) -> None:
    catalog, evidence = load_catalog(today=TODAY), load_evidence()
    worst = dict.fromkeys(FIGURES, 0.0)
    print(f"{samples:,} samples, {seeds} seeds: spread of P10, P50, P90 in %, of the chance to be cheapest in points")
    for path in sorted((ROOT / "examples").glob("*.yaml")):
        result = evaluate(load_scenario(path), catalog, evidence, today=TODAY)
        choices = {way.id: way.allocation.choice for way in result.strategies if way.allocation.choice is not None}
        begun = time.perf_counter()
        runs = [uncertainty(result.problem, choices, samples=samples, seed=seed) for seed in range(seeds)]
        print(f"{path.name}: {len(choices)} ways, {(time.perf_counter() - begun) / seeds:.2f} s a call")
        for at, way in enumerate(runs[0].ways):
            row = []
            for figure in FIGURES:
                found: list[Percentiles] = [getattr(run.ways[at], figure) for run in runs]
                ends = [spread([getattr(one, end) for one in found]) for end in ("p10", "p50", "p90")]
                worst[figure] = max(worst[figure], *ends)
                row.append(f"{figure} " + " ".join(f"{end:.2f}" for end in ends))
            chances = [run.ways[at].cheapest_probability for run in runs]
            print(f"  {way.id}: {', '.join(row)}, cheapest {100 * (max(chances) - min(chances)):.1f}")
    print("worst:", ", ".join(f"{figure} {value:.2f} %" for figure, value in worst.items()))


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:3]]
    main(*given, *(4096, 8)[len(given) :])
