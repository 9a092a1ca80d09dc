"""Loans and leases: lines worked out by hand, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planner.errors import InputError, ScenarioError
from planner.scenario.load import check_document
from planner.strategy.compare import cash_at_start_usd
from planner.strategy.kernel import Evaluation
from tests.planning import CENT, amounts, by_id, costed, problem_of, small_plan, solve, strategy

LOAN: dict[str, Any] = {"kind": "loan", "term_months": 12, "nominal_interest_per_year": 0.06, "financed_share": 0.8}
LEASE: dict[str, Any] = {"kind": "lease", "term_months": 12, "nominal_payment_usd_per_month": 90}


def plan_with(finance: dict[str, Any], overrides: dict[str, Any] | None = None) -> dict[str, Any]:
    """A card of 1,000 and a host of 500 USD, paid for in some way; inflation of 2 %."""
    plan = small_plan({"inflation_per_year": 0.02, **(overrides or {})})
    plan["machines"]["own"]["finance"] = finance
    return plan


def months_of(found: Evaluation, id: str) -> list[int]:
    return np.flatnonzero(by_id(found)[id].quantity[0]).tolist()


def test_a_loan_by_hand() -> None:
    """1,200 of 1,500 USD at 6 %: 103.19 a month, with inflation worth 103.02 after one and 101.17 after twelve."""
    found = costed(plan_with(LOAN), "local")
    lines = by_id(found)
    assert amounts(found)["gpu.own"] + amounts(found)["host.own"] == 1500
    assert amounts(found)["loan_proceeds.own"] == pytest.approx(-1200, abs=CENT)
    assert months_of(found, "loan_proceeds.own") == [0]
    paid = lines["loan_repayment.own"].amount[0]
    assert months_of(found, "loan_repayment.own") == list(range(1, 13))
    assert (paid[1], paid[12], paid.sum()) == pytest.approx((103.02, 101.17, 1225.11), abs=CENT)
    assert lines["loan_repayment.own"].unit_price[0] * 1200 == pytest.approx(103.19, abs=CENT)
    assert found.capex_usd[0] == 1500
    assert found.financing_usd[0] == pytest.approx(25.11, abs=CENT)
    assert found.tco_usd[0] == pytest.approx(1500 - 625 + 147.6 + 25.11, abs=CENT)
    assert cash_at_start_usd(found) == pytest.approx(300)


def test_a_loan_pays_the_tax_on_what_it_buys_unless_that_comes_back() -> None:
    taxed = amounts(costed(plan_with(LOAN, {"tax.rate": 0.1}), "local"))
    assert taxed["loan_proceeds.own"] == pytest.approx(-0.8 * 1650)
    recovered = costed(plan_with(LOAN, {"tax.rate": 0.1, "tax.recoverable": True}), "local")
    assert amounts(recovered)["loan_proceeds.own"] == pytest.approx(-1200)


def test_replacements_are_borrowed_for_alike() -> None:
    """Bought at 0 and 6, four instalments of 379.57 each time."""
    loan = {"kind": "loan", "term_months": 4, "nominal_interest_per_year": 0.06}
    changed = {"machines.own.useful_life_months": 6, "machines.own.residual_gpu": {6: 0.7}}
    found = costed(plan_with(loan, changed | {"machines.own.residual_host": {6: 0.7}}), "local")
    assert months_of(found, "loan_proceeds.own") == months_of(found, "gpu.own") == [0, 6]
    assert months_of(found, "loan_repayment.own") == [1, 2, 3, 4, 7, 8, 9, 10]
    assert amounts(found)["loan_repayment.own"] == pytest.approx(3024.10, abs=CENT)


def test_a_loan_beyond_the_horizon_is_paid_back_to_its_end() -> None:
    found = costed(plan_with({**LOAN, "term_months": 18}), "local")
    assert found.discount.shape == (1, 19)
    assert months_of(found, "loan_repayment.own") == list(range(1, 19))
    assert months_of(found, "electricity.own") == list(range(1, 13))


def test_a_lease_by_hand() -> None:
    found = costed(plan_with(LEASE, {"tax.rate": 0.1}), "local")
    assert amounts(found) == pytest.approx(
        {"lease.own": 1068.49, "tax_lease": 106.85, "electricity.own": 147.6, "tax_local": 14.76}, abs=CENT
    )
    assert months_of(found, "lease.own") == list(range(1, 13))
    assert (found.capex_usd[0], found.residual_usd[0]) == (0, 0)
    assert found.financing_usd[0] == pytest.approx(1068.494709 * 1.1)
    advance = costed(plan_with({**LEASE, "in_advance": True}), "local")
    assert months_of(advance, "lease.own") == list(range(12))
    assert amounts(advance)["lease.own"] == pytest.approx(1070.26, abs=CENT)
    assert cash_at_start_usd(advance) == pytest.approx(90)


def test_leased_machines_that_go_back_are_leased_anew_to_the_end_of_the_term() -> None:
    """Eight months from 0 and from 8: sixteen payments of 5 % of 1,500 USD, four of them after the plan."""
    lease = {"kind": "lease", "term_months": 8, "lease_factor_per_month": 0.05}
    found = costed(plan_with(lease, {"machines.own.installation_usd": 40}), "local")
    assert months_of(found, "lease.own") == list(range(1, 17))
    paid = by_id(found)["lease.own"].amount[0]
    assert (paid[4], paid[12], paid[16]) == pytest.approx((74.51, 74.51, 74.02), abs=CENT)
    assert amounts(found)["lease.own"] == pytest.approx(1191.13, abs=CENT)
    assert not any(id.startswith(("gpu", "host", "resale")) for id in amounts(found))
    assert months_of(found, "installation.own") == [0, 8]
    (warning,) = [issue for issue in problem_of(plan_with(lease)).warnings if issue.code == "lease_outlasts_plan"]
    assert warning.params == {"machine": "own", "months": 4, "last_month": 16}


def test_a_lease_factor_counts_on_the_price_without_tax() -> None:
    lease = {"kind": "lease", "term_months": 12, "lease_factor_per_month": 0.05}
    bare = amounts(costed(plan_with(lease, {"tax.rate": 0.25}), "local"))
    inside = {"tax.rate": 0.25, "machines.own.prices_include_tax": True}
    assert amounts(costed(plan_with(lease, inside), "local"))["lease.own"] == pytest.approx(bare["lease.own"] / 1.25)


def test_machines_bought_at_the_end_of_their_lease_are_sold_like_any() -> None:
    lease = {"kind": "lease", "term_months": 6, "lease_factor_per_month": 0.05, "in_advance": True}
    lease |= {"at_end": "buy", "nominal_buyout_usd": 300}
    found = costed(plan_with(lease, {"tax.rate": 0.1}), "local")
    assert months_of(found, "lease.own") == list(range(6))
    assert months_of(found, "buyout.own") == months_of(found, "tax_purchase") == [6]
    assert amounts(found)["lease.own"] == pytest.approx(448.15, abs=CENT)
    assert amounts(found)["buyout.own"] == pytest.approx(297.04, abs=CENT)
    assert amounts(found)["tax_purchase"] == pytest.approx(29.70, abs=CENT)
    assert found.residual_usd[0] == -625


def test_a_lease_that_outlasts_the_plan_is_paid_and_its_machines_go_back() -> None:
    lease = {**LEASE, "term_months": 18, "at_end": "buy", "nominal_buyout_usd": 300}
    found = costed(plan_with(lease, {"machines.own.useful_life_months": 36}), "local")
    assert months_of(found, "lease.own") == list(range(1, 19))
    assert not any(id.startswith(("buyout", "resale")) for id in amounts(found))


def test_machines_that_are_there_already_are_leased_only_when_replaced() -> None:
    lease = {"kind": "lease", "term_months": 8, "lease_factor_per_month": 0.05}
    owned = {"machines.own.owned": {"count": 1, "age_months": 6, "resale_gpu_usd": 600, "resale_host_usd": 200}}
    found = costed(plan_with(lease, owned), "local")
    assert months_of(found, "lease.own") == list(range(7, 15))
    assert {id for id in amounts(found) if id.startswith("resale")} == {
        "resale_gpu.own.owned.m6",
        "resale_host.own.owned.m6",
    }


def test_cost_of_a_run_holds_its_financing() -> None:
    plain = strategy(solve(small_plan()), "local").jobs[0].cost
    loan = strategy(solve(plan_with(LOAN)), "local").jobs[0].cost
    assert loan.amortised_usd - plain.amortised_usd == pytest.approx(25.113143 / 1200)
    assert loan.marginal_usd == plain.marginal_usd


def test_inflation_stands_in_no_plan_without_a_loan_or_lease() -> None:
    assert all(parameter.id != "inflation_per_year" for parameter in problem_of(small_plan()).parameters)
    plan = plan_with(LOAN)
    del plan["inflation_per_year"]
    problem = problem_of(plan)
    inflation = problem.parameters[problem.column("inflation_per_year")]
    assert inflation.sources == ("assumptions:inflation_per_year",)
    assert inflation.low is not None


@pytest.mark.parametrize(
    ("finance", "field", "expected"),
    [
        ({**LOAN, "term_months": 0}, "term_months", "at least 1"),
        ({**LOAN, "term_months": None}, "term_months", "paid back"),
        ({**LOAN, "financed_share": 1.2}, "financed_share", "at most 1"),
        ({**LOAN, "financed_share": 0}, "financed_share", "above 0"),
        ({**LOAN, "nominal_interest_per_year": 7}, "nominal_interest_per_year", "share from 0 to 1"),
        ({"kind": "loan", "term_months": 12}, "nominal_interest_per_year", "interest"),
        ({**LOAN, "in_advance": True}, "in_advance", "kind: loan"),
        ({**LEASE, "lease_factor_per_month": 0.03}, "lease_factor_per_month", "not both"),
        ({"kind": "lease", "term_months": 12}, "nominal_payment_usd_per_month", "lease_factor_per_month"),
        ({**LEASE, "at_end": "buy"}, "nominal_buyout_usd", "at the end"),
        ({**LEASE, "nominal_buyout_usd": 100}, "nominal_buyout_usd", "at_end: buy"),
        ({**LEASE, "lease_offer": {"term_months": 6, "lease_factor_per_month": 0.1}}, "lease_offer", "compared"),
        ({"lease_offer": {"lease_factor_per_month": 0.1}}, "lease_offer.term_months", "months of the lease"),
        ({"term_months": 12}, "term_months", "kind: cash"),
        ({"kind": "gift"}, "kind", "'cash', 'loan' or 'lease'"),
    ],
)
def test_terms_that_contradict_each_other(finance: dict[str, Any], field: str, expected: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        check_document(plan_with(finance))
    (problem,) = caught.value.problems
    assert f"{problem.record}.{problem.field}".endswith(f"finance.{field}") or problem.field.endswith(field)
    assert expected in problem.expected


def test_a_lease_longer_than_the_life_of_the_machine() -> None:
    offer = {"lease_offer": {"term_months": 13, "lease_factor_per_month": 0.1}}
    for finance, place in (({**LEASE, "term_months": 13}, ""), (offer, "lease_offer.")):
        with pytest.raises(InputError) as caught:
            problem_of(plan_with(finance))
        assert caught.value.code == "lease_longer_than_life"
        assert caught.value.field == f"machines.own.finance.{place}term_months"
        assert "expected at most 12" in str(caught.value)


@pytest.mark.parametrize(("kind", "last", "line"), [(LOAN, 12, "loan_repayment.own"), (LEASE, 14, "lease.own")])
def test_a_loan_begins_with_the_order_and_a_lease_when_the_machine_comes(
    kind: dict[str, Any], last: int, line: str
) -> None:
    found = costed(plan_with(kind, {"machines.own.delivery_months": 2}), "hybrid")
    assert months_of(found, line) == list(range(last - 11, last + 1))
    assert found.discount.shape[1] == last + 1  # no month in which nothing is paid
