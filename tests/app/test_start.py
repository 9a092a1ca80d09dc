"""The Start page through AppTest: it recommends, explains what is wrong, and hands its answer to the Plan page."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ui.start_ask import FIRST

pytestmark = pytest.mark.app

ROOT = Path(__file__).resolve().parents[2]
BUDGET = "start_budget"
SIZE = "start_parameters"
OUTDATED = "Last good answer, before this change"


@pytest.fixture
def start_page():
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    at.switch_page("ui/pages/start.py").run()
    assert not at.exception
    return at


def change(at, key, value):
    at.text_input(key=key).set_value(value).run()
    assert not at.exception
    return at


def words(at):
    return "\n".join(markdown.value for markdown in at.markdown)


def problems(at):
    return [markdown.value for markdown in at.markdown if markdown.value.startswith(":red[")]


def heading(at):
    return next(markdown.value for markdown in at.markdown if markdown.value.startswith("## "))


def metrics(at):
    return {metric.label: (metric.value, metric.delta) for metric in at.metric}


def rough(amount):
    """The number of an amount such as "¥35 k", without its unit."""
    return float(amount.split("\N{NO-BREAK SPACE}")[0].lstrip("¥$"))


def test_a_first_visit_shows_a_marked_example_with_its_price_in_both_currencies(start_page):
    assert ":material/school:" in words(start_page)
    assert "¥" in heading(start_page)
    price, pill = metrics(start_page)["Price"]
    assert price in heading(start_page)
    assert pill.startswith("$")
    assert "of the price is estimated" in words(start_page)
    assert "oldest price of" in words(start_page)
    assert ":material/school:" not in words(change(start_page, BUDGET, "9000 CNY"))


def test_another_budget_gives_another_answer(start_page):
    before = heading(start_page)
    assert heading(change(start_page, BUDGET, "60000 USD")) != before
    assert not any(r"¥" in metric.value for metric in start_page.metric)


@pytest.mark.parametrize(
    ("key", "typed", "expected"),
    [
        (BUDGET, "8,000 CNY", "such as"),
        (BUDGET, "8000 XYZ", "a known currency"),
        (BUDGET, "8000", "an amount and a currency"),
        (BUDGET, "-5 CNY", "greater than 0"),
        (BUDGET, "0 CNY", "greater than 0"),
        (BUDGET, "", "an amount and a currency"),
        (BUDGET, "9e20 CNY", "1e12 USD"),
        (BUDGET, "1" * 5000, "an amount and a currency"),
        (SIZE, "big", "a number such as"),
        (SIZE, "9" * 400, "largest model"),
        ("start_samples", "0", "from 1"),
        ("start_months", "85", "1 to 84"),
        ("start_months", "2.5", "1 to 84"),
        ("start_months", "9" * 400, "1 to 84"),
    ],
)
def test_bad_input_stays_and_is_explained_under_its_field(start_page, key, typed, expected):
    before = heading(start_page)
    change(start_page, key, typed)
    assert start_page.text_input(key=key).value == typed
    assert len(problems(start_page)) == 1
    assert expected in problems(start_page)[0]
    assert len(problems(start_page)[0]) < 300
    assert OUTDATED in words(start_page)
    assert before.removeprefix("## ") in heading(start_page)
    change(start_page, key, FIRST[key.removeprefix("start_")])
    assert problems(start_page) == []
    assert OUTDATED not in words(start_page)


def test_each_wrong_field_has_its_own_words(start_page):
    start_page.text_input(key=BUDGET).set_value("many yuan")
    change(start_page, SIZE, "big")
    assert len(problems(start_page)) == 2


def test_a_budget_too_small_says_what_the_least_would_be_and_what_is_free(start_page):
    start_page.text_input(key=SIZE).set_value("7B")
    change(start_page, BUDGET, "3 USD")
    shown = words(start_page)
    assert problems(start_page) == []
    assert "This budget is too small for any of this work" in shown
    assert "The least to buy" in shown
    assert "The least to rent for all months" in shown
    assert "more than the budget" in shown
    assert "an hour" in shown
    assert "Kaggle" in shown
    assert len(start_page.metric) == 0


def test_a_budget_for_a_few_attempts_contradicts_itself_nowhere(start_page):
    change(start_page, BUDGET, "1 USD")
    shown = words(start_page)
    assert "The budget pays for 7 of 7,680 attempts of the work" in shown
    assert "This budget is too small" not in shown
    assert "more than the budget" in shown
    start_page.session_state["start_all_rentals"] = True
    start_page.run()
    table = start_page.dataframe[0].value
    assert table["Pays for"].str.fullmatch(r"[1-9]\d* of [\d,]+ attempts").all()


def test_a_total_beyond_the_budget_is_said_beside_the_pick(start_page):
    start_page.selectbox(key="start_use").set_value("serving")
    change(start_page, BUDGET, "1885 EUR")
    assert start_page.title[0].value == "What do you want to serve, and what can you spend?"
    assert "The budget is held against the total" in words(start_page)
    assert ":material/warning: The total is €24.1 more than the budget." in words(start_page)


def test_small_letters_are_a_currency_too(start_page):
    before = heading(start_page)
    assert heading(change(start_page, BUDGET, "8000 cny")) == before


def test_a_budget_for_a_part_says_for_how_long_it_lasts(start_page):
    start_page.text_input(key=SIZE).set_value("1B")
    change(start_page, BUDGET, "20000 CNY")
    assert "The budget pays for" in words(start_page)
    assert "The least to buy" in words(start_page)


@pytest.mark.parametrize("use", ["teaching", "research", "training", "serving"])
@pytest.mark.parametrize("budget", ["8000 CNY", "30000 CNY", "60000 USD", "1000000 USD", "0.01 USD", "5000000 JPY"])
def test_every_use_and_budget_comes_out_in_clear_words(start_page, use, budget):
    start_page.selectbox(key="start_use").set_value(use)
    change(start_page, BUDGET, budget)
    shown = words(start_page) + " ".join(f"{metric.value} {metric.delta}" for metric in start_page.metric)
    for fault in ("nan", "None", "recommend_", "inf "):
        assert fault not in shown
    assert problems(start_page) == []


def test_the_recommendation_opens_as_a_plan_with_its_machine(start_page):
    change(start_page, BUDGET, "30000 CNY")
    total = start_page.metric[1].value
    start_page.button(key="start_open_pick").click().run()
    assert not start_page.exception
    assert rough(metrics(start_page)["Total, 24 months"][0]) == pytest.approx(rough(total), rel=0.05)
    assert start_page.title[0].value.startswith("Own")
    assert start_page.session_state["base"]["currency"] == "CNY"
    assert start_page.session_state["refused"] is None
    start_page.switch_page("ui/pages/start.py").run()
    assert start_page.text_input(key=BUDGET).value == "30000 CNY"


def test_a_recommended_rental_opens_as_a_plan_that_rents(start_page):
    change(start_page, BUDGET, "60000 CNY")
    assert heading(start_page).startswith("## Rent")
    total = start_page.metric[1].value
    start_page.button(key="start_open_pick").click().run()
    assert not start_page.exception
    assert start_page.title[0].value.startswith("Rent")
    assert rough(metrics(start_page)["Total, 24 months"][0]) == pytest.approx(rough(total), rel=0.05)


def test_a_step_opens_as_a_plan_too(start_page):
    start_page.button(key="start_open_up").click().run()
    assert not start_page.exception
    assert "Total, 24 months" in metrics(start_page)
    assert start_page.session_state["refused"] is None


def test_other_questions_fill_the_fields(start_page):
    start_page.button(key="start_ask_research").click().run()
    assert not start_page.exception
    assert start_page.text_input(key=BUDGET).value == "800000 CNY"
    assert start_page.selectbox(key="start_use").value == "research"
    assert start_page.text_input(key=SIZE).value == "6.5B"
    assert problems(start_page) == []


def test_an_example_opens_as_a_plan(start_page):
    start_page.button(key="start_example_student").click().run()
    assert not start_page.exception
    assert start_page.session_state["example"] == "student"
    assert len(start_page.metric) == 4


def test_all_options_of_a_budget_are_listed_with_price_and_date(start_page):
    start_page.session_state["start_all_builds"] = True
    start_page.run()
    table = start_page.dataframe[0].value
    assert len(table) > 3
    assert (table["Price of"] != "").all()
    assert table["Price"].str.contains("¥").all()
