"""What a person does on the Start page: ask, mistype, open the recommendation as a plan."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DESKTOP, PHONE, ZOOMED
from tests.browser.helpers import charts_drawn, contrasts, cut_texts, enter, metric, open_app, side_scroll

pytestmark = pytest.mark.browser

BUDGET = "Budget, with currency"
SIZE = "Model size, parameters"
MAIN = '[data-testid="stMain"]'
TABLET = {"width": 1000, "height": 720}


def test_a_recommendation_opens_as_a_plan(page):
    open_app(page, "/start")
    enter(page, BUDGET, "30000 CNY")
    expect(page.locator(".st-key-start_top")).not_to_contain_text("Example")
    expect(page.locator("[data-stale=true]")).to_have_count(0)
    expect(page.locator(".st-key-start_pick")).to_contain_text("¥")
    total = metric(page, "Total, 24 months").inner_text()
    page.locator(".st-key-start_open_pick").get_by_role("button").click()
    charts_drawn(page, 2)
    expect(metric(page, "Total, 24 months")).to_be_visible()
    expect(page.locator(".st-key-frame_top")).to_contain_text("constant CNY")
    assert metric(page, "Total, 24 months").inner_text()[:2] == total[:2]
    page.get_by_test_id("stTopNavLink").filter(has_text="Start").click()
    expect(page.get_by_label(BUDGET, exact=True)).to_have_value("30000 CNY")


def test_a_bad_budget_is_kept_and_explained(page):
    open_app(page, "/start")
    enter(page, BUDGET, "8,000 yuan")
    expect(page.get_by_text("“8,000 yuan” does not work here")).to_be_visible()
    expect(page.get_by_text("Last good answer, before this change")).to_be_visible()
    expect(page.get_by_label(BUDGET, exact=True)).to_have_value("8,000 yuan")
    enter(page, BUDGET, "8000 CNY")
    expect(page.get_by_text("does not work here")).to_have_count(0)
    expect(page.get_by_text("Last good answer, before this change")).to_have_count(0)


def test_a_small_budget_names_the_least(page):
    open_app(page, "/start")
    enter(page, SIZE, "7B")
    enter(page, BUDGET, "3 USD")
    expect(page.get_by_text("This budget is too small for any of this work")).to_be_visible()
    expect(page.locator(".st-key-start_free")).to_contain_text("Kaggle")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_side_scroll(new_page, size):
    page = new_page(size)
    open_app(page, "/start")
    assert side_scroll(page) <= 0
    enter(page, BUDGET, "3 USD")
    expect(page.get_by_text("The least to buy")).to_be_visible()
    assert side_scroll(page) <= 0


@pytest.mark.parametrize("size", [DESKTOP, TABLET, ZOOMED, PHONE], ids=["desktop", "tablet", "zoomed", "phone"])
def test_no_label_is_cut(new_page, size):
    page = new_page(size)
    open_app(page, "/start")
    page.locator(".st-key-start_more summary").click()
    assert page.get_by_label("Use", exact=True).evaluate("e => e.scrollWidth - e.clientWidth") <= 0
    assert cut_texts(page) == []
    enter(page, BUDGET, "300000 CNY")
    expect(page.locator(".st-key-start_pick")).to_contain_text("within the 300,000 CNY")
    assert cut_texts(page) == []
    enter(page, BUDGET, "3 USD")
    expect(page.get_by_text("The least to buy")).to_be_visible()
    assert cut_texts(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read(new_page, scheme):
    page = new_page(scheme=scheme)
    open_app(page, "/start")
    enter(page, BUDGET, "20 elephants")
    expect(page.get_by_text("does not work here")).to_be_visible()
    texts = contrasts(page, MAIN)
    assert len(texts) > 40
    assert [(text, round(ratio, 1)) for text, ratio in texts if ratio < 4.5] == []


def test_a_total_beyond_the_budget_is_said_beside_the_pick(page):
    open_app(page, "/start")
    enter(page, BUDGET, "1 USD")
    pick = page.locator(".st-key-start_pick")
    expect(pick).to_contain_text("The budget pays for 7 of 7,680 attempts of the work")
    expect(pick).to_contain_text("more than the budget")
    page.locator(".st-key-start_all_rentals").locator("summary").click()
    grid = page.get_by_test_id("stDataFrame")
    expect(grid.locator("[role=columnheader]").filter(has_text="Offer")).to_have_count(1)
    scroller = grid.locator(".dvn-scroller")
    assert scroller.evaluate("e => e.scrollWidth - e.clientWidth") <= 0  # all columns are seen whole
