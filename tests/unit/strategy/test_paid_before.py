"""Machines paid before a plan begins, of several ages or on their way, and contracts that run, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from planner.errors import InputError, ScenarioError
from tests.planning import amounts, by_id, evaluation, small_plan, solve, strategy

LATE: dict[str, Any] = {"machines.own.delivery_months": 2, "jobs.work.class": "development"}
COMING = {"count": 1, "age_months": 0, "comes_after_months": 2, "resale_gpu_usd": 1000, "resale_host_usd": 500}
OLD = {"count": 1, "age_months": 20, "replacement_after_months": 2, "resale_gpu_usd": 300, "resale_host_usd": 100}
CURVES = {"machines.own.residual_gpu": {12: 0.5, 24: 0.25}, "machines.own.residual_host": {12: 0.25, 24: 0.25}}


def test_what_is_on_its_way_is_not_paid_again_and_ages_from_delivery() -> None:
    found = evaluation(strategy(solve(small_plan({**LATE, "machines.own.owned": COMING})), "hybrid"))
    assert amounts(found) == pytest.approx(
        {
            "opportunity.own.gpu": 1000,
            "opportunity.own.host": 500,
            "resale_gpu.own.owned.m12": -1000 * (1 - 0.5 * 10 / 12),
            "resale_host.own.owned.m12": -500 * (1 - 0.75 * 10 / 12),
            "electricity.own": 10 * (100 * 0.6 + 630 * 0.1) * 0.1,
            "rental.work.rented": 2 * 100 * 2,
        }
    )
    assert found.machines_there[0, 0].tolist() == [0, 0, *[1] * 10]


def test_a_replacement_that_is_paid_comes_when_it_is_said_to() -> None:
    result = solve(small_plan({**LATE, **CURVES, "machines.own.owned": OLD}))  # its life is 12 months
    found = amounts(evaluation(strategy(result, "local")))
    assert "gpu.own" not in found
    assert found["resale_gpu.own.owned.m2"] == pytest.approx(-300 * (0.5 - 0.25 * 10 / 12) / (0.5 - 0.25 * 8 / 12))
    assert found["resale_gpu.own.owned.m12"] == pytest.approx(-1000 * (1 - 0.5 * 10 / 12))


def test_machines_of_two_ages_are_each_sold_at_their_own() -> None:
    owned = {"count": 1, "age_months": 0, "resale_gpu_usd": 900, "resale_host_usd": 0}
    owned["others"] = {"older": {"count": 2, "age_months": 6, "resale_gpu_usd": 700, "resale_host_usd": 0}}
    changes = {"machines.own.owned": owned, "machines.own.count": 3, "machines.own.useful_life_months": 24, **CURVES}
    found = evaluation(strategy(solve(small_plan(changes)), "local"))
    lines = by_id(found)
    assert lines["opportunity.own.gpu.owned.older"].amount.sum() == pytest.approx(2 * 700)
    assert lines["resale_gpu.own.owned.m12"].amount.sum() == pytest.approx(-900 * 0.5)
    assert lines["resale_gpu.own.owned.older.m12"].amount.sum() == pytest.approx(-2 * 700 * 0.375 / 0.75)
    assert found.machines_there[0, 0].tolist() == [3]


def test_running_contracts_are_paid_in_every_way_and_a_leased_machine_is_bought() -> None:
    leased = {"count": 1, "age_months": 3, "lease_ends_after_months": 4, "nominal_buyout_usd": 200}
    changes = {
        "machines.own.owned": {**leased, "resale_gpu_usd": 800, "resale_host_usd": 400},
        "machines.own.still_to_pay": {"lessor": {"kind": "lease", "payments": 4, "nominal_usd_per_month": 60}},
        "machines.own.useful_life_months": 24,
        "inflation_per_year": 0.02,
        "tax.rate": 0.1,
        **CURVES,
    }
    result = solve(small_plan(changes))
    worth = [1.02 ** (-month / 12) for month in range(1, 5)]
    for way in ("local", "cloud"):
        found = amounts(evaluation(strategy(result, way)))
        assert found["running_lease.own.lessor"] == pytest.approx(60 * sum(worth))
        assert found["tax_lease"] == pytest.approx(6 * sum(worth))
        assert not any(id.startswith("opportunity") for id in found)
        assert ("buyout.own.owned" in found) == (way == "local")
    own = amounts(evaluation(strategy(result, "local")))
    assert own["buyout.own.owned"] == pytest.approx(200 * worth[3])
    assert own["resale_gpu.own.owned.m12"] == pytest.approx(-800 * (0.5 - 0.25 * 3 / 12) / (1 - 0.5 * 3 / 12))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"machines.own.owned": {**OLD, "replacement_after_months": 3}}, "replacement_after_months"),
        ({"machines.own.owned": {**COMING, "replacement_after_months": 1}}, "replacement_after_months"),
        ({"machines.own.owned": {**COMING, "comes_after_months": 12}}, "comes_after_months"),
        ({"machines.own.owned": {**COMING, "at_start": "sell"}}, "at_start"),
        ({"machines.own.owned": {**COMING, "host_age_months": 2, "age_months": 3}}, "host_age_months"),
        ({"machines.own.owned": {**COMING, "lease_ends_after_months": 2}}, "lease_ends_after_months"),
        ({"machines.own.owned": {**COMING, "nominal_buyout_usd": 2}}, "lease_ends_after_months"),
        ({"machines.own.owned": {"count": 1, "age_months": 13}, **CURVES}, "owned.age_months"),
        (
            {"machines.own.owned": {"count": 1, "age_months": 1, "others": {"old": {"count": 1, "age_months": 13}}},
             "machines.own.count": 2},
            "owned.others.old.age_months",
        ),
        (
            {"machines.own.owned": {"count": 1, "age_months": 1, "at_start": "sell"},
             "machines.own.still_to_pay": {"bank": {"payments": 2, "nominal_usd_per_month": 5}}},
            "still_to_pay",
        ),
        (
            {"machines.own.owned": {
                "count": 1, "age_months": 2, "lease_ends_after_months": 11, "nominal_buyout_usd": 1}},
            "lease_ends_after_months",
        ),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_named(changes: dict[str, Any], named: str) -> None:
    with pytest.raises((InputError, ScenarioError)) as error:
        solve(small_plan({**LATE, **changes}))
    assert named in str(error.value)
