"""The shipped prices: terms against each other, GPUs that exist, what stays out of plans."""

from __future__ import annotations

import datetime as dt

import pytest

from planner.catalog import Catalog
from planner.catalog.query import find_accelerator, find_gpu, find_offers
from planner.catalog.records import STALE_AFTER_MONTHS, Offer
from planner.errors import InputError

TODAY = dt.date(2026, 11, 30)


def same(offer: Offer) -> tuple[object, ...]:
    return offer.provider, offer.instance_type, offer.region, offer.gpu_count, offer.market, offer.gpu_label


def test_spot_and_reserved_cost_less_than_the_hour_unless_marked(shipped: Catalog) -> None:
    by_hour = {
        same(offer): offer
        for offer in shipped.offers.values()
        if offer.term == "on_demand" and offer.retired_on is None
    }
    compared = 0
    for offer in shipped.offers.values():
        other = by_hour.get(same(offer))
        if offer.term == "on_demand" or other is None or offer.retired_on is not None:
            continue
        compared += 1
        marked = "equal to the on-demand price" in offer.note and offer.price_usd_per_h == other.price_usd_per_h
        cheaper = offer.price_usd_per_h.value < other.price_usd_per_h.value
        assert cheaper or marked, f"{offer.id}: as dear as {other.id}, without a mark"
    assert compared >= 100


def test_every_gpu_of_an_offer_exists_and_is_the_one_of_its_label(shipped: Catalog) -> None:
    for offer in shipped.offers.values():
        assert offer.gpu is None or offer.partial_gpu is None
        named = offer.gpu or offer.partial_gpu
        assert named is None or named in {*shipped.gpus, *shipped.partial_gpus}, offer.id
        if named is not None:
            assert find_accelerator(shipped, offer.gpu_label).id == named, f"{offer.id}: {offer.gpu_label}"


def test_unclear_labels_are_never_planned_with(shipped: Catalog) -> None:
    unclear = {label.casefold() for label in shipped.ambiguous}
    labelled = [offer for offer in shipped.offers.values() if offer.gpu_label.casefold() in unclear]
    assert len(labelled) > 30
    assert {offer.gpu for offer in labelled} == {None}
    everything = find_offers(
        shipped,
        today=TODAY,
        terms=("on_demand", "spot", "reserved_1y", "reserved_3y", "capacity_block"),
        markets=("cloud", "marketplace"),
        statuses=("current", "stale", "retired"),
        include_estimates=True,
    )
    assert len(everything) > 400
    assert not any(offer.gpu_label.casefold() in unclear or offer.partial_gpu for offer in everything)
    assert {offer.gpu for offer in everything} <= set(shipped.gpus)


def test_part_of_a_machine_and_averages_are_not_in_the_default_pool(shipped: Catalog) -> None:
    pool = find_offers(shipped, today=TODAY)
    assert not [offer.id for offer in pool if "average" in offer.instance_type or "part" in offer.instance_type]
    averages = [offer for offer in shipped.offers.values() if offer.instance_type == "average of listings"]
    assert len(averages) == 16
    assert all(offer.price_usd_per_h.estimate for offer in averages)


def test_price_per_gpu_and_per_instance_agree(shipped: Catalog) -> None:
    for offer in shipped.offers.values():
        assert offer.price_usd_per_gpu_h * offer.gpu_count == pytest.approx(offer.price_usd_per_h.value, rel=1e-12)


def test_what_is_printed_for_all_gpus_of_a_node_costs_about_n_times_one(shipped: Catalog) -> None:
    """A price per GPU under a key per instance shows as a factor of its number of GPUs."""
    by_one: dict[tuple[str, str | None, str], list[Offer]] = {}
    for offer in shipped.offers.values():
        if offer.gpu is not None and offer.term == "on_demand" and offer.status(TODAY) == "current":
            by_one.setdefault((offer.provider, offer.gpu, offer.market), []).append(offer)
    compared = 0
    for offers in by_one.values():
        rates = [offer.price_usd_per_gpu_h for offer in offers]
        compared += len(rates) > 1
        assert max(rates) < 3 * min(rates), [(offer.id, offer.price_usd_per_gpu_h) for offer in offers]
    assert compared > 15


def test_retired_offers_have_a_successor_or_say_why(shipped: Catalog) -> None:
    retired = [offer for offer in shipped.offers.values() if offer.retired_on is not None]
    assert len(retired) > 15
    assert [offer.id for offer in retired if not offer.note] == []


def test_withdrawn_and_current_prices_of_one_instance_differ_in_id(shipped: Catalog) -> None:
    ids = ["aws-p4d-24xlarge-us-east-1-on-demand", "aws-p4d-24xlarge-us-east-1-on-demand-2023"]
    now, before = (shipped.offers[id] for id in ids)
    assert (now.status(TODAY), before.status(TODAY)) == ("current", "retired")
    assert now.price_usd_per_h.value < before.price_usd_per_h.value


def test_undated_prices_are_of_undated_sources(shipped: Catalog) -> None:
    undated = {offer.id: offer for offer in shipped.offers.values() if offer.price_usd_per_h.as_of is None}
    allowed = {"runpod-serverless", "gpuhunt-crusoe", "gpuhunt-fixtures", "infracost-golden"}
    assert {source for offer in undated.values() for source in offer.price_usd_per_h.sources} == allowed
    assert {offer.status(TODAY) for offer in undated.values()} == {"stale"}
    of_those = [o.id for o in shipped.offers.values() if allowed & set(o.price_usd_per_h.sources)]
    assert of_those == list(undated), "a day that the source doesn't print"
    assert STALE_AFTER_MONTHS == 18


def test_bands_of_interruption(shipped: Catalog) -> None:
    bands = shipped.interruption_bands
    assert len(bands) == 7
    for band in bands.values():
        share = band.interrupted_share_per_month
        assert share.low is not None
        assert share.high is not None
        assert share.value == pytest.approx((share.low + share.high) / 2), band.id
        assert share.high <= 0.25, band.id
        assert band.gpu is None or band.gpu in shipped.gpus
    newest = bands["p5-48xlarge-2026-02-24"].interrupted_share_per_month
    assert shipped.offers["aws-p5-48xlarge-us-east-1-spot"].interrupted_share_per_month == newest


@pytest.mark.parametrize("label", ["A100-80GB", "RTX3090/L4/A5000", "V100-32GB", "h100", "V100"])
def test_ambiguous_spellings_say_what_they_could_be(shipped: Catalog, label: str) -> None:
    with pytest.raises(InputError, match="could be") as error:
        find_gpu(shipped, label, field="machines.a.gpu")
    assert error.value.code == "gpu_ambiguous"
    assert len(error.value.params["could_be"]) > 1
    assert set(error.value.params["could_be"]) <= {*shipped.gpus, *shipped.partial_gpus}


def test_several_dated_prices_of_one_item(shipped: Catalog) -> None:
    dates = {price.price_usd.as_of for price in shipped.hardware.values() if price.item == "rtx-3090"}
    assert dates >= {"2020-09-01", "2022-01", "2023-08", "2026-05"}
    assert {price.kind for price in shipped.hardware.values()} == {
        "market", "list", "launch", "benchmark_table", "estimate",
    }  # fmt: skip
