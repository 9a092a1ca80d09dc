"""What a person does on the Plan page: change an input, see the answer move, take the plan along."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DESKTOP, PHONE, ZOOMED
from tests.browser.helpers import (
    charts_drawn,
    close_popover,
    contrasts,
    cut_texts,
    enter,
    metric,
    open_app,
    open_group,
    settled,
    side_scroll,
)

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "hybrid-lab.yaml"
RUNS = "Runs a month, daily"
SWITCH = ".st-key-catalog_kind button"
PAGE = '[data-testid="stMain"], [data-testid="stHeader"]'


def command_line(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "planner", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def download(page, name, target):
    page.locator(".st-key-save_popover").get_by_role("button").first.click()
    with page.expect_download() as started:
        page.get_by_role("button", name=name).click()
    started.value.save_as(target)
    close_popover(page)
    return started.value.suggested_filename


def test_the_csv_of_the_page_is_that_of_the_command_line(page, tmp_path):
    open_app(page)
    assert download(page, "Download CSV", tmp_path / "page.csv") == "hybrid-lab-plan.csv"
    command_line("plan", str(EXAMPLE), "--csv", str(tmp_path / "line.csv"))
    assert (tmp_path / "page.csv").read_bytes() == (tmp_path / "line.csv").read_bytes()


def test_an_input_turns_the_recommendation_and_goes_along_in_both_files(page, tmp_path):
    open_app(page)
    title = page.get_by_role("heading", level=1)
    before = title.inner_text()
    total = metric(page, "Total").inner_text()
    assert before.startswith("Own ")
    open_group(page, "work")
    enter(page, RUNS, "60")
    expect(title).not_to_have_text(before)
    expect(title).to_contain_text("own nothing")
    expect(metric(page, "Total")).not_to_have_text(total)
    expect(page.locator(".st-key-group_work").get_by_role("button").first).to_contain_text("60 + 0.2 runs a month")
    close_popover(page)
    download(page, "Download CSV", tmp_path / "page.csv")
    assert download(page, "Download scenario", tmp_path / "changed.yaml") == "hybrid-lab.yaml"
    command_line("plan", str(tmp_path / "changed.yaml"), "--csv", str(tmp_path / "line.csv"))
    assert (tmp_path / "page.csv").read_bytes() == (tmp_path / "line.csv").read_bytes()
    plan = json.loads(command_line("plan", str(tmp_path / "changed.yaml"), "--json"))
    assert plan["recommended"] == "cloud"


def test_a_wrong_input_is_explained_under_its_field_and_stays(page):
    open_app(page)
    total = metric(page, "Total").inner_text()
    open_group(page, "work")
    enter(page, RUNS, "-5")
    expect(page.get_by_text("“-5” does not work here. Expected:").first).to_be_visible()
    expect(page.get_by_label(RUNS, exact=True)).to_have_value("-5")
    expect(metric(page, "Total")).to_have_text(total)
    expect(page.get_by_text("Last good answer, before this change")).to_be_visible()
    enter(page, RUNS, "1400")
    expect(page.get_by_text("does not work here")).to_have_count(0)  # for a moment there are two popovers
    expect(page.get_by_text("Last good answer, before this change")).to_have_count(0)
    settled(page)


def test_what_was_typed_stays_behind_when_another_scenario_opens(page):
    open_app(page)
    open_group(page, "money")
    enter(page, "Horizon, months", "24")
    expect(metric(page, "Total, 24 months")).to_be_visible()
    close_popover(page)
    page.locator(".st-key-scenario_popover").get_by_role("button").first.click()
    page.get_by_role("button", name="Student").click()
    expect(metric(page, "Total, 12 months")).to_be_visible()
    settled(page)
    close_popover(page)
    open_group(page, "work")
    enter(page, "Runs a month, experiment", "13")
    expect(page.locator(".st-key-group_work").get_by_role("button").first).to_contain_text("13 runs")
    settled(page)
    expect(metric(page, "Total, 12 months")).to_be_visible()


def test_a_limit_that_works_is_one_press_away_and_stays(page):
    open_app(page)
    open_group(page, "work")
    enter(page, "Limit of one run, key, h", "0.01")
    expect(page.get_by_text("This plan cannot be made as asked:")).to_be_visible()
    close_popover(page)
    page.locator(".st-key-remedy_0").get_by_role("button").click()
    settled(page)
    expect(metric(page, "Key run done in")).to_be_visible()
    open_group(page, "money")
    enter(page, "Horizon, months", "24")
    expect(metric(page, "Total, 24 months")).to_be_visible()
    settled(page)
    expect(metric(page, "Key run done in")).to_be_visible()


def test_a_scenario_file_opens_and_a_faulty_one_lists_its_problems(page):
    open_app(page)
    page.locator(".st-key-scenario_popover").get_by_role("button").first.click()
    chooser = page.get_by_test_id("stFileUploaderDropzoneInput")
    faulty = b"schema_version: 1\nhorizon_months: 0\ncolour: red\njobs: {}\n"
    chooser.set_input_files({"name": "bad.yaml", "mimeType": "application/yaml", "buffer": faulty})
    alert = page.get_by_test_id("stAlert").filter(has_text="bad.yaml was not opened")
    expect(alert).to_contain_text("horizon_months")
    expect(alert).to_contain_text("colour")
    text = EXAMPLE.read_text(encoding="utf-8").replace("horizon_months: 36", "horizon_months: 48")
    chooser.set_input_files({"name": "lab.yaml", "mimeType": "application/yaml", "buffer": text.encode()})
    expect(metric(page, "Total, 48 months")).to_be_visible()
    expect(alert).to_have_count(0)


def test_the_keyboard_is_enough(page):
    open_app(page)
    button = page.locator(".st-key-group_money").get_by_role("button").first
    button.focus()
    page.keyboard.press("Enter")
    field = page.get_by_label("Horizon, months", exact=True)
    expect(field).to_be_visible()
    field.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("24")
    page.keyboard.press("Enter")
    expect(metric(page, "Total, 24 months")).to_be_visible()
    page.keyboard.press("Escape")
    expect(field).to_have_count(0)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("path", ["/", "/catalog"])
def test_no_side_scroll(new_page, size, path):
    page = new_page(size)
    open_app(page, path)
    if path == "/":
        charts_drawn(page, 3)
    assert side_scroll(page) <= 0


@pytest.mark.parametrize("size", [DESKTOP, ZOOMED, PHONE], ids=["desktop", "zoomed", "phone"])
def test_no_label_is_cut(new_page, size):
    page = new_page(size)
    open_app(page)
    charts_drawn(page, 3)
    assert cut_texts(page) == []


def test_an_open_group_stays_inside_a_phone(new_page):
    page = new_page(PHONE)
    open_app(page)
    for group in ("work", "hardware", "site", "money"):
        open_group(page, group)
        body = page.get_by_test_id("stPopoverBody")
        expect(body).to_be_visible()
        box = body.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]
        assert side_scroll(page) <= 0
        close_popover(page)
        expect(body).to_have_count(0)


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop", "phone"])
def test_what_turns_the_order_is_one_press_away(new_page, size, scheme):
    page = new_page(size, scheme=scheme)
    open_app(page)
    section = page.locator(".st-key-details_break_even")
    section.locator("summary").click()
    charts_drawn(page, 4)
    section.get_by_text("Own all and Mix", exact=True).click()
    expect(section.get_by_text("Mix costs less however busy the machines are")).to_be_visible()
    section.get_by_text("Later money counts less", exact=True).click()
    settled(page)
    assert side_scroll(page) <= 0
    assert cut_texts(page) == []
    texts = contrasts(page, ".st-key-details_break_even")
    assert [(text, round(ratio, 1)) for text, ratio in texts if ratio < 4.5] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", "/catalog"])
def test_texts_can_be_read(new_page, scheme, path):
    page = new_page(scheme=scheme)
    open_app(page, path)
    texts = contrasts(page, PAGE)
    assert len(texts) > (40 if path == "/" else 5)
    assert [(text, round(ratio, 1)) for text, ratio in texts if ratio < 4.5] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_errors_and_chosen_switches_can_be_read(new_page, scheme):
    page = new_page(scheme=scheme)
    open_app(page)
    open_group(page, "work")
    enter(page, RUNS, "-5")
    expect(page.get_by_text("Last good answer, before this change")).to_be_visible()
    texts = contrasts(page, f'{PAGE}, [data-testid="stPopoverBody"]')
    assert [(text, round(ratio, 1)) for text, ratio in texts if ratio < 4.5] == []
    open_app(page, "/catalog")
    expect(page.locator(SWITCH)).to_have_count(4)
    chosen = contrasts(page, SWITCH)
    assert len(chosen) == 4
    assert [(text, round(ratio, 1)) for text, ratio in chosen if ratio < 4.5] == []


def test_pages_are_found_by_their_links(page):
    open_app(page)
    page.get_by_role("link", name="Next: what would change it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What would change the plan?")
    page.get_by_test_id("stTopNavLink").filter(has_text="Plan").click()
    expect(metric(page, "Total")).to_be_visible()
