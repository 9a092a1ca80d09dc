"""Jobs in the table of the Work page: edit cells, add a job, see the answer change; wrong values are named and stay."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DESKTOP, PHONE, ZOOMED
from tests.browser.helpers import (
    add_row,
    charts_drawn,
    choose_in_cell,
    contrasts,
    cut_texts,
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
MAIN = '[data-testid="stMain"]'


def title(page):
    return page.get_by_role("heading", level=1)


def apply(page):
    page.get_by_role("button", name="Apply to the plan").click()


def start_from_nothing(page, path="/"):
    open_app(page, path)
    page.locator(".st-key-scenario_popover").get_by_role("button").first.click()
    page.get_by_role("button", name="Start from nothing").click()
    expect(title(page)).to_have_text(re.compile("Nothing to plan yet|What do you train"))
    page.keyboard.press("Escape")
    settled(page)


def test_choose_a_job_edit_its_runs_and_add_another(page):
    open_app(page)
    open_group(page, "work")
    page.get_by_role("link", name="All jobs as a table").click()
    expect(title(page)).to_have_text(re.compile("1,300 daily runs a month fill two RTX 4090 to"))
    before = title(page).inner_text()
    page.get_by_role("radio", name="key").click()
    expect(page.get_by_role("heading", name=re.compile("places can do a key run"))).to_be_visible()
    charts_drawn(page, 2)
    expect(page.locator('[aria-label*="Optimizer states"]').first).to_be_attached()  # memory, in the chart's words
    edit_cell(page, "Runs a month", 0, "-5")
    add_row(page)
    edit_cell(page, "Job", 2, "vision")
    choose_in_cell(page, "Model", 2, "ResNet-50, ImageNet", "resnet50-imagenet")
    edit_cell(page, "Runs a month", 2, "4")
    apply(page)
    expect(page.get_by_test_id("stAlert")).to_contain_text("Row 1, daily, Runs a month: “-5” does not work here")
    expect(title(page)).to_have_text(before)
    cells = page.get_by_test_id("stDataFrame").locator("[role=gridcell]")
    expect(cells.filter(has_text="-5")).to_have_count(1)
    expect(cells.filter(has_text="vision")).to_have_count(1)
    settled(page)
    edit_cell(page, "Runs a month", 0, "2600")
    apply(page)
    expect(title(page)).to_have_text(re.compile("2,604 runs a month fill"))
    settled(page)
    edit_cell(page, "Limit, h", 1, "0.001")
    apply(page)
    expect(title(page)).to_have_text("No way runs key as asked")
    expect(page.get_by_test_id("stAlert")).to_contain_text("one run of key takes")
    expect(cells.filter(has_text="0.001")).to_have_count(1)
    settled(page)


def test_a_first_job_from_nothing(page):
    start_from_nothing(page)
    page.get_by_role("button", name="Add a first job").click()
    expect(title(page)).to_have_text("What do you train?")
    settled(page)
    edit_cell(page, "Job", 0, "first")
    choose_in_cell(page, "Model", 0, "ResNet-50, ImageNet", "resnet50-imagenet")
    edit_cell(page, "Runs a month", 0, "4")
    apply(page)
    expect(title(page)).to_have_text(re.compile("4 first runs a month take"))
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


@pytest.mark.parametrize("size", [DESKTOP, ZOOMED, PHONE], ids=["desktop", "zoomed", "phone"])
def test_work_and_the_empty_page_stay_inside_the_window(new_page, size):
    page = new_page(size)
    open_app(page, "/work")
    charts_drawn(page, 2)
    page.get_by_text("Every job on every machine and offer").click()
    expect(page.get_by_test_id("stDataFrame")).to_have_count(2)
    assert side_scroll(page) <= 0
    assert cut_texts(page) == []
    start_from_nothing(page)
    assert side_scroll(page) <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_work_with_an_error_and_the_empty_page_can_be_read(new_page, scheme):
    page = new_page(scheme=scheme)
    open_app(page, "/work")
    edit_cell(page, "Runs a month", 0, "-5")
    apply(page)
    expect(page.get_by_test_id("stAlert")).to_be_visible()
    texts = contrasts(page, MAIN)
    assert len(texts) > 25
    assert [(text, round(ratio, 1)) for text, ratio in texts if ratio < 4.5] == []
    start_from_nothing(page)
    texts = contrasts(page, ".st-key-empty")
    assert len(texts) > 3
    assert [(text, round(ratio, 1)) for text, ratio in texts if ratio < 4.5] == []
