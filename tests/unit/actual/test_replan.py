"""The rest of a plan as a scenario: what happened by the plan changes nothing, what was observed is carried over."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from planner.actual.carried import Replan, scenario_yaml
from planner.actual.demand_then import shifted_demand
from planner.actual.document import actual_document
from planner.actual.outlook import rest_of
from planner.actual.replan import replan
from planner.actual.run import plan_anew
from planner.errors import InputError, PlannerError, ScenarioError
from planner.scenario import jobs, machines, rental, schema, site
from planner.scenario.jobs import JobInput
from planner.scenario.load import check_document, parse_scenario
from tests.planning import CENT, TODAY, catalog, document, evaluation, evidence, small_plan, solve, strategy
from tests.unit.actual.replanning import Plan, codes, followed

SEASONS = [1, 1.2, 0.8, 1, 1, 1, 1, 1.5, 1, 1, 0.5, 1]
USED = {
    "machines.own.owned": {"count": 1, "age_months": 4, "resale_gpu_usd": 800, "resale_host_usd": 300},
    "machines.own.count": 3,
    "machines.own.useful_life_months": 10,
}
BLOCKS = document(
    "committed-node",
    {"offers.reserved.term": "capacity_block", "rental.commitments": {"reserved": {"days": 14, "months": [3, 9]}}},
)
FINANCED: tuple[dict[str, Any], ...] = (
    {"kind": "loan", "term_months": 7, "nominal_interest_per_year": 0.06, "financed_share": 0.8},
    {"kind": "lease", "term_months": 4, "nominal_payment_usd_per_month": 50},
    {"kind": "lease", "term_months": 6, "lease_factor_per_month": 0.1, "in_advance": True, "at_end": "buy",
     "nominal_buyout_usd": 300},
)  # fmt: skip
CASES: dict[str, tuple[Plan, str]] = {
    "owned": (small_plan(), "local"),
    "rented": (small_plan({"offers.rented.startup_s": 300, "offers.rented.billing_unit_s": 60}), "cloud"),
    "growth": (small_plan({"jobs.work.growth_per_month": 0.05}), "local"),
    "seasons": (small_plan({"jobs.work.seasonality": SEASONS, "jobs.work.runs_by_month": {2: 7, 9: 250}}), "cloud"),
    "replaced": (small_plan({"machines.own.useful_life_months": 5, "horizon_months": 24}), "local"),
    "taxed": (small_plan({"tax.rate": 0.19, "machines.own.prices_include_tax": True}), "local"),
    "used": (small_plan({"machines.own.condition": "used", "machines.own.age_months": 2}), "local"),
    "commitment": (document("committed-node"), "cloud"),
    "commitment paid at once": (
        document("committed-node", {"rental.commitments.reserved.payment": "upfront"}),
        "cloud",
    ),
    "commitment renewed": (
        document("committed-node", {"horizon_months": 30, "rental.commitments.reserved.renew": True}),
        "cloud",
    ),
    "lab": (document("hybrid-lab"), "hybrid"),
    "spot": (document("spot-node"), "cloud"),
    "colocation": (document("colocated-node"), "local"),
    "rental prices change": (small_plan({"rental.price_change_per_year": -0.2}), "cloud"),
    "hardware prices change": (
        small_plan(
            {"hardware_price_change_per_year": -0.2, "machines.own.useful_life_months": 5, "horizon_months": 24}
        ),
        "local",
    ),
    "credit": (small_plan({"rental.credits": {"grant": {"amount_usd": 900, "expires_month": 10}}}), "cloud"),
    "free hours": (
        small_plan({"offers.rented.free_node_hours_total": 450, "offers.rented.free_node_hours_per_month": 80}),
        "cloud",
    ),
    "blocks": (BLOCKS, "cloud"),
    "credit used up": (
        small_plan(
            {
                "tax.rate": 0.19,
                "rental.storage_gb": 200,
                "rental.credits": {"a": {"amount_usd": 300.1}, "b": {"amount_usd": 900}},
                "offers.rented.provider": "hostcloud",
                "offers.rented.free_node_hours_per_month": 33.3,
            }
        ),
        "cloud",
    ),
    "data sent once": (
        small_plan({"rental.upload_gb": 1000, "rental.ingress_usd_per_gb": 0.01, "jobs.work.upload_gb_per_run": 5}),
        "cloud",
    ),
    "upkeep that is dear where hardware prices fall": (
        small_plan({"hardware_price_change_per_year": -0.5, "machines.own.maintenance_share_per_year": 0.9}),
        "local",
    ),
    "two ages": (small_plan(USED), "local"),
    "on their way": (
        small_plan(
            {"machines.own.purchases": {0: 1, 6: 2}, "machines.own.count": None, "machines.own.delivery_months": 3}
        ),
        "hybrid",
    ),
    "borrowed": (small_plan({"machines.own.finance": FINANCED[0], "inflation_per_year": 0.03}), "local"),
    "upkeep where hardware prices change": (
        small_plan({"hardware_price_change_per_year": -0.2, "machines.own.maintenance_share_per_year": 0.06}),
        "local",
    ),
    "new cards": (
        small_plan(
            {
                "machines.own.owned": {
                    **USED["machines.own.owned"],
                    "at_start": "upgrade",
                    "upgrade": {"gpu": "rtx-4090", "gpu_price_usd": 1200, "load_w": 600, "idle_w": 100},
                },
                "jobs.work.throughput": {"own": 3, "rtx-4090": 1, "rented": 1},  # 3: of the old cards
                "machines.own.useful_life_months": 24,
                "machines.own.residual_gpu": {24: 0.4},
                "machines.own.residual_host": {1: 0.2, 24: 0.2},
            }
        ),
        "local",
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("month", [2, 8])
def test_months_by_the_plan_have_no_drift_and_leave_the_rest_as_it_was(name: str, month: int) -> None:
    plan, way = CASES[name]
    result, comparison = followed(plan, way, month - 1)
    assert comparison.effects.total_usd == pytest.approx(0, abs=CENT)
    for bill in comparison.bills:
        assert bill.effects.total_usd == pytest.approx(0, abs=CENT)
    for job in comparison.jobs:
        assert not job.runs or job.slower == pytest.approx(0, abs=1e-9)
        assert job.inside in (True, None)
    assert comparison.months_without_bills == comparison.months_without_hours == ()
    found, new = plan_anew(plan, check_document(plan), comparison, month, catalog(), evidence(), today=TODAY)
    kind = comparison.way.strategy.kind
    old_rest = rest_of(comparison.way.evaluation, month)
    new_rest = rest_of(evaluation(strategy(new, kind)), 1)
    anew = actual_document(check_document(plan), result, comparison, (found, new))["replan"]
    assert (anew["changed"], anew["saves_usd"]) == ([], pytest.approx(0, abs=CENT))
    assert anew["continued"]["total_usd"] == pytest.approx(old_rest.total_usd, abs=CENT)
    assert new_rest.running_usd == pytest.approx(old_rest.running_usd, abs=CENT)
    assert new_rest.purchase_usd == pytest.approx(old_rest.purchase_usd, abs=CENT)
    assert new_rest.resale_usd == pytest.approx(old_rest.resale_usd, abs=CENT)
    assert new_rest.kwh == pytest.approx(old_rest.kwh, abs=0.001)
    assert parse_scenario(scenario_yaml(found)) == check_document(found.document)


@st.composite
def plans(draw: st.DrawFn) -> tuple[Plan, int, str]:
    """Scenarios with machines of several ages and on their way, loans, leases, credits, prices that change."""
    horizon = draw(st.sampled_from([12, 18, 24]))
    changes: dict[str, Any] = {"horizon_months": horizon}

    def maybe(key: str, *values: Any) -> None:
        if draw(st.booleans()):
            changes[key] = draw(st.sampled_from(values))

    changes["jobs.work.runs_per_month"] = draw(st.sampled_from([50, 200, 600, 1500]))
    maybe("jobs.work.growth_per_month", -0.05, 0.03, 0.08)
    maybe("jobs.work.seasonality", SEASONS)
    maybe("jobs.work.runs_by_month", {1: 0}, {7: 900, 12: 0})
    maybe("machines.own.count", None, 3)
    maybe("machines.own.useful_life_months", 5, 10, 24)
    maybe("machines.own.delivery_months", 1, 3)
    maybe("machines.own.owned", USED["machines.own.owned"], {"count": 1, "age_months": 9})
    maybe("machines.own.finance", *FINANCED)
    maybe("inflation_per_year", 0.03)
    maybe("owned_value_counts", False)
    if draw(st.booleans()):
        changes["machines.own.count"] = None
        changes["machines.own.purchases"] = draw(st.sampled_from([{0: 1, 5: 2}, {3: 1}, {0: 2, 2: 1, 8: 1}]))
    if draw(st.booleans()):
        changes |= {"machines.own.residual_gpu": {24: 0.3}, "machines.own.residual_host": {24: 0.1}}
    maybe("rental.price_change_per_year", -0.2)
    maybe("hardware_price_change_per_year", -0.2)
    maybe("rental.credits", {"g": {"amount_usd": 100, "expires_month": 9}}, {"g": {"amount_usd": 5000}})
    maybe("offers.rented.free_node_hours_total", 450)
    maybe("rental.quota_gpus", {"rented": 1}, {"rented": 2})
    maybe("tax.rate", 0.19)
    maybe("offers.rented.price_usd_per_h", 0.2, 3)
    if draw(st.booleans()):
        changes |= {"fiscal_year_starts": 4, "plan_starts": "2026-10"}
    return small_plan(changes), draw(st.integers(2, horizon)), draw(st.sampled_from(["local", "cloud", "hybrid"]))


@given(plans())
@settings(max_examples=20, deadline=None)
def test_old_decisions_continued_cost_what_the_rest_of_the_old_plan_did(case: tuple[Plan, int, str]) -> None:
    plan, month, way = case
    try:
        result, comparison = followed(plan, way, month - 1)
    except PlannerError:  # the way can't do the work, or nothing happens in these months
        return
    try:
        new = plan_anew(plan, check_document(plan), comparison, month, catalog(), evidence(), today=TODAY)
    except InputError as error:
        assert error.code == "replan_no_job"
        return
    if "replan_on_their_way" in codes(new[0])[1]:
        return
    anew = actual_document(check_document(plan), result, comparison, new)["replan"]
    old = rest_of(comparison.way.evaluation, month)
    kept = anew["continued"]
    for key in ("running_usd", "purchase_usd", "resale_usd", "financing_usd", "total_usd"):
        assert kept[key] == pytest.approx(getattr(old, key), abs=CENT)
    if not anew["changed"]:
        assert anew["saves_usd"] == pytest.approx(0, abs=CENT)


LEASED = {
    "machines.own.finance": {"kind": "lease", "term_months": 12, "nominal_payment_usd_per_month": 50},
    "inflation_per_year": 0,
}


def test_what_is_left_to_pay_for_a_lease_is_paid_in_every_way() -> None:
    plan = small_plan(LEASED)
    _, comparison = followed(plan, "local", 4)
    found, new = plan_anew(plan, check_document(plan), comparison, 5, catalog(), evidence(), today=TODAY)
    rest = rest_of(comparison.way.evaluation, 5)
    assert (rest.financing_usd, rest.total_usd) == (pytest.approx(8 * 50), pytest.approx(8 * 50 + rest.running_usd))
    owned = found.document["machines"]["own"]["owned"]
    assert (owned["count"], owned["age_months"], owned["lease_ends_after_months"]) == (1, 4, 8)
    assert "replan_contracts" in codes(found)[0]
    for way in new.strategies:
        left = [line for line in evaluation(way).lines if line.kind == "running_lease"]
        assert [float(line.amount.sum()) for line in left] == pytest.approx([8 * 50])
        assert not any(line.kind in ("lease", "opportunity", "resale_gpu") for line in evaluation(way).lines)


def test_a_quote_goes_with_its_commitment() -> None:
    plan = document("committed-node", {"horizon_months": 20, "rental.quota_gpus": {"reserved": 64}})
    plan["jobs"]["train"]["not_on"] = ["own"] if "own" in (plan.get("machines") or {}) else []
    _, comparison = followed(plan, "cloud", 12)
    found, new = plan_anew(plan, check_document(plan), comparison, 13, catalog(), evidence(), today=TODAY)
    assert "reserved" not in str({key: value for key, value in found.document.items() if key != "name"})
    assert strategy(new, "cloud").feasible
    assert "replan_commitment_over" in codes(found)[1]


def test_new_machines_under_way_are_named_also_where_they_replace_others() -> None:
    plan = small_plan({"machines.own.useful_life_months": 5, "machines.own.delivery_months": 2, "horizon_months": 20})
    _, comparison = followed(plan, "hybrid", 5)  # there from month 3 to 7, the next ordered at the end of month 5
    found, new = plan_anew(plan, check_document(plan), comparison, 6, catalog(), evidence(), today=TODAY)
    assert found.document["machines"]["own"]["owned"]["replacement_after_months"] == 2
    assert codes(found) == ({"replan_machines", "replan_replacement"}, set())
    old, rest = rest_of(comparison.way.evaluation, 6), rest_of(evaluation(strategy(new, "hybrid")), 1)
    assert (rest.purchase_usd, rest.resale_usd) == pytest.approx((old.purchase_usd, old.resale_usd), abs=CENT)


def test_machines_of_two_ages_go_on_with_their_own() -> None:
    plan = small_plan(USED)
    _, comparison = followed(plan, "local", 3)
    found, _ = plan_anew(plan, check_document(plan), comparison, None, catalog(), evidence(), today=TODAY)
    owned = found.document["machines"]["own"]["owned"]
    assert [(each["count"], each["age_months"]) for each in (owned, owned["others"]["batch2"])] == [(2, 3), (1, 7)]
    assert found.left == []


def test_a_running_commitment_is_paid_in_every_way() -> None:
    plan = document("committed-node")
    _, comparison = followed(plan, "cloud", 4)
    found, new = plan_anew(plan, check_document(plan), comparison, None, catalog(), evidence(), today=TODAY)
    assert found.document["rental"]["commitments"]["reserved"] == {"nodes": 1, "from_month": 1, "elapsed_months": 4}
    for way in new.strategies:
        if way.evaluation is not None:
            line = next(line for line in way.evaluation.lines if line.kind == "commitment")
            assert line.quantity[0].sum() == pytest.approx(8 * 730)


def test_a_running_commitment_is_paid_where_nothing_runs_on_it() -> None:
    plan = document("committed-node", {"rental.commitments.reserved.elapsed_months": 1})
    unused = {**plan, "jobs": {"train": {**plan["jobs"]["train"], "terms": ["on_demand"]}}}
    found = evaluation(strategy(solve(unused), "cloud"))
    lines = {line.kind: line.quantity[0] for line in found.lines}
    assert lines["rental"].sum() > 0
    assert lines["commitment"].tolist() == [0.0, *[730.0] * 11]  # months of the term after the horizon too


@pytest.mark.parametrize("month", [13, 14, 25])
def test_a_term_due_where_the_new_plan_begins_is_not_paid_twice(month: int) -> None:
    terms = {"rental.commitments.reserved.renew": True, "rental.commitments.reserved.payment": "upfront"}
    plan = document("committed-node", {"horizon_months": 30, **terms})
    _, comparison = followed(plan, "cloud", month - 1)
    found = replan(plan, check_document(plan), comparison, month)
    assert (found.document["rental"]["commitments"]["reserved"].get("first_term_paid") is True) == (month != 14)
    new = evaluation(strategy(solve(found.document), "cloud"))
    assert rest_of(new, 1).running_usd == pytest.approx(rest_of(comparison.way.evaluation, month).running_usd, abs=CENT)


@pytest.mark.parametrize("change", [{"payment": "monthly"}, {"payment": "upfront", "from_month": 2}])
def test_only_a_term_paid_upfront_from_month_1_can_be_paid_already(change: Plan) -> None:
    changes = {f"rental.commitments.reserved.{key}": value for key, value in change.items()}
    with pytest.raises(ScenarioError, match="first_term_paid"):
        check_document(document("committed-node", {"rental.commitments.reserved.first_term_paid": True, **changes}))


def test_a_running_term_where_nothing_runs_is_not_renewed() -> None:
    terms = {"elapsed_months": 7, "renew": True}
    plan = document("committed-node", {f"rental.commitments.reserved.{key}": value for key, value in terms.items()})
    used = evaluation(strategy(solve(plan), "cloud"))
    plan["jobs"]["train"]["terms"] = ["on_demand"]
    unused = evaluation(strategy(solve(plan), "cloud"))
    hours = [
        next(line for line in found.lines if line.kind == "commitment").quantity[0].tolist() for found in (used, unused)
    ]
    assert hours == [[0.0, *[730.0] * 17], [0.0, *[730.0] * 5, *[0.0] * 4]]  # 12 - 7 months, and another year


def test_a_machine_replaced_at_the_end_of_the_month_before_is_new() -> None:
    plan = small_plan({"machines.own.useful_life_months": 5, "horizon_months": 24})
    _, comparison = followed(plan, "local", 5)
    found, new = plan_anew(plan, check_document(plan), comparison, 6, catalog(), evidence(), today=TODAY)
    assert found.document["machines"]["own"]["owned"]["age_months"] == 0
    old = rest_of(comparison.way.evaluation, 6)
    assert rest_of(evaluation(strategy(new, "local")), 1).total_usd == pytest.approx(old.total_usd, abs=CENT)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"rental.commitments.reserved.elapsed_months": 12}, "term_over"),
        ({"rental.commitments.reserved.elapsed_months": 3, "rental.commitments.reserved.from_month": 2}, None),
    ],
)
def test_a_commitment_that_can_not_be_running_is_refused(change: Plan, code: str | None) -> None:
    with pytest.raises(ValueError) as error:
        solve(document("committed-node", change))
    assert code is None or getattr(error.value, "code", None) == code
    assert code is not None or "elapsed_months" in str(error.value)


def test_demand_of_each_month_is_what_it_was() -> None:
    entry = JobInput.model_validate(
        {
            "workload": "x", "runs_per_month": 10, "growth_per_month": 0.1, "seasonality": list(range(1, 13)),
            "runs_by_month": {3: 5, 20: 7},
        }
    )  # fmt: skip
    later = shifted_demand(entry, 15)
    assert later["runs_per_month"] == pytest.approx(10 * 1.1**14)
    assert later["seasonality"] == [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 2]
    assert later["runs_by_month"] == {6: 7}


@given(
    growth=st.sampled_from([0, 0.07, -0.2]), month=st.integers(2, 30),
    seasons=st.lists(st.sampled_from([0, 0.5, 1, 2]), min_size=12, max_size=12),
    given_runs=st.dictionaries(st.integers(1, 36), st.integers(0, 100), max_size=5),
)  # fmt: skip
@settings(max_examples=50, deadline=None)
def test_shifted_demand_is_the_same_for_any_shape(
    growth: float, seasons: list[float], month: int, given_runs: dict[int, int]
) -> None:
    keys = {"growth_per_month": growth, "seasonality": seasons, "runs_by_month": given_runs}
    entry = JobInput.model_validate({"workload": "x", "runs_per_month": 10, **keys})
    later = JobInput.model_validate(
        {"workload": "x", **{key: value for key, value in shifted_demand(entry, month).items() if value is not None}}
    )
    for at in range(month, 37):
        assert _runs(later, at - month + 1) == pytest.approx(_runs(entry, at), rel=1e-9, abs=1e-9)


def _runs(entry: JobInput, month: int) -> float:
    season = entry.seasonality or [1.0]
    usual = entry.runs_per_month * (1 + entry.growth_per_month) ** (month - 1) * season[(month - 1) % len(season)]
    return entry.runs_by_month.get(month, usual)


def test_a_job_without_a_run_left_is_left_out_and_without_any_there_is_no_plan() -> None:
    over = dict.fromkeys(range(4, 13), 0)
    plan = small_plan({"jobs.work.runs_by_month": over})
    _, comparison = followed(plan, "cloud", 3)
    with pytest.raises(InputError) as error:
        replan(plan, check_document(plan), comparison, 4)
    assert error.value.code == "replan_no_job"
    second = {**plan, "jobs": {**plan["jobs"], "more": small_plan()["jobs"]["work"]}}
    _, comparison = followed(second, "cloud", 3)
    found = replan(second, check_document(second), comparison, 4)
    assert list(found.document["jobs"]) == ["more"]
    assert codes(found)[1] == {"replan_job_over"}


@pytest.mark.parametrize("month", [1, 13])
def test_a_month_outside_of_the_plan_is_refused(month: int) -> None:
    plan = small_plan()
    _, comparison = followed(plan, "cloud", 2)
    with pytest.raises(InputError) as error:
        replan(plan, check_document(plan), comparison, month)
    assert (error.value.code, error.value.field) == ("replan_month", "--month")


def test_the_plan_starts_moves_along_and_the_document_is_whole() -> None:
    plan = small_plan() | {"plan_starts": "2026-10"}
    result, comparison = followed(plan, "cloud", 4)
    new = plan_anew(plan, check_document(plan), comparison, None, catalog(), evidence(), today=TODAY)
    answer = actual_document(check_document(plan), result, comparison, new)
    assert answer["replan"]["scenario"]["plan_starts"] == "2027-02"
    assert answer["replan"]["from_month"] == 5
    (way,) = (entry for entry in answer["replan"]["ways"] if entry["id"] == "cloud")
    assert way["old"] == pytest.approx(way["new"])
    assert way["old"]["running_usd"] == pytest.approx(8 * 200)


# Keys of a scenario that speak of months and that a later start has to move, or that it needn't.
_MOVED = {
    "Scenario.horizon_months", "Scenario.plan_starts", "JobInput.runs_per_month", "JobInput.growth_per_month",
    "JobInput.runs_by_month", "JobInput.seasonality", "Owned.age_months", "CommitmentInput.from_month",
    "CommitmentInput.elapsed_months", "CommitmentInput.months", "MachineInput.purchases", "CreditInput.from_month",
    "CreditInput.expires_month", "Owned.host_age_months",
    "Owned.comes_after_months", "Owned.replacement_after_months", "Owned.lease_ends_after_months",
    "RunningContract.from_month", "RunningContract.nominal_usd_per_month", "OfferInput.free_node_hours_total",
    "Rental.price_change_per_year", "Scenario.hardware_price_change_per_year", "Rental.credits",
}  # fmt: skip
_THE_SAME_IN_ALL = {
    "MachineInput.delivery_months",
    "MachineInput.age_months",  # of machines when bought
    "MachineInput.useful_life_months", "MachineInput.powered_h_per_month", "SiteInput.space_usd_per_month",
    "Colocation.price_usd_per_kw_month", "LimitsInput.cash_usd_per_month",
    "Rental.storage_usd_per_gb_month", "Rental.free_egress_gb_per_month",
    "OfferInput.interrupted_share_per_month", "OfferInput.free_node_hours_per_month", "Scenario.fiscal_year_starts",
    "FinanceInput.term_months", "FinanceInput.nominal_payment_usd_per_month", "FinanceInput.lease_factor_per_month",
}  # fmt: skip


def test_loans_that_run_on_are_paid_back_in_every_way() -> None:
    loan = {"kind": "loan", "term_months": 12, "nominal_interest_per_year": 0.06}
    plan = small_plan({"machines.own.finance": loan})
    _, comparison = followed(plan, "local", 4)
    found = replan(plan, check_document(plan), comparison, 5)
    left = found.document["machines"]["own"]["still_to_pay"]["contract1"]
    assert (left["kind"], left["from_month"], left["payments"]) == ("loan", 1, 8)
    new = solve(found.document)
    for way in ("local", "cloud"):
        line = next(line for line in evaluation(strategy(new, way)).lines if line.kind == "running_loan")
        rest = rest_of(comparison.way.evaluation, 5)
        assert float(line.amount.sum()) == pytest.approx(rest.financing_usd, abs=CENT)


def test_a_type_that_the_new_plan_lacks_has_no_price_there() -> None:
    plan = small_plan({"hardware_price_change_per_year": -0.2, "machines.own.delivery_months": 6})
    _, comparison = followed(plan, "cloud", 8)
    assert "own" not in replan(plan, check_document(plan), comparison, 9).document["machines"]


@pytest.mark.parametrize(("places", "code"), [(["own", "rented"], None), (["own"], "replan_only_on")])
def test_a_job_that_may_only_run_where_nothing_is_left_is_refused(places: list[str], code: str | None) -> None:
    plan = small_plan({"machines.own.delivery_months": 6})
    _, comparison = followed(plan, "cloud", 8)
    pinned = small_plan({"machines.own.delivery_months": 6, "jobs.work.only_on": places})
    try:
        found = replan(pinned, check_document(pinned), comparison, 9)
    except InputError as error:
        assert error.code == code
    else:
        assert code is None
        assert found.document["jobs"]["work"]["only_on"] == ["rented"]


def test_a_new_plan_after_the_last_year_that_is_known_is_refused() -> None:
    plan = small_plan({"plan_starts": "2099-06"})
    _, comparison = followed(plan, "cloud", 8)
    assert replan(plan, check_document(plan), comparison, 7).document["plan_starts"] == "2099-12"
    with pytest.raises(InputError, match=r"2100-01.*2099-12") as error:
        replan(plan, check_document(plan), comparison, 8)
    assert error.value.code == "replan_starts"


def test_a_quote_that_is_left_out_has_no_price_there() -> None:
    plan = {**BLOCKS, "rental": {**BLOCKS["rental"], "price_change_per_year": -0.2}}
    plan["rental"]["commitments"] = {"reserved": {"days": 14, "months": [3]}}
    _, comparison = followed(plan, "cloud", 5)
    found = replan(plan, check_document(plan), comparison, 6)
    assert "reserved" not in found.document["offers"]
    solve(found.document)


def test_machines_sold_because_that_is_cheapest_are_not_counted_again() -> None:
    owned = {"count": 2, "age_months": 1, "at_start": "cheapest", "resale_gpu_usd": 90_000}
    plan = small_plan({"machines.own.owned": owned, "machines.own.count": 3, "machines.own.residual_gpu": {24: 0.5}})
    plan["machines"]["own"]["residual_host"] = {24: 0.2}
    _, comparison = followed(plan, "local", 2)
    assert comparison.way.problem.sold
    entry = replan(plan, check_document(plan), comparison, 3).document["machines"]["own"]
    assert (entry["count"], entry["owned"]["count"]) == (1, 1)


def test_runs_that_have_shrunk_to_nothing_are_planned_on() -> None:
    plan = small_plan({"horizon_months": 84, "jobs.work.growth_per_month": -0.5, "jobs.work.runs_by_month": {84: 5}})
    _, comparison = followed(plan, "cloud", 2)
    assert replan(plan, check_document(plan), comparison, 83).document["jobs"]["work"]["runs_by_month"] == {2: 5}


def test_resale_of_what_the_plan_bought_goes_on_counting() -> None:
    plan = small_plan({"owned_value_counts": False})
    _, comparison = followed(plan, "local", 2)
    found = replan(plan, check_document(plan), comparison, 3)
    assert found.document["machines"]["own"]["owned"]["value_counts"] is True
    rest = rest_of(evaluation(strategy(solve(found.document), "local")), 1)
    assert rest.resale_usd == pytest.approx(rest_of(comparison.way.evaluation, 3).resale_usd, abs=CENT)


def test_limits_of_the_whole_plan_are_said_to_stand_as_they_are() -> None:
    plan = small_plan({"limits": {"total": "9000000 USD", "energy_kwh": 10_000_000, "cash_per_month": 9_000_000}})
    _, comparison = followed(plan, "local", 4)
    found = replan(plan, check_document(plan), comparison, 5)
    said = [issue.params for issue in found.left if issue.code == "replan_limits"]
    assert said == [{"keys": ["total_usd", "energy_kwh"]}]
    assert "replan_limits" not in codes(replan(small_plan(), check_document(small_plan()), comparison, 5))[1]


def test_every_key_about_months_is_known_to_the_new_plan() -> None:
    parts = [each for room in (jobs, machines, rental, schema, site) for each in vars(room).values()]
    models = [each for each in parts if isinstance(each, type) and issubclass(each, BaseModel)]
    keys = {f"{model.__name__}.{name}" for model in models for name in model.model_fields}
    words = ("month", "season", "_starts", "purchases", "change_per_year", "_total", "credits")
    timed = {key for key in keys if any(word in key for word in words)}
    assert timed == (_MOVED | _THE_SAME_IN_ALL)


def test_blocks_that_are_over_are_left_out_and_one_that_runs_on_is_said() -> None:
    long = {**BLOCKS, "rental": {**BLOCKS["rental"], "commitments": {"reserved": {"days": 60, "months": [3]}}}}
    _, comparison = followed(long, "cloud", 3)
    found = replan(long, check_document(long), comparison, 4)
    assert found.document["rental"]["commitments"] == {}
    assert codes(found)[1] == {"replan_block", "replan_commitment_over"}
    assert codes(replan(long, check_document(long), comparison, 5))[1] == {"replan_commitment_over"}


STAGED = {"horizon_months": 24, "jobs.work.runs_per_month": 1500, "machines.own.count": None}
CURVES = {"machines.own.useful_life_months": 60, "machines.own.residual_gpu": {84: 0.1}}
CURVES |= {"machines.own.residual_host": {84: 0.1}}


def replanned(changes: dict[str, Any], way: str, month: int) -> Replan:
    plan = small_plan({**STAGED, **CURVES, **changes})
    _, comparison = followed(plan, way, month - 1)
    found = replan(plan, check_document(plan), comparison, month)
    solve(found.document)
    return found


def batches_of(found: Replan) -> list[dict[str, Any]]:
    owned = found.document["machines"]["own"]["owned"]
    return [owned, *owned.get("others", {}).values()]


def test_stages_that_are_still_to_come_move_and_what_is_on_its_way_comes() -> None:
    stages = {"machines.own.purchases": {0: 2, 12: 2}, "machines.own.delivery_months": 2}
    before = replanned(stages, "hybrid", 5)
    assert before.document["machines"]["own"]["purchases"] == {8: 2}
    assert before.document["machines"]["own"]["owned"]["count"] == 2
    assert before.document["machines"]["own"]["owned"]["age_months"] == 2
    between = replanned(stages, "hybrid", 14)
    assert "purchases" not in between.document["machines"]["own"]
    assert between.document["machines"]["own"]["count"] == 4
    coming = between.document["machines"]["own"]["owned"]["others"]["batch2"]
    assert (coming["count"], coming["age_months"], coming["comes_after_months"]) == (2, 0, 1)
    assert "replan_machines_coming" in codes(between)[0]
    after = replanned(stages, "hybrid", 16)
    assert [batch["count"] for batch in batches_of(after)] == [2, 2]
    assert "replan_machines_coming" not in codes(after)[0]
    end = replanned(stages, "hybrid", 23)
    assert end.document["machines"]["own"]["count"] == 4


def test_what_was_sold_or_got_new_cards_at_the_start_stays_so() -> None:
    owned = {"count": 3, "age_months": 12, "resale_gpu_usd": 600, "resale_host_usd": 200}
    sold = replanned({"machines.own.owned": {**owned, "at_start": "sell"}, "machines.own.count": 3}, "cloud", 4)
    assert "own" not in sold.document["machines"]
    new = {"gpu": "a100-sxm4-80gb", "gpu_price_usd": 2000, "load_w": 800, "idle_w": 150}
    changes = {"machines.own.owned": {**owned, "at_start": "upgrade", "upgrade": new}}
    entry = replanned({**changes, "jobs.work.throughput.a100-sxm4-80gb": 2}, "local", 4).document["machines"]["own"]
    assert (entry["gpu"], entry["gpu_price_usd"], entry["owned"]["age_months"]) == ("a100-sxm4-80gb", 2000, 3)
    assert "at_start" not in entry["owned"]
