"""What a plan remarks: where a note applies, replaced machines, old prices, and no date that isn't one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from planner.report.document import plan_document
from planner.report.export import plan_csv
from planner.report.text import plan_text
from planner.scenario.load import check_document, read_document
from planner.scenario.paths import with_overrides
from planner.strategy.evaluate import Result, evaluate
from tests import planning

ROOT = Path(__file__).resolve().parents[3]


def result_of(name: str, overrides: dict[str, Any]) -> Result:
    document = with_overrides(read_document((ROOT / "examples" / f"{name}.yaml").read_bytes()), overrides)
    return evaluate(check_document(document), planning.shipped_catalog(), planning.evidence(), today=planning.TODAY)


def notes(name: str, overrides: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {warning["code"]: warning for warning in plan_document(result_of(name, overrides))["warnings"]}


def test_a_note_on_a_prediction_says_of_which_job_and_place() -> None:
    found = notes("hybrid-lab", {})
    assert found["tight_memory"]["message"].startswith("key on ")
    assert found["checkpointing_raised"]["message"].startswith("key on server: ")


def test_an_owned_machine_that_is_replaced_is_said_with_its_month() -> None:
    owned = {"count": 1, "age_months": 24}
    found = notes(
        "student", {"machines.desktop.owned": owned, "horizon_months": 84, "machines.desktop.useful_life_months": 96}
    )
    assert found["owned_replaced"]["params"]["month"] == 72
    assert "owned_replaced" not in notes("student", {"machines.desktop.owned": owned, "horizon_months": 72})


def test_an_old_price_of_a_card_is_said_unless_it_is_the_users_own() -> None:
    new = {"machines.desktop.condition": "new", "machines.desktop.age_months": None}
    assert notes("student", new)["hardware_price_old"]["params"]["as_of"] == "2025-03-04"
    assert "hardware_price_old" not in notes("student", {**new, "machines.desktop.gpu_price_usd": 1500})


@pytest.mark.parametrize("name", ["hybrid-lab", "student", "pretrain-7b"])
def test_no_text_has_a_number_that_is_none(name: str) -> None:
    result = result_of(name, {})
    for text in (plan_csv(result), plan_text(plan_document(result))):
        assert re.search(r"\b(nan|None|inf)\b", text) is None
        assert "(unknown)" not in text


def test_the_page_of_text_is_in_the_currency_asked_for() -> None:
    document = plan_document(result_of("student", {"currencies.EUR.usd_per_unit": 2}))
    text = plan_text(document)
    rented = document["strategies"][1]["tco_usd"]
    assert f"{rented / 2:,.0f}" in next(line for line in text.splitlines() if line.startswith("Rent all"))
    assert "1 EUR = 2 USD (your own rate)" in text
