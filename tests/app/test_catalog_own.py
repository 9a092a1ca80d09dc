"""Own quotes, machines, GPUs and files on the Catalog page: taken whole or not at all, and the plan follows."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.app

ROOT = Path(__file__).resolve().parents[2]
HEAD = "id,provider,instance_type,region,gpu,gpu_count,price_usd_per_h\n"


@pytest.fixture
def page():
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    at.switch_page("ui/pages/catalog.py").run()
    assert not at.exception
    return at


def adding(page, kind):
    page.menu_button(key="add_own").click(kind).run()
    assert not page.exception
    return page


def fill(page, part, **values):
    for name, value in values.items():
        key = f"add:{part}.{name}"
        box = next(w for w in (*page.text_input, *page.selectbox) if w.key == key)
        box.set_value(value)
    page.button(key=f"keep_{part}").click().run()
    assert not page.exception
    return page


def offers(page):
    return page.session_state["base"].get("offers", {})


def texts(page):
    return "\n".join(str(element.value) for element in (*page.markdown, *page.error))


def test_an_own_quote_joins_the_plan_and_can_be_taken_out_again(page):
    before = dict(page.session_state["base"])
    fill(
        adding(page, "offers"),
        "offers",
        name="Campus cluster",
        gpu="a100-sxm4-80gb",
        gpu_count="8",
        price_usd_per_h="4",
    )
    assert offers(page)["campus-cluster"] == {
        "instance_type": "Campus cluster", "gpu": "a100-sxm4-80gb", "gpu_count": 8, "price_usd_per_h": 4,
    }  # fmt: skip
    assert "The plan now costs" in texts(page) and "it was" in texts(page)
    page.session_state["catalog_kind"] = "offers"
    page.run()
    table = next(frame.value for frame in page.dataframe if frame.value.columns[0] == "Provider")
    own = table[table["Provider"] == "your scenario"]
    assert list(own["USD/GPU-h"]) == [0.5]
    page.switch_page("ui/pages/plan.py").run()
    assert not page.exception
    page.switch_page("ui/pages/catalog.py").run()
    page.session_state["own_list"] = True
    page.run()
    page.button(key="remove_offers_campus-cluster").click().run()
    assert page.session_state["base"] == before


def test_a_faulty_quote_is_explained_at_its_field_and_not_kept(page):
    fill(adding(page, "offers"), "offers", name="Cheap", gpu="t4", gpu_count="2.5", price_usd_per_h="-3")
    assert "“2.5” does not work here" in texts(page) and "a whole number" in texts(page)
    assert "“-3” does not work here" in texts(page)
    assert offers(page) == {}
    assert page.text_input(key="add:offers.name").value == "Cheap"
    page.button(key="cancel_offers").click().run()
    assert not [widget for widget in page.text_input if widget.key.startswith("add:")]


def test_another_view_closes_the_form_and_keeps_what_was_entered(page):
    adding(page, "offers")
    page.text_input(key="add:offers.name").set_value("Campus cluster").run()
    page.selectbox(key="add:offers.gpu").set_value("a100-sxm4-80gb").run()
    page.segmented_control(key="catalog_kind").set_value("hosts").run()
    assert not page.exception
    assert not [widget for widget in page.text_input if widget.key.startswith("add:")]
    adding(page, "machines")
    adding(page, "offers")
    assert page.text_input(key="add:offers.name").value == "Campus cluster"
    assert page.selectbox(key="add:offers.gpu").value == "a100-sxm4-80gb"
    page.button(key="cancel_offers").click().run()
    adding(page, "offers")
    assert page.text_input(key="add:offers.name").value == ""


def test_a_quote_without_gpu_or_name_is_asked_for_it(page):
    fill(adding(page, "offers"), "offers", price_usd_per_h="3")
    assert "a name with letters or digits" in texts(page)
    fill(page, "offers", name="Cheap")
    assert "as your own quote it needs gpu" in texts(page)
    assert offers(page) == {}


def test_a_quote_may_not_take_the_name_of_a_catalog_offer(page):
    name = "aws-p4d-24xlarge-us-east-1-on-demand"
    fill(adding(page, "offers"), "offers", name=name, gpu="t4", gpu_count="1", price_usd_per_h="3")
    assert "is an offer of the catalog" in texts(page)
    assert offers(page) == {}


def test_an_own_gpu_can_be_compared_and_bought(page):
    card = {
        "memory_gb": "48", "memory_bandwidth_gb_per_s": "1800", "bf16_dense_tflop_per_s": "400",
        "fp32_dense_tflop_per_s": "110", "tdp_w": "400",
    }  # fmt: skip
    fill(adding(page, "gpus"), "gpus", name="Next card", **card)
    assert "next-card" in page.session_state["base"]["gpus"]
    page.multiselect(key="compare_gpus").set_value(["next-card", "rtx-4090"]).run()
    assert not page.exception
    assert any(text.value.startswith("| ") and "| Next card |" in text.value for text in page.markdown)
    machine = {"gpu": "next-card", "gpus": "2", "gpu_price_usd": "1000", "host_price_usd": "1500", "load_w": "900"}
    fill(adding(page, "machines"), "machines", name="Lab box", idle_w="150", **machine)
    assert page.session_state["base"]["machines"]["lab-box"]["gpu"] == "next-card"
    page.switch_page("ui/pages/plan.py").run()
    assert not page.exception


def test_a_gpu_that_a_machine_needs_cannot_be_taken_out(page):
    test_an_own_gpu_can_be_compared_and_bought(page)
    page.switch_page("ui/pages/catalog.py").run()
    page.session_state["own_list"] = True
    page.run()
    page.button(key="remove_gpus_next-card").click().run()
    assert not page.exception
    assert "next-card" in page.session_state["base"]["gpus"]
    assert "no GPU called" in texts(page)


def test_a_file_is_shown_before_it_changes_anything(page):
    adding(page, "csv")
    content = HEAD + "mine,,,,a100-sxm4-80gb,8,4\naws-p4d-24xlarge-us-east-1-on-demand,,,,,,17.5\n"
    page.file_uploader(key="import_file").upload("mine.csv", content.encode(), "text/csv").run()
    assert not page.exception
    assert "**1** new, **1** changed, **0** as before, **0** faulty." in texts(page)
    table = next(frame.value for frame in page.dataframe if frame.value.columns[0] == "Row")
    assert list(table["Price before"]) == ["$21.96 an hour", "none"]
    assert list(table["Price after"]) == ["$17.50 an hour", "$4.00 an hour"]
    assert offers(page) == {}
    page.button(key="import_take").click().run()
    assert set(offers(page)) == {"mine", "aws-p4d-24xlarge-us-east-1-on-demand"}
    assert "mine.csv" in texts(page)


def test_a_file_with_faults_changes_nothing(page):
    adding(page, "csv")
    content = HEAD + 'a,,,,rtx-490,1,1\nb,,,,t4,1,"0,35"\nc,,,,t4,1,0\nd,,,,t4,1,0.3\n'
    page.file_uploader(key="import_file").upload("mine.csv", content.encode(), "text/csv").run()
    assert "because of these 3 faults" in texts(page)
    for line in ("Row 2, a, gpu", "Row 3, b, price", "Row 4, c, price"):
        assert line in texts(page).replace("\\", "")
    assert page.button(key="import_take").disabled
    page.button(key="import_cancel").click().run()
    assert offers(page) == {}
