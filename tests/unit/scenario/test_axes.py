"""Axes of a sweep: how they are written, and what is said of wrong ones."""

from __future__ import annotations

import pytest

from planner.errors import InputError, PlannerError, ScenarioError
from planner.scenario.axes import Axis, check_axes, parse_axes
from tests.planning import small_plan


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("tax.rate=0:0.2:3", (0.0, 0.1, 0.2)),
        ("tax.rate=0.2:0:3", (0.2, 0.1, 0.0)),
        ("tax.rate=0.1:0.1:1", (0.1,)),
        ("horizon_months=12,36,24", (12.0, 36.0, 24.0)),
        ("horizon_months=12", (12.0,)),
        ("jobs.work.runs_per_month=1:1000:4:log", (1.0, 10.0, 100.0, 1000.0)),
        (" tax.rate = 1e-1 : 2e-1 : 2 ".replace(" : ", ":"), (0.1, 0.2)),
    ],
)
def test_values_of_an_axis(text: str, values: tuple[float, ...]) -> None:
    (axis,) = parse_axes([text])
    assert axis.path == text.partition("=")[0].strip()
    assert axis.values == pytest.approx(values)


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (["tax.rate"], "vary_form"),
        (["=1:2:3"], "vary_form"),
        (["tax.rate="], "vary_form"),
        (["tax.rate=0:1"], "vary_form"),
        (["tax.rate=0:1:2.5"], "vary_form"),
        (["tax.rate=0:1:x"], "vary_form"),
        (["tax.rate=0:1:3:exp"], "vary_form"),
        (["tax.rate=1,,2"], "vary_form"),
        (["tax.rate=nan"], "vary_form"),
        (["tax.rate=0:1e999:3"], "vary_form"),
        (["tax.rate=0:1:0"], "vary_count"),
        (["tax.rate=0:1:-3"], "vary_count"),
        (["tax.rate=0:1:1"], "vary_count"),
        (["tax.rate=0:1:3:log"], "vary_log"),
        (["tax.rate=0.1", "tax.rate=0.2"], "path_twice"),
        (["tax.rate=0:1:1000000000"], "sweep_too_large"),
        (["tax.rate=0:1:1000", "discount_rate=0:1:101"], "sweep_too_large"),
    ],
)
def test_what_is_said_of_a_wrong_axis(texts: list[str], code: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_axes(texts)
    assert raised.value.code == code
    assert str(raised.value).startswith("--vary")


def test_too_many_points_name_the_limit_and_the_remedy() -> None:
    with pytest.raises(InputError, match=r"1000000000 points, expected at most 100,000: take fewer steps"):
        parse_axes(["tax.rate=0:1:1000000000"])


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("tax.rat", 0.1, "tax.rate"),
        ("jobs.nobody.gpus", 1, "no input has this path"),
        ("name", 1, "no number has this path"),
        ("jobs.work", 1, "no number has this path"),
        ("horizon_months", 12.5, "found 12.5, expected a whole number"),
        ("discount_rate", -0.1, "found -0.1, expected a share from 0 to 1"),
    ],
)
def test_paths_and_values_are_checked_before_anything_is_planned(path: str, value: float, message: str) -> None:
    with pytest.raises(PlannerError, match=message):
        check_axes(small_plan(), [Axis(path=path, values=(value,))])


def test_contradictions_that_another_axis_resolves_are_left_to_the_points() -> None:
    idle, load = (
        Axis(path="machines.own.idle_w", values=(100.0, 5000.0)),
        Axis(path="machines.own.load_w", values=(600.0, 6000.0)),
    )
    check_axes(small_plan(), [idle, load])
    with pytest.raises(ScenarioError, match="idle_w: found 5000, expected a number of at most 'load_w'"):
        check_axes(small_plan(), [idle])
