"""The Catalog page through AppTest: every kind has its table, every row its source and date."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from planner.catalog.load import load_catalog

pytestmark = pytest.mark.app

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def catalog_page():
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    at.switch_page("ui/pages/catalog.py").run()
    assert not at.exception
    return at


def test_gpus_first_then_each_kind(catalog_page):
    catalog = load_catalog()
    counts = {
        "gpus": len(catalog.gpus),
        "offers": len(catalog.offers),
        "hosts": len(catalog.hosts),
        "sites": sum(len(site.tariffs) for site in catalog.sites.values()),
    }
    for kind, count in counts.items():
        catalog_page.session_state["catalog_kind"] = kind
        catalog_page.run()
        assert not catalog_page.exception
        table = catalog_page.dataframe[0].value
        assert len(table) == count
        assert (table["Sources"].str.len() > 0).all()
        assert (table["Figures of"].str.len() > 0).all()
        assert str(count) in catalog_page.title[0].value


def test_prices_stand_per_gpu_and_per_instance(catalog_page):
    catalog_page.session_state["catalog_kind"] = "offers"
    catalog_page.run()
    table = catalog_page.dataframe[0].value
    row = table[(table["Instance"] == "p4d.24xlarge") & (table["USD per hour, instance"] == "21.958")]
    assert set(row["USD per GPU-hour"]) == {"2.745"}


def test_old_prices_carry_a_mark(catalog_page):
    catalog_page.session_state["catalog_kind"] = "offers"
    catalog_page.run()
    table = catalog_page.dataframe[0].value
    old = table[table["Price is"] == "old"]
    assert len(old)
    assert old["Mark"].str.contains("months old|no date").all()
