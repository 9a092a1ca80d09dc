"""The shipped data: sources, dates, ranges by kind, known prices."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterator, Mapping

import pytest

from planner.catalog import Catalog, load_catalog
from planner.catalog.query import find_offers, prices_of
from planner.catalog.records import Figure, first_day
from planner.performance.vision_names import is_patches, is_plain
from planner.workload.transformer import parameter_count
from tests.offers import offer_conflicts

TODAY = dt.date(2026, 11, 30)

NEEDED_ASSUMPTIONS = {
    "attempts_per_run",
    "checkpoint_s",
    "colocation_usd_per_kw_month",
    "discount_rate",
    "egress_usd_per_gb",
    "embodied_kg_co2e_per_card",
    "embodied_kg_co2e_per_server_gpu",
    "embodied_life_h",
    "free_egress_gb_per_month",
    "fte_cloud",
    "fte_per_server",
    "fte_per_workstation",
    "gpu_idle_w",
    "gpu_training_load_share_of_tdp",
    "installation_usd_server",
    "installation_usd_workstation",
    "interruptions_per_gpu_year",
    "maintenance_share_per_year",
    "powered_h_per_month",
    "psu_efficiency",
    "rented_grid_kg_co2e_per_kwh",
    "rented_pue",
    "rented_retry_s",
    "rented_startup_s",
    "restart_s",
    "server_idle_share_of_load",
    "server_wall_w_per_gpu_tdp",
    "space_usd_per_month",
    "staff_usd_per_fte_year",
    "storage_usd_per_gb_month",
    "target_utilisation",
    "tax_rate",
    "usable_memory_share",
    "useful_life_months_consumer",
    "useful_life_months_server",
}


def figures(node: object, place: str = "") -> Iterator[tuple[str, Figure]]:
    """Every figure of the catalog with the names that lead to it."""
    if isinstance(node, Figure):
        yield place, node
    elif isinstance(node, Mapping):
        for key, value in node.items():
            yield from figures(value, f"{place}.{key}")
    elif dataclasses.is_dataclass(node):
        for part in dataclasses.fields(node):
            yield from figures(getattr(node, part.name), f"{place}.{part.name}")


def test_every_figure_has_sources_that_resolve(shipped: Catalog) -> None:
    found = dict(figures(shipped))
    assert len(found) > 1000
    for place, figure in found.items():
        assert figure.sources, place
        assert all(source in shipped.sources for source in figure.sources), place
        estimated = any(shipped.sources[source].kind == "estimate" for source in figure.sources)
        assert figure.estimate or not estimated, f"{place} cites an estimate without being one"


def test_no_date_is_in_the_future(shipped: Catalog) -> None:
    dates = [day for _, figure in figures(shipped) if (day := first_day(figure.as_of)) is not None]
    assert max(dates) <= TODAY
    assert min(dates) >= dt.date(1998, 1, 1)  # MNIST; grids begin in 2009, prices in 2014
    newest = first_day(shipped.as_of)
    assert newest is not None
    assert dt.date(2026, 11, 1) <= newest <= TODAY


def test_what_is_bought_and_assumed_is_dated(shipped: Catalog) -> None:
    priced = {
        **{id: item.price_usd for id, item in shipped.hardware.items()},
        **{id: rate.usd_per_unit for id, rate in shipped.fx.items() if id != "USD"},
        **{id: assumption.figure for id, assumption in shipped.assumptions.items()},
        **{
            f"{site.id} {name}": tariff.usd_per_kwh
            for site in shipped.sites.values()
            for name, tariff in site.tariffs.items()
        },
    }
    assert [id for id, figure in priced.items() if figure.as_of is None] == []


def test_what_cannot_be_dated_says_why(shipped: Catalog) -> None:
    undated = [
        offer.id
        for offer in shipped.offers.values()
        if offer.price_usd_per_h.as_of is None and not (offer.price_usd_per_h.as_of_note or offer.note)
    ]
    assert undated == []


def test_what_the_planner_needs_is_there(shipped: Catalog) -> None:
    assert set(shipped.assumptions) >= NEEDED_ASSUMPTIONS
    assert {"us-average", "us-california", "germany", "china"} <= set(shipped.sites)
    assert {"bert-large-squad", "gpt-1.3b", "resnet50-imagenet"} <= set(shipped.workloads)
    assert {"rtx-3060-12gb", "rtx-3090", "rtx-4090", "rtx-5090", "t4", "l40s", "h100-sxm5-80gb"} <= set(shipped.gpus)
    assert {"a100-sxm4-40gb", "a100-sxm4-80gb"} <= set(shipped.gpus)
    assert {(curve.applies_to, id) for id, curve in shipped.residuals.items()} >= {
        ("gpu", "gpu-default"),
        ("host", "host-default"),
    }


# From the smallest card of 2014 to the largest of 2026, per kind of figure.
GPU_RANGES = {
    "memory_gb": (4, 300),
    "memory_bandwidth_gb_per_s": (100, 10_000),
    "tdp_w": (50, 1500),
    "idle_w": (3, 250),
    "pcie_gen": (3, 6),
    "nvlink_gb_per_s": (50, 2000),
    "pcie_lanes": (4, 16),
}


def test_gpus_are_plausible(shipped: Catalog) -> None:
    for gpu in shipped.gpus.values():
        for name, (low, high) in GPU_RANGES.items():
            figure = getattr(gpu, name)
            assert figure is None or low <= figure.value <= high, f"{gpu.id} {name} {figure.value}"
        peaks = {precision: figure.value for precision, figure in gpu.dense_tflop_per_s.items()}
        assert 3 <= peaks["fp32"] <= 250, gpu.id
        assert gpu.idle_w is not None, f"{gpu.id}: a plan needs idle power"
        if "fp16" in peaks:
            assert peaks["fp32"] <= peaks["fp16"] <= 3000, gpu.id
        if "tf32" in peaks and "fp16" in peaks:
            assert peaks["tf32"] <= peaks["fp16"], gpu.id
        if "fp8" in peaks:
            # A sparse figure among dense ones shows as a factor of four.
            assert 0.99 <= peaks["fp8"] / peaks["fp16"] <= 2.05, gpu.id  # the L40S sheet prints 733 and 362
        for precision, fraction in gpu.matmul_fraction.items():
            assert 0.3 <= fraction.value <= 1.2, f"{gpu.id} {precision}"


def test_dense_peaks_are_not_the_sparse_ones(shipped: Catalog) -> None:
    assert shipped.gpus["h100-sxm5-80gb"].dense_tflop_per_s["bf16"].value == pytest.approx(989, abs=1)
    assert shipped.gpus["a100-sxm4-80gb"].dense_tflop_per_s["bf16"].value == 312
    assert shipped.gpus["rtx-4090"].dense_tflop_per_s["fp16"].value == pytest.approx(165.2)
    assert shipped.gpus["rtx-3090"].dense_tflop_per_s["fp16"].value == pytest.approx(71, abs=0.5)
    assert shipped.gpus["rtx-5090"].dense_tflop_per_s["fp16"].value == pytest.approx(209.5, abs=0.5)


def test_geforce_of_the_last_two_generations_has_no_peer_to_peer(shipped: Catalog) -> None:
    for id in ("rtx-4090", "rtx-5090"):
        assert not shipped.gpus[id].peer_to_peer
        assert shipped.gpus[id].nvlink_gb_per_s is None
    assert shipped.gpus["a100-sxm4-80gb"].peer_to_peer


def test_offers_are_plausible(shipped: Catalog) -> None:
    for offer in shipped.offers.values():
        assert 0.03 <= offer.price_usd_per_gpu_h <= 20, f"{offer.id}: {offer.price_usd_per_gpu_h} USD per GPU-hour"
        assert offer.gpu_count in (0.333, 0.5, 1, 2, 4, 8, 16), f"{offer.id}: {offer.gpu_count} GPUs"
        days = () if offer.term == "on_demand" else (86_400,)
        assert offer.billing_unit_s.value in (1, 60, 600, 3600, *days), offer.id
        assert 0 <= offer.minimum_s.value <= 366 * 86_400, offer.id
        if offer.network_gbit_per_s is not None:
            assert 1 <= offer.network_gbit_per_s.value <= 6400, offer.id


@pytest.mark.parametrize(
    ("id", "price", "status"),
    [
        ("aws-p4d-24xlarge-us-east-1-on-demand", 21.957642, "current"),
        ("aws-p5-48xlarge-us-east-1-on-demand", 55.04, "current"),
    ],
)
def test_prices_of_today(shipped: Catalog, id: str, price: float, status: str) -> None:
    offer = shipped.offers[id]
    assert offer.price_usd_per_h.value == price
    assert offer.status(TODAY) == status
    assert offer.gpu_count == 8
    assert offer in find_offers(shipped, today=TODAY)


@pytest.mark.parametrize(("instance_type", "price"), [("p4d.24xlarge", 32.77), ("p5.48xlarge", 98.32)])
def test_prices_before_the_cut_are_retired(shipped: Catalog, instance_type: str, price: float) -> None:
    rows = [
        offer
        for offer in shipped.offers.values()
        if offer.instance_type == instance_type and offer.price_usd_per_h.value == pytest.approx(price, abs=0.01)
    ]
    assert rows, f"no row of {instance_type} at {price}"
    assert {offer.status(TODAY) for offer in rows if offer.term == "on_demand"} == {"retired"}


def test_no_two_current_offers_sell_the_same(shipped: Catalog) -> None:
    assert offer_conflicts(shipped, today=TODAY) == ()


def test_interruptions_are_of_spot_offers_and_small(shipped: Catalog) -> None:
    shares = [offer for offer in shipped.offers.values() if offer.interrupted_share_per_month is not None]
    assert shares
    for offer in shares:
        assert offer.term == "spot"
        assert offer.interrupted_share_per_month is not None
        assert 0 < offer.interrupted_share_per_month.value <= 0.5


def test_the_default_pool_serves_the_examples(shipped: Catalog) -> None:
    pool = find_offers(shipped, today=TODAY)
    assert {"rtx-4090", "a100-sxm4-80gb", "h100-sxm5-80gb"} <= {offer.gpu for offer in pool}
    assert {offer.market for offer in pool} == {"cloud"}


MARKETPLACES = {
    "akash", "chenjian", "compshare", "gpushare", "matpool", "mithril", "sf-compute", "suanjia", "vast",
}  # fmt: skip


def test_marketplaces_are_marked(shipped: Catalog) -> None:
    for offer in shipped.offers.values():
        assert (offer.market == "marketplace") == (offer.provider in MARKETPLACES), offer.id


HARDWARE_RANGES = {"gpus": (100, 60_000), "partial_gpus": (100, 60_000), "hosts": (300, 100_000), "parts": (50, 50_000)}
SYSTEM_RANGES = {"pc": (500, 20_000), "baseboard": (30_000, 500_000), "server": (30_000, 600_000)}


def test_hardware_is_plausible(shipped: Catalog) -> None:
    for price in shipped.hardware.values():
        if price.item in shipped.systems:
            low, high = SYSTEM_RANGES[shipped.systems[price.item].kind]
        else:
            kind = next((name for name in HARDWARE_RANGES if price.item in getattr(shipped, name)), "gpus")
            low, high = HARDWARE_RANGES[kind]
        assert low <= price.price_usd.value <= high, price.id
        assert price.item or price.item_label, price.id
        # Only what names several cards at once stands without an item: it can't be planned with.
        assert price.item or price.item_label.casefold() in {
            *(f"{label} used".casefold() for label in shipped.ambiguous),
            *(label.casefold() for label in shipped.ambiguous),
            "gh200 server",
        }, price.id
    for id, gpu in shipped.gpus.items():
        used, new = prices_of(shipped, id, "used"), prices_of(shipped, id, "new")
        if used and new and (used[0].price_usd.as_of or "") >= "2024":
            assert used[0].price_usd.value < max(p.price_usd.value for p in new), f"{gpu.id}: used dearer than new"


def test_sites_are_plausible(shipped: Catalog) -> None:
    for grid in shipped.grids.values():
        assert 0 <= grid.kg_co2e_per_kwh.value <= 1.4, grid.id
    for site in shipped.sites.values():
        assert 1.0 <= site.pue.value <= 2.0
        for name, tariff in site.tariffs.items():
            for price in (tariff, *tariff.others):
                assert 0.005 <= price.usd_per_kwh.value <= 0.6, f"{site.id} {name}"


def test_rates_of_exchange_are_plausible(shipped: Catalog) -> None:
    assert 0.12 <= shipped.fx["CNY"].usd_per_unit.value <= 0.16
    assert 1.0 <= shipped.fx["EUR"].usd_per_unit.value <= 1.3


def test_residual_values_fall_with_age(shipped: Catalog) -> None:
    for curve in shipped.residuals.values():
        ratios = [figure.value for figure in curve.ratio_by_age_months.values()]
        assert ratios == sorted(ratios, reverse=True), curve.id
        assert min(curve.ratio_by_age_months) == 0, curve.id
        assert max(curve.ratio_by_age_months) >= 60, curve.id


def test_workloads_are_plausible(shipped: Catalog) -> None:
    for workload in shipped.workloads.values():
        assert 5e4 <= workload.parameters.value <= 2e12, workload.id
        if workload.transformer is not None:
            # Token types and a pooler aren't part of an encoder's shape.
            tolerance = 0.02 if workload.transformer.encoder else 2e-3
            expected = pytest.approx(parameter_count(workload.transformer), rel=tolerance)
            assert workload.parameters.value == expected, workload.id
        if workload.unit == "samples":
            assert workload.samples is not None, workload.id
            assert workload.epochs is not None, workload.id


def test_unchanged_files_are_read_once() -> None:
    assert load_catalog(today=TODAY) is load_catalog(today=TODAY)


def test_the_rate_of_interruptions_is_that_of_the_run_it_cites(shipped: Catalog) -> None:
    count = shipped.observations["failures-llama-3-405b-unexpected-interruptions"].figure.value
    gpu_years = 16_384 * 54 / 365
    assert shipped.assumptions["interruptions_per_gpu_year"].figure.value == pytest.approx(count / gpu_years, abs=5e-4)


def test_kinds_of_vision_models_are_those_that_their_names_say(shipped: Catalog) -> None:
    vision = [(name, w.vision) for w in shipped.workloads.values() if w.vision for name in w.evidence_models]
    assert len(vision) > 10
    for name, spec in vision:
        assert (spec.patches, spec.plain) == (is_patches(name), is_plain(name)), name
