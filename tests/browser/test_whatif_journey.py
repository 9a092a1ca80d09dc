"""What a reader does on the What-if page: a second scenario, a slider, and the chances, on both themes and a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.helpers import charts_drawn, contrasts, cut_texts, open_app, settled, side_scroll

pytestmark = pytest.mark.browser

MAIN = '[data-testid="stMain"]'


def test_a_second_scenario_stands_beside_the_first_and_goes_along(page):
    open_app(page, "/what-if")
    expect(page.get_by_text("How sure")).to_be_visible(timeout=30_000)
    charts_drawn(page, 2)
    page.get_by_role("button", name="Twice the runs").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Two scenarios")
    expect(page.get_by_text("was 1,300")).to_be_visible()
    page.get_by_role("link", name="Plan", exact=True).click()
    settled(page)
    page.get_by_role("link", name="What-if", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Two scenarios")  # it stays


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop", "phone"])
def test_it_fits_and_can_be_read(new_page, size, scheme):
    page = new_page(size, scheme=scheme)
    open_app(page, "/what-if")
    expect(page.get_by_text("What would turn it")).to_be_visible(timeout=30_000)
    charts_drawn(page, 2)
    assert side_scroll(page) <= 0
    assert cut_texts(page) == []
    values = page.get_by_test_id("stSliderThumbValue").all_inner_texts()  # above the knob that holds them
    idle = page.locator("button:disabled").all_inner_texts()
    passed_over = {line for text in (*values, *idle) for line in text.split("\n")}
    faint = [(text, round(ratio, 1)) for text, ratio in contrasts(page, MAIN) if ratio < 4.5]
    assert [one for one in faint if one[0] not in passed_over] == []
