"""What a lab manager does on the Timeline page: read who waits, ask about two more people, look at other ways."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DESKTOP, PHONE, ZOOMED
from tests.browser.helpers import charts_drawn, contrasts, cut_texts, enter, metric, open_app, settled, side_scroll

pytestmark = pytest.mark.browser

BOX = ".st-key-timeline_box"
MAIN = '[data-testid="stMain"]'


def answered(page):
    """The months are simulated and both questions answered."""
    open_app(page, "/timeline")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Nine in ten daily runs", timeout=30_000)
    expect(page.locator(BOX)).to_contain_text("One more workstation:", timeout=30_000)
    settled(page)


def test_waits_people_and_ways(page):
    open_app(page)
    page.get_by_role("link", name="Next: the months, and who waits").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("cash peaks in month 1", ignore_case=True)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Nine in ten daily runs", timeout=30_000)
    box = page.locator(BOX)
    expect(box).to_contain_text("Two more people:", timeout=30_000)
    charts_drawn(page, 4)
    enter(page, "More people", "20")
    expect(box).to_contain_text("20 more people: the machines can’t carry it", timeout=30_000)
    page.get_by_role("radio", name="Rent all").click()
    expect(metric(page, "Paid after the end")).to_have_text("nothing")
    charts_drawn(page, 1)
    page.get_by_role("radio", name="Fiscal year").click()
    expect(page.get_by_role("heading", name=re.compile("a usual year takes"))).to_be_visible()
    page.get_by_text("Every month in numbers").click()
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    page.get_by_role("radio", name="Mix").click()
    expect(box).to_contain_text("20 more people:", timeout=30_000)  # what was typed stays


@pytest.mark.parametrize("size", [DESKTOP, ZOOMED, PHONE], ids=["desktop", "zoomed", "phone"])
def test_nothing_is_cut_or_scrolls_sideways(new_page, size):
    page = new_page(size)
    answered(page)
    charts_drawn(page, 4)
    assert side_scroll(page) <= 0
    assert cut_texts(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read(new_page, scheme):
    page = new_page(scheme=scheme)
    answered(page)
    texts = contrasts(page, MAIN)
    assert len(texts) > 40
    assert [(text, round(ratio, 1)) for text, ratio in texts if ratio < 4.5] == []
