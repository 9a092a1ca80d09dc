"""The What-if page through AppTest: scenarios side by side, sliders, certainty, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.app

ROOT = Path(__file__).resolve().parents[2]
PAGE = "ui/pages/whatif.py"


@pytest.fixture
def page():
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    at.switch_page(PAGE).run()
    assert not at.exception
    return at


def words(at):
    return "\n".join(markdown.value for markdown in at.markdown)


def press(at, label):
    next(button for button in at.button if button.label == label).click().run()
    assert not at.exception
    return at


def totals(at):
    return [metric.value for metric in at.metric]


def test_a_first_visit_shows_the_plan_and_how_sure_it_is(page):
    assert page.title[0].value == "What would change the plan?"
    assert len(page.metric) == 1
    text = words(page)
    assert "looking for turning points" not in text  # computed by now
    chances = [int(found) for found in re.findall(r"\| (?:Own all|Rent all|Mix) \| (\d+) \|", text)]
    assert len(chances) == 3
    assert sum(chances) == pytest.approx(100, abs=1)
    assert "**Rent all** with all rental prices at 72" in text


def test_a_suggestion_stands_beside_the_plan_with_what_it_was(page):
    press(page, "Twice the runs")
    assert len(page.metric) == 2
    assert totals(page)[0] != totals(page)[1]
    assert page.title[0].value.startswith("Two scenarios")
    assert "was 1,300" in words(page).replace("\N{NO-BREAK SPACE}", " ")


def test_four_scenarios_are_the_most(page):
    for label in ("Twice the runs", "Used cards", "Electricity twice as dear"):
        press(page, label)
    assert len(page.metric) == 4
    assert "Four scenarios are the most" in words(page)
    assert not [button for button in page.button if button.label.startswith("Rental 30")]


def test_a_slider_changes_the_plan_shown_and_can_be_kept_or_put_back(page):
    slider = next(one for one in page.slider if one.label.startswith("Rental prices"))
    slider.set_value(50.0).run()
    assert not page.exception
    assert "Renting all becomes the best way" in words(page)
    press(page, "Back to baseline")
    assert "Move a slider to see what it changes" in words(page)
    next(one for one in page.slider if one.label.startswith("Rental prices")).set_value(50.0).run()
    press(page, "Keep as scenario")
    assert len(page.metric) == 2
    assert "Rental at 50" in words(page)


def test_a_broken_file_is_refused_with_its_reason_and_nothing_is_lost(page):
    press(page, "Twice the runs")
    page.session_state["whatif_add"] = True
    page.run()
    page.file_uploader[-1].upload(
        "bad.yaml", b"schema_version: 1\nhorizon_months: -3\njobs: {a: {}}\n", "text/yaml"
    ).run()
    assert not page.exception
    said = page.error[0].value
    assert "bad.yaml was not opened" in said
    assert "found -3" in said
    assert len(page.metric) == 2


def test_a_name_that_another_scenario_has_is_refused(page):
    press(page, "Twice the runs")
    page.session_state["whatif_menu_kept-1"] = True
    page.run()
    name = next(field for field in page.text_input if field.label == "Name")
    name.set_value("Hybrid lab").run()
    assert "Another scenario is called Hybrid lab already" in page.error[0].value
    assert "**Twice the runs**" in words(page)


def test_why_not_the_other_is_one_page(page):
    page.session_state["whatif_why_not"] = True
    page.run()
    assert not page.exception
    text = words(page)
    assert "Where the difference comes from" in text
    assert "Mix" in text
