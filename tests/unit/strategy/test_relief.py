"""Credits and free hours of rented machines, to the cent: 100 runs of 1 h a month at 2 USD/h for a year."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planner.errors import InputError, PlannerError, ScenarioError, UnknownIdError
from planner.report.document import issue_entry, plan_document
from planner.strategy.kernel import Evaluation
from tests.planning import CENT, amounts, by_id, costed, document, problem_of, small_plan, solve, strategy

RENTAL = "rental.work.rented"
FREE = f"free_hours.{RENTAL}"


def rented(overrides: dict[str, Any]) -> Evaluation:
    return costed(small_plan(overrides), "cloud")


def by_month(found: Evaluation, id: str) -> list[float]:
    """What a line takes off, months 1 to 12; nothing at the start."""
    lines = by_id(found)
    if id not in lines:
        return [0.0] * 12
    assert lines[id].amount[0, 0] == 0
    return (-lines[id].amount[0, 1:]).tolist()


def credit(id: str, months: list[float], overrides: dict[str, Any]) -> None:
    taken = by_month(rented(overrides), f"credit.{id}.{RENTAL}")
    assert taken == pytest.approx([*months, *[0] * (12 - len(months))], abs=CENT)


def test_a_credit_pays_until_it_is_used_up() -> None:
    overrides = {"rental.credits.gift.amount_usd": 500}
    credit("gift", [200, 200, 100], overrides)
    found = rented(overrides)
    assert found.tco_usd[0] == found.opex_usd[0] == pytest.approx(2400 - 500, abs=CENT)
    assert by_id(found)[RENTAL].amount[0].sum() == pytest.approx(2400, abs=CENT)
    line = by_id(found)[f"credit.gift.{RENTAL}"]
    assert (line.resource, line.job, line.reduces) == ("rented", "work", RENTAL)


@pytest.mark.parametrize(
    ("given", "months"),
    [
        ({"amount_usd": 500, "expires_month": 2}, [200, 200]),
        ({"amount_usd": 500, "from_month": 3}, [0, 0, 200, 200, 100]),
        ({"amount_usd": 500, "from_month": 11}, [*[0] * 10, 200, 200]),
        ({"amount_usd": 500, "from_month": 4, "expires_month": 4}, [0, 0, 0, 200]),
        ({"amount_usd": 10_000}, [200] * 12),
        ({"amount_usd": 0}, []),
        ({"amount_usd": 500, "providers": ["rented"]}, [200, 200, 100]),
        ({"amount_usd": 500, "providers": ["examplecloud"]}, []),
        ({"amount": "100 EUR"}, [115]),
    ],
)
def test_months_and_providers_of_a_credit(given: dict[str, Any], months: list[float]) -> None:
    plan = small_plan()
    plan["rental"]["credits"] = {"gift": given}
    rate = problem_of(plan | {"currency": "EUR"}).usd_per_unit
    months = [100 * rate] if "amount" in given else months
    credit("gift", months, {"rental.credits": {"gift": given}})


def test_what_lapses_first_is_used_first() -> None:
    credits = {"long": {"amount_usd": 300}, "short": {"amount_usd": 300, "expires_month": 2}}
    credit("short", [200, 100], {"rental.credits": credits})
    credit("long", [0, 100, 200], {"rental.credits": credits})
    credits["short"]["expires_month"] = 12  # at the same time: as they are written
    credit("long", [200, 100], {"rental.credits": credits})


def test_a_credit_of_rental_alone_leaves_storage_to_pay() -> None:
    storage = {"rental.storage_gb": 100, "rental.storage_usd_per_gb_month": 0.1}
    for covers, months in (("all", [210, 210, 80]), ("rental", [200, 200, 100])):
        credits = {"gift": {"amount_usd": 500, "covers": covers}}
        found = rented({**storage, "rental.credits": credits})
        taken = [by_month(found, f"credit.gift.{id}") for id in (RENTAL, "storage.rented")]
        assert np.sum(taken, axis=0) == pytest.approx([*months, *[0] * 9], abs=CENT)
        assert taken[1][0] == pytest.approx(10 if covers == "all" else 0)
        assert taken[1][2] == pytest.approx(80 * 10 / 210 if covers == "all" else 0)


def test_a_credit_larger_than_all_pays_all_it_covers_and_the_rest_lapses_with_a_warning() -> None:
    plan = small_plan({"rental.storage_gb": 100, "rental.storage_usd_per_gb_month": 0.1})
    plan["rental"]["credits"] = {"gift": {"amount_usd": 10_000, "covers": "rental"}}
    result = solve(plan)
    found = strategy(result, "cloud").evaluation
    assert found is not None
    assert found.tco_usd[0] == pytest.approx(120, abs=CENT)
    said = [issue for issue in result.warnings if issue.code == "credit_lapses"]
    assert [issue.params["left_usd"] for issue in said] == [pytest.approx(10_000 - 2400)] * 1
    entry = issue_entry(said[0])
    assert entry["field"] == "rental.credits.gift"
    assert entry["message"].startswith("Rent all: rental.credits.gift: 7,600 USD")


def test_a_credit_that_outlasts_the_plan_is_said_to_be_left() -> None:
    plan = small_plan({"rental.credits": {"gift": {"amount_usd": 3000, "expires_month": 24}}})
    said = [issue for issue in solve(plan).warnings if issue.code.startswith("credit")]
    assert [(issue.code, issue.params["left_usd"], issue.params["month"]) for issue in said] == [
        ("credit_left", pytest.approx(600), 24)
    ]
    used_up = small_plan({"rental.credits": {"gift": {"amount_usd": 2400}}})
    assert not [issue for issue in solve(used_up).warnings if issue.code.startswith("credit")]


@pytest.mark.parametrize(("included", "recoverable"), [(False, False), (True, False), (False, True), (True, True)])
def test_a_credit_lowers_the_invoice_and_with_it_the_tax(included: bool, recoverable: bool) -> None:
    found = rented(
        {
            "tax": {"rate": 0.25, "recoverable": recoverable},
            "offers.rented.includes_tax": included,
            "rental.credits.gift.amount_usd": 500,
        }
    )
    price = 2 / 1.25 if included and recoverable else 2
    tax = 0.0 if included or recoverable else 0.25 * (2400 - 500)
    assert amounts(found).get("tax_rented", 0.0) == pytest.approx(tax, abs=CENT)
    assert found.tco_usd[0] == pytest.approx(1200 * price - 500 + tax, abs=CENT)


def test_no_credit_is_the_plan_without() -> None:
    plain = plan_document(solve(small_plan()))
    assert plan_document(solve(small_plan({"rental.credits": {"gift": {"amount_usd": 0}}}))) == plain


def committed(overrides: dict[str, Any]) -> dict[str, float]:
    """Commitment from month 2 on, of which each term is paid at its start."""
    plan = document("committed-node", {"rental.commitments.reserved": {"payment": "upfront", "from_month": 2}})
    plan["offers"]["on-demand"]["price_usd_per_h"] = 150
    plan["rental"]["credits"] = {"gift": {"amount_usd": 1_000_000, **overrides}}
    found = amounts(costed(plan, "cloud"))
    return {id: -amount for id, amount in found.items() if id.startswith("credit.")}


def test_a_term_paid_upfront_belongs_to_the_month_in_which_it_begins() -> None:
    term_usd = 12 * 730 * 62.9248
    found = committed({"from_month": 2, "expires_month": 2})
    assert found == pytest.approx({"credit.gift.commitment.reserved": term_usd}, abs=CENT)
    first_month = committed({"expires_month": 1})
    assert first_month == pytest.approx({"credit.gift.overflow.reserved": 640 * 150}, abs=CENT)


def test_free_hours_of_a_month_lapse_when_they_are_not_used() -> None:
    found = rented({"offers.rented.free_node_hours_per_month": 60, "jobs.work.runs_by_month": {1: 10, 2: 0}})
    assert by_month(found, FREE) == pytest.approx([20, 0, *[120] * 10], abs=CENT)
    line = by_id(found)[FREE]
    assert line.unit == "node-hour free"
    assert line.quantity[0].sum() == pytest.approx(10 + 10 * 60)
    assert line.unit_price[0] == -2
    assert by_id(found)[RENTAL].quantity[0].sum() == pytest.approx(1010)  # what is used stays to be seen
    assert found.kwh[0] == pytest.approx(1010 * 0.6)  # and so does its energy


@pytest.mark.parametrize(
    ("caps", "months"),
    [
        ({"per_month": 30, "total": 50}, [60, 40]),
        ({"total": 250}, [200, 200, 100]),
        ({"per_month": 0}, []),
        ({"total": 0}, []),
        ({"per_month": 5000}, [200] * 12),
    ],
)
def test_caps_of_free_hours(caps: dict[str, float], months: list[float]) -> None:
    found = rented({f"offers.rented.free_node_hours_{name}": hours for name, hours in caps.items()})
    assert by_month(found, FREE) == pytest.approx([*months, *[0] * (12 - len(months))], abs=CENT)


def test_jobs_share_free_hours_by_their_hours_and_tax_falls_with_them() -> None:
    plan = small_plan({"offers.rented.free_node_hours_per_month": 100, "tax.rate": 0.25})
    plan["jobs"]["more"] = {**plan["jobs"]["work"], "runs_per_month": 300}
    found = costed(plan, "cloud")
    assert by_month(found, FREE) == pytest.approx([50] * 12)
    assert by_month(found, "free_hours.rental.more.rented") == pytest.approx([150] * 12)
    assert found.tco_usd[0] == pytest.approx(12 * 300 * 2 * 1.25, abs=CENT)


def test_a_credit_pays_only_what_free_hours_leave() -> None:
    overrides = {"offers.rented.free_node_hours_per_month": 60, "rental.credits.gift.amount_usd": 100}
    credit("gift", [80, 20], overrides)
    assert rented({**overrides, "rental.credits.gift.amount_usd": 10_000}).tco_usd[0] == pytest.approx(0, abs=CENT)


def test_overflow_of_a_commitment_uses_free_hours_too() -> None:
    plan = document("committed-node", {"offers.on-demand.free_node_hours_per_month": 50})
    plan["offers"]["on-demand"]["price_usd_per_h"] = 150
    found = amounts(costed(plan, "cloud"))
    assert found["overflow.reserved"] == pytest.approx(70 * 150, abs=CENT)
    assert found["free_hours.overflow.reserved"] == pytest.approx(-50 * 150, abs=CENT)


def test_the_choice_sees_what_free_hours_and_credits_make_cheaper() -> None:
    """Nine quotes are cheaper by the hour than the one with free hours or a credit, more than are tried."""
    plan = small_plan()
    quote = {**plan["offers"]["rented"], "provider": "others"}
    plan["offers"] |= {f"other{n}": {**quote, "price_usd_per_h": 1 + n / 100} for n in range(9)}
    plan["rental"] = {"offers": sorted(plan["offers"])}
    plan["jobs"]["work"]["throughput"] = {"rtx-4090": 1}

    def chosen() -> set[str]:
        return {job.resource for job in strategy(solve(plan), "cloud").jobs}

    assert chosen() == {"other0"}
    plan["rental"]["credits"] = {"gift": {"amount_usd": 1199, "providers": ["rented"]}}
    assert chosen() == {"other0"}  # 2400 less 1199 is more than 1200
    plan["rental"]["credits"] = {"gift": {"amount_usd": 1201, "providers": ["rented"]}}
    assert chosen() == {"rented"}
    plan["rental"]["credits"] = {}
    plan["offers"]["rented"]["free_node_hours_per_month"] = 51
    assert chosen() == {"rented"}


def test_the_cost_of_a_run_holds_what_is_taken_off() -> None:
    plan = small_plan({"offers.rented.free_node_hours_total": 100, "rental.credits.gift.amount_usd": 1000})
    plan["rental"] |= {"storage_gb": 100, "storage_usd_per_gb_month": 0.1}
    plan["rental"]["credits"]["gift"]["covers"] = "all"
    plan["offers"]["rented"]["provider"] = "somewhere"
    plan["jobs"]["more"] = {**plan["jobs"]["work"], "egress_gb_per_run": 1}
    way = strategy(solve(plan), "cloud")
    assert way.evaluation is not None
    spent = sum(job.runs * job.cost.amortised_usd for job in way.jobs)
    assert spent == pytest.approx(float(way.evaluation.tco_usd[0]), abs=CENT)


def refused(kind: type[PlannerError], overrides: dict[str, Any]) -> PlannerError:
    with pytest.raises(kind) as caught:
        solve(small_plan(overrides))
    return caught.value


def test_credits_that_cannot_be_are_refused() -> None:
    ends_first = refused(ScenarioError, {"rental.credits.gift": {"amount_usd": 1, "from_month": 5, "expires_month": 4}})
    assert "expires_month" in str(ends_first)
    assert "from 5" in str(ends_first)
    for given in ({"from_month": 0}, {"amount_usd": -1}, {"covers": "storage"}, {"providers": []}):
        refused(ScenarioError, {"rental.credits.gift": {"amount_usd": 1, **given}})
    late = refused(InputError, {"rental.credits.gift": {"amount_usd": 1, "from_month": 13}})
    assert (late.code, late.field) == ("month_after_horizon", "rental.credits.gift.from_month")
    unknown = refused(UnknownIdError, {"rental.credits.gift": {"amount_usd": 1, "providers": ["rentde"]}})
    assert unknown.field == "rental.credits.gift.providers"
    assert "rented" in str(unknown.params)


def test_free_hours_of_what_is_reserved_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        solve(document("committed-node", {"offers.reserved.free_node_hours_per_month": 10}))
    assert caught.value.code == "free_hours_committed"
    assert caught.value.field == "offers.reserved.free_node_hours_per_month"
    refused(ScenarioError, {"offers.rented.free_node_hours_total": -1})
