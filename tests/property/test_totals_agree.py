"""Months, jobs, resources, groups and lines say the same; a horizon twice as long has twice the running costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.scenario.load import check_document, read_document
from planner.scenario.paths import with_overrides
from planner.strategy.allocate import allocate
from planner.strategy.candidates import KINDS, Kind
from planner.strategy.evaluate import evaluate
from planner.strategy.kernel import Evaluation, kernel
from planner.strategy.resolve import resolve
from tests.planning import FIXTURES, TODAY, by_id, document, evidence, problem_of, shipped_catalog, small_plan, solve
from tests.property.plans import between, plans, quick
from tests.totals import CENT, WH, assert_totals_agree

ROOT = Path(__file__).parents[2]
WORKED = sorted(path.stem for path in (FIXTURES / "plans").glob("*.yaml"))
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.yaml"))


def example(name: str) -> dict[str, Any]:
    return read_document((ROOT / "examples" / f"{name}.yaml").read_bytes(), file=name)


@st.composite
def shared_plans(draw: st.DrawFn) -> dict[str, Any]:
    """Plans whose demand has a shape, with groups, a committed offer and machines that nobody may need."""
    plan = draw(plans())
    months = plan["horizon_months"]
    plan["groups"] = {"first": {"people": 3}, "second": {}}
    for job in plan["jobs"].values():
        job["growth_per_month"] = draw(st.sampled_from([0, 0, 0.02, -0.05]))
        job["runs_by_month"] = draw(st.dictionaries(st.integers(1, months), between(0, 100), max_size=3))
        if len(job["runs_by_month"]) == months:  # some run there has to be
            job["runs_by_month"] = {}
        job["local_share"] = draw(st.sampled_from([0, 0.3, 1]))
        group = draw(st.sampled_from(["first", "second", None]))
        job |= {} if group is None else {"group": group}
    if draw(st.booleans()):
        plan["machines"]["large"]["count"] = 2
    if draw(st.booleans()):
        plan["offers"]["reserved"] = {**plan["offers"]["node"], "term": "reserved_1y"}
        plan["rental"]["offers"] = ["node"]
        plan["rental"]["commitments"] = {"reserved": {"payment": draw(st.sampled_from(["monthly", "upfront"]))}}
        for job in plan["jobs"].values():
            job["throughput"]["reserved"] = job["throughput"]["node"]
    return plan


def everything(payment: str) -> dict[str, Any]:
    """A plan in which all that is shared in some way of its own comes together."""
    changed = {
        "tax.rate": 0.19,
        "site.space_usd_per_month": 90,
        "staff": {"cost_usd_per_fte_year": 60_000, "fte_per_machine": 0.1, "fte_cloud": 0.1},
        "rental": {"storage_gb": 500, "storage_usd_per_gb_month": 0.1, "egress_usd_per_gb": 0.1,
                   "commitments": {"term": {"payment": payment}}, "offers": ["rented"]},
        "jobs.work.runs_by_month": {3: 0, 4: 900},
        "jobs.work.egress_gb_per_run": 3,
        "jobs.work.group": "first",
        "groups": {"first": {"people": 3}, "second": {}, "third": {}},
    }  # fmt: skip
    plan = small_plan(changed)
    plan["jobs"]["more"] = {**plan["jobs"]["work"], "runs_by_month": {1: 20, 3: 0}, "group": "second", "class": "key"}
    plan["jobs"]["mixed"] = {**plan["jobs"]["more"], "local_share": 0.5, "egress_gb_per_run": 0}
    del plan["jobs"]["mixed"]["group"]
    plan["machines"]["spare"] = {**plan["machines"]["own"], "gpu": "a100-sxm4-80gb"}
    plan["offers"]["rented"]["provider"] = "house"
    plan["offers"]["term"] = {**plan["offers"]["rented"], "term": "reserved_1y", "price_usd_per_h": 0.2}
    for job in plan["jobs"].values():
        job["throughput"] = {"own": 1, "rented": 1, "term": 1, "spare": 0.01}
    return {**plan, "horizon_months": 10}


@pytest.mark.parametrize("payment", ["monthly", "upfront"])
def test_all_sums_of_a_plan_with_everything_agree(payment: str) -> None:
    result = solve(everything(payment))
    assert assert_totals_agree(result) == 3
    kinds = {line.kind for way in result.strategies if way.evaluation is not None for line in way.evaluation.lines}
    assert {"tax_purchase", "tax_local", "tax_rented", "commitment", "overflow", "storage", "egress"} <= kinds
    assert any(way.attribution is not None and way.attribution.amount_usd[-1].any() for way in result.strategies)


@settings(quick, max_examples=5)
@given(plan=shared_plans())
def test_all_sums_of_a_plan_agree(plan: dict[str, Any]) -> None:
    assert assert_totals_agree(solve(plan)) > 0


@pytest.mark.parametrize("name", WORKED)
def test_all_sums_of_the_worked_examples_agree(name: str) -> None:
    plan = document(name)
    first = next(iter(plan["jobs"]))
    assert assert_totals_agree(solve(document(name, {"groups.lab": {}, f"jobs.{first}.group": "lab"}))) > 0


@pytest.mark.parametrize("name", EXAMPLES)
def test_all_sums_of_the_examples_agree(name: str) -> None:
    scenario = check_document(example(name))
    assert assert_totals_agree(evaluate(scenario, shipped_catalog(), evidence(), today=TODAY)) > 0


def assert_twice(once: Evaluation, twice: Evaluation) -> None:
    assert twice.opex_usd[0] == pytest.approx(2 * once.opex_usd[0], abs=CENT)
    assert twice.kwh[0] == pytest.approx(2 * once.kwh[0], abs=WH)
    short, long = by_id(once), by_id(twice)
    running = {id for id, line in short.items() if line.group == "opex"}
    assert running == {id for id, line in long.items() if line.group == "opex"}
    for id in running:
        assert long[id].amount[0].sum() == pytest.approx(2 * short[id].amount[0].sum(), abs=CENT), id


@quick
@given(plan=plans(), kind=st.sampled_from(KINDS))
def test_twice_the_horizon_has_twice_the_running_costs(plan: dict[str, Any], kind: Kind) -> None:
    """The same machines and routing over twice the months, whatever would be chosen for them."""
    once, twice = problem_of(plan), problem_of({**plan, "horizon_months": 2 * plan["horizon_months"]})
    choice = allocate(once, once.theta(), kind).choice
    assert choice is not None
    assert_twice(kernel(once, once.theta(), choice), kernel(twice, twice.theta(), choice))


@pytest.mark.parametrize(
    ("name", "shipped"),
    [*((name, False) for name in WORKED if name != "committed-node"), ("hybrid-lab", True)],
)
def test_twice_the_horizon_of_a_known_plan_has_twice_its_running_costs(name: str, shipped: bool) -> None:
    plan = example(name) if shipped else document(name)
    months = min(plan["horizon_months"] // 2, 42)
    problems = []
    for horizon in (months, 2 * months):
        changed = with_overrides(plan, {"horizon_months": horizon})
        if shipped:
            problems.append(resolve(check_document(changed), shipped_catalog(), evidence(), today=TODAY))
        else:
            problems.append(problem_of(changed))
    once, twice = problems
    seen = 0
    for kind in KINDS:
        choice = allocate(once, once.theta(), kind).choice
        if choice is not None:
            assert_twice(kernel(once, once.theta(), choice), kernel(twice, twice.theta(), choice))
            seen += 1
    assert seen > 0
