"""Jobs in the table: edit a cell, add a job, see the plan change; a wrong value is named and stays."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.helpers import (
    add_row,
    choose_in_cell,
    contrasts,
    edit_cell,
    metric,
    open_app,
    open_group,
    settled,
    side_scroll,
)

pytestmark = pytest.mark.browser

IMPOSSIBLE = b"""schema_version: 1
name: Too large
horizon_months: 12
site: {id: us-average}
jobs:
  giant: {workload: llama-3.1-405b, tokens: 1000000000, runs_per_month: 1, class: key, max_gpus: 8, deadline_h: 1}
rental: {gpus: [t4]}
"""


def open_table(page):
    open_app(page)
    open_group(page, "work")
    page.get_by_role("button", name="All jobs as a table").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Apply to the plan")).to_be_visible()
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    return dialog


def start_from_nothing(page):
    open_app(page)
    page.locator(".st-key-scenario_popover").get_by_role("button").first.click()
    page.get_by_role("button", name="Start from nothing").click()
    expect(page.get_by_role("heading", name="Nothing to plan yet")).to_be_visible()
    page.keyboard.press("Escape")
    settled(page)


def test_edit_a_cell_add_a_job_and_see_the_plan_change(page):
    dialog = open_table(page)
    before = metric(page, "Total").inner_text()
    edit_cell(page, "Runs a month", 0, "-5")
    add_row(page)
    edit_cell(page, "Job", 2, "vision")
    choose_in_cell(page, "Model", 2, "ResNet-50, ImageNet", "resnet50-imagenet")
    edit_cell(page, "Runs a month", 2, "4")
    apply = dialog.get_by_role("button", name="Apply to the plan")
    apply.click()
    alert = dialog.get_by_test_id("stAlert")
    expect(alert).to_contain_text("Row 1, daily, Runs a month: “-5” does not work here")
    expect(metric(page, "Total")).to_have_text(before)
    cells = page.get_by_test_id("stDataFrame").locator("[role=gridcell]")
    expect(cells.filter(has_text="-5")).to_have_count(1)
    expect(cells.filter(has_text="vision")).to_have_count(1)
    settled(page)
    edit_cell(page, "Runs a month", 0, "2600")
    apply.click()
    expect(dialog).to_have_count(0)
    expect(metric(page, "Total")).not_to_have_text(before)
    expect(page.locator(".st-key-group_work")).to_contain_text("2,600 + 0.2 + 4 runs a month")
    settled(page)
    open_group(page, "work")
    expect(page.get_by_label("Runs a month, vision", exact=True)).to_have_value("4")


def test_closing_the_table_changes_nothing(page):
    dialog = open_table(page)
    before = metric(page, "Total").inner_text()
    edit_cell(page, "Runs a month", 0, "9")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    expect(page.locator(".st-key-group_work")).to_be_visible()
    expect(metric(page, "Total")).to_have_text(before)
    settled(page)


def test_a_first_job_from_nothing(page):
    start_from_nothing(page)
    page.get_by_role("button", name="Add a first job").click()
    edit_cell(page, "Job", 0, "first")
    choose_in_cell(page, "Model", 0, "ResNet-50, ImageNet", "resnet50-imagenet")
    edit_cell(page, "Runs a month", 0, "4")
    page.get_by_role("button", name="Apply to the plan").click()
    expect(metric(page, "Total, 36 months")).to_be_visible()
    settled(page)


def test_an_impossible_plan_becomes_possible_at_a_click(page):
    open_app(page)
    page.locator(".st-key-scenario_popover").get_by_role("button").first.click()
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(
        {"name": "x.yaml", "mimeType": "application/yaml", "buffer": IMPOSSIBLE}
    )
    expect(page.get_by_text("This plan cannot be made as asked")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator(".st-key-remedy_0").get_by_role("button").click()
    expect(metric(page, "Total, 12 months")).to_be_visible()
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    settled(page)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_table_and_empty_page_stay_inside_the_window(new_page, size):
    page = new_page(size)
    dialog = open_table(page)
    box = dialog.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= size["width"]
    assert side_scroll(page) <= 0
    start_from_nothing(page)
    assert side_scroll(page) <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_table_and_empty_page_can_be_read(new_page, scheme):
    page = new_page(scheme=scheme)
    dialog = open_table(page)
    edit_cell(page, "Runs a month", 0, "-5")
    dialog.get_by_role("button", name="Apply to the plan").click()
    expect(dialog.get_by_test_id("stAlert")).to_be_visible()
    texts = contrasts(page, '[role="dialog"] [data-testid="stAlert"], [role="dialog"] [data-testid="stMarkdown"]')
    assert len(texts) > 2
    assert [(text, round(ratio, 1)) for text, ratio in texts if ratio < 4.5] == []
    start_from_nothing(page)
    texts = contrasts(page, ".st-key-empty")
    assert len(texts) > 3
    assert [(text, round(ratio, 1)) for text, ratio in texts if ratio < 4.5] == []
