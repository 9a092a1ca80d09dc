"""Jobs pinned to machines, offers, GPUs or providers, or kept off them."""

from __future__ import annotations

from typing import Any

import pytest

from planner.errors import InputError, UnknownIdError
from tests.planning import problem_of, small_plan, solve, strategy

SECOND = {"provider": "elsewhere", "region": "north", "gpu": "a100-sxm4-40gb", "gpu_count": 1, "price_usd_per_h": 1}


def plan(**job: object) -> dict[str, Any]:
    """One owned machine, a quote for 2 USD/h and a cheaper one elsewhere with another GPU."""
    found = small_plan({"offers.second": SECOND, "rental.offers": ["rented", "second"]})
    found["jobs"]["work"] |= {"throughput": {"own": 1, "rented": 1, "second": 1}, **job}
    return found


def places(**job: object) -> set[str]:
    return {pair.resource for pair in problem_of(plan(**job)).pairs if pair.feasible}


def test_names_are_machines_offers_gpus_and_providers() -> None:
    assert places() == {"own", "rented", "second"}
    assert places(only_on=["own"]) == {"own"}
    assert places(only_on=["rented"]) == {"rented"}
    assert places(only_on=["rtx-4090"]) == {"own", "rented"}
    assert places(only_on=["elsewhere", "own"]) == {"own", "second"}
    assert places(not_on=["rtx-4090"]) == {"second"}
    assert places(not_on=["elsewhere"]) == {"own", "rented"}
    assert places(only_on=["rtx-4090"], not_on=["own"]) == {"rented"}


def test_the_cheapest_offer_that_a_pin_leaves_is_rented() -> None:
    for job, used in ({}, "second"), ({"not_on": ["elsewhere"]}, "rented"):
        (found,) = strategy(solve(plan(**job)), "cloud").jobs
        assert found.resource == used


def test_what_a_pin_drops_has_a_reason() -> None:
    result = solve(plan(only_on=["rented"]))
    (problem,) = strategy(result, "local").allocation.problems
    assert (problem.code, problem.field) == ("pinned_elsewhere", "jobs.work.only_on")
    assert problem.params["allowed"] == ["rented"]
    (problem,) = strategy(solve(plan(not_on=["own"])), "local").allocation.problems
    assert (problem.code, problem.params["resource"]) == ("pinned_off", "own")


def test_a_machine_comes_before_a_provider_of_its_name() -> None:
    found = plan(only_on=["elsewhere"])
    found["machines"]["elsewhere"] = found["machines"].pop("own")
    found["jobs"]["work"]["throughput"] = {"elsewhere": 1, "rented": 1, "second": 1}
    assert {pair.resource for pair in problem_of(found).pairs if pair.feasible} == {"elsewhere"}


@pytest.mark.parametrize("key", ["only_on", "not_on"])
def test_unknown_names_come_with_the_nearest(key: str) -> None:
    with pytest.raises(UnknownIdError) as refused:
        places(**{key: ["secnod"]})
    assert refused.value.field == f"jobs.work.{key}"
    assert "second" in refused.value.params["near"]


@pytest.mark.parametrize(
    ("job", "code", "field"),
    [
        ({"only_on": ["own"], "not_on": ["own"]}, "pinned_in_and_out", "not_on"),
        ({"only_on": ["second"], "not_on": ["elsewhere"]}, "pins_leave_nothing", "only_on"),
        ({"only_on": ["a100-sxm4-80gb"]}, "pins_leave_nothing", "only_on"),
        ({"not_on": ["own", "rented", "second"]}, "pins_leave_nothing", "not_on"),
        ({"only_on": ["rented"], "in_house": True}, "pins_against", "only_on"),
        ({"not_on": ["own"], "in_house": True}, "pins_against", "not_on"),
        ({"only_on": ["rented"], "local_share": 1}, "pins_against", "only_on"),
        ({"only_on": ["own"], "local_share": 0.5}, "pins_against", "only_on"),
        ({"only_on": ["rented"], "terms": ["spot"]}, "pins_not_permitted", "only_on"),
        ({"only_on": ["rented"], "regions": ["north"]}, "pins_not_permitted", "only_on"),
    ],
)
def test_pins_that_contradict(job: dict[str, Any], code: str, field: str) -> None:
    with pytest.raises(InputError) as refused:
        places(**job)
    assert (refused.value.code, refused.value.field) == (code, f"jobs.work.{field}")


def test_pins_that_agree_with_the_rest_are_fine() -> None:
    assert places(only_on=["own", "rented"], in_house=True) == {"own"}
    assert places(only_on=["own"], in_house=True, local_share=0.5) == {"own"}
    assert places(only_on=["rented"], local_share=0) == {"rented"}
    assert places(only_on=["elsewhere"], regions=["north"]) == {"second"}
