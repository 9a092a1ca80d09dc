"""How long the search for the best mix takes: 10 job classes, 60 options and 36 months in which demand differs.

    python benchmarks/speed_optimise.py

Prints the time of one solution of the programme at a gap of 1 % (limit 2 s), of the whole search with its reasons, the
gaps reached, and how the time grows with jobs, options and months; status 1 where the limit is missed. The last
question is printed without a limit: its fixed parts (people, disks) are a tenth of all cost, and proving its gap
takes much longer than finding its answer.
"""

from __future__ import annotations

import os
import random
import sys
import time
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # before numpy is loaded
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from planner.strategy.optimise.by_periods import GOOD_GAP, solve_by_periods  # noqa: E402
from planner.strategy.optimise.coefficients import coefficients  # noqa: E402
from planner.strategy.optimise.loads import targets  # noqa: E402
from planner.strategy.optimise.model import build  # noqa: E402
from planner.strategy.optimise.options import only, undominated, usable  # noqa: E402
from planner.strategy.optimise.periods import periods  # noqa: E402
from planner.strategy.optimise.search import optimise  # noqa: E402
from planner.strategy.problem import PlanProblem  # noqa: E402
from tests.planning import problem_of, small_plan  # noqa: E402

JOBS, OPTIONS, MONTHS, MACHINES, PROVIDERS = 10, 60, 36, 6, 12
MOST_S, TIME_LIMIT_S = 2.0, 30.0
INSTANCES = ((1, 3), (2, 10), (3, 10), (4, 40), (1, 1))
"""Seeds, and how many times the demand: the less there is, the more fixed parts weigh, and the harder it is."""
GROWTH = ((5, 60, 36), (10, 30, 36), (10, 60, 12), (10, 60, 36), (20, 60, 36), (10, 120, 36), (10, 60, 72))


def question(jobs: int, options: int, months: int, *, seed: int, times: int) -> PlanProblem:
    """Random jobs on machines of six types and the offers of twelve providers; no two months are alike."""
    draw = random.Random(seed)
    plan: dict[str, Any] = small_plan({"horizon_months": months, "discount_rate": 0.05, "tax.rate": 0.1})
    machine, offer, job = (
        plan[part].pop(id) for part, id in (("machines", "own"), ("offers", "rented"), ("jobs", "work"))
    )
    del machine["count"]
    machines = [f"m{number}" for number in range(MACHINES)]
    offers = [f"o{number}" for number in range(options - MACHINES)]
    curve = {12: 0.6, 24: 0.4, 36: 0.3, 60: 0.1}
    for id in machines:
        plan["machines"][id] = {
            **machine,
            "gpu_price_usd": draw.uniform(500, 3000),
            "residual_gpu": curve,
            "residual_host": curve,
            "useful_life_months": 60,
            "maintenance_share_per_year": 0.05,
        }
    for number, id in enumerate(offers):
        provider = f"p{number % PROVIDERS}"
        plan["offers"][id] = {**offer, "provider": provider, "price_usd_per_h": draw.uniform(0.4, 4)}
    plan["rental"] = {"offers": offers, "storage_gb": 200, "storage_usd_per_gb_month": 0.1}
    plan["staff"] = {"cost_usd_per_fte_year": 60_000, "fte_per_machine": 0.01, "fte_cloud": 0.01}
    for number in range(jobs):
        plan["jobs"][f"j{number}"] = {
            **job,
            "samples": 3600 * draw.choice([1, 2, 4, 8]),
            "runs_per_month": times * draw.choice([20, 50, 100, 200]),
            "throughput": {id: draw.uniform(0.5, 2) for id in machines + offers},
            "growth_per_month": draw.uniform(0, 0.03),
            "seasonality": [draw.uniform(0.5, 1.5) for _ in range(12)],
        }
    return problem_of(plan)


def solved(problem: PlanProblem) -> tuple[float, float, bool]:
    """Seconds of one solution, coefficients and all, its gap, and whether time ran out."""
    start = time.perf_counter()
    theta = problem.theta()
    every = coefficients(problem, theta, usable(problem, theta))
    found = only(every, undominated(problem, every))
    mix = build(problem, theta, found, periods(problem), loads=targets(problem, theta), quota_gpus={})
    answer = solve_by_periods(mix.programme, gap=GOOD_GAP, time_limit_s=TIME_LIMIT_S)
    taken_s = time.perf_counter() - start
    if answer.values is None:  # on a machine that is busy with other things
        return taken_s, np.inf, True
    cost = float(mix.programme.costs @ answer.values)
    return taken_s, (cost - answer.bound) / abs(cost), answer.timed_out


def main() -> int:
    """Measure and print."""
    print(f"{JOBS} job classes x {OPTIONS} options x {MONTHS} months, no two months alike; gap {GOOD_GAP:.0%}")
    within = True
    for seed, times in INSTANCES:
        problem = question(JOBS, OPTIONS, MONTHS, seed=seed, times=times)
        taken_s, gap, timed_out = solved(problem)
        start = time.perf_counter()
        found = optimise(problem, problem.theta(), {})
        whole_s = time.perf_counter() - start
        assert found.evaluation is not None
        held = taken_s <= MOST_S and gap <= GOOD_GAP and not timed_out
        within = within and (held or times == 1)  # the hardest is printed, and no limit
        usd = float(found.evaluation.present_value_usd[0])
        print(
            f"  demand x {times:2d}, seed {seed}: one solution {taken_s:5.2f} s, gap {gap:.2%}"
            f"{'' if held else ' (missed)'}; all {whole_s:5.1f} s, {usd:,.0f} USD, gap {found.gap or 0:.2%}"
        )
    print("growth, demand x 10, median of three seeds")
    for size in GROWTH:
        taken = float(np.median([solved(question(*size, seed=seed, times=10))[0] for seed in (1, 2, 3)]))
        print(f"  {size[0]:2d} jobs x {size[1]:3d} options x {size[2]:2d} months: {taken:5.2f} s")
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
