"""The shipped places: sites with their grids, averages, facilities, carbon of making hardware."""

from __future__ import annotations

import pytest

from planner.catalog import Catalog


def test_every_country_and_state_with_a_tariff_is_a_site(shipped: Catalog) -> None:
    assert len(shipped.sites) >= 109
    states = [id for id in shipped.sites if id.startswith("us-") and id != "us-average"]
    assert len(states) >= 46
    assert {"us-texas", "france", "japan", "india", "united-kingdom", "singapore"} <= set(shipped.sites)
    for site in shipped.sites.values():
        assert shipped.grids[site.grid].kind in ("country", "us_state"), site.id
        if site.id in states:
            assert site.grid == site.id


def test_the_first_price_of_a_class_is_no_worse_than_the_others(shipped: Catalog) -> None:
    """A marginal, wholesale or crisis price is taken only where nothing else is published."""
    for site in shipped.sites.values():
        for name, tariff in site.tariffs.items():
            poor = ("marginal", "wholesale", "crisis")
            if any(word in tariff.note for word in poor):
                assert all(any(word in other.note for word in poor) for other in tariff.others), f"{site.id} {name}"


def test_usual_figures(shipped: Catalog) -> None:
    texas = shipped.sites["us-texas"].tariffs["industrial"]
    assert (texas.usd_per_kwh.value, texas.usd_per_kwh.as_of) == (0.0725, "2026-01")
    assert [other.usd_per_kwh.as_of for other in texas.others] == ["2025-07", "2023"]
    assert shipped.sites["denmark"].tariffs["commercial"].usd_per_kwh.value == pytest.approx(1.951 * 0.154)
    assert shipped.sites["denmark"].tariffs["commercial"].usd_per_kwh.estimate, "the rate of exchange is an estimate"
    assert shipped.grids["france"].kg_co2e_per_kwh.value == pytest.approx(0.056)
    assert len(shipped.grids) >= 380


def test_averages_are_no_places(shipped: Catalog) -> None:
    assert set(shipped.region_tariffs) >= {"eu-27-average", "world-average", "europe-average"}
    assert not set(shipped.region_tariffs) & set(shipped.sites)


def test_facilities(shipped: Catalog) -> None:
    for facility in shipped.facilities.values():
        assert 1.0 <= facility.pue.value <= 2.0, facility.id
    for provider, facility in (("aws", "aws-fleet"), ("gcp", "google-fleet"), ("azure", "microsoft-fleet")):
        known = shipped.providers[provider].pue
        assert known is not None
        assert known.value == shipped.facilities[facility].pue.value


def test_embodied_carbon(shipped: Catalog) -> None:
    cards = {item.gpu: item for item in shipped.embodied.values() if item.gpu is not None}
    assert cards["h100-sxm5-80gb"].kg_co2e.value == 372.4
    assert set(cards) <= {*shipped.gpus, *shipped.partial_gpus}
    for item in cards.values():
        assert 50 <= item.kg_co2e.value <= 500, item.id
    share, card = shipped.embodied["a100-with-server-share"], cards["a100-sxm4-40gb"]
    rest = shipped.assume("embodied_kg_co2e_per_server_gpu").value
    assert share.kg_co2e.value - card.kg_co2e.value == pytest.approx(rest, abs=0.05)
    assert shipped.embodied["server-8-gpu-rest"].kg_co2e.value == pytest.approx(8 * rest, abs=1)


def test_observations_are_kept_apart_from_defaults(shipped: Catalog) -> None:
    assert len(shipped.observations) == 35
    assert not set(shipped.observations) & set(shipped.assumptions)
    ratios = [o.figure.value for id, o in shipped.observations.items() if id.startswith("resale-")]
    assert 0 < min(ratios) < max(ratios) <= 1.1
