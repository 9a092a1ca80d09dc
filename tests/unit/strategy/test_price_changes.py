"""Prices that change over time: halved every year, so that a month's factor is 0.5^((k - 1) / 12)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planner.errors import ScenarioError
from planner.report.document import plan_document
from planner.report.export import COLUMNS, plan_csv
from planner.strategy.allocate import allocate
from planner.strategy.break_even import break_even
from planner.strategy.candidates import Kind
from planner.strategy.kernel import Evaluation, kernel
from tests.planning import CENT, amounts, by_id, costed, document, problem_of, small_plan, solve, strategy

RENTAL = "rental.work.rented"
HALVED = {"rental.price_change_per_year": -0.5}
SUM_OF_12 = 0.5 / (1 - 0.5 ** (1 / 12))  # 1 + 0.5^(1/12) + ... + 0.5^(11/12)


def rented(overrides: dict[str, Any]) -> Evaluation:
    return costed(small_plan(overrides), "cloud")


def test_rental_follows_its_price_month_by_month_and_its_hours_stay() -> None:
    line = by_id(rented({**HALVED, "horizon_months": 24}))[RENTAL]
    assert line.amount[0, [1, 7, 13, 19]] == pytest.approx([200, 200 * 0.5**0.5, 100, 100 * 0.5**0.5], abs=CENT)
    assert line.quantity[0, 1:].tolist() == [100] * 24
    assert line.amount[0].sum() == pytest.approx(200 * SUM_OF_12 * 1.5, abs=CENT)
    assert line.mean_price[0] == pytest.approx(2 * SUM_OF_12 * 1.5 / 24)
    assert line.unit_price[0] == 2  # today's


def test_first_year_by_hand() -> None:
    assert rented(HALVED).tco_usd[0] == pytest.approx(1781.72, abs=CENT)
    assert rented({"rental.price_change_per_year": 0.21}).tco_usd[0] == pytest.approx(2623.05, abs=CENT)


def test_tax_credits_and_free_hours_follow_the_price() -> None:
    overrides = {**HALVED, "horizon_months": 24, "tax.rate": 0.25, "offers.rented.free_node_hours_per_month": 40}
    found = rented(overrides)
    assert found.tco_usd[0] == pytest.approx(1.25 * 120 * SUM_OF_12 * 1.5, abs=CENT)
    assert rented({**overrides, "rental.credits.gift.amount_usd": 300}).tco_usd[0] == pytest.approx(
        1.25 * (120 * SUM_OF_12 * 1.5 - 300), abs=CENT
    )


def test_storage_and_egress_keep_their_prices() -> None:
    plan = {"rental.storage_gb": 100, "rental.storage_usd_per_gb_month": 0.1}
    assert amounts(rented({**plan, **HALVED}))["storage.rented"] == pytest.approx(120)


@pytest.mark.parametrize("payment", ["monthly", "upfront"])
def test_a_commitment_keeps_the_price_of_its_beginning_and_a_renewal_has_that_of_its_own(payment: str) -> None:
    plan = document("committed-node", {**HALVED, "horizon_months": 30, "jobs.train.runs_by_month": {}})
    plan["offers"]["on-demand"]["price_usd_per_h"] = 1000
    plan["rental"]["commitments"] = {"reserved": {"payment": payment, "renew": True}}
    line = by_id(costed(plan, "cloud"))["commitment.reserved"]
    term_usd = 12 * 730 * 62.9248
    assert line.amount[0].sum() == pytest.approx(term_usd * 1.75, abs=CENT)
    paid = [sum(line.amount[0, 1 + 12 * n : 13 + 12 * n]) for n in range(3)]
    if payment == "monthly":
        assert paid == pytest.approx([term_usd, term_usd / 2, term_usd / 4], abs=CENT)
    else:
        assert line.amount[0, [0, 12, 24]] == pytest.approx([term_usd, term_usd / 2, term_usd / 4], abs=CENT)


def test_a_commitment_that_begins_later_is_signed_at_the_price_of_then() -> None:
    plan = document("committed-node", HALVED)
    plan["offers"]["on-demand"]["price_usd_per_h"] = 1000
    plan["rental"]["commitments"] = {"reserved": {"from_month": 7}}
    found = amounts(costed(plan, "cloud"))
    assert found["commitment.reserved"] == pytest.approx(12 * 730 * 62.9248 * 0.5**0.5, abs=CENT)
    hours = [640] * 6 + [0, 0, 70]
    overflow = sum(h * 1000 * 0.5 ** (month / 12) for month, h in enumerate(hours))
    assert found["overflow.reserved"] == pytest.approx(overflow, abs=CENT)


def test_machines_are_replaced_at_the_price_of_then_and_sold_at_what_was_paid() -> None:
    change = {"hardware_price_change_per_year": -0.5, "horizon_months": 24, "machines.own.installation_usd": 60}
    found = costed(small_plan(change), "local")
    lines = by_id(found)
    assert lines["gpu.own"].amount[0, [0, 12]] == pytest.approx([1000, 500], abs=CENT)
    assert lines["host.own"].amount[0, [0, 12]] == pytest.approx([500, 250], abs=CENT)
    assert lines["installation.own"].amount[0, [0, 12]] == pytest.approx([60, 60])
    sold = {id: amount for id, amount in amounts(found).items() if id.startswith("resale")}
    assert sold == pytest.approx(
        {
            "resale_gpu.own.m12": -500,
            "resale_host.own.m12": -125,
            "resale_gpu.own.m24": -250,
            "resale_host.own.m24": -62.5,
        },
        abs=CENT,
    )
    assert lines["gpu.own"].mean_price[0] == pytest.approx(750)


def test_machines_that_are_there_are_replaced_at_the_price_of_then_too() -> None:
    plan = small_plan({"hardware_price_change_per_year": -0.5, "horizon_months": 24})
    plan["machines"]["own"] |= {"owned": {"count": 1, "age_months": 6, "resale_gpu_usd": 600, "resale_host_usd": 300}}
    plan["machines"]["own"]["residual_gpu"] = {6: 0.75, 12: 0.5}
    plan["machines"]["own"]["residual_host"] = {6: 0.75, 12: 0.5}
    result = solve(plan)
    found = strategy(result, "local").evaluation
    assert found is not None
    lines = by_id(found)
    at = [0.5 ** (6 / 12), 0.5 ** (18 / 12)]
    assert lines["gpu.own"].amount[0, [6, 18]] == pytest.approx([1000 * factor for factor in at], abs=CENT)
    assert amounts(found)["resale_gpu.own.owned.m6"] == pytest.approx(-600 * 0.5 / 0.75, abs=CENT)
    assert amounts(found)["resale_gpu.own.owned.m18"] == pytest.approx(-1000 * at[0] * 0.5, abs=CENT)
    assert amounts(found)["resale_gpu.own.owned.m24"] == pytest.approx(-1000 * at[1] * 0.75, abs=CENT)
    said = next(issue for issue in result.warnings if issue.code == "owned_replaced")
    assert said.params["price_usd"] == pytest.approx(1000 * at[0])


def test_no_change_is_the_plan_without() -> None:
    still = {"rental.price_change_per_year": 0, "hardware_price_change_per_year": 0}
    assert plan_document(solve(small_plan(still))) == plan_document(solve(small_plan()))


def test_the_document_and_the_csv_show_the_prices_that_are_paid() -> None:
    result = solve(small_plan({**HALVED, "horizon_months": 24}))
    ways = {way["id"]: way for way in plan_document(result)["strategies"]}
    line = next(line for line in ways["cloud"]["lines"] if line["id"] == RENTAL)
    assert line["quantity"] * line["unit_price_usd"] == pytest.approx(line["amount_usd"], abs=CENT)
    assert line["unit_price_by_month_usd"] == pytest.approx([2 * 0.5 ** (month / 12) for month in range(24)])
    others = [line for way in ways.values() for line in way["lines"] if line["id"] != RENTAL]
    assert others
    assert not any("unit_price_by_month_usd" in line for line in others)
    bought = plan_document(solve(small_plan({"hardware_price_change_per_year": -0.5, "horizon_months": 24})))
    card = next(line for line in bought["strategies"][0]["lines"] if line["id"] == "gpu.own")
    prices = card["unit_price_by_month_usd"]
    assert (len(prices), prices[0], prices[11]) == (24, 1000, pytest.approx(500))
    rows = [dict(zip(COLUMNS, row.split(","), strict=False)) for row in plan_csv(result).splitlines()]
    priced = [float(row["unit_price_usd"]) for row in rows if row["line"] == RENTAL and row["strategy"] == "cloud"]
    assert priced == pytest.approx(line["unit_price_by_month_usd"])
    figure = next(figure for figure in plan_document(result)["figures"] if figure["id"] == next(iter(HALVED)))
    assert (figure["value"], figure["sources"]) == (-0.5, ["scenario"])


def test_runs_cost_what_is_paid_for_them_in_the_mean() -> None:
    job = strategy(solve(small_plan({**HALVED, "horizon_months": 24})), "cloud").jobs[0]
    assert job.cost.amortised_usd == pytest.approx(2 * SUM_OF_12 * 1.5 / 24)
    assert job.cost.marginal_usd == pytest.approx(job.cost.amortised_usd)
    growing = small_plan({**HALVED, "jobs.work.runs_by_month": dict.fromkeys(range(1, 12), 0)})
    job = strategy(solve(growing), "cloud").jobs[0]
    assert (job.cost.amortised_usd, job.cost.marginal_usd) == pytest.approx((2 * 0.5 ** (11 / 12),) * 2)


def test_the_rental_price_of_a_break_even_is_todays() -> None:
    problem = problem_of(small_plan(HALVED))
    theta = problem.theta()
    choices = {}
    kinds: tuple[Kind, ...] = ("local", "cloud")
    for kind in kinds:
        choice = allocate(problem, theta, kind).choice
        assert choice is not None
        choices[kind] = choice
    factor = break_even(problem, theta, choices).rental_price[0].factor
    assert factor is not None
    own = costed(small_plan(HALVED), "local").tco_usd[0]
    assert factor == pytest.approx(own / (200 * SUM_OF_12))
    assert rented({**HALVED, "offers.rented.price_usd_per_h": 2 * factor}).tco_usd[0] == pytest.approx(own, abs=CENT)


def test_rows_have_changes_of_their_own() -> None:
    problem = problem_of(small_plan(HALVED))
    theta = np.repeat(problem.theta(), 2, axis=0)
    theta[1, problem.column("rental.price_change_per_year")] = 0
    choice = allocate(problem, theta[:1], "cloud").choice
    assert choice is not None
    assert kernel(problem, theta, choice).tco_usd == pytest.approx([200 * SUM_OF_12, 2400])


@pytest.mark.parametrize("path", ["rental.price_change_per_year", "hardware_price_change_per_year"])
@pytest.mark.parametrize("value", [-0.51, 0.51, "fast"])
def test_changes_beyond_half_a_year_are_refused(path: str, value: object) -> None:
    with pytest.raises(ScenarioError) as caught:
        problem_of(small_plan({path: value}))
    assert path.rpartition(".")[2] in str(caught.value)


def test_purchases_in_stages_have_the_price_of_the_month_in_which_they_are_ordered() -> None:
    change = {"hardware_price_change_per_year": -0.5, "machines.own.count": None, "machines.own.delivery_months": 3}
    plan = small_plan({**change, "machines.own.purchases": {0: 1, 6: 2}, "machines.own.useful_life_months": 24})
    plan["machines"]["own"] |= {"residual_gpu": {24: 0.5}, "residual_host": {24: 0.5}}
    found = costed(plan, "hybrid")
    paid = 1000 * 0.5**0.5
    assert by_id(found)["gpu.own"].amount[0, [0, 6]] == pytest.approx([1000, 2 * paid], abs=CENT)
    sold = {id: amount for id, amount in amounts(found).items() if id.startswith("resale_gpu")}
    left = {months: 1 - months / 48 for months in (3, 9)}
    assert sold == pytest.approx(
        {"resale_gpu.own.m12": -1000 * left[9], "resale_gpu.own.bought6.m12": -2 * paid * left[3]}, abs=CENT
    )
