"""What intervals of language rows cover when whole groups are left out, and how much slower unknown code may be."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from planner.catalog.load import load_catalog
from planner.performance.calibrate import centred
from planner.performance.constants import constants_of
from planner.performance.evidence import load_evidence
from planner.performance.fit_steps import fit_steps, language_rows
from planner.performance.held_out import CARD, FOUNDRY_GPUS, FOUNDRY_GROUPS, FOUNDRY_SIZES, SOURCES, HeldOut, Split
from planner.performance.held_out_intervals import (
    HeldOutIntervals,
    Interval,
    factors_of,
    needed,
    together,
    width_parts,
)
from planner.performance.rows.width import WidthParts
from planner.report.held_out import load_held_out

SHIPPED = {split.name: split for split in load_held_out()}


@cache
def held() -> HeldOut:
    catalog = load_catalog()
    return HeldOut(
        catalog, language_rows(catalog, load_evidence()), centred(constants_of(catalog.assumptions), catalog)
    )


@cache
def intervals() -> HeldOutIntervals:
    return HeldOutIntervals(held())


def check(name: str, found: Interval) -> None:
    shipped = SHIPPED[name]
    assert shipped.rows == len(found.log_ratios)
    assert (shipped.coverage_80, shipped.median_half_width) == (
        round(found.coverage_80, 2),
        round(found.median_half_width, 1),
    )


def test_coverage_counts_either_side_and_half_the_interval_is_its_width() -> None:
    sides = {"slower": np.full(4, 0.2), "faster": np.full(4, 0.1)}
    found = Interval(log_ratios=np.array([0.19, 0.21, -0.09, -0.11]), **sides)
    assert found.coverage_80 == 0.5
    assert found.median_half_width == pytest.approx(50 * (math.exp(0.1) - math.exp(-0.2)))
    assert together([found, Interval(log_ratios=np.zeros(4), **sides)]).coverage_80 == 0.75


def test_factors_leave_a_tenth_of_the_rows_of_unknown_code_on_either_side() -> None:
    code = WidthParts(base=0.2, more=0.0, unknown_code=True)
    busy = WidthParts(base=0.2, more=0.3, unknown_code=True)
    known = WidthParts(base=0.2, more=0.0, unknown_code=False)
    found = needed(np.array([0.2, -0.1, 0.5, 0.2, 9.0]), [code, code, busy, busy, known])
    assert found == pytest.approx([1.0, -0.5, 2.0, 0.0])  # what launches and links explain isn't the code's
    factors = factors_of(np.linspace(-1, 3, 41))
    assert (factors.faster, factors.slower) == (pytest.approx(0.6), pytest.approx(2.6))
    assert factors_of(np.linspace(1, 2, 11)).faster == 0
    assert busy.sides(slower=2.0, faster=0.0) == (pytest.approx(0.5), 0.3)
    assert known.sides(slower=2.0, faster=0.5) == (0.2, 0.2)


def test_what_is_known_of_codes_and_cards_is_what_the_fit_saw() -> None:
    data, catalog = held().data, held().catalog
    groups = held().splits()[SOURCES].groups
    rows = groups["megatron-bridge-benchmark"]
    fit = fit_steps(data, np.setdiff1d(np.arange(len(data)), rows), held().start, catalog)
    assert all(parts.unknown_code and parts.base in (0.16, 0.2) for parts in width_parts(data, rows, fit, catalog))
    seen = width_parts(data, groups["llm-foundry-benchmark"], fit, catalog)
    assert {(parts.unknown_code, parts.base) for parts in seen} == {(False, 0.09)}


@pytest.mark.parametrize("name", [FOUNDRY_GPUS, CARD])
def test_shipped_coverage_is_what_the_fits_give(name: str) -> None:
    check(name, together(list(intervals().of(held().splits()[name]).values())))


@pytest.mark.refit
@pytest.mark.parametrize("name", [FOUNDRY_GROUPS, FOUNDRY_SIZES])
def test_shipped_coverage_of_many_groups_is_what_the_fits_give(name: str) -> None:
    check(name, together(list(intervals().of(held().splits()[name]).values())))


@pytest.mark.refit
def test_shipped_coverage_of_sources_and_factors_of_unknown_code_are_what_the_fits_give() -> None:
    split: Split = held().splits()[SOURCES]
    found = intervals().of(split)
    for source, interval in found.items():
        check(f"source {source}", interval)
    pooled = together(list(found.values()))
    check(SOURCES, pooled)
    assert 0.75 < pooled.coverage_80 < 0.88 and pooled.median_half_width < 18
    assert min(interval.coverage_80 for interval in found.values()) > 0.55
    factors, shipped = intervals().factors(), constants_of(held().catalog.assumptions)
    assert factors.slower == pytest.approx(shipped.unknown_code_slower, rel=5e-3)
    assert factors.faster == pytest.approx(shipped.unknown_code_faster, rel=5e-3)
