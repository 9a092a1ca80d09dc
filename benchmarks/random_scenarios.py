"""Plans many random scenarios: each gives a finite plan within its limits whose sums agree, or a clear error.

    python benchmarks/random_scenarios.py [--first SEED] [--count N]

A scenario follows from its seed alone. Prints what is wrong, by seed, and how many were planned, refused, infeasible;
status 1 where anything is wrong.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from planner.catalog.load import load_catalog  # noqa: E402
from planner.catalog.records import Catalog  # noqa: E402
from planner.errors import PlannerError  # noqa: E402
from planner.performance.evidence import Evidence, load_evidence  # noqa: E402
from planner.report.document import plan_document  # noqa: E402
from planner.scenario.load import check_document  # noqa: E402
from planner.scenario.paths import get_value, numeric_paths, with_overrides  # noqa: E402
from planner.strategy.evaluate import Result, StrategyResult, evaluate  # noqa: E402
from planner.strategy.fleet import powered_h_by_month  # noqa: E402
from planner.strategy.quotas import quota_uses  # noqa: E402
from planner.strategy.sessions import busy_h_by_month, turnaround_h  # noqa: E402

TODAY = dt.date(2026, 11, 30)
MAY_BE_NEGATIVE = ("free_hours", "credit", "loan_proceeds", "resale_gpu", "resale_host")
_SLACK = 1e-6
_WHOLE = (
    "months",
    "count",
    "gpus",
    "batch",
    "checkpoints",
    "priority",
    "together",
    "rank",
    "len",
    "quota",
    "term",
    "days",
)


def scenario(seed: int, catalog: Catalog) -> dict[str, Any]:
    """A random scenario document; one in five has a few inputs set to anything."""
    luck = random.Random(seed)
    maybe = lambda share=0.5: luck.random() < share  # noqa: E731
    spread = lambda low, high: float(f"{np.exp(luck.uniform(np.log(low), np.log(high))):.4g}")  # noqa: E731
    plan: dict[str, Any] = {
        "schema_version": 1,
        "horizon_months": luck.choice([1, 3, 12, 24, 36, 48, 60, 84]),
        "site": {"id": luck.choice(sorted(catalog.sites))},
    }
    if maybe():
        plan["discount_rate"] = luck.choice([0, 0.03, 0.1, 0.3])
    if maybe(0.3):
        plan["tax"] = {"rate": luck.choice([0, 0.07, 0.19, 0.5]), "recoverable": maybe()}
    if maybe(0.3):
        plan["hardware_price_change_per_year"] = round(luck.uniform(-0.4, 0.2), 3)
    if maybe(0.2):
        plan["site"]["colocation"] = {
            "contracted_kw": spread(0.5, 100),
            "power": luck.choice(["pass_through", "included"]),
        }
    if maybe(0.2):
        plan["staff"] = {"cost_usd_per_fte_year": spread(1e3, 3e5), "fte_cloud": luck.choice([0, 0.05, 1])}
    if maybe(0.2):
        plan["owned_value_counts"] = False
    machines = {f"m{at}": _machine(luck, catalog, plan, spread, maybe) for at in range(luck.choice([0, 1, 1, 1, 2, 3]))}
    plan["machines"] = machines
    plan["offers"] = {f"quote{at}": _quote(luck, spread, maybe) for at in range(luck.choice([0, 0, 1, 2]))}
    plan["rental"] = _rental(luck, catalog, plan, spread, maybe)
    plan["jobs"] = {f"j{at}": _job(luck, catalog, plan, spread, maybe) for at in range(luck.choice([1, 1, 2, 3, 5]))}
    return _disturbed(luck, plan, spread) if maybe(0.2) else plan


def _machine(luck: random.Random, catalog: Catalog, plan: dict[str, Any], spread: Any, maybe: Any) -> dict[str, Any]:
    server = maybe(0.3)
    gpu = luck.choice(["a100-sxm4-80gb", "h100-sxm5-80gb", "l40s", "h200-sxm-141gb"] if server else
                      ["rtx-4090", "rtx-3090", "rtx-5090", "rtx-a6000", "rtx-3060-12gb"])  # fmt: skip
    found: dict[str, Any] = {
        "gpu": gpu,
        "gpus": luck.choice([4, 8] if server else [1, 2]),
        "gpu_price_usd": spread(300, 40_000),
    }
    found["host"] = "server-8-sxm" if server else "workstation-2"
    if maybe(0.3):
        found |= {
            "host_price_usd": spread(100, 50_000),
            "load_w": 5000 if server else 800,
            "idle_w": luck.choice([0, 100]),
        }
    if maybe(0.4):
        found["count"] = luck.choice([1, 2, 5, 20])
    elif maybe(0.3):
        found["purchases"] = {luck.randrange(plan["horizon_months"]): luck.choice([1, 2, 4]) for _ in range(2)}
    if maybe(0.3):
        found["delivery_months"] = luck.choice(
            [months for months in (0, 1, 3, 6) if months <= plan["horizon_months"] / 2]
        )
    if maybe(0.2):
        found |= {"condition": "used", "age_months": luck.choice([3, 24])}
    if maybe(0.2):
        found["target_utilisation"] = luck.choice([0.05, 0.5, 0.95, 1.0])
    if maybe(0.3):
        found["useful_life_months"] = luck.choice([5, 13, 36, 60])
    if maybe(0.2):
        found |= {"failures_per_year": luck.choice(["typical", 0, 2, 50]), "repair_h": luck.choice([1, 48, 700])}
    if maybe(0.2) and "purchases" not in found:
        found["owned"] = {
            "count": 1,
            "age_months": luck.choice([1, 12, 30]),
            "at_start": luck.choice(["keep", "sell", "cheapest"]),
        }
    if maybe(0.25):
        loan = {
            "kind": "loan",
            "term_months": luck.choice([6, 36]),
            "nominal_interest_per_year": luck.choice([0, 0.08]),
        }
        lease = {
            "kind": "lease",
            "term_months": luck.choice([3, 12, 24]),
            "lease_factor_per_month": luck.choice([0.01, 0.05]),
        }
        found["finance"] = luck.choice([loan, lease])
    return found


def _quote(luck: random.Random, spread: Any, maybe: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "gpu": luck.choice(["a100-sxm4-80gb", "h100-sxm5-80gb", "rtx-4090", "h200-sxm-141gb"]),
        "gpu_count": luck.choice([1, 2, 8]),
    }
    if maybe():
        found["price_usd_per_gpu_h"] = spread(0.1, 20)
    else:
        found["price_per_h"] = f"{spread(0.1, 100)} {luck.choice(['EUR', 'CNY', 'JPY'])}"
    if maybe(0.3):
        found |= {"term": "spot", "interrupted_share_per_month": luck.choice([0, 0.05, 0.9])}
    if maybe(0.3):
        found |= {"available_share": luck.choice([0.01, 0.5, 1]), "retry_s": luck.choice([1, 600])}
    if maybe(0.3):
        found |= luck.choice([{"free_node_hours_per_month": 20}, {"free_node_hours_total": 300}])
    if maybe(0.3):
        found |= {"billing_unit_s": luck.choice([1, 60, 3600]), "minimum_s": luck.choice([0, 600, 7200])}
    if maybe(0.3):
        found |= {"startup_s": luck.choice([0, 3600]), "includes_tax": True, "network_gbit_per_s": spread(1, 3200)}
    return found


def _rental(luck: random.Random, catalog: Catalog, plan: dict[str, Any], spread: Any, maybe: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    current = sorted(offer.id for offer in catalog.offers.values() if offer.status(TODAY) == "current" and offer.gpu)
    usual = [id for id in current if catalog.offers[id].term in ("on_demand", "spot")]
    if maybe(0.6):
        found["offers"] = [*luck.sample(usual, luck.choice([0, 1, 3, 8])), *plan["offers"]]
    else:
        found["terms"] = luck.choice([["on_demand"], ["spot"], ["on_demand", "spot"]])
        found["gpus"] = luck.sample(["a100-sxm4-80gb", "h100-sxm5-80gb", "rtx-4090", "l4", "h200-sxm-141gb"], 2)
    if any(quote.get("term") == "spot" for quote in plan["offers"].values()):
        found["terms"] = ["on_demand", "spot"]
    reserved = [id for id in current if catalog.offers[id].term in ("reserved_1y", "reserved_3y")]
    if maybe(0.2) and reserved:
        found["commitments"] = {luck.choice(reserved): {"nodes": luck.choice([1, 2]), "renew": maybe(),
                                "payment": luck.choice(["monthly", "upfront"])}}  # fmt: skip
    if maybe(0.3):
        found |= {"storage_gb": luck.choice([0, 100, 1e5]), "upload_gb": luck.choice([0, 500])}
    if maybe(0.3):
        found |= {"transfer_mbit_per_s": luck.choice([10, 1000]), "upload_while_billed": maybe()}
    if maybe(0.2):
        found["quota_gpus"] = {name: luck.choice([0, 4, 8, 64]) for name in ("a100-sxm4-80gb", "h100-sxm5-80gb")}
    if maybe(0.2):
        found["price_change_per_year"] = round(luck.uniform(-0.4, 0.3), 3)
    if maybe(0.2):
        found["credits"] = {"gift": {"amount_usd": spread(10, 1e6), "covers": luck.choice(["all", "rental"])}}
    if maybe(0.3):
        found["idle_tail_s"] = luck.choice([30, 3600])
    return found


def _job(luck: random.Random, catalog: Catalog, plan: dict[str, Any], spread: Any, maybe: Any) -> dict[str, Any]:
    workload = catalog.workloads[luck.choice(sorted(catalog.workloads))]
    found: dict[str, Any] = {"workload": workload.id, "runs_per_month": spread(0.01, 1000)}
    amount = "tokens" if workload.unit == "tokens" else "samples"
    if maybe(0.8):
        found[amount] = spread(1e6, 1e10) if amount == "tokens" else spread(1e3, 1e8)
    if maybe(0.4):
        found["method"] = luck.choice(["full", "lora", "qlora"])
    if maybe(0.3):
        found["gpus"] = luck.choice([1, 2, 8, 64])
    if maybe(0.3):
        found["deadline_h"] = spread(0.1, 1000)
    if maybe(0.4):
        found["class"] = luck.choice(["development", "key"])
    if maybe(0.15):
        found["local_share"] = luck.choice([0, 0.3, 1])
    if maybe(0.1):
        found["in_house"] = True
    if maybe(0.2):
        found["growth_per_month"] = luck.choice([-0.3, 0.02, 0.3])
    if maybe(0.1):
        found["seasonality"] = [luck.choice([0, 0.5, 1, 2]) for _ in range(12)]
    if maybe(0.1):
        found["runs_by_month"] = {luck.randint(1, plan["horizon_months"]): luck.choice([0, 1, 50])}
    if maybe(0.3):
        found |= {"checkpoints": luck.choice([0, 1, 20]), "checkpoint_s": luck.choice([0, 60])}
    if maybe(0.2):
        found["restarts"] = True
    if maybe(0.2):
        found |= {"upload_gb_per_run": luck.choice([0, 50]), "egress_gb_per_run": luck.choice([0, 5000])}
    if maybe(0.2):
        places = [*plan["machines"], *plan["rental"].get("offers", ())]
        found["throughput"] = {place: spread(0.1, 1e6) for place in places}
    if maybe(0.1) and plan["machines"]:
        found[luck.choice(["only_on", "not_on"])] = [luck.choice(sorted(plan["machines"]))]
    if maybe(0.3):
        found["attempts_per_run"] = luck.choice([1, 1.5, 10])
    return found


def _disturbed(luck: random.Random, plan: dict[str, Any], spread: Any) -> dict[str, Any]:
    """The plan with up to three numbers set to anything between nothing and far too much."""
    paths = numeric_paths(plan)
    if luck.random() < 0.7:
        paths = tuple(path for path in paths if get_value(plan, path) is not None)
    changes: dict[str, Any] = {}
    for path in luck.sample(paths, luck.choice([1, 2, 3])):
        value = luck.choice([0, 1, spread(1e-9, 1e18), spread(0.01, 1e4), get_value(plan, path)])
        whole = isinstance(value, float) and any(word in path for word in _WHOLE)
        changes[path] = int(value) if whole else value
    return with_overrides(plan, changes)


def faults(result: Result) -> list[str]:
    """What is wrong with a plan."""
    found = [f"{way.id}: {fault}" for way in result.strategies for fault in _way_faults(result, way)]
    try:
        json.dumps(plan_document(result), allow_nan=False)
    except ValueError as error:
        found.append(f"its document: {error}")
    feasible = [way.present_value_usd for way in result.strategies if way.feasible]
    advice = next((way for way in result.strategies if way.id == result.recommendation.strategy), None)
    if (advice is None) != (not feasible):
        found.append("recommends an infeasible way, or none of the feasible ones")
    elif advice is not None and advice.present_value_usd > min(feasible) + 0.01:
        found.append("recommends a way that isn't the cheapest")
    return found


def _way_faults(result: Result, way: StrategyResult) -> Iterator[str]:
    evaluation, choice = way.evaluation, way.allocation.choice
    if evaluation is None or choice is None:
        if way.feasible:
            yield "feasible without figures"
        return
    sums: Counter[str] = Counter()
    present = kwh = 0.0
    for line in evaluation.lines:
        amount = line.amount
        if not np.isfinite(amount).all():
            yield f"{line.id} isn't finite"
        if line.kind not in MAY_BE_NEGATIVE and amount.min() < -_SLACK:
            yield f"{line.id} is negative: {amount.min()}"
        if line.kind in MAY_BE_NEGATIVE and amount.max() > _SLACK:
            yield f"{line.id} is positive: {amount.max()}"
        sums[line.group] += float(amount.sum())
        present += float((amount * evaluation.discount).sum())
        kwh += 0.0 if line.kwh is None else float(line.kwh.sum())
    size = max(1.0, *(abs(value) for value in sums.values()), abs(present)) if sums else 1.0
    told = {"capex": evaluation.capex_usd, "residual": evaluation.residual_usd, "opex": evaluation.opex_usd,
            "financing": evaluation.financing_usd}  # fmt: skip
    for group, value in told.items():
        if abs(float(value[0]) - sums[group]) > 1e-9 * size:
            yield f"{group}: {float(value[0])} isn't the sum of its lines, {sums[group]}"
    if abs(way.tco_usd - sum(sums.values())) > 1e-9 * size or abs(way.present_value_usd - present) > 1e-9 * size:
        yield "totals aren't the sums of the lines"
    if abs(float(evaluation.kwh[0]) - kwh) > 1e-9 * max(1.0, kwh):
        yield "energy isn't the sum of the lines"
    if not all(np.isfinite(value[0]) for value in (evaluation.kwh, evaluation.kg_co2e, evaluation.present_value_usd)):
        yield "totals aren't finite"
    if way.feasible:
        yield from _limit_faults(result, way)


def _limit_faults(result: Result, way: StrategyResult) -> Iterator[str]:
    """Limits that a plan said to be feasible breaks."""
    problem, theta, evaluation, choice = result.problem, result.theta, way.evaluation, way.allocation.choice
    assert evaluation is not None
    assert choice is not None
    if np.any(choice.machine_count != np.round(choice.machine_count)) or np.any(choice.machine_count < 0):
        yield f"parts of machines: {choice.machine_count}"
    shares = np.zeros(len(problem.jobs))
    for index, pair in enumerate(problem.pairs):
        share = choice.routing[0, index]
        shares[pair.job] += share
        if share <= 0:
            continue
        job = problem.jobs[pair.job]
        if pair.problems or not pair.fit.fits:
            yield f"{job.id} runs on {pair.resource} where it can't"
        if pair.offer is not None and job.in_house:
            yield f"{job.id} leaves the house"
        if job.deadline_h is not None and float(turnaround_h(problem, pair, theta)[0]) > job.deadline_h * (1 + _SLACK):
            yield f"{job.id} is late on {pair.resource}"
    if np.any(np.abs(shares - 1) > 1e-6):
        yield f"shares don't add up: {shares}"
    busy = busy_h_by_month(problem, theta, choice.routing, choice.by_month)
    powered = powered_h_by_month(problem, theta, evaluation.machines_there)
    if np.any(busy > powered * (1 + _SLACK)):
        yield "machines are busier than they are on"
    for use in quota_uses(problem, theta, choice):
        if use.gpu_h > use.available_h * (1 + _SLACK):
            yield f"quota {use.quota.id} is exceeded"


def outcome(seed: int, catalog: Catalog, evidence: Evidence) -> tuple[str, list[str]]:
    """`planned`, `infeasible`, `refused` or `broken`, and what is wrong."""
    try:
        result = evaluate(check_document(scenario(seed, catalog)), catalog, evidence, today=TODAY)
        wrong = faults(result)
    except PlannerError as error:
        return "refused", [] if str(error).strip() and error.code not in str(error) else [
            f"no sentence for {error.code}"
        ]
    except Exception:
        return "broken", [traceback.format_exc()]
    return "infeasible" if result.recommendation.strategy is None else "planned", wrong


def main() -> int:
    """Plan a number of scenarios and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, help="first seed (default 0)")
    parser.add_argument("--count", type=int, default=10_000, help="scenarios (default 10,000)")
    options = parser.parse_args()
    np.seterr(all="raise", under="ignore")
    catalog, evidence = load_catalog(today=TODAY), load_evidence()
    start, counts, wrong_count = time.perf_counter(), Counter[str](), 0
    for seed in range(options.first, options.first + options.count):
        kind, wrong = outcome(seed, catalog, evidence)
        counts[kind] += 1
        wrong_count += bool(wrong)
        for fault in wrong:
            print(f"seed {seed}: {fault}", flush=True)
    seconds = time.perf_counter() - start
    shown = ", ".join(f"{count:,} {kind}" for kind, count in counts.most_common())
    print(f"{options.count:,} scenarios in {seconds:.0f} s: {shown}; {wrong_count:,} with something wrong")
    return 1 if wrong_count else 0


if __name__ == "__main__":
    sys.exit(main())
