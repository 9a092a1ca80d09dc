"""Paths of inputs: reading, overriding, listing, and what is said of a wrong one."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from planner.errors import InputError
from planner.scenario.load import check_document
from planner.scenario.paths import check_path, get_value, numeric_paths, with_overrides
from tests.planning import document, problem_of, small_plan


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("jobs.work.runs_per_month", 7),
        ("jobs.work.throughput.own", 3.5),
        ("site.electricity_usd_per_kwh", 0.3),
        ("offers.rented.price_usd_per_h", 9),
        ("machines.own.residual_gpu.36", 0.4),
        ("machines.own.owned.age_months", 3),
        ("tax.rate", 0.19),
        ("horizon_months", 24),
        ("staff.fte_cloud", 0.5),
        ("currencies.EUR.usd_per_unit", 1.2),
        ("rental.idle_tail_s", 5),
    ],
)
def test_override_sets_what_get_reads_and_leaves_the_original(path: str, value: float) -> None:
    plan = small_plan()
    before = copy.deepcopy(plan)
    changed = with_overrides(plan, {path: value})
    assert get_value(changed, path) == value
    assert plan == before


def test_override_reaches_the_scenario() -> None:
    changed = small_plan({"machines.own.residual_gpu.36": 0.4, "jobs.work.class": "key"})
    scenario = check_document(changed)
    assert scenario.machines["own"].residual_gpu == {12: 0.5, 36: 0.4}
    assert scenario.jobs["work"].job_class == "key"


def test_none_goes_back_to_the_default() -> None:
    assert small_plan({"tax.rate": None})["tax"] == {}
    assert check_document(small_plan({"tax.rate": None})).tax.rate is None
    assert get_value(small_plan({"tax.rate": None, "tax.recoverable": True}), "tax.recoverable") is True


@pytest.mark.parametrize("text", ["0.5 EUR", "0.5EUR", 0.5])
@pytest.mark.parametrize("alias", ["electricity", "electricity_per_kwh"])
def test_override_replaces_money_under_its_stem(text: object, alias: str) -> None:
    plan = small_plan({"site.electricity_usd_per_kwh": None})
    plan["site"][alias] = text
    changed = with_overrides(plan, {"site.electricity_usd_per_kwh": 0.25})
    assert alias not in changed["site"]
    price = check_document(changed).site.electricity_usd_per_kwh
    assert price is not None and (price.amount, price.currency) == (0.25, "USD")
    assert plan["site"][alias] == text


def test_override_makes_the_sections_on_its_way() -> None:
    plan = small_plan()
    del plan["staff"]
    assert with_overrides(plan, {"staff.fte_cloud": 0.5})["staff"] == {"fte_cloud": 0.5}


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("jobs.work.runs_per_mont", "jobs.work.runs_per_month"),
        ("jobs.wrk.runs_per_month", "jobs.work.runs_per_month"),
        ("machines.mine.count", "machines.own.count"),
        ("site.electricity_usd", "site.electricity_usd_per_kwh"),
        ("offers.rented.price", "offers.rented.price_usd_per_h"),
        ("horizon", "horizon_months"),
        ("jobs.work.runs_per_month.more", "jobs.work.runs_per_month"),
        ("tax.rates", "tax.rate"),
        ("", None),
    ],
)
def test_unknown_path_comes_with_near_ones(path: str, near: str | None) -> None:
    with pytest.raises(InputError) as caught:
        with_overrides(small_plan(), {path: 1})
    assert (caught.value.code, caught.value.field) == ("unknown_path", path)
    assert near is None or near in caught.value.params["near"]


def test_an_offer_of_the_catalog_may_be_overridden_without_being_named() -> None:
    check_path("offers.examplecloud-a100x8-us-on-demand.price_usd_per_h", small_plan())
    with pytest.raises(InputError):
        check_path("jobs.other.runs_per_month", small_plan())


def test_every_listed_path_can_be_set() -> None:
    plan = document("hybrid-lab")
    listed = numeric_paths(plan)
    assert {"jobs.daily.runs_per_month", "site.electricity_usd_per_kwh", "offers.a100-node.price_usd_per_h"} <= set(
        listed
    )
    assert {"machines.workstation.residual_gpu.36", "jobs.daily.throughput.workstation", "tax.rate"} <= set(listed)
    assert "name" not in listed
    assert "jobs.daily.workload" not in listed
    assert listed == tuple(sorted(listed))
    for path in listed:
        assert get_value(with_overrides(plan, {path: 1}), path) == 1


def test_paths_are_the_names_of_parameters() -> None:
    """What a sweep varies and what an override sets are called the same."""
    plan = document("hybrid-lab")
    problem = problem_of(plan)
    for path in numeric_paths(plan):
        value: Any = get_value(plan, path)
        known = [parameter for parameter in problem.parameters if parameter.id == path]
        if value is not None and known:
            assert known[0].value == pytest.approx(value)
    named = {parameter.id for parameter in problem.parameters}
    assert {
        "jobs.daily.runs_per_month",
        "jobs.key.attempts_per_run",
        "jobs.daily.throughput.workstation",
        "site.electricity_usd_per_kwh",
        "offers.a100-node.price_usd_per_h",
        "machines.workstation.gpu_price_usd",
        "machines.workstation.residual_gpu.36",
        "staff.fte_per_machine",
        "staff.cost_usd_per_fte_year",
        "tax.rate",
        "discount_rate",
        "rental.storage_gb",
    } <= named & set(numeric_paths(plan))
