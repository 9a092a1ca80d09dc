"""The pool of offers: what is in it by default, by opt-in, by name, and the user's own quotes."""

from __future__ import annotations

from typing import Any

import pytest

from planner.errors import InputError, PlannerError, UnknownIdError
from planner.strategy.problem import PlanProblem
from tests.planning import problem_of, small_plan

DEFAULT = {
    "examplecloud-a100x8-eu-on-demand",
    "examplecloud-a100x8-us-on-demand",
    "examplecloud-h100x1-us-on-demand",
    "examplecloud-h100x8-us-on-demand",
    "hostcloud-rtx-4090-on-demand",
}


def market(rental: dict[str, Any] | None = None, offers: dict[str, Any] | None = None) -> PlanProblem:
    """The small plan on the frozen catalog's offers, its speed given for every GPU."""
    plan = small_plan()
    gpus = ("rtx-4090", "a100-sxm4-40gb", "a100-sxm4-80gb", "h100-sxm5-80gb")
    plan["jobs"]["work"]["throughput"] = dict.fromkeys(gpus, 1)
    plan["rental"] = rental or {}
    plan["offers"] = offers or {}
    return problem_of(plan)


def ids(problem: PlanProblem) -> set[str]:
    return {offer.id for offer in problem.offers}


def value(problem: PlanProblem, path: str) -> float:
    return float(problem.theta()[0, problem.column(path)])


def test_by_default_current_sourced_on_demand_offers_of_clouds() -> None:
    assert ids(market()) == DEFAULT


@pytest.mark.parametrize(
    ("rental", "more"),
    [
        ({"markets": ["cloud", "marketplace"]}, {"bidmarket-rtx-4090-on-demand"}),
        ({"include_estimates": True}, {"hostcloud-rtx-4090-x2-on-demand"}),
        ({"statuses": ["current", "retired"]}, {"examplecloud-a100x8-us-on-demand-2024"}),
        (
            {"statuses": ["current", "stale"]},
            {"oldcloud-a100x1-on-demand", "oldcloud-a100x1-undated-on-demand"},
        ),
    ],
)
def test_others_by_opt_in(rental: dict[str, Any], more: set[str]) -> None:
    assert ids(market(rental)) == DEFAULT | more


@pytest.mark.parametrize(
    ("rental", "left"),
    [
        ({"providers": ["hostcloud"]}, {"hostcloud-rtx-4090-on-demand"}),
        ({"regions": ["eu-north"]}, {"examplecloud-a100x8-eu-on-demand"}),
        ({"gpus": ["GeForce RTX 4090"]}, {"hostcloud-rtx-4090-on-demand"}),
    ],
)
def test_filters(rental: dict[str, Any], left: set[str]) -> None:
    assert ids(market(rental)) == left


def test_named_offers_are_taken_as_they_are_with_a_warning() -> None:
    problem = market({"offers": ["oldcloud-a100x1-on-demand", "bidmarket-rtx-4090-on-demand"]})
    assert ids(problem) == {"oldcloud-a100x1-on-demand", "bidmarket-rtx-4090-on-demand"}
    (warning,) = problem.warnings
    assert (warning.code, warning.params["offer"]) == ("offer_not_current", "oldcloud-a100x1-on-demand")
    assert (warning.params["status"], warning.params["as_of"]) == ("stale", "2024-03")


def test_columns_come_from_offer_provider_and_assumptions() -> None:
    problem = market()
    node = "offers.examplecloud-a100x8-us-on-demand"
    assert value(problem, f"{node}.price_usd_per_h") == 20
    assert value(problem, f"{node}.startup_s") == 300
    assert value(problem, f"{node}.pue") == 1.15
    assert value(problem, f"{node}.grid_kg_co2e_per_kwh") == pytest.approx(0.37)
    assert value(problem, f"{node}.load_w") == pytest.approx(1.27 * 8 * 400)
    assert value(problem, "offers.examplecloud-h100x8-us-on-demand.price_usd_per_h") == pytest.approx(8 * 3.5)
    assert value(problem, "offers.hostcloud-rtx-4090-on-demand.startup_s") == 600  # nothing known: the assumption
    assert value(problem, "providers.examplecloud.free_egress_gb_per_month") == 100
    assert value(problem, "providers.hostcloud.egress_usd_per_gb") == 0
    assert value(problem, "providers.hostcloud.free_egress_gb_per_month") == 0


def test_own_values_of_a_catalog_offer() -> None:
    id = "examplecloud-a100x8-us-on-demand"
    problem = market(offers={id: {"price_usd_per_h": "10 EUR", "startup_s": 42, "load_w": 3000, "idle_w": 500}})
    assert ids(problem) == DEFAULT
    assert value(problem, f"offers.{id}.price_usd_per_h") == pytest.approx(11)
    assert value(problem, f"offers.{id}.startup_s") == 42
    assert value(problem, f"offers.{id}.load_w") == 3000
    assert value(problem, f"offers.{id}.minimum_s") == 60


def test_own_price_brings_an_old_offer_back() -> None:
    assert "oldcloud-a100x1-on-demand" in ids(market(offers={"oldcloud-a100x1-on-demand": {"price_usd_per_h": 1}}))
    assert "oldcloud-a100x1-on-demand" not in ids(market(offers={"oldcloud-a100x1-on-demand": {"startup_s": 1}}))


def test_own_quote_by_gpu() -> None:
    problem = market(offers={"mine": {"gpu": "h100-sxm5-80gb", "gpu_count": 8, "price_usd_per_gpu_h": 2}})
    assert value(problem, "offers.mine.price_usd_per_h") == 16
    assert value(problem, "offers.mine.billing_unit_s") == 1
    assert value(problem, "offers.mine.minimum_s") == 0
    assert problem.parameters[problem.column("offers.mine.price_usd_per_h")].sources == ("scenario",)


@pytest.mark.parametrize(
    ("rental", "offers", "error", "field"),
    [
        ({"terms": ["reserved_1y"]}, {}, InputError, "rental.terms"),
        ({"offers": ["examplecloud-h100x8-us-reserved-1y"]}, {}, InputError, "rental.offers"),
        ({"offers": ["examplecloud-a100x8"]}, {}, UnknownIdError, "rental.offers"),
        ({"providers": ["hostcluod"]}, {}, UnknownIdError, "rental.providers"),
        ({"regions": ["us-eats"]}, {}, UnknownIdError, "rental.regions"),
        ({"gpus": ["rtx-4099"]}, {}, UnknownIdError, "rental.gpus"),
        ({"exclude": ["nothing-like-it"]}, {}, UnknownIdError, "rental.exclude"),
        ({"offers": ["examplecloud-mixed-on-demand"]}, {}, InputError, "rental.offers"),  # its GPU isn't clear
        ({}, {"mine": {"gpu": "rtx-4090", "price_usd_per_h": 1}}, InputError, "offers.mine.gpu_count"),
        ({}, {"mine": {"gpu_count": 1, "price_usd_per_h": 1}}, InputError, "offers.mine.gpu"),
        ({}, {"mine": {"gpu": "rtx-4090", "gpu_count": 1}}, InputError, "offers.mine.price_usd_per_h"),
        (
            {},
            {"mine": {"gpu": "rtx-4090", "gpu_count": 1, "price_usd_per_h": 1, "term": "capacity_block"}},
            InputError,
            "offers.mine.term",
        ),
        (
            {},
            {"hostcloud-rtx-4090-on-demand": {"price_usd_per_h": 1, "gpu_count": 2}},
            InputError,
            "offers.hostcloud-rtx-4090-on-demand.gpu_count",
        ),
        (
            {},
            {"hostcloud-rtx-4090-on-demand": {"idle_w": 9999}},
            InputError,
            "offers.hostcloud-rtx-4090-on-demand.idle_w",
        ),
        (
            {},
            {"mine": {"gpu": "rtx-4090", "gpu_count": 1, "price_usd_per_h": "1 XXX"}},
            InputError,
            "offers.mine.price_usd_per_h",
        ),
    ],
)
def test_what_cannot_be_looked_up_names_its_field(
    rental: dict[str, Any], offers: dict[str, Any], error: type[PlannerError], field: str
) -> None:
    with pytest.raises(error) as caught:
        market(rental, offers)
    assert caught.value.field == field
