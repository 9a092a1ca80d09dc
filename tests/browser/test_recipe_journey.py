"""How a job is trained: choose a method in the table, see memory and what takes the time, at every width."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DESKTOP, PHONE, ZOOMED
from tests.browser.helpers import (
    choose_in_cell,
    cut_texts,
    edit_cell,
    metric,
    no_app_error,
    open_app,
    open_group,
    settled,
    side_scroll,
)

pytestmark = pytest.mark.browser


def open_advanced(page):
    open_app(page)
    open_group(page, "work")
    page.locator(".st-key-advanced_work summary").click()
    expect(page.get_by_label("Evaluation, key, %", exact=True)).to_be_visible()
    settled(page)


def test_a_method_chosen_in_the_table_stands_in_the_fields(page):
    open_app(page)
    before = metric(page, "Total").inner_text()
    open_group(page, "work")
    page.get_by_role("link", name="All jobs as a table").click()
    expect(page.get_by_role("button", name="Apply to the plan")).to_be_visible()
    settled(page)
    title = page.get_by_role("heading", level=1).inner_text()
    choose_in_cell(page, "Model", 1, "Llama 3 8B", "llama-3-8b")
    choose_in_cell(page, "Method", 1, "QLoRA", "qlora")
    edit_cell(page, "Runs a month", 0, "2600")
    page.get_by_role("button", name="Apply to the plan").click()
    expect(page.get_by_role("heading", level=1)).not_to_have_text(title)
    settled(page)
    page.get_by_test_id("stTopNavLink").filter(has_text="Plan").click()
    expect(metric(page, "Total")).not_to_have_text(before)
    settled(page)
    open_group(page, "work")
    page.locator(".st-key-advanced_work summary").click()
    expect(page.get_by_label("Rank of the adapters, key", exact=True)).to_be_visible()
    method = page.get_by_role("combobox", name="Method, key")
    expect(method).to_have_value("QLoRA: adapters, the rest in 4 bit")
    settled(page)


@pytest.mark.parametrize("size", [DESKTOP, ZOOMED, PHONE], ids=["desktop", "zoomed", "phone"])
def test_recipe_and_what_takes_the_time_fit_the_window(new_page, size):
    page = new_page(size)
    open_advanced(page)
    assert side_scroll(page) <= 0
    page.keyboard.press("Escape")
    page.get_by_text("Each job and where it runs").click()
    expect(page.get_by_text("What takes the time")).to_be_visible()
    expect(page.get_by_text(" of a step: ").first).to_be_visible()
    assert side_scroll(page) <= 0
    assert cut_texts(page) == []
    no_app_error(page)
