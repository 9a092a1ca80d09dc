"""A plan as a page of text: one currency, nothing said twice, figures that can be read."""

import re
from typing import Any

import pytest

from planner.report.document import issue_entry, plan_document
from planner.report.finance import with_finance
from planner.report.text import plan_text
from planner.report.waiting import with_waiting
from planner.strategy.problem import Issue
from tests.planning import document, solve

EUR_AT_2 = {"currency": "EUR", "currencies.EUR.usd_per_unit": 2}


def page(name: str, changes: dict[str, Any]) -> tuple[dict[str, Any], str]:
    result = solve(document(name, changes))
    full = with_finance(with_waiting(plan_document(result), result), result)
    return full, plan_text(full)


def test_sentences_are_in_the_currency_of_the_tables() -> None:
    plan, text = page("hybrid-lab", EUR_AT_2)
    saving = plan["reason_params"]["saving_usd"]
    assert f"{saving:,.0f} USD" in plan["reason"]
    (reason,) = (line for line in text.splitlines() if line.startswith("Recommended: "))
    assert f"{float(f'{saving / 2:.3g}'):,.0f} EUR" in reason
    assert "USD" not in reason
    assert "amounts without a currency are in EUR" in text


def test_what_holds_for_several_jobs_is_noted_once() -> None:
    plan, _ = page("hybrid-lab", {})
    params = {"software": "PyTorch 2.5", "slowest": 40, "fastest": 50}
    where = [f"{job} on workstation" for job in ("daily", "key")]
    issues = [issue_entry(Issue(code="other_stacks", where=place, params=params)) for place in where]
    lines = plan_text({**plan, "warnings": [*plan["warnings"], *issues]}).splitlines()
    (noted,) = (line for line in lines if "PyTorch 2.5" in line)
    assert noted.startswith("Note: daily on workstation, key on workstation: measured with PyTorch 2.5;")


def test_no_figure_of_the_text_needs_an_exponent() -> None:
    """A limit so long that an instance surely comes, and interruptions so rare that nothing is lost."""
    changes = {"jobs.train.deadline_h": 30, "offers.p4d-spot.interrupted_share_per_month": 0.00001}
    _, text = page("spot-node", changes)
    assert "none is granted in less than 0.01 % of the cases" in text
    assert "less than 0.01 h paid for nothing" in text
    assert re.search(r"\de[+-]\d", text) is None


def test_problems_stand_below_the_ways_and_a_plan_without_a_way_says_so() -> None:
    _, text = page("hybrid-lab", {"jobs.key.deadline_h": 1})
    lines = text.splitlines()
    assert lines[2] == "Recommended: none. No way does all the work within its limits: see the problems of each"
    jobs = next(at for at, line in enumerate(lines) if line.startswith("way  "))
    problems = [
        at for at, line in enumerate(lines) if re.match(r"(Own all|Rent all|Mix): jobs\.key\.deadline_h: ", line)
    ]
    assert len(problems) == 2  # own all fails for another reason
    assert max(problems) < jobs


@pytest.mark.parametrize("owned", [False, True])
def test_the_money_says_why_its_cash_is_not_the_total(owned: bool) -> None:
    there = {"machines.workstation.owned": {"count": 1, "age_months": 12}} if owned else {}
    plan, text = page("hybrid-lab", {"plan_starts": "2026-10", "fiscal_year_starts": 4, **there})
    assert "Pre-tax result" in text
    (mix,) = (way for way in plan["finance"]["strategies"] if way["id"] == plan["recommended"])
    assert (mix["not_cash_usd"] > 0) is owned
    assert ("which is no cash" in text) is owned


def test_quarters_above_the_ceiling_for_the_same_reason_are_one_note() -> None:
    plan, text = page("hybrid-lab", {"cash_ceiling_usd_per_quarter": 100})
    code = "quarter_above_ceiling_anyway"
    quarters = [
        warning["params"]["quarter"]
        for warning in plan["warnings"]
        if warning["code"] == code and warning["params"]["way"] == "Rent all"
    ]
    assert len(quarters) == 20
    (noted,) = (line for line in text.splitlines() if line.startswith("Note: Rent all is above the 100 USD"))
    assert [part.split(" by ")[0].strip() for part in noted.split("alone:")[1].split(", ")] == quarters
