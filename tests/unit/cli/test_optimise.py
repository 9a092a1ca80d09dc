"""The command `optimise`: what it says of the best mix, that `plan` says the same, and limits that can't be kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.planning import CENT
from tests.unit.cli.test_cli import LAB, TODAY, run

MONEY = ("tco_usd", "present_value_usd", "capex_usd")


def best(document: dict[str, Any]) -> dict[str, Any]:
    return next(way for way in document["strategies"] if way["id"] == "optimal")


def test_the_command_and_the_plan_agree_to_a_cent(capsys: pytest.CaptureFixture[str]) -> None:
    changes = ("--set", "machines.workstation.powered_h_per_month=200", "--set", "limits={capex_usd: 6000}")
    status, out, err = run(capsys, "optimise", LAB, "--json", *changes, *TODAY)
    assert (status, err) == (0, "")
    found = json.loads(out)
    planned = json.loads(run(capsys, "plan", LAB, "--json", *changes, *TODAY)[1])
    for name in MONEY:
        assert best(found)[name] == pytest.approx(best(planned)[name], abs=CENT)
    assert best(found)["capex_usd"] <= 6000 + CENT
    assert found["optimal"] == planned["optimal"]
    ways = {way["id"]: way for way in found["strategies"] if way["feasible"]}
    assert ways["optimal"]["present_value_usd"] <= min(way["present_value_usd"] for way in ways.values()) + CENT
    assert found["recommended"] == planned["recommended"]


def test_the_text_says_what_to_have_where_jobs_run_and_why_not_otherwise(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "optimise", LAB, *TODAY)
    assert status == 0
    assert "Best mix  32" in out
    assert "the same plan as Mix" in out
    for line in ("workstation  2", "daily  workstation", "key    verda-", "Not used in the best mix:"):
        assert line in out


def test_a_named_way_that_is_the_same_plan_stays_the_recommended_one(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(run(capsys, "optimise", LAB, "--json", *TODAY)[1])
    assert (found["optimal"]["same_as"], found["recommended"]) == ("hybrid", "hybrid")


@pytest.mark.parametrize(
    ("limits", "said"),
    [("{total_usd: 0}", "limits.total_usd"), ("{total_usd: 1, energy_kwh: 1}", "limits.energy_kwh")],
)
def test_limits_that_no_mix_keeps_are_named(capsys: pytest.CaptureFixture[str], limits: str, said: str) -> None:
    _, out, err = run(capsys, "optimise", LAB, "--set", f"limits={limits}", "--json", *TODAY)
    found = json.loads(out)
    assert not found["optimal"]["found"]
    assert found["recommended"] is None
    assert said in err


def test_a_limit_below_nothing_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "optimise", LAB, "--set", "limits={total_usd: -1}", *TODAY)
    assert status != 0
    assert "limits.total_usd" in err
