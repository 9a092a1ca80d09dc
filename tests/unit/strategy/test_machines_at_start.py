"""Machines that are there already: kept, sold or given new cards at the start, or whichever is cheapest."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from planner.errors import InputError, ScenarioError
from planner.report.document import plan_document
from planner.report.text import plan_text
from planner.report.variants import as_chosen, with_machines
from tests.planning import amounts, by_id, evaluation, small_plan, solve, strategy

UPGRADE = {"gpu": "a100-sxm4-80gb", "gpu_price_usd": 2000, "load_w": 800, "idle_w": 150}
OWNED: dict[str, Any] = {
    "machines.own.count": None,
    "machines.own.owned": {"count": 1, "age_months": 12, "resale_gpu_usd": 600, "resale_host_usd": 200},
    "machines.own.useful_life_months": 48,
    "machines.own.residual_gpu": {12: 0.5, 24: 0.3},
    "machines.own.residual_host": {12: 0.4, 24: 0.1},
    "jobs.work.throughput.a100-sxm4-80gb": 2,
}
KEPT = {
    "opportunity.own.gpu": 600,
    "opportunity.own.host": 200,
    "resale_gpu.own.owned.m12": -600 * 0.3 / 0.5,
    "resale_host.own.owned.m12": -200 * 0.1 / 0.4,
    "electricity.own": 147.60,  # 12 x (100 h at 600 W, 630 h at 100 W)
}
GONE = {
    "opportunity.own.gpu": 600,
    "opportunity.own.host": 200,
    "resale_gpu.own.owned.m0": -600,
    "resale_host.own.owned.m0": -200,
}


def owning(at_start: str, overrides: dict[str, Any] | None = None) -> dict[str, Any]:
    plan = small_plan(OWNED)
    plan["machines"]["own"]["owned"] |= {"at_start": at_start, "upgrade": UPGRADE}
    return small_plan({**OWNED, "machines.own.owned": plan["machines"]["own"]["owned"], **(overrides or {})})


def test_kept_is_what_it_always_was() -> None:
    def document(plan: dict[str, Any]) -> str:
        return json.dumps(plan_document(solve(plan)))

    assert amounts(evaluation(strategy(solve(owning("keep")), "local"))) == pytest.approx(KEPT)
    assert document(owning("keep")) == document(small_plan(OWNED))


def test_sold_machines_bring_todays_value_and_others_are_bought() -> None:
    result = solve(owning("sell"))
    found = evaluation(strategy(result, "local"))
    bought = {"gpu.own": 1000, "host.own": 500, "resale_gpu.own.m12": -500, "resale_host.own.m12": -200}
    assert amounts(found) == pytest.approx({**GONE, **bought, "electricity.own": 147.60})
    sale = by_id(found)["resale_gpu.own.owned.m0"]
    assert (sale.group, np.flatnonzero(sale.quantity[0]).tolist()) == ("residual", [0])
    rented = evaluation(strategy(result, "cloud"))
    assert amounts(rented) == pytest.approx({**GONE, "rental.work.rented": 2400})
    assert rented.tco_usd[0] == pytest.approx(2400)


def test_all_that_was_fixed_is_sold_so_nothing_is_left_to_run_on() -> None:
    result = solve(owning("sell", {"machines.own.count": 1}))
    assert [issue.code for issue in strategy(result, "local").allocation.problems] == ["no_machines"]
    assert [job.resource for job in strategy(result, "hybrid").jobs] == ["rented"]
    result = solve(owning("sell", {"machines.own.count": 3}))
    assert evaluation(strategy(result, "local")).machine_count.tolist() == [[2]]


def test_new_cards_in_the_same_hosts() -> None:
    found = evaluation(strategy(solve(owning("upgrade")), "local"))
    assert amounts(found) == pytest.approx(
        {
            "gpu.own": 2000,  # one card, no host, no installation
            "opportunity.own.gpu": 600,
            "opportunity.own.host": 200,
            "resale_gpu.own.owned.m0": -600,
            "resale_gpu.own.owned.m12": -2000 * 0.5,  # as old as the plan
            "resale_host.own.owned.m12": -200 * 0.1 / 0.4,  # a year older
            "electricity.own": 12 * (50 * 0.8 + 680 * 0.15) * 0.1,  # twice as quick
        }
    )
    assert found.tco_usd[0] == pytest.approx(1320.40)


def test_an_upgraded_machine_lives_as_long_as_its_cards_and_goes_as_a_whole() -> None:
    changes = {"machines.own.useful_life_months": 8, "machines.own.residual_gpu": {4: 0.8, 8: 0.6}}
    plan = owning("upgrade", {**changes, "machines.own.residual_host": {4: 0.7, 8: 0.6, 12: 0.4, 20: 0.1}})
    lines = by_id(evaluation(strategy(solve(plan), "local")))
    assert np.flatnonzero(lines["gpu.own"].quantity[0]).tolist() == [0, 8]
    assert np.flatnonzero(lines["host.own"].quantity[0]).tolist() == [8]
    assert lines["resale_host.own.owned.m8"].amount[0, 8] == pytest.approx(-200 * 0.1 / 0.4)
    assert lines["resale_host.own.owned.m12"].amount[0, 12] == pytest.approx(-500 * 0.7)


def test_value_that_does_not_count_does_not_count_when_sold() -> None:
    changes = {"owned_value_counts": False}
    sold = evaluation(strategy(solve(owning("sell", changes)), "cloud"))
    assert amounts(sold) == pytest.approx({"rental.work.rented": 2400})
    upgraded = amounts(evaluation(strategy(solve(owning("upgrade", changes)), "local")))
    assert upgraded == pytest.approx({"gpu.own": 2000, "resale_gpu.own.owned.m12": -1000, "electricity.own": 170.40})


def test_old_cards_are_not_sold_by_a_way_that_does_not_use_the_new_ones() -> None:
    assert amounts(evaluation(strategy(solve(owning("upgrade")), "cloud"))) == pytest.approx(
        {"rental.work.rented": 2400}
    )


def test_tax_is_on_new_cards_only() -> None:
    found = amounts(evaluation(strategy(solve(owning("upgrade", {"tax.rate": 0.1})), "local")))
    assert found["tax_purchase"] == pytest.approx(200)


def test_a_rate_measured_on_cards_that_are_sold_is_not_used() -> None:
    plan = owning("upgrade")
    del plan["jobs"]["work"]["throughput"]["a100-sxm4-80gb"]
    result = solve(plan)
    [job] = strategy(result, "local").jobs
    assert job.pair.fit.throughput > 10  # samples/s, of the new card
    [warning] = [issue for issue in result.warnings if issue.code == "rate_of_sold_cards"]
    assert (warning.field, warning.params["machine"]) == ("jobs.work.throughput.own", "own")
    assert not [issue for issue in solve(owning("upgrade")).warnings if issue.code == "rate_of_sold_cards"]


def test_the_cheapest_option_is_planned_and_all_are_told() -> None:
    result = solve(owning("cheapest"))
    kept, sold, upgraded = result.owned_options
    assert [dict(option.machines)["own"] for option in result.owned_options] == ["keep", "sell", "upgrade"]
    assert [option.chosen for option in result.owned_options] == [True, False, False]
    for option in (kept, sold, upgraded):
        alone = solve(owning(option.machines["own"]))
        assert [way.tco_usd for way in option.ways] == [way.tco_usd for way in alone.strategies]
        best = option.best
        assert best is not None
        assert best.id == alone.recommendation.strategy
        assert best.present_value_usd == strategy(alone, best.id).present_value_usd
    assert kept.best is not None
    assert kept.best.tco_usd == pytest.approx(800 - 360 - 50 + 147.60)
    document = plan_document(result)
    assert document["strategies"] == plan_document(solve(owning("keep")))["strategies"]
    assert [option["machines"] for option in document["owned_options"]] == [
        [{"id": "own", "at_start": at_start}] for at_start in ("keep", "sell", "upgrade")
    ]
    text = plan_text(document)
    assert "keep own" in text
    assert "upgrade own" in text


def test_new_cards_win_where_the_work_needs_them() -> None:
    """Work of a month that fills the old machine twice: a second one, or quicker cards that need no second host."""
    busy = {"jobs.work.runs_per_month": 1000, "machines.own.host_price_usd": 5000, "offers.rented.price_usd_per_h": 20}
    result = solve(owning("cheapest", busy))
    assert [option.chosen for option in result.owned_options] == [False, False, True]
    assert strategy(result, "local").jobs[0].pair.fit.throughput == 2
    assert evaluation(strategy(result, "local")).machine_count.tolist() == [[1]]


def test_options_of_two_types_are_tried_together() -> None:
    plan = owning("cheapest")
    plan["machines"]["second"] = {**plan["machines"]["own"], "owned": {**plan["machines"]["own"]["owned"]}}
    plan["machines"]["second"]["owned"].pop("upgrade")
    plan["jobs"]["work"]["throughput"]["second"] = 1
    assert len(solve(plan).owned_options) == 6
    assert sum(option.chosen for option in solve(plan).owned_options) == 1


def test_what_cannot_be_is_refused() -> None:
    plan = owning("upgrade")
    del plan["machines"]["own"]["owned"]["upgrade"]
    with pytest.raises(ScenarioError, match=r"machines\.own\.owned\.upgrade"):
        solve(plan)
    for changed, code, field in (
        ({"gpu": "a100-sxm4-40gb"}, "missing_price", "machines.own.owned.upgrade.gpu_price_usd"),
        ({**UPGRADE, "load_w": None}, "missing_power", "machines.own.owned.upgrade.load_w"),
    ):
        with pytest.raises(InputError) as caught:
            solve(owning("upgrade", {"machines.own.owned.upgrade": changed}))
        assert (caught.value.code, caught.value.field) == (code, field)
    with pytest.raises(ScenarioError, match="keep"):
        solve(owning("scrap"))
    plan = owning("cheapest")
    plan["machines"] = {f"own{index}": plan["machines"]["own"] for index in range(4)}
    with pytest.raises(ScenarioError, match="at most 3 types"):
        solve(plan)


def test_a_changed_plan_keeps_what_was_chosen_and_counts_what_is_left() -> None:
    plan = owning("cheapest")
    options = plan_document(solve(plan))["owned_options"]
    assert as_chosen(plan, options)["machines"]["own"]["owned"]["at_start"] == "keep"
    assert as_chosen(plan, []) == plan
    for at_start in ("keep", "sell", "upgrade"):
        larger = with_machines(owning(at_start), {"own": 3})
        assert evaluation(strategy(solve(larger), "local")).machine_count.tolist() == [[3]], at_start
    staged = with_machines(owning("sell", {"machines.own.purchases": {0: 1, 6: 1}}), {"own": 3})
    assert staged["machines"]["own"]["purchases"] == {0: 1, 6: 2}
    assert evaluation(strategy(solve(staged), "local")).machine_count.tolist() == [[3]]
