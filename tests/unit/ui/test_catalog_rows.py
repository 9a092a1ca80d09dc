"""Cells of the Catalog page: estimates have three digits at most, marks and sources say what a row rests on."""

import pytest

from planner.catalog.records import Figure
from tests.planning import TODAY, shipped_catalog
from ui import catalog_forms, catalog_own, catalog_rows


def figure(value, as_of="2026-11", estimate=False):
    return Figure(value=value, sources=("own-estimate-idle",), as_of=as_of, estimate=estimate)


def test_an_estimate_has_three_significant_digits_and_a_printed_figure_all():
    assert catalog_rows.number(figure(16338.77, estimate=True)) == 16300
    assert catalog_rows.number(figure(0.123456, estimate=True)) == 0.123
    assert catalog_rows.number(figure(989.4)) == 989.4
    assert catalog_rows.number(None) is None
    assert catalog_rows.text(figure(1234.5, estimate=True), "unit.w") == "1,230\xa0W"
    assert catalog_rows.text(figure(1234.5), "unit.w") == "1,234.5\xa0W"
    assert catalog_rows.text(None, "unit.w") == "unknown"
    assert catalog_rows.usd(figure(16338.77, estimate=True)) == 16300
    assert (catalog_rows.usd(figure(16338.77)), catalog_rows.usd(figure(549.994))) == (16339, 549.99)


def test_a_row_is_as_old_as_its_oldest_figure():
    row = catalog_rows.origin(shipped_catalog(), [figure(1, "2026-11-09"), figure(1, "2024"), None], TODAY)
    assert row["Figures of"] == "2024" and row["Mark"] == "34 months old"
    undated = catalog_rows.origin(shipped_catalog(), [figure(1, "2026-11-09"), figure(1, None, True)], TODAY)
    assert undated["Figures of"] == "unknown" and undated["Mark"] == "no date, estimate"
    assert catalog_rows.origin(shipped_catalog(), [None], TODAY)["Sources"] == "not stated"
    assert catalog_rows.origin(shipped_catalog(), [figure(1)], TODAY)["Mark"] == "none"


def test_sources_are_named_also_the_scenario_and_measurements():
    own = Figure(value=1, sources=("scenario", "lambda-benchmark-v1", "nowhere"))
    words = catalog_rows.origin(shipped_catalog(), [own], TODAY)["Sources"].split("; ")
    assert words[0] == "your scenario" and words[2] == "nowhere"
    assert words[1] not in ("", "lambda-benchmark-v1")


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("Campus cluster", "campus-cluster"),
        ("  8× A100 / 2027 ", "8-a100-2027"),
        ("集群", ""),
        ("_a", "a"),
        ("x" * 99, "x" * 64),
    ],
)
def test_names_become_ids(name, id):
    assert catalog_own.slug(name) == id


def test_one_16_bit_rate_stands_for_both_kinds():
    entry = catalog_forms.FORMS["gpus"].entry("Next card", {"memory_gb": 48, "bf16_dense_tflop_per_s": 250})
    assert entry == {
        "name": "Next card", "memory_gb": 48, "fp16_dense_tflop_per_s": 250, "bf16_dense_tflop_per_s": 250,
    }  # fmt: skip
