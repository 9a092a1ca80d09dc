"""How long a plan takes inside the process, beside parsing the same JSON document in the same run.

python benchmarks/plan_speed.py [SCENARIO.yaml]
"""

from __future__ import annotations

import datetime as dt
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from planner.catalog.load import load_catalog  # noqa: E402
from planner.performance.evidence import load_evidence  # noqa: E402
from planner.report.document import plan_document  # noqa: E402
from planner.scenario.load import load_scenario  # noqa: E402
from planner.strategy.evaluate import evaluate  # noqa: E402

ROUNDS = 15


def seconds(work: Callable[[], object]) -> list[float]:
    """Durations of some rounds of work. [s]"""
    durations = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        durations.append(time.perf_counter() - start)
    return durations


def main() -> None:
    """Print the median and the slowest of each step, and the ratio to parsing the plan's own JSON."""
    today = dt.date(2026, 11, 30)
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "examples" / "hybrid-lab.yaml"
    start = time.perf_counter()
    catalog, evidence = load_catalog(today=today), load_evidence()
    print(f"load catalog and evidence, first time  {1e3 * (time.perf_counter() - start):8.1f} ms")
    scenario = load_scenario(path)
    start = time.perf_counter()
    result = evaluate(scenario, catalog, evidence, today=today)
    print(f"plan, first time                       {1e3 * (time.perf_counter() - start):8.1f} ms")
    text = json.dumps(plan_document(result))
    steps = {
        "plan": lambda: evaluate(scenario, catalog, evidence, today=today),
        "document": lambda: plan_document(result),
        "parse the document's JSON": lambda: json.loads(text),
    }
    durations = {name: seconds(work) for name, work in steps.items()}
    base = statistics.median(durations["parse the document's JSON"])
    for name, found in durations.items():
        median = statistics.median(found)
        print(f"{name:38s} {1e3 * median:8.1f} ms (slowest {1e3 * max(found):.1f}), {median / base:.1f} x parsing")


if __name__ == "__main__":
    main()
