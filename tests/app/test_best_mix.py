"""The best mix on the Plan page: it follows the named ways, can be skipped, and says which limit to relax."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from planner.strategy.optimise import front
from tests.app.markdown_tables import markdown_tables
from tests.mixes import small_mix
from ui import background

pytestmark = pytest.mark.app

ROOT = Path(__file__).resolve().parents[2]
TOTAL = "in:limits.total_usd"


@pytest.fixture(autouse=True)
def best_mix_left(monkeypatch):
    """Here it is looked for, at once."""
    monkeypatch.setattr(background, "HEAD_START_S", 0.0)


def opened(document, **state):
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for key, value in state.items():
        at.session_state[key] = value
    at.session_state["base"] = document
    at.session_state["typed"] = {}
    at.session_state["refused"] = None
    at.session_state["example"] = ""
    at.run()
    assert not at.exception
    return at


def words(at):
    return "\n".join(markdown.value for markdown in at.markdown)


@pytest.fixture(scope="module")
def document():
    """A question whose best mix is none of the named ways."""
    return {"name": "Small", **small_mix(5, few_runs=False)}


def test_the_best_mix_follows_as_a_fourth_way(document):
    at = opened(document)
    heading = next(text.value for text in at.markdown if text.value.startswith("### The best mix saves"))
    assert heading.endswith("against owning everything, later money counted less")
    rows = [row for table in markdown_tables(at) for row in table.to_dict("records")]
    assert [row["Way"] for row in rows if "Present value" in row] == ["Best mix", "Own all", "Rent all"]
    assert {row["Do"] for row in rows if "Do" in row} == {"Own", "Rent"}
    assert "Not used, the nearest first" in words(at)
    assert "of 100 futures" in words(at)
    assert "still being looked for" not in words(at)
    assert not [button for button in at.button if button.key == "leave_best_mix"]


def test_the_same_plan_is_said_in_one_line():
    at = opened({"name": "Same", **small_mix(0, few_runs=False)})
    assert "### The best mix is the same plan as Own all" in words(at)
    assert "Best mix" not in {row.get("Way") for table in markdown_tables(at) for row in table.to_dict("records")}


def test_a_search_can_be_skipped_and_taken_up_again(document):
    at = opened({**document, "name": "Skipped"}, left_alone={"best_mix"})
    assert "The best mix was not looked for" in words(at)
    assert at.title[0].value.startswith("Own ")
    assert "The best mix saves" not in words(at)
    at.button(key="start_best_mix").click().run()
    assert not at.exception
    assert "### The best mix saves" in words(at)


def test_limits_that_no_plan_keeps_say_which_to_relax_and_a_button_does(document):
    at = opened({**document, "limits": {"total_usd": 100}})
    assert at.title[0].value == "No way gets this work done as asked"
    box = at.error[0].value
    assert "**Best mix**: No plan does all the work with “Most in total, USD” at \\$100; it would have to be" in box
    remedy = at.button(key="remedy_0")
    assert remedy.label.startswith("Set “Most in total, USD” to ")
    remedy.click().run()
    assert not at.exception
    assert not at.error


def test_cleaner_and_quicker_plans_are_looked_for_on_demand(monkeypatch, document):
    monkeypatch.setattr(front, "STEPS", 1)
    at = opened(document, details_front=True)
    heads = [text.value for text in at.markdown if text.value.startswith("### ")]
    assert any("shortest runs" in head or "times as fast" in head for head in heads)
    assert any("CO₂e" in head or "emits the least" in head for head in heads)


def test_a_limit_that_is_none_is_explained_at_its_field(document):
    at = opened({**document}, advanced_money=True, more_money="limits")
    at.text_input(key=TOTAL).set_value("-5").run()
    assert at.text_input(key=TOTAL).value == "-5"
    assert any("“-5”" in text.value and "Expected" in text.value for text in at.markdown)
    assert "Most in total, USD" in at.error[0].value
