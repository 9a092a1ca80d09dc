"""How long the other answers take, each beside a plan of the hybrid lab in the same run.

python benchmarks/answers_speed.py
"""

from __future__ import annotations

import datetime as dt
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from planner.advise.claims import assess_claims, load_claim_data  # noqa: E402
from planner.advise.recommend.answer import recommend  # noqa: E402
from planner.advise.recommend.guides import guide_asks  # noqa: E402
from planner.advise.recommend.uses import load_uses  # noqa: E402
from planner.catalog.load import load_catalog  # noqa: E402
from planner.catalog.query import find_gpu, find_workload  # noqa: E402
from planner.performance.estimate import Setup, estimate  # noqa: E402
from planner.performance.evidence import load_evidence  # noqa: E402
from planner.scenario.load import load_scenario  # noqa: E402
from planner.strategy.evaluate import evaluate  # noqa: E402


def median_ms(work: Callable[[], object], rounds: int) -> float:
    """Median duration of some rounds of work. [ms]"""
    durations = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        durations.append(time.perf_counter() - start)
    return 1e3 * statistics.median(durations)


def main() -> None:
    """Print the median of each answer and its ratio to a plan."""
    today = dt.date(2026, 11, 30)
    start = time.perf_counter()
    catalog = load_catalog(today=today)
    print(f"{'reading the catalog, first time':34s} {1e3 * (time.perf_counter() - start):8.1f} ms")
    evidence, claims = load_evidence(), load_claim_data()
    scenario = load_scenario(ROOT / "examples" / "hybrid-lab.yaml")
    ask = guide_asks(load_uses())["research"]
    setup = Setup(
        workload=find_workload(catalog, "gpt-1.3b"),
        gpu=find_gpu(catalog, "h100-sxm5-80gb"),
        gpus=8,
        gpus_per_node=8,
        micro_batch=4,
    )
    answers: dict[str, tuple[Callable[[], object], int]] = {
        "plan": (lambda: evaluate(scenario, catalog, evidence, today=today), 15),
        "reading unchanged data files": (lambda: load_catalog(today=today), 15),
        "one estimate": (lambda: estimate(setup, catalog, evidence), 200),
        "a recommendation": (lambda: recommend(ask, catalog, evidence, today=today), 5),
        "all claims": (lambda: assess_claims(catalog, evidence, today=today, data=claims), 3),
    }
    plan = median_ms(*answers["plan"])
    for name, (work, rounds) in answers.items():
        work()
        taken = median_ms(work, rounds)
        print(f"{name:34s} {taken:8.2f} ms, {taken / plan:7.3f} x a plan")


if __name__ == "__main__":
    main()
