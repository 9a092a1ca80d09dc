"""Where two choices cost the same: by hand for a plan in round numbers, and where there is no such place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from planner.report.break_even import break_even_entries, break_even_sentences, with_break_even
from planner.report.document import plan_document
from planner.report.text import plan_text
from planner.strategy.allocate import allocate
from planner.strategy.break_even import CURVE_POINTS, BreakEven, break_even, break_evens
from planner.strategy.candidates import Kind
from planner.strategy.compare import payback_month
from planner.strategy.kernel import Choice, kernel
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from tests.planning import document, problem_of, small_plan, solve, strategy

OWN_FIXED_USD = 1500 - 625 + 12 * 730 * 0.01  # purchase less resale, idle draw of 100 W at 0.10 USD/kWh all year
OWN_USD_PER_H = 0.05  # 500 W more while busy


def resolved(plan: Mapping[str, Any], *kinds: Kind) -> tuple[PlanProblem, Theta, dict[str, Choice]]:
    problem = problem_of(plan)
    theta = problem.theta()
    choices: dict[str, Choice] = {}
    for kind in kinds:
        choice = allocate(problem, theta, kind).choice
        assert choice is not None
        choices[kind] = choice
    return problem, theta, choices


def found_in(plan: Mapping[str, Any], one: Kind = "local", other: Kind = "cloud") -> BreakEven:
    return break_even(*resolved(plan, one, other))


def test_by_hand_in_use_price_and_month() -> None:
    found = found_in(small_plan())
    assert (found.owning, found.renting) == ("local", "cloud")
    assert found.busy_h == pytest.approx(1200)
    assert found.utilisation == pytest.approx(100 / 730)
    assert found.most_factor == pytest.approx(7.3)
    hours = OWN_FIXED_USD / (2 - OWN_USD_PER_H)
    price = (OWN_FIXED_USD + 1200 * OWN_USD_PER_H) / 1200
    for use, rental in zip(found.use, found.rental_price, strict=True):  # no interest: both are the same
        assert use.factor == pytest.approx(hours / 1200)
        assert rental.factor == pytest.approx(price / 2)
        assert (use.further, use.reason, rental.reason) == ((), None, None)
    assert found.prices_usd_per_h == {"rented": 2}
    assert found.payback == (8, 8)  # 1,500 + 12.30 against 200 a month


def test_interest_moves_it_and_the_month() -> None:
    found = found_in(small_plan({"discount_rate": 0.5}))
    assert found.use[0].factor == pytest.approx(OWN_FIXED_USD / (2 - OWN_USD_PER_H) / 1200)
    assert found.use[1].factor is not None
    assert found.use[0].factor is not None
    assert found.use[1].factor > found.use[0].factor * 1.1
    assert found.payback == (8, 10)
    problem, theta, choices = resolved(small_plan({"discount_rate": 0.5}), "local", "cloud")
    own, rent = (kernel(problem, theta, choices[kind]) for kind in ("local", "cloud"))
    monthly = 200 - 12.3
    factors = 1.5 ** (-np.arange(1, 13) / 12)
    assert payback_month(own, rent, discounted=True) == np.flatnonzero(monthly * np.cumsum(factors) >= 1500)[0] + 1


def test_the_curve_begins_with_what_idle_machines_cost_and_ends_with_full_ones() -> None:
    curve = found_in(small_plan({"rental.storage_gb": 100, "rental.storage_usd_per_gb_month": 1})).curve
    assert curve is not None
    assert len(curve.factor) == CURVE_POINTS
    assert curve.owning_usd[0] == pytest.approx(OWN_FIXED_USD)
    assert curve.renting_usd[0] == pytest.approx(1200)
    assert curve.owning_usd[-1] == pytest.approx(OWN_FIXED_USD + 12 * 730 * OWN_USD_PER_H)
    assert curve.renting_usd[-1] == pytest.approx(1200 + 12 * 730 * 2)
    assert np.allclose(curve.owning_usd, curve.owning_present_value_usd)


@pytest.mark.parametrize(
    ("changed", "use", "price"),
    [
        ({"offers.rented.price_usd_per_h": 0.04}, "owning_never", None),  # below the power of the own machine
        ({"offers.rented.price_usd_per_h": 0.1}, "owning_never", None),  # machines full, and still not made up for
        ({"machines.own.gpu_price_usd": 1e6}, "owning_never", "owning_never"),
        ({"staff.fte_cloud": 1, "staff.cost_usd_per_fte_year": 5000}, "renting_never", "renting_never"),
    ],
)
def test_never(changed: dict[str, Any], use: str, price: str | None) -> None:
    found = found_in(small_plan(changed))
    assert [crossing.reason for crossing in found.use] == [use, use]
    assert all(crossing.factor is None for crossing in found.use)
    assert [crossing.reason for crossing in found.rental_price] == [price, price]


def test_nothing_to_pay_for_is_no_crossing_at_zero_use() -> None:
    """Machines that stand there, draw nothing idle and aren't worth anything: both sides cost nothing without work."""
    changed = {
        "machines.own.owned": {"count": 1, "age_months": 1},
        "machines.own.useful_life_months": 48,
        "machines.own.residual_gpu": {13: 0.5},
        "machines.own.residual_host": {13: 0.5},
        "machines.own.idle_w": 0,
        "owned_value_counts": False,
    }
    plan = small_plan(changed)
    found = found_in(plan)
    assert found.curve is not None
    assert found.curve.owning_usd[0] == found.curve.renting_usd[0] == 0
    assert [crossing.reason for crossing in found.use] == ["renting_never", "renting_never"]
    assert break_even(*resolved(plan, "cloud", "local")).owning == "local"  # no capex either: it has the machines
    cheaper = found_in({**plan, "offers": {"rented": {**plan["offers"]["rented"], "price_usd_per_h": 0.01}}})
    assert [crossing.reason for crossing in cheaper.use] == ["owning_never", "owning_never"]
    assert found.payback_reasons == ("no_higher_purchase", "no_higher_purchase")


def test_equal_choices_no_machines_and_no_rental() -> None:
    problem, theta, choices = resolved(small_plan(), "local", "cloud")
    own, rent = choices["local"], choices["cloud"]
    same = break_even(problem, theta, {"one": own, "two": own})
    assert [crossing.reason for crossing in (*same.use, *same.rental_price)] == [
        "same_cost", "same_cost", "no_rental", "no_rental",
    ]  # fmt: skip
    rented = break_even(problem, theta, {"one": rent, "two": rent})
    assert [crossing.reason for crossing in rented.use] == ["no_machines", "no_machines"]
    assert (rented.curve, rented.utilisation, rented.most_factor) == (None, None, None)
    assert rented.rental_price[0].reason == "same_cost"


def test_the_fuller_side_sets_the_limit() -> None:
    problem, theta, choices = resolved(small_plan(), "local")
    own = choices["local"]
    two = Choice(machine_count=own.machine_count * 2, routing=own.routing)
    found = break_even(problem, theta, {"one": own, "two": two})
    assert (found.owning, found.utilisation, found.most_factor) == ("two", pytest.approx(50 / 730), pytest.approx(7.3))


def test_the_price_of_a_commitment_moves_with_that_of_what_it_overflows_to() -> None:
    problem = problem_of(document("committed-node"))
    routing = np.array([[float(pair.resource == "reserved") for pair in problem.pairs]])
    committed = Choice(machine_count=np.zeros((1, 0)), routing=routing)
    found = break_even(problem, problem.theta(), {"one": committed, "two": committed})
    assert found.prices_usd_per_h == {"reserved": 62.9248, "on-demand": 98.32}


def test_what_the_side_with_the_machines_rents_counts_as_rental() -> None:
    """Two idle machines and all work rented, against one machine that does it: the price moves the former."""
    problem, theta, choices = resolved(small_plan(), "local", "cloud")
    own, rent = choices["local"], choices["cloud"]
    idle = Choice(machine_count=own.machine_count * 2, routing=rent.routing)
    found = break_even(problem, theta, {"one": own, "idle": idle})
    assert (found.owning, found.prices_usd_per_h) == ("idle", {"rented": 2})
    assert found.use[0].reason == "no_work"
    assert found.rental_price[0].reason == "owning_never"


def test_machines_without_work_have_no_use_to_ask_for() -> None:
    """The mix keeps the machines that the scenario fixes, though its only job runs elsewhere."""
    found = found_in(small_plan({"jobs.work.local_share": 0}), "hybrid", "cloud")
    assert (found.owning, found.utilisation, found.busy_h) == ("hybrid", 0, 0)
    assert [crossing.reason for crossing in found.use] == ["no_work", "no_work"]
    assert found.rental_price[0].reason == "owning_never"


def test_free_gigabytes_bend_the_rented_side() -> None:
    """10 GB a run at 1 USD beyond 300 GB a month: 30 runs a month are free of it."""
    changed = {
        "jobs.work.egress_gb_per_run": 10,
        "rental.egress_usd_per_gb": 1,
        "rental.free_egress_gb_per_month": 300,
    }
    factor = found_in(small_plan(changed)).use[0].factor
    assert factor is not None
    runs = (OWN_FIXED_USD + 12 * 300) / (2 + 10 - OWN_USD_PER_H)
    assert runs > 12 * 30
    assert factor == pytest.approx(runs / 1200)


def test_demand_keeps_its_shape_and_the_busiest_month_is_the_limit() -> None:
    """Twice the runs in one month of twelve: that month fills the machine, and the plan's own point is on the curve."""
    plan = small_plan({"jobs.work.runs_by_month": {6: 200}})
    found = found_in(plan)
    assert found.busy_h == pytest.approx(1300)
    assert found.most_factor == pytest.approx(3.65)
    (job,) = break_even_entries(solve(plan))[0]["use"][0]["runs"]
    assert found.use[0].factor is not None
    assert job["runs_per_month"] == pytest.approx(found.use[0].factor * 1300 / 12)


def test_all_jobs_are_scaled_together() -> None:
    result = solve(document("hybrid-lab"))
    entries = {(entry["owning"], entry["renting"]): entry for entry in break_even_entries(result)}
    use = entries["hybrid", "cloud"]["use"][1]
    runs = {job["id"]: job["runs_per_month"] for job in use["runs"]}
    assert runs == pytest.approx({"daily": 400 * use["scale"], "key": 0.5 * use["scale"]})
    plan = document("hybrid-lab", {f"jobs.{id}.runs_per_month": count for id, count in runs.items()})
    again = solve(plan)
    ways = [strategy(again, kind).present_value_usd for kind in ("hybrid", "cloud")]
    assert ways[0] == pytest.approx(ways[1], abs=0.01)


def test_rented_by_both_sides_the_price_moves_both() -> None:
    problem, theta, choices = resolved(document("hybrid-lab"), "hybrid", "cloud")
    found = break_even(problem, theta, choices)
    assert set(found.prices_usd_per_h) == {"a100-node", "a100-one"}
    factor = found.rental_price[1].factor
    assert factor is not None
    for id in found.prices_usd_per_h:
        theta[0, problem.column(f"offers.{id}.price_usd_per_h")] *= factor
    values = [kernel(problem, theta, choice).present_value_usd[0] for choice in choices.values()]
    assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_a_plan_has_an_entry_for_each_pair_of_ways_that_work() -> None:
    problem, theta, choices = resolved(document("hybrid-lab"), "cloud", "hybrid")
    assert len(break_evens(problem, theta, choices)) == 1
    entries = break_even_entries(solve(document("hybrid-lab")))
    assert [(entry["owning"], entry["renting"]) for entry in entries] == [("hybrid", "cloud")]  # key fits no own card


def test_the_text_says_where_and_twins_once() -> None:
    result = solve(small_plan())
    whole = with_break_even(plan_document(result), result)
    sentences = break_even_sentences(whole)
    hours = OWN_FIXED_USD / (2 - OWN_USD_PER_H)
    price = (OWN_FIXED_USD + 1200 * OWN_USD_PER_H) / 1200
    assert sentences == [
        f"Own all and Rent all have the same present value at {hours / 12:.4g} runs a month (owned machines"
        f" {100 * hours / 8760:.0f} % busy) or a rental price of {price:.4g} USD/h for rented"
    ]  # the mix is the same plan as own all
    assert sentences[0] in plan_text(whole)
    assert "same present value" not in plan_text(plan_document(result))
    never = solve(small_plan({"machines.own.gpu_price_usd": 1e6}))
    assert break_even_sentences(with_break_even(plan_document(never), never)) == []
