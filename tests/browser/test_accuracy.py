"""What a person does on the Accuracy page: look at a GPU and a run, compare own runs, use them in the plan."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DESKTOP, PHONE, ZOOMED
from tests.browser.helpers import (
    at_rest,
    charts_drawn,
    close_popover,
    contrasts,
    cut_texts,
    open_app,
    settled,
    side_scroll,
)

pytestmark = pytest.mark.browser

MAIN = '[data-testid="stMain"]'
RUNS = (
    "id,gpu,n_gpus,model,input,batch_per_gpu,precision,throughput,throughput_unit,spread\n"
    "good,rtx-4090,1,bert-large-squad,seq384,32,amp-fp16,120,sequences/s,0.02\n"
    "who,rtx-490,1,bert-large-squad,seq384,32,amp-fp16,120,sequences/s,0.02\n"
)


def attach(page, name, text):
    page.locator(".st-key-accuracy_own").get_by_role("button").first.click()
    file = {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
    page.get_by_test_id("stFileUploaderDropzoneInput").last.set_input_files(file)
    expect(page.get_by_role("button", name="Use these for my plan")).to_be_visible()
    close_popover(page)
    at_rest(page)


def choose_gpu(page, name):
    box = page.get_by_label("Show a GPU")
    box.click()
    box.fill(name)
    expect(page.get_by_role("option").first).to_contain_text(name)
    box.press("Enter")
    expect(page.locator(".st-key-accuracy_gpu_words")).to_contain_text(f"{name}: half of")


def test_a_gpu_is_shown_and_a_run_says_what_it_is(page):
    open_app(page, "/accuracy")
    charts = page.get_by_test_id("stVegaLiteChart")
    expect(charts.nth(2)).to_be_visible()
    charts_drawn(page, charts.count())
    choose_gpu(page, "GeForce RTX 4090")
    page.locator(".st-key-accuracy_view").get_by_role("radio").filter(has_text="Error").click()
    at_rest(page)
    canvas = charts.nth(1).locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    tip = page.locator("#vg-tooltip-element")
    for step in range(30):  # across the crowd of points around no error
        page.mouse.move(box["x"] + box["width"] * (0.3 + 0.01 * step), box["y"] + 0.44 * box["height"])
        if tip.is_visible():
            break
    expect(tip).to_be_visible()
    for part in ("Run", "GPU", "Predicted", "Measured", "Error", "Source"):
        expect(tip).to_contain_text(part)


def test_own_runs_are_compared_used_by_the_plan_and_named_there(page):
    open_app(page, "/accuracy")
    attach(page, "runs.csv", RUNS)
    box = page.locator('[class*="st-key-own_box_"]')
    expect(box).to_contain_text("Line 3, who: neither compared nor used")
    page.get_by_role("button", name="Use these for my plan").click()
    expect(box).to_contain_text("in use by your plan")
    page.get_by_role("link", name="Back to the plan").click()
    line = page.locator(".st-key-own_measurements")
    expect(line).to_contain_text("One job rests on your own measurements (runs.csv).")
    line.get_by_role("link").click()
    expect(box).to_contain_text("in use by your plan")
    settled(page)
    page.get_by_role("button", name="Remove").click()
    expect(box).to_have_count(0)


def test_the_comparison_can_be_taken_along(page, tmp_path):
    open_app(page, "/accuracy")
    page.locator(".st-key-accuracy_save").get_by_role("button").first.click()
    with page.expect_download() as started:
        page.get_by_role("button", name="Download CSV").click()
    started.value.save_as(tmp_path / "accuracy.csv")
    lines = (tmp_path / "accuracy.csv").read_text(encoding="utf-8").splitlines()
    assert started.value.suggested_filename == "accuracy.csv"
    assert lines[0].startswith("table,id,measured,predicted")
    assert len(lines) > 3000


def test_the_sentence_leads_to_the_held_out_errors(page):
    open_app(page, "/accuracy")
    page.get_by_role("link", name="held-out errors").click()
    expect(page.get_by_role("heading", name="Held-out errors")).to_be_in_viewport()


@pytest.mark.parametrize("size", [DESKTOP, ZOOMED, PHONE], ids=["desktop", "zoomed", "phone"])
def test_nothing_is_cut_or_scrolls_sideways(new_page, size):
    page = new_page(size)
    open_app(page, "/accuracy")
    attach(page, "runs.csv", RUNS)
    assert side_scroll(page) <= 0
    assert cut_texts(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read(new_page, scheme):
    page = new_page(scheme=scheme)
    open_app(page, "/accuracy")
    attach(page, "runs.csv", RUNS)
    page.get_by_role("button", name="Use these for my plan").click()
    expect(page.locator('[class*="st-key-own_box_"]')).to_contain_text("in use by your plan")
    page.locator("h1").hover()
    texts = contrasts(page, MAIN)
    assert len(texts) > 20
    assert [(text, round(ratio, 1)) for text, ratio in texts if ratio < 4.5] == []
