"""The command `sweep`: its file, its summary, bad input, and what is left after an interruption."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from planner.cli import sweep as command
from planner.scenario.axes import Axis
from planner.strategy.sweep import Sweep
from planner.strategy.sweep_rows import SweepPoint
from tests.unit.cli.test_cli import LAB, TODAY, run


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.open(encoding="utf-8")))


def test_a_point_of_the_file_is_the_plan_with_its_values(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "sweep.csv"
    vary = ("--vary", "jobs.daily.runs_per_month=100:600:2", "--vary", "horizon_months=12,36")
    status, out, err = run(capsys, "sweep", LAB, *vary, "--csv", target, "--json", *TODAY)
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert (found["points"], found["points_written"]) == (4, 4)
    assert sum(found["recommended"].values()) + found["points_without_plan"] == 4
    rows = rows_of(target)
    assert [(row["jobs.daily.runs_per_month"], row["horizon_months"]) for row in rows] == [
        ("100", "12"), ("100", "36"), ("600", "12"), ("600", "36"),
    ]  # fmt: skip
    changes = ("--set", "jobs.daily.runs_per_month=600", "--set", "horizon_months=12")
    plan = json.loads(run(capsys, "plan", LAB, *changes, "--json", *TODAY)[1])
    assert rows[2]["recommended"] == plan["recommended"]
    for way in plan["strategies"][:3]:  # the best mix isn't searched for at each point
        row = {key.removeprefix(f"{way['id']}."): cell for key, cell in rows[2].items()}
        assert row["feasible"] == str(way["feasible"]).lower()
        for name in ("present_value_usd", "tco_usd", "capex_usd", "energy_kwh", "kg_co2e"):
            assert float(row[name]) == pytest.approx(way[name], rel=1e-9)
        for machine in way["machines"]:
            assert int(row[f"machines.{machine['id']}"]) == machine["count"]
        assert float(row["jobs.daily.throughput_per_s"]) in [job["throughput"] for job in way["jobs"]]


def test_the_text_counts_what_is_recommended(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, _ = run(capsys, "sweep", LAB, "--vary", "discount_rate=0,0.1", "--csv", tmp_path / "out.csv", *TODAY)
    assert status == 0
    assert out.startswith("2 of 2 points written to ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--vary", "discount_rate=0:1:1000000000"), "found 1000000000 points, expected at most 100,000: take fewer"),
        (("--vary", "discount_rat=0,1"), "did you mean discount_rate"),
        (("--vary", "discount_rate=0:1"), "expected PATH=START:STOP:N"),
        (("--vary", "horizon_months=1:12:3"), "found 6.5, expected a whole number"),
        (("--vary", "discount_rate=0,1", "--set", "discount_rat=1"), "did you mean discount_rate"),
    ],
)
def test_bad_input_writes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    target = tmp_path / "sweep.csv"
    status, out, err = run(capsys, "sweep", LAB, *arguments, "--csv", target, *TODAY)
    assert (status, out) == (2, "")
    assert message in err
    assert not target.exists()


def test_the_scenario_is_not_written_over(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_bytes(LAB.read_bytes())
    status, _, err = run(capsys, "sweep", mine, "--vary", "discount_rate=0,0.1", "--csv", mine, *TODAY)
    assert status == 2
    assert "it is the file that is read" in err
    assert mine.read_bytes() == LAB.read_bytes()


def test_an_interruption_leaves_the_points_that_were_planned(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(Sweep):
        def __iter__(self) -> Iterator[SweepPoint]:
            for number, point in enumerate(super().__iter__()):
                if number == 2:
                    raise KeyboardInterrupt
                yield point

    monkeypatch.setattr(command, "Sweep", Interrupted)
    target = tmp_path / "sweep.csv"
    status, _, err = run(capsys, "sweep", LAB, "--vary", "horizon_months=12,24,36", "--csv", target, *TODAY)
    assert status == 130
    assert "2 of 3 points written" in err
    rows = rows_of(target)
    assert [row["horizon_months"] for row in rows] == ["12", "24"]
    assert all(row["recommended"] for row in rows)


def test_what_takes_longer_than_a_second_says_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(command.time, "monotonic", lambda: float(next(clock)))
    point = SweepPoint(values=(0.0,), ways=(), recommended=None, problem="")

    class Points(Sweep):
        def __init__(self) -> None:
            self.axes = (Axis(path="tax.rate", values=(0.0, 0.1, 0.2)),)

        def __iter__(self) -> Iterator[SweepPoint]:
            return iter([point] * 3)

    assert len(list(command.with_progress(Points()))) == 3
    assert capsys.readouterr().err == "1 of 3 points\n2 of 3 points\n"
