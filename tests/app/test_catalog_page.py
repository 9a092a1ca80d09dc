"""The Catalog page through AppTest: GPUs side by side, filtered offers, every row with its source and date."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from planner.catalog.load import load_catalog
from tests.app.markdown_tables import markdown_tables

pytestmark = pytest.mark.app

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def catalog_page():
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    at.switch_page("ui/pages/catalog.py").run()
    assert not at.exception
    return at


def show(page, kind):
    page.segmented_control(key="catalog_kind").set_value(kind).run()
    assert not page.exception
    return page


def table(page, first, *more):
    """The table whose first columns have these heads."""
    heads = [first, *more]
    return next(frame.value for frame in page.dataframe if list(frame.value.columns[: len(heads)]) == heads)


def drawn(page):
    """The table of gaps: heads of the rows -> cells."""
    frame = markdown_tables(page)[-1]
    return {name: cells for name, *cells in frame.to_numpy().tolist()}


def sheet(page):
    """The spec sheet: heads of the rows -> cells; its own head is the first row."""
    text = next((one.value for one in page.markdown if one.value.startswith("| ")), "")
    rows = [line.removeprefix("| ").removesuffix(" |").split(" | ") for line in text.splitlines()]
    return {head: cells for head, *cells in rows if head != "---"}


def test_every_kind_has_its_tables_with_source_and_date(catalog_page):
    catalog = load_catalog()
    counts = {
        "GPU": ("gpus", len(catalog.gpus) + len(catalog.partial_gpus)),
        "Host": ("hosts", len(catalog.hosts)),
        "Machine": ("hosts", len(catalog.systems)),
    }
    for key, (kind, count) in counts.items():
        rows = table(show(catalog_page, kind), key)
        assert len(rows) == count
        priced = rows[rows["Figures of"] != "unknown"]
        assert (priced["Sources"].str.len() > 0).all()
    show(catalog_page, "offers")
    catalog_page.button_group(key="offers_statuses").set_value([]).run()
    assert len(table(catalog_page, "Provider")) == len(catalog.offers)
    show(catalog_page, "sites")
    for topic, head, count in (
        ("grids", "Grid", len(catalog.grids)),
        ("cooling", "Room or provider", len(catalog.facilities)),
    ):
        catalog_page.segmented_control(key="sites_topic").set_value(topic).run()
        assert not catalog_page.exception
        assert len(table(catalog_page, head)) == count
        assert str(count) in catalog_page.title[0].value


def test_four_gpus_stand_side_by_side_with_the_best_in_bold(catalog_page):
    rows = sheet(catalog_page)
    assert rows["Peak FP32, TFLOP/s"] == ["35.58", "**82.6**", "19.5", "67"]
    assert rows["Memory, GB"] == ["24", "24", "**80**", "**80**"]
    assert rows["Link, GB/s"] == ["112.5 in pairs", "none", "600", "**900**"]
    assert rows["GPU to GPU"][0] == "bridge between two"
    assert "months]" in rows["Price new, seen"][2]
    assert "est." in rows["Idle, W"][0]


def test_the_gap_moves_with_the_measure_and_the_price(catalog_page):
    assert catalog_page.title[0].value == "Speed, bought new: the RTX 4090 is 79 to 97\xa0% cheaper than the A100"
    gaps = drawn(catalog_page)
    assert list(gaps) == ["New", "Used", "At launch"]
    assert gaps["New"][0].startswith("97\xa0%") and gaps["New"][1].startswith("79\xa0%")
    assert "(20" in gaps["Used"][1]
    catalog_page.segmented_control(key="compare_basis").set_value("used").run()
    assert catalog_page.title[0].value == "Speed, bought used: the RTX 4090 is 73 to 97\xa0% cheaper than the A100"


def test_new_and_used_prices_stand_apart_and_ranks_say_which_they_use(catalog_page):
    rows = sheet(catalog_page)
    assert rows["Price new, USD"][:2] == ["2,199", "**1,900**"]
    assert rows["Price used, USD"][:2] == ["**850**", "1,550"]
    assert rows["USD per 16-bit TFLOP/s, new"][:2] == ["31", "**11.5**"]
    everything = table(catalog_page, "GPU", "Memory, GB").set_index("GPU")
    assert everything.loc["GeForce RTX 3090", ["New, USD", "Used, USD"]].tolist() == [2199, 850]
    assert everything.loc["GeForce RTX 3090", "USD per TFLOP/s, new"] == pytest.approx(2199 / 71, rel=0.01)
    catalog_page.segmented_control(key="compare_basis").set_value("used").run()
    assert sheet(catalog_page)["USD per 16-bit TFLOP/s, used"][:2] == ["12", "**9.38**"]
    catalog_page.segmented_control(key="gpus_basis").set_value("used").run()
    everything = table(catalog_page, "GPU", "Memory, GB").set_index("GPU")
    assert "USD per TFLOP/s, new" not in everything
    assert everything.loc["GeForce RTX 3090", "USD per TFLOP/s, used"] == pytest.approx(850 / 71, rel=0.01)
    ranked = everything["USD per TFLOP/s, used"].notna()
    assert ranked.any() and everything.loc[ranked, "Used, USD"].notna().all()


def test_a_gpu_without_a_price_in_that_condition_is_named(catalog_page):
    catalog_page.multiselect(key="compare_gpus").set_value(["rtx-4090", "a100-sxm4-80gb", "a10"]).run()
    catalog_page.segmented_control(key="compare_basis").set_value("used").run()
    assert any("No price of a used card is known: A10." in words.value for words in catalog_page.markdown)


@pytest.mark.parametrize("kind", ["gpus", "offers", "hosts", "sites"])
def test_no_cell_is_blank(catalog_page, kind):
    catalog_page.session_state["compare_sources"] = True
    show(catalog_page, kind)
    if kind == "offers":
        catalog_page.button_group(key="offers_statuses").set_value([]).run()
    frames = [frame.value for frame in catalog_page.dataframe]
    if kind == "sites":
        for topic in ("grids", "cooling", "making"):
            catalog_page.segmented_control(key="sites_topic").set_value(topic).run()
            frames += [frame.value for frame in catalog_page.dataframe]
    assert frames
    for frame in frames:
        texts = frame.select_dtypes(exclude="number")
        assert [(column, (texts[column] == "").sum()) for column in texts if (texts[column] == "").any()] == []


def test_other_gpus_can_be_compared_and_none_at_all(catalog_page):
    catalog_page.multiselect(key="compare_gpus").set_value(["a100-sxm4-80gb", "a100-pcie-80gb", "k80"]).run()
    assert not catalog_page.exception
    assert sheet(catalog_page)["Figure"] == ["A100 SXM4 80GB", "A100 PCIe 80GB", "K80"]
    catalog_page.multiselect(key="compare_gpus").set_value([]).run()
    assert not catalog_page.exception
    assert not sheet(catalog_page) and "GPUs" in catalog_page.title[0].value


def test_sources_of_the_compared_figures_are_a_click_away(catalog_page):
    catalog_page.session_state["compare_sources"] = True
    catalog_page.run()
    rows = table(catalog_page, "Figure")
    assert len(rows) > 50
    assert (rows["Sources"].str.len() > 0).all()


def test_prices_stand_per_gpu_and_per_instance(catalog_page):
    rows = table(show(catalog_page, "offers"), "Provider")
    row = rows[(rows["Instance"] == "p4d.24xlarge") & (rows["Term"] == "on demand")].iloc[0]
    assert row["USD/h, all"] == pytest.approx(21.9576)
    assert row["USD/GPU-h"] == pytest.approx(2.7447, rel=1e-4)


def test_filters_narrow_the_offers_and_can_be_taken_back(catalog_page):
    show(catalog_page, "offers")
    current = len(table(catalog_page, "Provider"))
    catalog_page.multiselect(key="offers_gpus").set_value(["a100-sxm4-40gb"]).run()
    catalog_page.multiselect(key="offers_providers").set_value(["aws"]).run()
    rows = table(catalog_page, "Provider")
    assert 0 < len(rows) < current
    assert set(rows["GPU"]) == {"8 × A100 SXM4 40GB"} and set(rows["Price is"]) == {"current"}
    catalog_page.multiselect(key="offers_regions").set_value(["FIN"]).run()
    assert "No way" in catalog_page.title[0].value
    catalog_page.button(key="offers_reset").click().run()
    assert len(table(catalog_page, "Provider")) == len(load_catalog().offers)


def test_old_prices_carry_a_mark(catalog_page):
    show(catalog_page, "offers")
    catalog_page.button_group(key="offers_statuses").set_value(["stale"]).run()
    old = table(catalog_page, "Provider")
    assert len(old) and set(old["Price is"]) == {"old"}
    assert old["Mark"].str.contains("months old|no date").all()


def test_the_price_of_a_machine_has_a_history(catalog_page):
    catalog_page.session_state["history"] = True  # unfolded
    show(catalog_page, "offers")
    rows = table(catalog_page, "Seen")
    assert list(rows["USD/h, all"]) == [32.7726, 32.77, 21.957642]
    assert any("33\xa0% less than in 2023" in folded.label for folded in catalog_page.expander)
    catalog_page.selectbox(key="history_offer").select_index(3).run()
    assert not catalog_page.exception
    assert not any("33\xa0% less than in 2023" in folded.label for folded in catalog_page.expander)


def test_offers_of_the_compared_gpus_open_with_one_click(catalog_page):
    catalog_page.button(key="offers_of_compared").click().run()
    assert not catalog_page.exception
    assert catalog_page.multiselect(key="offers_gpus").value == [
        "rtx-3090", "rtx-4090", "a100-sxm4-80gb", "h100-sxm5-80gb",
    ]  # fmt: skip
