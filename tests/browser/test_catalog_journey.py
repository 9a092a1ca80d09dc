"""What a person does on the Catalog page: compare four GPUs, add an own quote, import a file with faults."""

import csv
import io

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DESKTOP, PHONE, ZOOMED
from tests.browser.helpers import (
    charts_drawn,
    contrasts,
    cut_texts,
    metric,
    no_app_error,
    open_app,
    settled,
    side_scroll,
)

pytestmark = pytest.mark.browser

MAIN = '[data-testid="stMain"]'
FAULTY = b"""id,gpu,gpu_count,price_usd_per_h
mine,a100-sxm4-80gb,8,"14,32"
other,rtx-490,1,0.50
third,rtx-4090,1,400 USD/month
good,rtx-4090,2,0.90
"""


def show(page, kind):
    page.locator(".st-key-catalog_kind button").filter(has_text=kind).click()
    settled(page)


def add_own(page, kind):
    page.locator(".st-key-add_own button").first.click()
    page.get_by_role("menuitem", name=kind, exact=True).click()
    expect(page.locator(".st-key-add_panel")).to_be_visible()


def faint(page, selector):
    """Texts that can't be read once colours have stopped changing: a pressed button fades over for a moment."""
    page.mouse.move(1, 1)
    for _ in range(20):
        found = [(text, round(ratio, 1)) for text, ratio in contrasts(page, selector) if ratio < 4.5]
        if not found:
            break
        page.wait_for_timeout(50)
    return found


def choose(page, label, value):
    page.get_by_label(label, exact=True).and_(page.locator("input")).fill(value)
    page.get_by_role("option", name=value, exact=True).click()


def to_plan(page):
    page.get_by_test_id("stTopNavLink").filter(has_text="Plan").click()
    expect(metric(page, "Total")).to_be_visible()
    settled(page)


def to_catalog(page):
    page.get_by_test_id("stTopNavLink").filter(has_text="Catalog").click()
    expect(page.locator(".st-key-catalog_kind")).to_be_visible()
    settled(page)


def test_four_gpus_are_compared_and_the_price_turns_the_gap(page):
    open_app(page, "/catalog")
    title = page.get_by_role("heading", level=1)
    expect(title).to_contain_text("79 to 97")
    charts_drawn(page, 1)
    table = page.locator(".st-key-wide_sheet table")
    for name in ("RTX 3090", "RTX 4090", "A100", "H100"):
        expect(table).to_contain_text(name)
    page.locator(".st-key-compare_basis button").filter(has_text="Used").click()
    expect(title).to_contain_text("73 to 97")
    page.get_by_label("Remove GeForce RTX 3090", exact=True).click()
    expect(table).not_to_contain_text("RTX 3090")
    choose(page, "Compare up to four GPUs", "Tesla T4")
    expect(table).to_contain_text("T4")
    page.locator(".st-key-compare_sources summary").click()
    expect(page.locator(".st-key-compare_sources").get_by_test_id("stDataFrame")).to_be_visible()
    no_app_error(page)


def test_an_own_quote_changes_the_plan(page):
    open_app(page)
    before = metric(page, "Total").inner_text()
    to_catalog(page)
    add_own(page, "Quote for renting")
    page.get_by_label("Name of the quote", exact=True).fill("Campus cluster")
    choose(page, "GPU", "A100 SXM4 80GB")
    page.get_by_label("GPUs in one machine", exact=True).fill("8")
    page.get_by_label("Price of a machine-hour, USD", exact=True).fill("4")
    page.get_by_role("button", name="Add to the scenario").click()
    note = page.locator(".st-key-own_note")
    expect(note).to_contain_text("Campus cluster")
    expect(note).to_contain_text("The plan now costs")
    to_plan(page)
    expect(metric(page, "Total")).not_to_have_text(before)
    to_catalog(page)
    page.locator(".st-key-own_list summary").click()
    page.locator(".st-key-remove_offers_campus-cluster button").click()
    expect(page.locator(".st-key-own_note")).to_contain_text("out of the scenario")
    to_plan(page)
    expect(metric(page, "Total")).to_have_text(before)


def test_a_file_with_three_faults_changes_nothing_and_the_mended_one_does(page):
    open_app(page, "/catalog")
    add_own(page, "Offers from a CSV file")
    chooser = page.get_by_test_id("stFileUploaderDropzoneInput")
    chooser.set_input_files({"name": "mine.csv", "mimeType": "text/csv", "buffer": FAULTY})
    box = page.locator(".st-key-add_panel").get_by_test_id("stAlert")
    expect(box).to_contain_text("because of these 3 faults")
    expect(box).to_contain_text("a decimal point: 14.32")
    expect(box).to_contain_text("such as rtx-4090")
    expect(box).to_contain_text("divide one per month by 730")
    take = page.locator(".st-key-import_take button")
    expect(take).to_be_disabled()
    mended = FAULTY.replace(b'"14,32"', b"14.32").replace(b"rtx-490,", b"rtx-4090,").replace(b"400 USD/month", b"0.55")
    page.get_by_label("Remove mine.csv", exact=True).click()
    expect(box).to_have_count(0)
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(
        {"name": "mended.csv", "mimeType": "text/csv", "buffer": mended}
    )
    expect(take).to_be_enabled()
    expect(take).to_have_text("Take over 4 offers")
    take.click()
    expect(page.locator(".st-key-own_note")).to_contain_text("mended.csv")
    expect(page.locator(".st-key-own_list")).to_contain_text("(6)")


def test_the_rows_shown_can_be_saved(page, tmp_path):
    open_app(page, "/catalog")
    show(page, "Offers")
    with page.expect_download() as started:
        page.locator(".st-key-export_offers button").click()
    started.value.save_as(tmp_path / "offers.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "offers.csv").read_text(encoding="utf-8"))))
    assert len(rows) > 100
    assert {row["status"] for row in rows} == {"current"}
    assert all(float(row["price_usd_per_h"]) > 0 and row["source"] for row in rows)


def test_another_view_closes_the_form_and_keeps_what_was_typed(page):
    open_app(page, "/catalog")
    add_own(page, "Quote for renting")
    name = page.get_by_label("Name of the quote", exact=True)
    name.fill("Campus cluster")  # not sent with Enter
    page.locator(".st-key-catalog_kind button").filter(has_text="Hosts").click()
    expect(page.locator(".st-key-add_panel")).to_have_count(0)
    settled(page)
    add_own(page, "Quote for renting")
    expect(name).to_have_value("Campus cluster")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_price_history_unfolds(new_page, size):
    page = new_page(size)
    open_app(page, "/catalog")
    show(page, "Offers")
    page.locator(".st-key-history summary").filter(has_text="33\xa0% less than in 2023").click()
    charts_drawn(page, 1)
    settled(page)
    assert side_scroll(page) <= 0
    assert cut_texts(page) == []


@pytest.mark.parametrize("size", [ZOOMED, PHONE], ids=["zoomed", "phone"])
def test_no_label_is_cut(new_page, size):
    page = new_page(size)
    open_app(page, "/catalog")
    for kind in ("GPUs", "Offers", "Hosts", "Sites"):
        show(page, kind)
        assert cut_texts(page) == [], kind
    for kind in ("Quote for renting", "Machine to buy", "GPU"):
        add_own(page, kind)
        settled(page)
        assert cut_texts(page) == [], kind


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (DESKTOP, "dark"), (PHONE, "light")])
def test_every_view_fits_and_can_be_read(new_page, size, scheme):
    page = new_page(size, scheme)
    open_app(page, "/catalog")
    for kind in ("GPUs", "Offers", "Hosts", "Sites"):
        show(page, kind)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.wait_for_function("() => document.querySelector('[data-stale=true]') === null")
        assert side_scroll(page) <= 0, kind
        words = page.locator(MAIN).inner_text()
        assert not {"nan", "None", "inf"} & set(words.split()), kind
        assert faint(page, MAIN) == [], kind


def test_the_forms_fit_a_phone(new_page):
    page = new_page(PHONE)
    open_app(page, "/catalog")
    for kind in ("Quote for renting", "Machine to buy", "GPU", "Offers from a CSV file"):
        add_own(page, kind)
        settled(page)
        assert side_scroll(page) <= 0, kind
        assert faint(page, ".st-key-add_panel") == [], kind
