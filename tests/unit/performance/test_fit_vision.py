"""Rows and fit of vision models, and the split by families with what is simply computed beside it."""

from __future__ import annotations

import numpy as np
import pytest

from planner.catalog.load import load_catalog
from planner.performance.constants import constants_of
from planner.performance.device import device_of
from planner.performance.evidence import load_evidence
from planner.performance.fit_vision import KEPT_OUT_GPU, VISION, VisionRows, fit_vision, left_out_errors, vision_rows
from planner.performance.held_out_vision import BASELINES, SURVEY, VisionHeldOut, left_out, print_vision, relatives
from planner.performance.percent_errors import errors_of
from planner.performance.scaling import link_of
from planner.performance.vision import vision_step
from planner.report.held_out import Errors, load_held_out

CATALOG = load_catalog()
CONSTANTS = constants_of(CATALOG.assumptions)


@pytest.fixture(scope="module")
def rows() -> VisionRows:
    return VisionRows(vision_rows(CATALOG, load_evidence()))


@pytest.fixture(scope="module")
def by_family(rows: VisionRows) -> VisionHeldOut:
    return left_out(CATALOG, rows)


def test_rows_are_single_cards_in_both_layouts_and_none_is_the_card_kept_out(rows: VisionRows) -> None:
    last = [row for row in rows.rows if row.channels_last]
    first = [row for row in rows.rows if not row.channels_last]
    assert {row.source for row in last} == {SURVEY}
    assert {row.model for row in last} == {row.model for row in first if row.source == SURVEY}
    assert len({row.gpu for row in first}) > 5 and KEPT_OUT_GPU not in {row.gpu for row in rows.rows}
    assert len({row.id for row in rows.rows}) == len(rows)


def test_the_fit_predicts_what_a_plan_predicts(rows: VisionRows) -> None:
    errors = rows.log_ratio(CONSTANTS, np.arange(len(rows)))
    for at in range(0, len(rows), 9):
        row = rows.rows[at]
        gpu = CATALOG.gpus[row.gpu]
        step = vision_step(
            row.spec,
            float(row.work.parameters),
            row.batch,
            1.0,
            device_of(gpu, "fp16", CONSTANTS),
            link_of(gpu, 1, 1, None, CONSTANTS),
            CONSTANTS,
            channels_last=row.channels_last,
        )
        assert row.batch / step.total_s / row.images_per_s == pytest.approx(np.exp(errors[at])), row.id


def test_channels_last_changes_nothing_of_the_usual_layout(rows: VisionRows) -> None:
    first = np.flatnonzero([not row.channels_last for row in rows.rows])
    both, usual = (fit_vision(rows, keep, CONSTANTS, CATALOG) for keep in (np.arange(len(rows)), first))
    assert [getattr(both, name) for name in VISION] == [getattr(usual, name) for name in VISION]


def test_what_is_left_out_is_not_seen(rows: VisionRows) -> None:
    groups = ["one" if row.model == "densenet169" else "rest" for row in rows.rows]
    spoiled = VisionRows(rows.rows)
    spoiled.log_measured = rows.log_measured + np.where([group == "one" for group in groups], 1.0, 0.0)
    one = np.flatnonzero([group == "one" for group in groups])
    apart = left_out_errors(rows, groups, CONSTANTS, CATALOG)[one]
    assert left_out_errors(spoiled, groups, CONSTANTS, CATALOG)[one] == pytest.approx(apart - 1.0)


def test_families_never_seen_stay_within_the_limits(by_family: VisionHeldOut) -> None:
    median, p90, _ = errors_of(by_family.errors)
    shipped = next(split for split in load_held_out() if split.id == "timm-families-nchw")
    assert shipped.errors == Errors(median_ape=round(median, 1), p90_ape=round(p90, 1))
    assert shipped.rows == len(by_family.errors) == 97 and shipped.met


def test_no_simple_estimate_is_better_on_families_never_seen(by_family: VisionHeldOut) -> None:
    median, p90, _ = errors_of(by_family.errors)
    assert set(by_family.baselines) == set(BASELINES)
    for name, errors in by_family.baselines.items():
        other_median, other_p90, _ = errors_of(errors)
        assert median < other_median + 2 and p90 <= other_p90, name


def test_wider_groups_left_out_are_little_worse(rows: VisionRows) -> None:
    assert relatives("resnext") == relatives("resnet") != relatives("vgg") == "vgg"
    median, p90, _ = errors_of(left_out(CATALOG, rows, relatives, with_baselines=False).errors)
    assert median < 9 and p90 < 28


def test_four_of_five_of_families_never_seen_are_inside_the_interval(
    rows: VisionRows, by_family: VisionHeldOut
) -> None:
    assert 0.75 < by_family.inside() < 0.88
    assert 0.75 < left_out(CATALOG, rows, channels_last=True, with_baselines=False).inside() < 0.88
    assert np.median(by_family.half_widths) <= 0.25


def test_resnet50_on_cards_never_seen(rows: VisionRows) -> None:
    elsewhere = np.flatnonzero([row.source != SURVEY for row in rows.rows])
    errors = left_out_errors(rows, [row.gpu for row in rows.rows], CONSTANTS, CATALOG)[elsewhere]
    median, p90, _ = errors_of(errors)
    assert len(errors) == 12 and median < 6 and p90 < 12


def test_baselines_by_hand(rows: VisionRows) -> None:
    names = ("resnet18", "resnet34", "vgg11")
    chosen = [row for row in rows.rows if row.model in names and not row.channels_last]
    found = left_out(CATALOG, VisionRows(chosen), str).baselines
    speed = {row.model: row.images_per_s for row in chosen}
    work = {row.model: (row.spec.gmacs, row.spec.activations_m) for row in chosen}
    at = [row.model for row in chosen].index("vgg11")
    # of the two others ResNet-34 is nearer in MACs and activations; the median of two speeds is their geometric mean
    nearest = speed["resnet34"] * work["resnet34"][0] / work["vgg11"][0]
    assert np.exp(found["nearest, MACs"][at]) == pytest.approx(nearest / speed["vgg11"])
    rate = np.sqrt(speed["resnet18"] * work["resnet18"][1] * speed["resnet34"] * work["resnet34"][1])
    assert np.exp(found["activations"][at]) == pytest.approx(rate / work["vgg11"][1] / speed["vgg11"])


def test_the_tables_name_the_worst_families(rows: VisionRows, capsys: pytest.CaptureFixture[str]) -> None:
    some = [
        row
        for row in rows.rows
        if row.model.startswith(("resnet18", "resnet50", "vgg", "ResNet", "densenet", "vit_tiny"))
    ]
    print_vision(CATALOG, VisionRows(some))
    printed = capsys.readouterr().out
    assert "family, channels first: n   7" in printed and "ResNet-50 on other cards: n  12" in printed
    assert printed.index("      densenet") < printed.index("      resnet")
