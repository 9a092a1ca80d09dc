"""Finding records by what is typed, and the pools of offers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pytest

from planner.catalog import Catalog, load_catalog
from planner.catalog.query import (
    find_gpu,
    find_host,
    find_offer,
    find_offers,
    find_site,
    find_workload,
)
from planner.errors import InputError, UnknownIdError
from tests.offers import offer_conflicts

TODAY = dt.date(2026, 11, 30)


@pytest.mark.parametrize("text", ["rtx-4090", "RTX-4090", "GeForce RTX 4090", "geforce rtx 4090", " 4090 "])
def test_gpu_by_id_or_alias_in_any_case(catalog: Catalog, text: str) -> None:
    assert find_gpu(catalog, text).id == "rtx-4090"


def test_other_records(catalog: Catalog) -> None:
    assert find_workload(catalog, "BERT-Large").id == "bert-large-squad"
    assert find_site(catalog, "Germany").grid == "germany"
    assert find_host(catalog, "workstation-1").gpu_slots == 1
    assert find_offer(catalog, "examplecloud-a100x8-us-spot").term == "spot"


@pytest.mark.parametrize(
    ("find", "text", "kind", "near"),
    [
        (find_gpu, "h100", "GPU", "h100-sxm5-80gb"),
        (find_gpu, "rtx4090x", "GPU", "rtx-4090"),
        (find_gpu, "A100 88G", "GPU", "a100-sxm4-80gb"),
        (find_workload, "llama-7b", "workload", "llama-2-7b"),
        (find_site, "us", "site", "us-average"),
        (find_host, "server-8", "host", "server-8-sxm"),
        (find_offer, "examplecloud-h100x8-us-ondemand", "offer", "examplecloud-h100x8-us-on-demand"),
    ],
)
def test_unknown_ids_suggest_the_nearest(
    catalog: Catalog, find: Callable[..., object], text: str, kind: str, near: str
) -> None:
    with pytest.raises(UnknownIdError) as caught:
        find(catalog, text, field="machines.x")
    error = caught.value
    assert error.params["near"][0] == near
    assert len(error.params["near"]) <= 3
    assert (error.params["kind"], error.params["value"], error.field) == (kind, text, "machines.x")
    assert str(error).startswith(f"machines.x: no {kind} called '{text}'; did you mean {near}")


def test_nothing_is_near_to_nonsense_or_to_nothing(catalog: Catalog) -> None:
    for text in ("qqqqqq", "", "x" * 1_000_000):
        with pytest.raises(UnknownIdError) as caught:
            find_gpu(catalog, text)
        assert caught.value.params["near"] == []
        assert len(str(caught.value)) < 300


def ids(catalog: Catalog, **choice: object) -> list[str]:
    return [offer.id for offer in find_offers(catalog, today=TODAY, **choice)]  # type: ignore[arg-type]


DEFAULT_POOL = [
    "examplecloud-a100x8-eu-on-demand",
    "examplecloud-a100x8-us-on-demand",
    "examplecloud-h100x1-us-on-demand",
    "examplecloud-h100x8-us-on-demand",
    "hostcloud-rtx-4090-on-demand",
]


def test_default_pool(catalog: Catalog) -> None:
    """Neither spot, reserved, marketplace, stale, retired, estimated offers, nor one with an unclear GPU."""
    assert ids(catalog) == DEFAULT_POOL


@pytest.mark.parametrize(
    ("choice", "more"),
    [
        ({"include_estimates": True}, {"hostcloud-rtx-4090-x2-on-demand"}),
        ({"markets": ("cloud", "marketplace")}, {"bidmarket-rtx-4090-on-demand"}),
        ({"statuses": ("current", "stale")}, {"oldcloud-a100x1-on-demand", "oldcloud-a100x1-undated-on-demand"}),
        ({"statuses": ("current", "retired")}, {"examplecloud-a100x8-us-on-demand-2024"}),
        ({"terms": ("on_demand", "spot")}, {"examplecloud-a100x8-us-spot"}),
        ({"terms": ("on_demand", "reserved_1y")}, {"examplecloud-h100x8-us-reserved-1y"}),
    ],
)
def test_opting_in_adds_just_those(catalog: Catalog, choice: dict[str, object], more: set[str]) -> None:
    assert set(ids(catalog, **choice)) - set(DEFAULT_POOL) == more


def test_restrictions(catalog: Catalog) -> None:
    assert ids(catalog, providers=["hostcloud"]) == ["hostcloud-rtx-4090-on-demand"]
    assert ids(catalog, regions=["eu-north"]) == ["examplecloud-a100x8-eu-on-demand"]
    assert ids(catalog, gpus=["h100-sxm5-80gb"]) == DEFAULT_POOL[2:4]
    assert ids(catalog, gpus=[]) == []


def test_the_pool_follows_the_day_of_the_run(catalog: Catalog) -> None:
    later = find_offers(catalog, today=dt.date(2028, 5, 2))
    # hostcloud's price is dated 2026-10: nineteen months before.
    assert [offer.id for offer in later] == [id for id in DEFAULT_POOL if not id.startswith("hostcloud")]
    before_the_cut = find_offers(catalog, today=dt.date(2025, 5, 31))
    assert "examplecloud-a100x8-us-on-demand-2024" in [offer.id for offer in before_the_cut]


def test_conflicts_are_current_offers_of_the_same_thing(catalog: Catalog, edited: Callable[..., Path]) -> None:
    assert offer_conflicts(catalog, today=TODAY) == ()
    kept = load_catalog(edited(("prices.yaml", "    retired_on: 2025-06-01\n", "")), today=TODAY)
    assert offer_conflicts(kept, today=TODAY) == ()  # undated or old prices are stale: they don't compete
    assert offer_conflicts(kept, today=dt.date(2025, 9, 1)) == (
        ("examplecloud-a100x8-us-on-demand", "examplecloud-a100x8-us-on-demand-2024"),
    )


@pytest.mark.parametrize(("typed", "code"), [(" A100-80gb", "gpu_ambiguous"), ("K80", "gpu_incomplete")])
def test_a_gpu_that_cannot_be_taken_is_named_as_it_was_typed(typed: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        find_gpu(load_catalog(), typed, field="--gpu")
    assert caught.value.code == code
    assert f"--gpu: '{typed.strip()}'" in str(caught.value)
