"""What a few rows of a stack say of the rest, and how errors of left-out groups are counted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from planner.catalog.load import load_catalog
from planner.performance.calibrate import start_constants
from planner.performance.evidence import load_evidence
from planner.performance.fit_steps import language_rows
from planner.performance.held_out import (
    CARD,
    FOUNDRY_GPUS,
    FOUNDRY_GROUPS,
    FOUNDRY_SIZES,
    SOURCES,
    HeldOut,
    after_three,
    collection,
    other_models,
)
from planner.performance.own_offset import own_rows_offset
from planner.performance.percent_errors import errors_of


def test_errors_are_percent_of_what_was_measured() -> None:
    median, p90, bias = errors_of(np.log([1.1, 0.8, 1.0, 1.0, 1.3]))
    assert (median, bias) == pytest.approx((10.0, 0.0))
    assert p90 == pytest.approx(26.0)
    assert errors_of(np.array([math.log(0.5)])) == pytest.approx((50.0, 50.0, -50.0))


def test_rounds_of_one_benchmark_are_one_collection() -> None:
    assert collection("mlcommons-training-v4.0") == collection("mlcommons-training-v4.1") == "mlcommons-training"
    assert collection("llm-foundry-benchmark") == "llm-foundry-benchmark"


def test_groups_are_left_out_whole() -> None:
    catalog = load_catalog()
    held = HeldOut(catalog, language_rows(catalog, load_evidence()), start_constants(catalog))
    splits = held.splits()
    names = (FOUNDRY_GROUPS, FOUNDRY_SIZES, FOUNDRY_GPUS, SOURCES, CARD)
    groups, sizes, gpus, sources, card = (splits[name].groups for name in names)
    foundry = set(held.foundry)
    for found in (groups, sizes):
        assert sorted(row for rows in found.values() for row in rows) == sorted(foundry)
    for gpu, rows in gpus.items():
        assert set(rows) == {row for row in range(len(held.data)) if held.data.gpu[row] == gpu}  # of any source
    assert set(splits[FOUNDRY_GPUS].scored) == foundry
    assert sorted(row for rows in sources.values() for row in rows) == list(range(len(held.data)))
    assert "mlcommons-training" in sources
    assert {str(held.data.gpu[row]) for row in card["rtx-3090"]} == {"rtx-3090"}
    assert {str(held.data.source[row]) for row in splits[CARD].scored} == {"languini-benchmark"}


def test_three_rows_that_are_given_are_not_scored() -> None:
    measured = np.arange(9.0)[::-1]
    cold = 0.2 + 0.001 * np.arange(9.0)
    found = after_three(measured, cold)
    assert found is not None
    before, after = found
    assert sorted(before) == pytest.approx(sorted(np.delete(cold, [0, 4, 8])))
    assert before - after == pytest.approx(np.full(6, own_rows_offset(cold[[0, 4, 8]])))
    assert after_three(measured[:6], cold[:6]) is None


def test_rows_of_a_card_are_scored_on_its_other_models() -> None:
    """All codes a fifth too fast: the rows tell. Errors at random: hardly ever."""
    catalog = load_catalog()
    held = HeldOut(catalog, language_rows(catalog, load_evidence()), start_constants(catalog))
    groups = held.splits()[SOURCES].groups
    cold, after, moved, worse = other_models(held, {name: np.full(len(rows), 0.2) for name, rows in groups.items()}, 3)
    assert cold == pytest.approx(20)
    assert after < 3 and (moved, worse) == (1, 0)
    chance = np.random.default_rng(1)
    noise = {name: chance.normal(0.0, 0.2, len(rows)) for name, rows in groups.items()}
    assert other_models(held, noise, 10)[2] < 0.15
