"""Errors of groups by hand, and which rows are taken to be like a question."""

from __future__ import annotations

import pytest

from planner.report.errors_by_group import FEWEST, error_groups, errors_of, family, rows_alike, worst_rows
from tests.unit.validate.tables import scored

ROWS = [
    scored(100.0, 90.0, gpu="a", model="bert-base", low=80.0, high=110.0),
    scored(100.0, 130.0, gpu="a", model="BERT-large", low=120.0, high=140.0),
    scored(100.0, 80.0, gpu="a", model="bert-large", low=70.0, high=100.0),
    scored(100.0, 150.0, gpu="b", model="bert-large"),
    scored(100.0, 40.0, gpu="b", model="resnet50"),
    scored(100.0, 999.0, gpu="b", model="resnet50", flagged=True),
    scored(None, 999.0, gpu="b", model="resnet50", skipped="no measured value"),
]


def test_errors_of_a_group_by_hand():
    group = errors_of(ROWS[:3], "a")
    assert (group.key, group.n) == ("a", 3)
    assert group.median_ape == pytest.approx(20.0)
    assert group.bias == pytest.approx(-10.0)  # -10, 30, -20
    assert group.coverage_80 == pytest.approx(2 / 3)
    assert group.median_half_width == pytest.approx(100 * 15 / 90)  # 16.7, 7.7, 18.75


def test_groups_stand_the_worst_first_without_rows_that_dont_count():
    groups = error_groups(ROWS, lambda row: row.gpu)
    assert [(group.key, group.n) for group in groups] == [("b", 2), ("a", 3)]
    assert groups[0].median_ape == pytest.approx(55.0)
    assert error_groups(ROWS[5:], lambda row: row.gpu) == ()


def test_nothing_counted_has_no_errors():
    group = errors_of(ROWS[5:])
    assert group.n == 0
    assert (group.median_ape, group.p90_ape, group.bias, group.coverage_80) == (None, None, None, None)


def test_the_worst_rows_have_the_largest_errors():
    assert [row.predicted for row in worst_rows(ROWS, 3)] == [40.0, 150.0, 130.0]
    assert len(worst_rows(ROWS, 99)) == 5


@pytest.mark.parametrize(
    ("model", "expected"),
    [("BERT-large-SQuAD-finetune", "bert"), ("mpt-70b", "mpt"), ("ResNet50", "resnet"), ("7b", "b"), ("123", "123")],
)
def test_a_family_is_the_first_letters_of_a_name(model, expected):
    assert family(model) == expected


@pytest.mark.parametrize(
    ("gpu", "models", "likeness", "n"),
    [
        ("a", ["bert-large-squad"], "gpu_and_family", 3),
        ("a", ["gpt2"], "gpu", 3),
        ("b", ["bert"], "family", 4),  # b has one BERT alone, and two rows in all
        ("c", ["gpt2"], "table", 5),
    ],
)
def test_the_nearest_group_with_enough_rows_is_like_a_question(gpu, models, likeness, n):
    assert FEWEST == 3
    found = rows_alike(ROWS, gpu, models, lambda row: row.gpu)
    assert found is not None
    assert (found.likeness, found.errors.n) == (likeness, n)


def test_too_few_rows_say_nothing():
    assert rows_alike(ROWS[3:], "a", ["bert"], lambda row: row.gpu) is None
