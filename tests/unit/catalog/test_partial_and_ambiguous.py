"""Accelerators of which too little is known, and spellings that several share: listed, named, never planned with."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pytest

from planner.catalog import Catalog, load_catalog
from planner.catalog.query import find_accelerator, find_gpu, find_offers, prices_of
from planner.errors import InputError, Problem, UnknownIdError

TODAY = dt.date(2026, 11, 30)
Problems = Callable[..., tuple[Problem, ...]]

PARTIAL = """
partial_gpus:
  - id: k80
    name: Tesla K80
    vendor: NVIDIA
    architecture: Kepler
    segment: datacenter
    form_factor: PCIe
    aliases: [K80]
    source: fixture-specs
    as_of: 2026-11-01
    memory_gb: 12

ambiguous:
  - {label: A100/H100, could_be: [a100-sxm4-80gb, h100-sxm5-80gb]}

hosts:
"""
WITH_PARTIAL = ("gpus.yaml", "\nhosts:\n", PARTIAL)
OLD_OFFER = ("prices.yaml", "  - id: examplecloud-a100x8-us-on-demand\n", "  - id: examplecloud-a100x8-us-on-demand\n")


@pytest.fixture
def wider(edited: Callable[..., Path]) -> Catalog:
    return load_catalog(edited(WITH_PARTIAL), today=TODAY)


def test_sections_may_be_left_out(catalog: Catalog) -> None:
    assert (catalog.partial_gpus, catalog.ambiguous, catalog.systems, catalog.embodied) == ({}, {}, {}, {})


def test_a_partial_gpu_is_apart_from_the_others(wider: Catalog) -> None:
    partial = wider.partial_gpus["k80"]
    assert "k80" not in wider.gpus
    assert partial.memory_gb is not None
    assert partial.memory_gb.value == 12
    assert partial.tdp_w is None
    assert partial.missing == ("memory_bandwidth_gb_per_s", "tdp_w", "fp32_tflop_per_s")


def test_it_is_refused_for_plans_with_what_is_missing(wider: Catalog) -> None:
    with pytest.raises(InputError) as error:
        find_gpu(wider, "K80", field="machines.a.gpu")
    assert str(error.value) == (
        "machines.a.gpu: 'K80' can't be planned with (unknown: memory_bandwidth_gb_per_s, tdp_w, "
        "fp32_tflop_per_s): expected another GPU"
    )
    assert find_accelerator(wider, "K80") is wider.partial_gpus["k80"]


def test_an_ambiguous_spelling_names_what_it_could_be(wider: Catalog) -> None:
    with pytest.raises(InputError) as error:
        find_gpu(wider, "a100/h100", field="--gpu")
    assert "could be a100-sxm4-80gb" in str(error.value)
    assert error.value.params["could_be"] == ["a100-sxm4-80gb", "h100-sxm5-80gb"]


def test_near_names_hold_partial_ones_too(wider: Catalog) -> None:
    with pytest.raises(UnknownIdError) as error:
        find_gpu(wider, "k8")
    assert error.value.params["near"] == ["k80"]


def test_offers_of_a_partial_gpu_are_listed_and_never_in_a_pool(edited: Callable[..., Path]) -> None:
    folder = edited(WITH_PARTIAL)
    path = folder / "prices.yaml"
    text = path.read_text()
    start = text.index("  - id: examplecloud-a100x8-us-on-demand\n")
    gpu = text.index("    gpu: ", start)
    end = text.index("\n", gpu)
    path.write_text(text[:gpu] + "    gpu: k80" + text[end:])
    catalog = load_catalog(folder, today=TODAY)
    offer = catalog.offers["examplecloud-a100x8-us-on-demand"]
    assert (offer.gpu, offer.partial_gpu) == (None, "k80")
    assert offer not in find_offers(catalog, today=TODAY)


def test_an_entry_with_every_figure_needs_a_reason(problems: Problems) -> None:
    whole = PARTIAL.replace(
        "    memory_gb: 12\n",
        "    memory_gb: 12\n    memory_bandwidth_gb_per_s: 240\n    tdp_w: 300\n    fp32_tflop_per_s: 4\n",
    )
    (problem,) = problems(("gpus.yaml", "\nhosts:\n", whole))
    assert problem.found == "every figure that a plan needs"
    reasoned = whole.replace("    memory_gb: 12\n", "    memory_gb: 12\n    reason: it is a slice of a card\n")
    assert problems(("gpus.yaml", "\nhosts:\n", reasoned)) == ()


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("label: A100/H100", "label: K80", "'K80', which names k80"),
        ("h100-sxm5-80gb]", "h100-sxm5-80g]", "the unknown id 'h100-sxm5-80g'"),
        ("[a100-sxm4-80gb, h100-sxm5-80gb]", "[a100-sxm4-80gb]", "a list"),
        ("id: k80", "id: h100-sxm5-80gb", "the id 'h100-sxm5-80gb', which an entry of gpus has"),
        ("memory_gb: 12", "memory: 12", "an unknown key"),
    ],
)
def test_faults_in_the_lists(problems: Problems, old: str, new: str, found: str) -> None:
    assert old in PARTIAL
    listed = problems(("gpus.yaml", "\nhosts:\n", PARTIAL.replace(old, new)))
    assert any(problem.found.startswith(found) or found in problem.found for problem in listed), listed


def test_prices_of_an_item_are_newest_first(catalog: Catalog) -> None:
    items = {price.item for price in catalog.hardware.values()}
    for item in items:
        dates = [price.price_usd.as_of or "" for price in prices_of(catalog, item)]
        assert dates == sorted(dates, reverse=True)
