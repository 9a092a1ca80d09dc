"""Scores against hand-computed values, and what holds for any predictor."""

from __future__ import annotations

import math
from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.validate.score import BYS, UNKNOWN, ScoredRow, group_rows, source_key, summarise
from tests.unit.validate.tables import scored

quick = settings(max_examples=40, deadline=None, derandomize=True, database=None)
VALUES = st.floats(min_value=1e-3, max_value=1e9)
FACTORS = st.floats(min_value=0.01, max_value=100.0)


def test_errors_by_hand() -> None:
    row = scored(200.0, 150.0)
    assert (row.error, row.ape) == (-25.0, 25.0)
    assert scored(None, 150.0).ape is None
    assert scored(200.0, None).ape is None


def test_a_summary_by_hand() -> None:
    rows = [
        scored(100.0, 90.0, low=80.0, high=101.0),
        scored(100.0, 120.0, low=110.0, high=130.0),
        scored(100.0, 130.0, low=100.0, high=160.0),
        scored(100.0, 80.0, low=70.0, high=90.0),
        scored(100.0, 900.0, low=1.0, high=2.0, flagged=True),
        scored(100.0, 900.0, flagged=True, skipped="odd"),
        scored(None, 900.0, skipped="no measured value"),
    ]
    summary = summarise(rows)
    assert (summary.n, summary.skipped, summary.flagged) == (4, 1, 2)
    assert summary.median_ape == pytest.approx(20.0)
    assert summary.p90_ape == pytest.approx(27.0)  # errors 10, 20, 20, 30: rank 2.7
    assert summary.coverage_80 == pytest.approx(0.5)  # one interval lies above the measured value, one below
    # half widths in percent: 11.67, 8.33, 23.08, 12.5
    assert summary.median_half_width == pytest.approx((10.5 / 90 * 100 + 12.5) / 2)


def test_groups_by_hand() -> None:
    rows = [
        scored(100.0, 90.0, gpu="a"),
        scored(100.0, 140.0, gpu="b"),
        scored(100.0, 70.0, gpu="b"),
        scored(100.0, 110.0, gpu="b"),
        scored(100.0, 999.0, gpu="c", flagged=True),
    ]
    groups = [group for group in group_rows(rows) if group.by == "gpu"]
    assert [(group.key, group.n) for group in groups] == [("b", 3), ("a", 1), ("c", 0)]
    assert groups[0].median_ape == pytest.approx(30.0)
    assert groups[0].p90_ape == pytest.approx(38.0)
    assert groups[0].bias == pytest.approx(10.0)
    assert groups[1].bias == pytest.approx(-10.0)
    assert (groups[2].median_ape, groups[2].p90_ape, groups[2].bias) == (None, None, None)


def test_nothing_to_score_gives_no_figures() -> None:
    summary = asdict(summarise([]))
    assert {name for name, value in summary.items() if value is None} == {
        "median_ape", "p90_ape", "coverage_80", "median_half_width",
    }  # fmt: skip
    assert group_rows([]) == ()
    assert summarise([scored(100.0, 90.0)]).coverage_80 is None


@pytest.mark.parametrize(
    ("source", "key"),
    [
        ('mosaicml/llm-foundry@8c8dd48 scripts/train/README.md "A100"', "mosaicml/llm-foundry"),
        ("mlcommons/training_results_v4.1: NVIDIA", "mlcommons/training_results_v4.1"),
        ("Lightning-AI/litgpt tutorials", "Lightning-AI/litgpt"),
        ("own", "own"),
        (None, UNKNOWN),
        ("  ", UNKNOWN),
        ("@x", UNKNOWN),
    ],
)
def test_tables_of_one_repository_are_one_source(source: str | None, key: str) -> None:
    assert source_key(source) == key


@quick
@given(st.lists(VALUES, min_size=1, max_size=20))
def test_a_perfect_predictor_has_no_error(values: list[float]) -> None:
    rows = [scored(value, value, low=value, high=value) for value in values]
    summary = summarise(rows)
    assert (summary.median_ape, summary.p90_ape, summary.coverage_80, summary.median_half_width) == (0.0, 0.0, 1.0, 0.0)
    assert all((group.median_ape, group.p90_ape, group.bias) == (0.0, 0.0, 0.0) for group in group_rows(rows))


@quick
@given(st.lists(VALUES, min_size=1, max_size=20), FACTORS)
def test_a_constant_factor_is_the_error_of_every_row(values: list[float], factor: float) -> None:
    rows = [scored(value, value * factor) for value in values]
    expected = pytest.approx(100 * (factor - 1), abs=1e-6)
    summary = summarise(rows)
    assert summary.median_ape == pytest.approx(abs(100 * (factor - 1)), abs=1e-6)
    assert summary.p90_ape == pytest.approx(abs(100 * (factor - 1)), abs=1e-6)
    assert all(group.bias == expected for group in group_rows(rows))


ROWS = st.lists(
    st.builds(
        lambda measured, factor, width, gpu, flagged, skipped: scored(
            measured,
            measured * factor,
            low=measured * factor / width,
            high=measured * factor * width,
            gpu=gpu,
            flagged=flagged,
            skipped=skipped,
        ),
        VALUES,
        FACTORS,
        st.floats(min_value=1.0, max_value=5.0),
        st.sampled_from("abc"),
        st.booleans(),
        st.sampled_from([None, None, "reason"]),
    ),
    max_size=25,
)


@quick
@given(ROWS)
def test_every_row_is_counted_once(rows: list[ScoredRow]) -> None:
    summary = summarise(rows)
    assert summary.n + summary.skipped + summary.flagged == len(rows)
    for by in BYS:
        assert sum(group.n for group in group_rows(rows) if group.by == by) == summary.n


@quick
@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_rows_that_do_not_count_change_nothing(rows: list[ScoredRow], random: object) -> None:
    others = list(rows)
    random.shuffle(others)  # type: ignore[attr-defined]
    assert asdict(summarise(others)) == pytest.approx(asdict(summarise(rows)), nan_ok=False)
    counted = [row for row in rows if row.counts]
    assert summarise(counted).median_ape == summarise(rows).median_ape
    assert summarise(counted).coverage_80 == summarise(rows).coverage_80


@quick
@given(ROWS)
def test_figures_are_in_their_ranges_and_never_nan(rows: list[ScoredRow]) -> None:
    summary = summarise(rows)
    if summary.n == 0:
        assert summary.median_ape is None
        return
    assert summary.median_ape is not None
    assert summary.p90_ape is not None
    assert summary.coverage_80 is not None
    assert 0.0 <= summary.median_ape <= summary.p90_ape + 1e-9
    assert 0.0 <= summary.coverage_80 <= 1.0
    assert all(math.isfinite(group.bias) for group in group_rows(rows) if group.n and group.bias is not None)
