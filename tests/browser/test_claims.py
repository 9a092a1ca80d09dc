"""What a person does on the Claims page: filter, search, look at the sources, take the verdicts along."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DESKTOP, PHONE, ZOOMED
from tests.browser.helpers import charts_drawn, close_popover, contrasts, cut_texts, enter, open_app, side_scroll

pytestmark = pytest.mark.browser

SEARCH = "Search a GPU or a word"
BOXES = '[class*="st-key-claim_"]'
PILLS = '[data-testid="stButtonGroup"] button'
LABEL = """(button) => {
    const range = document.createRange();
    range.selectNodeContents(button);
    return range.getBoundingClientRect().toJSON();
}"""
MAIN = '[data-testid="stMain"]'


def pill(page, text):
    return page.locator(PILLS).filter(has_text=text)


def test_claims_can_be_filtered_and_searched(page):
    open_app(page, "/claims")
    charts_drawn(page, 1)
    count = int(pill(page, "Undecidable").inner_text().split()[-1])
    pill(page, "Undecidable").click()
    expect(page.locator(BOXES)).to_have_count(count)
    expect(page.locator(BOXES).first).to_contain_text("Undecidable")
    pill(page, "Undecidable").click()
    enter(page, SEARCH, "p4d.24xlarge price")
    enter(page, SEARCH, "p4d.24xlarge")
    expect(page.locator(BOXES)).to_have_count(1)
    expect(page.locator(BOXES)).to_contain_text("$21.96 an hour")
    enter(page, SEARCH, "no such thing")
    page.get_by_role("button", name="Show all claims").click()
    expect(page.locator(BOXES).nth(5)).to_be_visible()
    expect(page.get_by_label(SEARCH)).to_have_value("")


def test_a_claim_shows_its_sources(page):
    open_app(page, "/claims")
    enter(page, SEARCH, "16,384")
    expect(page.locator(BOXES)).to_have_count(1)
    page.locator(BOXES).get_by_role("button").first.click()
    body = page.get_by_test_id("stPopoverBody")
    expect(body.get_by_role("listitem")).to_have_count(1)
    expect(body).to_contain_text("read on")
    close_popover(page)


def test_the_spread_of_a_price_is_drawn(page):
    open_app(page, "/claims")
    enter(page, SEARCH, "TFLOPS 67")
    expect(page.locator(BOXES)).to_have_count(1)
    charts_drawn(page, 2)


def test_the_verdicts_can_be_taken_along(page, tmp_path):
    open_app(page, "/claims")
    page.locator(".st-key-claims_save").get_by_role("button").first.click()
    with page.expect_download() as started:
        page.get_by_role("button", name="Download JSON").click()
    started.value.save_as(tmp_path / "claims.json")
    assert started.value.suggested_filename == "claims.json"
    assert len(json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))["claims"]) >= 30


@pytest.mark.parametrize("size", [DESKTOP, ZOOMED, PHONE], ids=["desktop", "zoomed", "phone"])
def test_nothing_is_cut_or_scrolls_sideways(new_page, size):
    page = new_page(size)
    open_app(page, "/claims")
    assert side_scroll(page) <= 0
    assert cut_texts(page) == []
    for claim in page.locator(BOXES).all()[:6]:
        frame, button = claim.bounding_box(), claim.get_by_role("button").first
        label = button.evaluate(LABEL)
        assert label["left"] >= frame["x"]
        assert label["right"] <= frame["x"] + frame["width"] <= size["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_and_chosen_filters_can_be_read(new_page, scheme):
    page = new_page(scheme=scheme)
    open_app(page, "/claims")
    pill(page, "Conditional").click()
    pill(page, "Money").click()
    expect(page.get_by_text("claims", exact=False).first).to_be_visible()
    page.get_by_label(SEARCH).hover()
    texts = contrasts(page, MAIN)
    assert len(texts) > 20
    assert [(text, round(ratio, 1)) for text, ratio in texts if ratio < 4.5] == []
