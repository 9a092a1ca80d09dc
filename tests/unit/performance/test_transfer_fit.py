"""Fit of transfer: terms and residuals of single cards, links of several, and what is shipped of them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import yaml

from benchmarks.transfer_accuracy import SHIPPED
from planner.catalog.query import find_accelerator
from planner.performance.percent_errors import covering, shrunk
from planner.performance.scaling import link_of
from planner.performance.transfer.cards import Card
from planner.performance.transfer.fit import document_of
from planner.performance.transfer.fit_links import LinkFit, pairs_of
from planner.performance.transfer.held_out import CARDS_OF_SUITE, GEFORCE, NVLINK, PCIE
from planner.performance.transfer.likeness import covariance
from planner.performance.transfer.links import LinkRates, exchange, kind_of
from planner.performance.transfer.models import TRANSFER_FILE, load_transfer
from planner.performance.transfer.posterior import Measured, Prior, fit
from planner.performance.transfer.published import shipped_table
from planner.performance.transfer.singles import code, places_of, singles
from planner.performance.transfer.terms import basis_of, part_times
from planner.performance.transfer.widths import strangeness
from planner.report.held_out import load_held_out
from tests.unit.performance.transfer_fit import catalog, constants, fitted, left_out_scores

RATES = LinkRates(
    nvlink_share=0.1, pcie_gb_per_s_professional=20.0, pcie_gb_per_s_geforce=6.0, pcie_generation_gain=3.0,
    geforce_contention=0.7, sync_share=0.02,
)  # fmt: skip


def made_up(count: int, noise: float = 0.0) -> tuple[Measured, list[float]]:
    """Rows of one model on cards of all kinds, from terms that are known."""
    true = tuple(np.log([0.004, 0.004, 0.001, 0.02, 0.0002]).tolist())
    rng = np.random.default_rng(3)
    rates = zip(rng.uniform(30, 800, count), rng.uniform(10, 80, count), rng.uniform(300, 3300, count), strict=True)
    cards = [Card(matmul_tflop_per_s=m, vector_tflop_per_s=v, bandwidth_gb_per_s=b) for m, v, b in rates]
    batches = rng.integers(2, 200, count).tolist()
    logs = [-np.log(sum(part_times(true, card, "16-bit", batch))) for card, batch in zip(cards, batches, strict=True)]
    places = places_of(
        np.zeros(count, dtype=np.int64), code([str(at) for at in range(count)]), ["16-bit"] * count, ["x"] * count,
        np.zeros(count, dtype=np.int64), np.array([card.features for card in cards]),
    )  # fmt: skip
    rows = Measured(
        places=places,
        workload=np.zeros(count, dtype=np.int64),
        basis=np.array([basis_of(card, "16-bit", batch) for card, batch in zip(cards, batches, strict=True)]),
        log_speed=np.array(logs) + noise * rng.standard_normal(count),
    )
    return rows, list(true)


def test_fit_finds_the_terms_that_made_the_rows() -> None:
    rows, true = made_up(60)
    prior = Prior(centres=np.array([true]) + 0.4, deviations=np.array([1.0, 0.7, 1.0, 1.0, 0.8]))
    kept, left = rows.take(np.arange(40)), rows.take(np.arange(40, 60))
    found = fit(kept, prior)
    assert np.abs(found.log_speed(left) - left.log_speed).max() < 0.03
    assert np.abs(found.log_speed(kept) - kept.log_speed).max() < 0.01


def test_one_row_far_off_moves_the_others_little() -> None:
    rows, true = made_up(40)
    prior = Prior(centres=np.array([true]) + 0.4, deviations=np.array([1.0, 0.7, 1.0, 1.0, 0.8]))
    wrong = rows.log_speed.copy()
    wrong[0] += 5.0
    found = fit(dataclasses.replace(rows, log_speed=wrong), prior)
    errors = np.abs(found.log_speed(rows) - rows.log_speed)
    assert np.median(errors[1:]) < 0.02


def test_runs_are_the_more_alike_the_more_they_share() -> None:
    def place(model: int, gpu: int, stack: str, software: int, bandwidth: float) -> object:
        return places_of(
            np.array([model]), np.array([gpu]), ["16-bit"], [stack], np.array([software]),
            np.log([[bandwidth, 100.0, 24.0, 20.0, 6.0]]),
        )  # fmt: skip

    one = place(0, 0, "lambda-benchmark-v1/1.13", 0, 1000)

    def like(*what: object) -> float:
        return float(covariance(one, place(*what))[0, 0])  # type: ignore[arg-type]

    same = like(0, 0, "lambda-benchmark-v1/1.13", 0, 1000)
    near = like(0, 1, "lambda-benchmark-v1/1.13", 0, 1100)
    far = like(0, 1, "lambda-benchmark-v1/1.13", 0, 8000)
    assert same > near > far > like(1, 1, "lambda-benchmark-v1/1.13", 0, 8000) > 0
    assert near > like(0, 1, "lambda-benchmark-v0/1.9", 1, 1100) > like(0, 1, "lambda-benchmark-v0/1.4", 2, 1100)
    assert like(0, 1, "timm-benchmark", 3, 1100) < like(0, 1, "lambda-benchmark-v0/1.4", 2, 1100)


def test_kinds_of_links() -> None:
    kinds = {id: kind_of(find_accelerator(catalog(), id)) for id in ("a100-sxm4-80gb", "a40", "rtx-3090", "rtx-a4500")}
    assert kinds == {"a100-sxm4-80gb": "nvlink", "a40": "pcie", "rtx-3090": "geforce", "rtx-a4500": "pcie"}
    assert kind_of(find_accelerator(catalog(), "gtx-1080-ti")) == "pcie"  # GeForce lost peer-to-peer with Turing


def test_exchange_by_hand() -> None:
    gpu = catalog().gpus["rtx-3090"]
    link = link_of(gpu, 4, 4, None, constants())
    # 100 M gradients of 2 bytes, 1.5 times over 6 x 0.5^0.7 GB/s, and 6 latencies; then 2 % for each of two doublings.
    found = exchange(0.2, 100.0, 0.0, "16-bit", gpu, link, RATES, constants())
    transfer = 1.5 * 0.2e9 / (6e9 * 0.5**0.7) + 6 * link.latency_s
    assert found.communication_s == pytest.approx(transfer)
    assert found.waiting_s == pytest.approx(0.04 * (0.2 + transfer))
    assert exchange(0.2, 100.0, -1.0, "16-bit", gpu, link, RATES, constants()).waiting_s == 0
    single = exchange(0.2, 100.0, 0.0, "16-bit", gpu, link_of(gpu, 1, 1, None, constants()), RATES, constants())
    assert single.communication_s == single.waiting_s == 0


def test_arrays_of_the_search_are_the_formula_of_one_run() -> None:
    found = singles(shipped_table(), catalog(), constants())
    pairs = pairs_of(found, catalog(), constants())[::40]
    links = LinkFit(pairs, found, catalog(), constants())
    fitted = links.fit(np.arange(len(pairs)))
    for at, pair in enumerate(pairs):
        assert fitted.step_s(pair, constants()) == pytest.approx(links.step_s(fitted.values, np.array([at]))[0])


def test_widths_by_hand() -> None:
    assert covering([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) == 5.0
    assert shrunk([], 0.3, 5) == 0.3
    assert shrunk([0.1] * 5, 0.3, 5) == pytest.approx(0.2)
    cards = np.log([[1000.0, 100.0], [2000.0, 300.0]])
    assert strangeness(cards[0], cards) < 0.2 < strangeness(np.log([1400.0, 20.0]), cards)
    assert strangeness(np.log([1e6, 1e5]), cards) == pytest.approx(1)


@pytest.mark.refit
def test_shipped_file_is_what_the_fit_gives() -> None:
    shipped = yaml.safe_load(TRANSFER_FILE.read_text(encoding="utf-8"))
    written = document_of(fitted(), catalog(), constants())
    near = ("models", "links", "exchange_widths", "stack_factor")
    assert {key: value for key, value in shipped.items() if key not in near} == {
        key: value for key, value in written.items() if key not in near
    }
    assert shipped["stack_factor"] == pytest.approx(written["stack_factor"], rel=1e-2)
    assert shipped["links"] == pytest.approx(written["links"], rel=5e-3)
    assert shipped["exchange_widths"] == pytest.approx(written["exchange_widths"], rel=1e-2)
    for one, other in zip(shipped["models"], written["models"], strict=True):
        assert (one["id"], one["unit"], one["usual_batch"]) == (other["id"], other["unit"], other["usual_batch"])
        assert one["terms"] == pytest.approx(other["terms"], abs=2e-3)
        assert one["half_widths"] == pytest.approx(other["half_widths"], abs=2e-3)
        assert [run[:3] + run[4:] for run in one["runs"]] == [run[:3] + run[4:] for run in other["runs"]]
        assert [run[3] for run in one["runs"]] == pytest.approx([run[3] for run in other["runs"]], abs=0.1)


@pytest.mark.refit
def test_cards_and_hosts_left_out_stay_within_the_limits_and_ahead_of_data_sheets() -> None:
    """Each GPU, and each host, with all its rows: median and 90th percentile in percent at most."""
    shipped = {split.id: split for split in load_held_out()}
    for split in (CARDS_OF_SUITE, NVLINK, PCIE, GEFORCE):
        score, limit = left_out_scores()[split], shipped[SHIPPED[split]].limit
        assert limit is not None and score.n > 50
        assert score.median < limit.median_ape and score.p90 < limit.p90_ape
        assert score.median < min(of for of, _ in score.baselines.values()) + 2
        assert score.p90 < min(of for _, of in score.baselines.values())
        assert 0.75 < score.coverage_80 < 0.88


def test_every_weight_finds_its_run() -> None:
    transfer = load_transfer()
    assert len(transfer.weights) == len(transfer.places.model) > 400
    assert np.isfinite(transfer.places.features).all()
