"""Why not the other option: the page says the numbers of the plan, in its currency."""

from __future__ import annotations

import pytest

from planner.report.break_even import with_break_even
from planner.report.document import plan_document
from planner.report.why_not import other_ways, parts_usd, why_not_text
from tests.planning import small_plan, solve


def document_of(plan: dict[str, object]) -> dict[str, object]:
    result = solve(plan)
    return with_break_even(plan_document(result), result)


def test_both_numbers_and_the_difference_stand_beside_each_other() -> None:
    """Owning costs 1,022.60 USD, renting 2,400."""
    text = why_not_text(document_of(small_plan()), "cloud")
    assert text.startswith("# ")
    assert "Own all, not Rent all" in text
    assert "| Total | 1,020 USD | 2,400 USD | +1,380 USD |" in text
    assert "Rental: Rent all takes 2,400 USD more" in text


def test_money_is_in_the_currency_of_the_plan() -> None:
    text = why_not_text(document_of({**small_plan(), "currency": "EUR", "currencies": {"EUR": {"usd_per_unit": 2.0}}}))
    assert "| 1,200 EUR |" in text
    assert "USD |" not in text


def test_a_way_that_does_not_work_says_why() -> None:
    slow = small_plan({"jobs.work.deadline_h": 0.9, "jobs.work.throughput.rented": 2})
    document = document_of(slow)
    text = why_not_text(document, "local")
    assert document["recommended"] == "cloud"
    assert "0.9" in text
    assert "## The numbers of both" not in text


def test_the_next_best_way_comes_first() -> None:
    document = document_of(small_plan())
    assert other_ways(document)[0] == document["runner_up"]
    assert document["recommended"] not in other_ways(document)


def test_parts_add_up_to_the_total() -> None:
    for way in document_of(small_plan())["strategies"]:
        assert sum(parts_usd(way).values()) == pytest.approx(way["tco_usd"], abs=0.01)
