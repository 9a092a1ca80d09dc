"""Rules of verdicts by hand: tolerances, variants, links, versions, memory, the productivity of a mix."""

from __future__ import annotations

import dataclasses

import pytest

from planner.advise.claims.assess import assess
from planner.advise.claims.compare import by_variants, named
from planner.advise.claims.facts import Facts, Inquiry
from planner.advise.claims.hybrid import finished_value
from planner.advise.claims.records import Value, last_digit
from planner.advise.claims.software import version
from planner.catalog.figures import Figure
from planner.strategy.sessions import local_busy_h
from tests.planning import small_plan, solve, strategy
from tests.unit.advise.conftest import claim_of


@pytest.mark.parametrize(
    ("printed", "digit"), [(3.35, 0.01), (82.6, 0.1), (300, 1), (6912, 1), (1.0, 1), (0.82, 0.01), (515.65, 0.01)]
)
def test_last_printed_digit(printed: float, digit: float) -> None:
    assert last_digit(printed) == pytest.approx(digit)


@pytest.mark.parametrize(
    ("changes", "margin"),
    [
        ({"printed": 3.35}, 0.005),
        ({"printed": 82.6}, 0.05),
        ({"printed": 32.0, "about": True}, 1.0),
        ({"printed": 1.0}, 0.05),  # not half of it
        ({"printed": 3.0, "about": True}, 0.15),
        ({"printed": 1.0, "tolerance": 0.2}, 0.2),
        ({"printed": 0.0}, 0.0),
        ({"printed": None}, 0.0),
    ],
)
def test_margins(changes: dict[str, object], margin: float) -> None:
    assert claim_of(**changes).margin == pytest.approx(margin)


def test_a_figure_agrees_when_it_rounds_to_what_is_printed() -> None:
    claim = claim_of(printed=1.56)
    assert claim.agrees(1.555)
    assert claim.agrees(1.565)
    assert not claim.agrees(1.5549)
    assert not claim.agrees(1.94)
    assert claim.agrees(1.94, at_least=True)
    assert not claim.agrees(1.5, at_least=True)


@pytest.mark.parametrize(
    ("values", "options", "verdict"),
    [
        ([100.0, 100.4], {}, "holds"),
        ([100.0, 101.0], {}, "conditional"),
        ([99.0, 101.0], {}, "does_not_hold"),
        ([99.0, 101.0], {"within": True}, "conditional"),
        ([101.0, 102.0], {"within": True}, "does_not_hold"),
        ([120.0, 150.0], {"at_least": True}, "holds"),
        ([120.0, 90.0], {"at_least": True}, "conditional"),
        ([80.0, 90.0], {"at_least": True}, "does_not_hold"),
    ],
)
def test_verdict_over_variants(values: list[float], options: dict[str, bool], verdict: str) -> None:
    variants = [Value(label=f"v{index}", value=value) for index, value in enumerate(values)]
    finding = by_variants(claim_of(), variants, **options)
    assert finding.verdict == verdict
    assert finding.values == tuple(variants)


def test_equal_numbers_are_named_once() -> None:
    values = [Value(label="A", value=16384), Value(label="B", value=1.23456), Value(label="C", value=16384)]
    assert named(values, "cores") == "16,384 cores for the A and the C and 1.235 cores for the B"


def test_a_label_with_a_preposition_stands_as_it_is_and_units_read_as_words() -> None:
    values = [Value(label="in TF32", value=55.77), Value(label="with two cards", value=78.03)]
    assert named(values, "%", 3) == "56 % in TF32 and 78 % with two cards"
    assert named([Value(label="Tesla T4", value=3)], "(PCIe generation)") == "PCIe Gen3 for the Tesla T4"
    assert named([Value(label="A10", value=1.0), Value(label="A40", value=7.3836)], "times", 3) == (
        "the same for the A10 and 7.38 times for the A40"
    )


@pytest.mark.parametrize(
    ("printed", "reading", "verdict", "our"),
    [
        (600.0, None, "conditional", 600),
        (300.0, None, "conditional", 300),
        (600.0, "total", "holds", 600),
        (300.0, "total", "does_not_hold", 600),
        (64.0, None, "does_not_hold", 600),
    ],
)
def test_links_are_printed_one_way_or_both(
    facts: Facts, printed: float, reading: str | None, verdict: str, our: float
) -> None:
    params = {} if reading is None else {"reading": reading}
    figures = ("gpus.a100-sxm4-80gb.nvlink_gb_per_s",)
    found = assess(claim_of(rule="link_rate", printed=printed, figures=figures, params=params), facts)
    assert (found.verdict, found.finding.our_value) == (verdict, our)


def test_quotients_gains_and_savings(facts: Facts) -> None:
    values = [{"label": "x", "over": [3, 4], "under": [10]}]
    for kind, expected in (("ratio", 1.2), ("gain", 20), ("saving", -20)):
        found = assess(claim_of(rule="quotients", params={"as": kind, "values": values}), facts)
        assert found.finding.values[0].value == pytest.approx(expected)


def test_a_missing_figure_is_left_out_and_all_missing_undecidable(facts: Facts) -> None:
    known, unknown = "gpus.rtx-4090.memory_gb", "gpus.rtx-9090.memory_gb"
    some = assess(claim_of(printed=24.0, figures=(known, unknown)), facts)
    assert (some.verdict, some.figures) == ("holds", (known,))
    none = assess(claim_of(printed=24.0, figures=(unknown,)), facts)
    assert (none.verdict, none.figures) == ("undecidable", ())
    assert none.finding.params == {"figure": unknown}


@pytest.mark.parametrize(
    ("id", "value"),
    [
        ("gpus.rtx-4090.fp32_dense_tflop_per_s", 82.6),
        ("gpus.a100-sxm4-80gb.bf16_matmul_fraction", 0.869),
        ("gpus.rtx-4090.cuda_cores", 16384),
        ("gpus.rtx-4090.name", None),
        ("gpus.rtx-4090.nvlink_gb_per_s", None),
        ("workloads.gpt-1.3b.parameters", 1313722368.0),
        ("assumptions.estimator_state_bytes_per_parameter", 16),
        ("measurements.lam-2002", 93.5866),
        ("measurements.lam-0", None),
        ("observations.colab-a100-units-per-h", 13.08),
        ("offers.aws-p4d-24xlarge-us-east-1-on-demand.price_usd_per_h", 21.957642),
        ("nothing.at.all", None),
        ("software.cuda-99", None),
    ],
)
def test_figures_by_id(facts: Facts, id: str, value: float | None) -> None:
    found = facts.figure(id)
    if value is None:
        assert found is None
    elif id.startswith("workloads"):
        assert isinstance(found, Figure)
        assert 1.2e9 < found.value < 1.5e9
    else:
        assert isinstance(found, Figure)
        assert found.value == value


def test_versions_compare_as_numbers() -> None:
    assert version("515.65.01") > version("515.48.07")
    assert version("11.10") > version("11.6")
    assert version("525.60.13") == (525, 60, 13)


@pytest.mark.parametrize(
    ("cuda", "driver", "verdict"),
    [
        ("11.6", "440.33", "does_not_hold"),  # below what any 11.x runs on
        ("11.6", "470.57.02", "conditional"),  # by minor-version compatibility
        ("11.6", "515.65.01", "conditional"),  # enough for 11.6, not for newer cards
        ("13.0", "580.65.06", "holds"),  # the listed driver, and it knows every card
        ("11.6", "595.71.05", "conditional"),  # knows every card, and is more than needed
    ],
)
def test_floors_of_drivers(facts: Facts, cuda: str, driver: str, verdict: str) -> None:
    claim = claim_of(rule="driver_floor", printed=None, params={"cuda": cuda, "driver": driver})
    assert assess(claim, facts).verdict == verdict


@pytest.mark.parametrize(("cuda", "verdict"), [("11.3", "holds"), ("11.4", "does_not_hold"), ("99.0", "does_not_hold")])
def test_pairs_of_toolkit_and_library(facts: Facts, cuda: str, verdict: str) -> None:
    claim = claim_of(rule="library_supports", printed=None, params={"cuda": cuda, "cudnn": "8.2"})
    assert assess(claim, facts).verdict == verdict


@pytest.mark.parametrize(
    ("printed", "verdict"), [(20.0, "holds"), (8.0, "conditional"), (30.0, "conditional"), (80.0, "does_not_hold")]
)
def test_least_memory(facts: Facts, printed: float, verdict: str) -> None:
    """About 20 GB at the least, between 40 and 70 GB with eight sequences: 8 GB is less than half of the need."""
    params = {"workload": "tinyllama-1.1b", "gpu": "a100-sxm4-80gb", "micro_batch": 8}
    claim = claim_of(rule="least_memory", printed=printed, unit="GB", params=params, tolerance=0.05)
    found = assess(claim, facts)
    assert found.verdict == verdict
    assert found.finding.our_low == pytest.approx(20.0, rel=0.05)
    assert found.finding.our_high is not None
    assert 40 < found.finding.our_high < 70


@pytest.mark.parametrize(("printed", "verdict"), [(16.0, "holds"), (14.0, "conditional"), (40.0, "does_not_hold")])
def test_bytes_of_a_parameter(facts: Facts, printed: float, verdict: str) -> None:
    params = {"parameters": 1e9, "weight_bytes": 4}
    assert assess(claim_of(rule="bytes_per_parameter", printed=printed, params=params), facts).verdict == verdict


def test_a_measured_share_decides_on_waiting(facts: Facts) -> None:
    claim = next(entry for entry in facts.data.claims if entry.id == "h100-waiting")
    bound = 1 - 2039 / 3350
    for share, verdict in ((0.23 / bound, "holds"), (0.3, "does_not_hold")):
        share_figure = Figure(value=share, sources=("green500-2020-11",))
        observations = {**facts.data.observations, "step-share-waiting-for-memory": share_figure}
        data = dataclasses.replace(facts.data, observations=observations)
        assert assess(claim, dataclasses.replace(facts, data=data)).verdict == verdict


def test_an_inquiry_remembers_what_it_read(facts: Facts) -> None:
    inquiry = Inquiry(facts=facts)
    assert inquiry.find("gpus.rtx-4090.tdp_w") == 450
    assert inquiry.find("gpus.rtx-4090.nvlink_gb_per_s") is None
    assert list(inquiry.read) == ["gpus.rtx-4090.tdp_w"]
    assert inquiry.name("gpus.rtx-4090.tdp_w") == "GeForce RTX 4090"


def test_value_of_finished_runs() -> None:
    """100 one-hour runs a month for a year, each worth 2, on a machine that could do 730."""
    result = solve(small_plan())
    local = strategy(result, "local")
    assert finished_value(result, local, {"work": 2.0}) == pytest.approx(100 * 12 * 2)


def test_late_runs_count_nothing_and_overfull_machines_finish_a_share() -> None:
    late = solve(small_plan({"jobs.work.deadline_h": 0.5}))
    assert finished_value(late, strategy(late, "local"), {"work": 2.0}) == 0
    full = solve(small_plan({"jobs.work.runs_per_month": 1460}))
    local = strategy(full, "local")
    assert local.allocation.choice is not None
    assert local_busy_h(full.problem, full.theta, local.allocation.choice.routing)[0, 0] == pytest.approx(1460)
    assert finished_value(full, local, {"work": 1.0}) == pytest.approx(730 * 12)
