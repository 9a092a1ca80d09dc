"""What the Start page says of a recommendation, and the tables of what a budget buys and rents."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from planner.advise.recommend.answer import recommend
from planner.advise.recommend.ask import Ask, parse_budget
from planner.report.recommendation import recommendation_document
from tests.planning import TODAY, evidence, shipped_catalog
from ui.start_tables import _WIDEST_PINNED_PX, option_rows, short_enough, width
from ui.start_view import StartView

GRID_PX = 1160  # of the tables on a screen of 1360
QUESTIONS = [
    (use, budget)
    for use in ("teaching", "research", "training", "serving")
    for budget in ("1 USD", "2000 EUR", "8000 CNY", "50000 CNY", "60000 USD")
]


@cache
def view_of(use: str, budget: str) -> StartView:
    ask = Ask(budget=parse_budget(budget), use=use)  # type: ignore[arg-type]
    found = recommend(ask, shipped_catalog(), evidence(), today=TODAY)
    return StartView(recommendation_document(found), shipped_catalog())


def changed(view: StartView, **changes: Any) -> dict[str, Any]:
    assert view.pick is not None
    return {**view.pick, **changes}


@pytest.mark.parametrize(("use", "budget"), QUESTIONS)
@pytest.mark.parametrize("kind", ["builds", "rentals"])
def test_rows_differ_in_more_than_their_prices_and_nothing_is_cut_off(use: str, budget: str, kind: str) -> None:
    rows = option_rows(view_of(use, budget), kind)
    named = ("GPU", "Machines", "Cards", "In", "Provider", "Region", "Offer")
    names = [tuple(row[column] for column in named if column in row) for row in rows]
    assert len(set(names)) == len(names)
    for row in rows:
        assert all(str(value).strip() for value in row.values())
    if rows:
        widths = {column: width(column, rows) for column in rows[0]}
        assert sum(widths.values()) <= GRID_PX
        assert widths["GPU"] <= _WIDEST_PINNED_PX


def test_wide_characters_need_twice_the_room() -> None:
    assert width("x", [{"x": "恒源云恒源云"}]) == width("x", [{"x": "abcdefghijkl"}])


def test_shortened_names_stay_apart() -> None:
    names = [gpu.name for gpu in shipped_catalog().gpus.values()]
    assert len({short_enough(name) for name in names}) == len(set(names))
    assert short_enough("GeForce RTX 3060 12GB") == "RTX 3060 12GB"


def test_the_budget_is_held_against_a_sum_that_adds_up() -> None:
    view = view_of("teaching", "7800 CNY")
    assert view.pick is not None
    words = view.budget(view.pick)
    bought, running, resale, total = (
        float(amount.replace(",", "")) for amount in re.findall(r"¥([\d,]+)", words)
    )  # fmt: skip
    assert bought + running - resale == pytest.approx(total, abs=20)
    assert "within the 7,800\N{NO-BREAK SPACE}CNY" in words
    assert view.over(view.pick).startswith("Until the resale about ¥1")
    assert view.over(changed(view, early_over_budget_usd=0.0)) == ""


def test_a_total_beyond_the_budget_is_said() -> None:
    view = view_of("serving", "1885 EUR")
    assert view.pick is not None
    assert "within" not in view.budget(view.pick)
    assert re.fullmatch(r"The total is €[\d.]+ more than the budget\.", view.over(view.pick))
    assert view.cautions(view.pick)[0] == view.over(view.pick)


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.0, "at the quoted price"), (0.004, "under 1\N{NO-BREAK SPACE}% estimated"), (0.5, "50\N{NO-BREAK SPACE}%")],
)
def test_nothing_is_called_none_estimated(share: float, words: str) -> None:
    view = view_of("teaching", "1 USD")
    pick = changed(view, total_estimated_share=share)
    assert view.figures(pick)[1][2].startswith(words)
    month = view.parts(pick)[-1]["Part"]
    assert ("estimate" in month) is (share > 0)


def test_billed_hours_are_explained() -> None:
    view = view_of("teaching", "1 USD")
    assert view.pick is not None
    assert view.billed(view.pick).startswith("320 machine-hours a month are paid for: 320 attempts, each billed 1 h")
    assert view.billed(changed(view, reasons=[])) == ""


@pytest.mark.parametrize(
    ("factor", "words"), [(2.5, "2.5 times as fast"), (1.02, "About as fast"), (0.32, "Takes 3.1 times as long")]
)
def test_speeds_beside_the_pick_are_said_without_fractions(factor: float, words: str) -> None:
    view = view_of("teaching", "8000 CNY")
    assert view.pick is not None
    assert view.beside_pick(changed(view, speed=view.pick["speed"] * factor)) == words


def test_a_slower_service_answers_a_part_of_the_peak() -> None:
    view = view_of("serving", "2000 EUR")
    assert view.pick is not None
    words = view.beside_pick(changed(view, speed=view.pick["speed"] * 0.5))
    assert words == "Answers 50\N{NO-BREAK SPACE}% of the peak of the pick"


@pytest.mark.parametrize(("use", "budget"), QUESTIONS)
def test_estimates_have_three_digits(use: str, budget: str) -> None:
    view = view_of(use, budget)
    if view.pick is None:
        return
    texts = [view.heading(view.pick), view.budget(view.pick), view.over(view.pick), *view.why(view.pick)]
    texts += [part for row in view.parts(view.pick) for name, part in row.items() if name != "USD"]
    texts += [text for figure in view.figures(view.pick) for text in figure]
    texts += [row[name] for kind in ("builds", "rentals") for row in option_rows(view, kind) for name in row]
    amounts = re.findall(r"[¥€](\d[\d,.]*)", " ".join(texts))
    assert [a for a in amounts if len(a.replace(",", "").replace(".", "").strip("0")) > 3] == []


def test_the_grey_line_has_the_rate_as_it_is_quoted_and_marks_an_estimate() -> None:
    line = view_of("teaching", "8000 CNY").grey_line()
    assert line.endswith("7.185 CNY per USD, Jul\N{NO-BREAK SPACE}2025, an estimate")
    assert "per" not in view_of("teaching", "1 USD").grey_line()
