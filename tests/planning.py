"""Plans of the tests: the frozen catalog, the plans in `fixtures/plans`, and short ways to change and cost them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from planner.catalog.load import load_catalog
from planner.catalog.records import Catalog
from planner.cost.lines import CostLine
from planner.performance.evidence import Evidence, load_evidence
from planner.scenario.load import check_document, read_document
from planner.scenario.paths import with_overrides
from planner.strategy.allocate import allocate
from planner.strategy.candidates import Kind
from planner.strategy.evaluate import Result, StrategyResult, evaluate
from planner.strategy.kernel import Evaluation, kernel
from planner.strategy.problem import PlanProblem
from planner.strategy.resolve import resolve

FIXTURES = Path(__file__).parent / "fixtures"
TODAY = dt.date(2026, 11, 30)
CENT = 0.00501  # half a cent, with room for the last binary digit


@cache
def shipped_catalog() -> Catalog:
    """The project's own data."""
    return load_catalog(today=TODAY)


@cache
def catalog() -> Catalog:
    """The frozen catalog. Constants of the estimator come from the project: no plan here rests on a predicted speed."""
    frozen = load_catalog(FIXTURES / "catalog", today=TODAY)
    constants = {id: entry for id, entry in shipped_catalog().assumptions.items() if id.startswith("estimator_")}
    return replace(frozen, assumptions={**constants, **frozen.assumptions})


@cache
def evidence() -> Evidence:
    """The measurements shipped with the project."""
    return load_evidence()


def document(name: str, overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A fixture plan as a document, with values set at paths."""
    plan = read_document((FIXTURES / "plans" / f"{name}.yaml").read_bytes(), file=name)
    return with_overrides(plan, overrides or {})


def solve(plan: Mapping[str, Any]) -> Result:
    """Plan a document in every way."""
    return evaluate(check_document(plan), catalog(), evidence(), today=TODAY)


def problem_of(plan: Mapping[str, Any]) -> PlanProblem:
    """A document resolved."""
    return resolve(check_document(plan), catalog(), evidence(), today=TODAY)


def strategy(result: Result, kind: Kind) -> StrategyResult:
    """One strategy of a result."""
    return next(found for found in result.strategies if found.kind == kind)


def costed(plan: Mapping[str, Any], kind: Kind) -> Evaluation:
    """What a strategy costs, whether or not it is within its limits."""
    problem = problem_of(plan)
    theta = problem.theta()
    choice = allocate(problem, theta, kind).choice
    assert choice is not None
    return kernel(problem, theta, choice)


def evaluation(found: StrategyResult) -> Evaluation:
    assert found.feasible
    assert found.evaluation is not None
    return found.evaluation


def by_id(evaluation: Evaluation) -> dict[str, CostLine]:
    """Lines by id, none of which may stand twice."""
    lines = {line.id: line for line in evaluation.lines}
    assert len(lines) == len(evaluation.lines)
    return lines


def quantity(line: CostLine) -> float:
    """Quantity of a one-row line over all times."""
    return float(line.quantity[0].sum())


def amounts(evaluation: Evaluation) -> dict[str, float]:
    """Undiscounted money by line of a one-row evaluation."""
    return {id: float(line.amount[0].sum()) for id, line in by_id(evaluation).items()}


def present_value(line: CostLine, evaluation: Evaluation) -> float:
    """Present value of a line of a one-row evaluation."""
    return float(np.sum(line.amount[0] * evaluation.discount[0]))


def small_plan(overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A year of one-hour runs on a machine or an offer, in numbers for mental arithmetic.

    100 runs a month of 1 h; a card of 1,000 and a host of 500 USD, half and a quarter of it left after the year, 600 W
    loaded and 100 W idle at 0.10 USD/kWh; or 2 USD/h. No tax, no interest, no people, no upkeep.
    """
    plan = {
        "schema_version": 1,
        "horizon_months": 12,
        "discount_rate": 0,
        "tax": {"rate": 0},
        "site": {"electricity_usd_per_kwh": 0.1, "pue": 1, "grid_kg_co2e_per_kwh": 0.4},
        "staff": {"cost_usd_per_fte_year": 0, "fte_per_machine": 0, "fte_cloud": 0},
        "jobs": {
            "work": {
                "workload": "bert-large-squad",
                "samples": 3600,
                "epochs": 1,
                "gpus": 1,
                "throughput": {"own": 1, "rented": 1},
                "runs_per_month": 100,
                "attempts_per_run": 1,
            }
        },
        "machines": {
            "own": {
                "gpu": "rtx-4090",
                "count": 1,
                "gpu_price_usd": 1000,
                "host_price_usd": 500,
                "installation_usd": 0,
                "load_w": 600,
                "idle_w": 100,
                "useful_life_months": 12,
                "maintenance_share_per_year": 0,
                "residual_gpu": {12: 0.5},
                "residual_host": {12: 0.25},
            }
        },
        "rental": {"offers": ["rented"]},
        "offers": {
            "rented": {
                "gpu": "rtx-4090",
                "gpu_count": 1,
                "price_usd_per_h": 2,
                "billing_unit_s": 1,
                "minimum_s": 0,
                "startup_s": 0,
                "load_w": 600,
                "idle_w": 100,
                "pue": 1,
                "grid_kg_co2e_per_kwh": 0.4,
            }
        },
    }
    return with_overrides(plan, overrides or {})
