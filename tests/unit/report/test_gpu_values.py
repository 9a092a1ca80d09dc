"""What a GPU gives for its price: by hand on the shipped figures, and on made-up prices."""

import datetime as dt
from dataclasses import replace

import pytest

from planner.catalog.records import Figure, HardwarePrice
from planner.report.gpu_table import compare_rows, gpu_rows
from planner.report.gpu_values import BASES, accelerators, purchase_price, saving, speed, usd_per_speed
from planner.report.listing import list_rows, rows_csv
from planner.report.price_history import price_histories
from tests.planning import TODAY, catalog, evidence, shipped_catalog

GPU = "rtx-4090"


def priced(*prices):
    """The frozen catalog with these prices of one GPU: (condition, USD, date, estimate, kind)."""
    hardware = {
        f"p{index}": HardwarePrice(
            id=f"p{index}",
            item=GPU,
            condition=condition,
            price_usd=Figure(value=usd, sources=("x",), as_of=as_of, estimate=estimate),
            kind=kind,
        )
        for index, (condition, usd, as_of, estimate, kind) in enumerate(prices)
    }
    return replace(catalog(), hardware=hardware)


def price_on(basis, *prices):
    found = purchase_price(priced(*prices), catalog().gpus[GPU], basis)
    return None if found is None else (found.usd.value, found.condition)


NEW, OLD_NEW = ("new", 1900, "2026-05", False, "market"), ("new", 2199, "2025-03-04", False, "market")
USED, OLD_USED = ("used", 850, "2026-02", False, "market"), ("used", 900, "2024", False, "market")
LAUNCH, LIST_2022 = ("new", 1599, "2022-09-20", False, "launch"), ("new", 2125, "2022", False, "benchmark_table")


@pytest.mark.parametrize(
    ("basis", "prices", "expected"),
    [
        ("new", [NEW, USED], (1900, "new")),
        ("new", [OLD_NEW, USED], (2199, "new")),
        ("new", [USED], None),
        ("used", [OLD_NEW, USED], (850, "used")),
        ("used", [OLD_NEW, OLD_USED], (900, "used")),
        ("new", [NEW, ("new", 1950, "2026-08", False, "market")], (1950, "new")),
        ("new", [LAUNCH, LIST_2022], (2125, "new")),
        ("new", [NEW, LIST_2022], (1900, "new")),
        ("new", [LAUNCH], None),
        ("used", [], None),
    ],
)
def test_a_price_is_of_one_condition_and_the_newest_of_the_market(basis, prices, expected):
    assert price_on(basis, *prices) == expected


def test_other_bases():
    prices = [NEW, OLD_NEW, USED, LAUNCH, LIST_2022]
    assert price_on("new", *prices) == (1900, "new")
    assert price_on("used", *prices) == (850, "used")
    assert price_on("used", NEW) is None


def test_speeds_by_hand():
    gpu, data = shipped_catalog().gpus["a100-sxm4-80gb"], evidence()
    assert speed(gpu, "peak_fp32", data).value == 19.5
    assert speed(gpu, "dense_16_bit", data).value == 312
    assert speed(gpu, "achieved_16_bit", data).value == pytest.approx(312 * 0.869)
    measured = speed(shipped_catalog().gpus[GPU], "bert_large", data)
    assert (measured.value, measured.as_of) == (93.5866, "2022-10-17")
    newest = speed(shipped_catalog().gpus["h100-sxm5-80gb"], "bert_large", data)
    assert (newest.value, newest.as_of) == (321.018, "2024-10-30")  # not the first measured, 2023
    assert speed(shipped_catalog().partial_gpus["k80"], "bert_large", data) is None


def test_the_4090_against_the_a100_by_measure_and_price():
    """$/TFLOPS from 1,900 USD new and 17,499 USD new; 1,550 and 11,000 USD used, 1,400-1,700 and 4,000-18,000."""
    data = shipped_catalog()
    pair = data.gpus[GPU], data.gpus["a100-sxm4-80gb"]
    peak = saving(data, evidence(), *pair, "peak_fp32", "new")
    dense = saving(data, evidence(), *pair, "dense_16_bit", "new")
    assert peak.value == pytest.approx(1 - (1900 / 82.6) / (17499 / 19.5))
    assert dense.value == pytest.approx(1 - (1900 / 165.2) / (17499 / 312))
    used = saving(data, evidence(), *pair, "dense_16_bit", "used")
    assert used.low == pytest.approx(1 - (1700 / 165.2) / (4000 / 312))
    assert used.high == pytest.approx(1 - (1400 / 165.2) / (18000 / 312))
    assert used.low < 0.67 < used.high < peak.value  # the share in print lies between the definitions
    assert used.estimate and not dense.estimate


def test_what_is_unknown_has_no_price_of_speed():
    data = shipped_catalog()
    assert usd_per_speed(None, Figure(value=1, sources=("x",))) is None
    assert saving(data, evidence(), data.gpus["l4"], data.gpus[GPU], "peak_fp32", "new") is None


def test_best_values_are_marked_in_their_direction():
    data = shipped_catalog()
    gpus = [data.gpus[id] for id in ("rtx-3090", GPU, "a100-sxm4-80gb", "a100-pcie-80gb")]
    rows = {row.id: row for row in compare_rows(data, evidence(), gpus, "new")}
    assert rows["memory_gb"].best == (2, 3)
    assert rows["tdp_w"].best == (3,)
    assert rows["price_usd"].best == rows["price_new_usd"].best == (1,)
    assert rows["price_used_usd"].best == (0,)
    used = {row.id: row for row in compare_rows(data, evidence(), gpus, "used")}
    assert used["price_usd"].figures == rows["price_used_usd"].figures
    assert [figure and figure.value for figure in rows["nvlink_bridge_gb_per_s"].figures[:2]] == [112.5, None]
    assert rows["dense_16_bit_tflop_per_s"].best == (2, 3)
    assert compare_rows(data, evidence(), gpus[:1], "new")[0].best == ()
    twins = compare_rows(data, evidence(), [gpus[0], gpus[0]], "new")
    assert all(row.best == () for row in twins)


def test_rows_of_all_gpus_say_what_is_unknown():
    rows = {row["id"]: row for row in gpu_rows(shipped_catalog(), evidence(), basis="new")}
    assert set(rows) == set(accelerators(shipped_catalog()))
    assert rows["k80"]["can_be_planned"] is False and rows["k80"]["tdp_w"] is None
    card = rows[GPU]
    assert card["usd_per_gb"] == pytest.approx(1900 / 24)
    used = {row["id"]: row for row in gpu_rows(shipped_catalog(), evidence(), basis="used")}
    assert used[GPU]["usd_per_gb"] == pytest.approx(1550 / 24) and used[GPU]["price_new_usd"] == 1900
    assert {row["price_condition"] for row in used.values()} == {"used", None}
    assert card["dense_16_bit_tflop_per_s_per_w"] == pytest.approx(165.2 / 450)
    assert card["gb_per_s_per_usd"] == pytest.approx(1008 / 1900)
    assert "estimate" in card and card["source"]


def test_rows_as_csv_hold_no_formula_and_no_none():
    rows = [
        {"id": "=1+1", "value": None, "yes": True, "more": {"a": 1}},
        {"id": "b", "value": 0.5, "yes": False, "more": {}},
    ]
    assert rows_csv(rows) == "id,value,yes,more\n'=1+1,,true,a: 1\nb,0.5,false,\n"
    assert rows_csv([]) == ""


def test_prices_that_replaced_each_other_are_one_history():
    found = {series.last.id: series for series in price_histories(shipped_catalog())}
    series = found["aws-p4d-24xlarge-us-east-1-on-demand"]
    assert [offer.price_usd_per_h.value for offer in series.offers] == [32.7726, 32.77, 21.957642]
    assert series.change() == pytest.approx(21.957642 / 32.7726 - 1)
    assert series.last.status(TODAY) == "current"
    for history in found.values():
        assert len(history.offers) > 1
        assert len({(offer.provider, offer.term, offer.gpu_count) for offer in history.offers}) == 1
    withdrawn = replace(series.offers[0], price_usd_per_h=replace(series.offers[0].price_usd_per_h, as_of="2026-11-20"))
    data = replace(shipped_catalog(), offers={withdrawn.id: withdrawn, series.last.id: series.last})
    (pair,) = price_histories(data)
    assert pair.last.id == series.last.id  # what holds now stands last, even where an older price was seen later
    lengths = [len(series.offers) for series in found.values()]
    assert lengths == sorted(lengths, reverse=True)
    assert dt.date(2025, 6, 5) in {offer.retired_on for offer in series.offers}


@pytest.mark.parametrize("basis", BASES)
def test_a_listing_says_what_a_gpu_gives_as_the_page_does(basis):
    rows = list_rows(shipped_catalog(), "gpus", today=TODAY, evidence=evidence(), basis=basis)
    table = {row["id"]: row for row in gpu_rows(shipped_catalog(), evidence(), basis=basis)}
    head = list(rows[0])
    assert head.index("source") < head.index("price_usd")  # what was there keeps its place
    names = head[head.index("price_usd") :]
    shared = [name for name in names if name in table[GPU]]
    assert set(names) - set(shared) == {"price_estimate", "price_source"}
    assert len([name for name in shared if "per" in name]) == 7
    for row in rows:
        assert {name: row[name] for name in shared} == {name: table[row["id"]][name] for name in shared}
    assert {row["price_condition"] for row in rows} == {None, "used" if basis == "used" else "new"}


def test_a_listing_goes_by_new_cards_unless_asked():
    row, used = (
        next(row for row in list_rows(shipped_catalog(), "gpus", today=TODAY, **more) if row["id"] == "h100-sxm5-80gb")
        for more in ({}, {"basis": "used"})
    )
    assert row["price_condition"] == "new" and used["price_condition"] == "used"
    assert row["usd_per_dense_16_bit_tflop_per_s"] == pytest.approx(row["price_usd"] / 989.4)
    assert used["price_usd"] < row["price_usd"]
    assert row["price_source"] and used["price_source"]


def test_a_listing_leaves_open_what_has_no_price():
    data = replace(shipped_catalog(), hardware={})
    row = next(row for row in list_rows(data, "gpus", today=TODAY) if row["id"] == GPU)
    assert row["price_usd"] is None and row["usd_per_gb"] is None and row["price_source"] is None
    assert row["dense_16_bit_tflop_per_s_per_w"] == pytest.approx(165.2 / 450)
