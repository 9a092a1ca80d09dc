"""`actual`: what it prints and writes, and how it refuses."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from planner.__main__ import main
from planner.actual.document import COLUMNS
from planner.scenario.load import load_scenario

ROOT = Path(__file__).parents[3]
LAB = str(ROOT / "examples" / "hybrid-lab.yaml")
HOURS = str(ROOT / "examples" / "hybrid-lab-hours.csv")
BILLS = str(ROOT / "examples" / "hybrid-lab-invoice.csv")
DAY = ["--today", "2026-11-30"]
CENT = 0.005


def run(capsys: pytest.CaptureFixture[str], *options: str, status: int = 0) -> tuple[str, str]:
    assert main(["actual", LAB, *options, *DAY]) == status
    printed = capsys.readouterr()
    return printed.out, printed.err


def document(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(capsys, *options, "--json")[0])
    return found


def test_the_text_says_what_was_paid_and_why_it_differs(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = run(capsys, "--hours", HOURS, "--invoice", BILLS)
    assert err == ""
    assert out.startswith("Hybrid lab: months 1 to 6 of 36 against Mix, USD\n")
    assert "Paid 9,280.70, planned for the same" in out
    assert "outside the likely" in out
    assert "From month" not in out


def test_notes_speak_of_money_in_the_currency_of_the_plan(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    euros = tmp_path / "euros.yaml"
    euros.write_text("currency: EUR\n" + Path(LAB).read_text(encoding="utf-8"), encoding="utf-8")
    assert (
        main(["actual", str(euros), "--hours", HOURS, "--invoice", BILLS, "--replan", str(tmp_path / "new.yaml"), *DAY])
        == 0
    )
    said = [
        line for line in capsys.readouterr().out.splitlines() if line.startswith(("Note:", "Carried", "Not carried"))
    ]
    assert any(" EUR paid for a" in line for line in said)
    assert any(" EUR an hour, as paid" in line for line in said)
    assert not [line for line in said if "USD" in line]


def test_sums_of_months_resources_bills_and_the_whole_agree(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "--hours", HOURS, "--invoice", BILLS)
    totals = found["totals"]
    assert totals["actual_usd"] == pytest.approx(9280.70)
    assert sum(totals["effects"].values()) == pytest.approx(totals["difference_usd"], abs=CENT)
    for part in ("months", "resources", "bills"):
        for name, usd in totals["effects"].items():
            assert sum(entry["effects"][name] for entry in found[part]) == pytest.approx(usd, abs=CENT)
    for name in ("runs_usd", "attempts_usd", "speed_usd"):
        assert sum(job[name] for job in found["jobs"]) == pytest.approx(totals["effects"][name], abs=CENT)
    assert totals["planned_usd"] == pytest.approx(totals["billed_planned_usd"] + totals["unbilled_planned_usd"])


def test_the_new_plan_is_a_scenario_that_opens_and_plans(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    new = tmp_path / "rest.yaml"
    out, err = run(capsys, "--hours", HOURS, "--invoice", BILLS, "--replan", str(new))
    assert err == f"written: {new}\n"
    assert "From month 7, 30 months." in out
    scenario = load_scenario(new)
    assert (scenario.name, scenario.horizon_months) == ("Hybrid lab, from month 7", 30)
    assert new.read_text(encoding="utf-8").startswith("# workstation: 2 owned, 6 months old")
    assert main(["plan", str(new), *DAY]) == 0


def test_a_month_alone_plans_anew_without_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "--hours", HOURS, "--month", "10")
    assert found["replan"]["from_month"] == 10
    assert found["totals"]["actual_usd"] is None
    assert document(capsys, "--hours", HOURS)["replan"] is None


def test_the_csv_has_a_row_for_each_cell(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "cells.csv"
    run(capsys, "--hours", HOURS, "--invoice", BILLS, "--csv", str(out))
    rows = list(csv.DictReader(io.StringIO(out.read_text(encoding="utf-8"))))
    assert tuple(rows[0]) == COLUMNS
    assert [sum(row["kind"] == kind for row in rows) for kind in ("hours", "bill")] == [12, 21]
    assert sum(float(row["amount_actual_usd"] or 0) for row in rows) == pytest.approx(9280.70)


def test_another_way_can_be_compared(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "--hours", HOURS, "--strategy", "local")
    assert found["strategy"] == "local"
    assert "actual_elsewhere" in {flag["code"] for flag in found["flags"]}


def test_faults_are_all_named_and_nothing_is_printed_or_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    faulty, new = tmp_path / "hours.csv", tmp_path / "rest.yaml"
    faulty.write_text("month,job,resource,runs,gpu_hours\n1,dayly,workstation,1,1\n40,daily,workstation,1,1\n")
    out, err = run(capsys, "--hours", str(faulty), "--replan", str(new), status=2)
    assert out == ""
    assert not new.exists()
    assert [line.split(": ")[0] for line in err.splitlines()] == [f"{faulty}:2", f"{faulty}:3"]
    assert "daily" in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "--hours: found no rows"),
        (["--hours", "nowhere.csv"], "nowhere.csv: found No such file"),
        (["--hours", HOURS, "--month", "37"], "--month: found month 37, expected one from 2 to 36"),
        (["--hours", HOURS, "--csv", HOURS], "it is the file that is read"),
        (["--hours", HOURS, "--replan", LAB], "it is the file that is read"),
    ],
)
def test_what_can_not_be_done_is_said(capsys: pytest.CaptureFixture[str], options: list[str], said: str) -> None:
    out, err = run(capsys, *options, status=2)
    assert out == ""
    assert said in err
