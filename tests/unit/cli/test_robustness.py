"""Odd ends of the command line: standard output that is closed, full or narrow, extreme numbers, names that collide."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planner.__main__ import main
from planner.errors import InputError, PlannerError
from planner.report.document import plan_document
from planner.scenario.load import check_document, read_document
from planner.scenario.paths import with_overrides
from planner.strategy.evaluate import evaluate
from tests import planning
from tests.unit.validate.tables import text_of

ROOT = Path(__file__).resolve().parents[3]
LAB = ROOT / "examples" / "hybrid-lab.yaml"
TODAY = ("--today", "2026-11-30")


def program(*arguments: str, out: Any = subprocess.PIPE, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "planner", *arguments, *TODAY]
    return subprocess.run(
        command, cwd=ROOT, stdout=out, stderr=subprocess.PIPE, text=True, check=False, env={**os.environ, **environment}
    )


def shipped(overrides: dict[str, Any]) -> dict[str, Any]:
    document = with_overrides(read_document(LAB.read_bytes()), overrides)
    result = evaluate(check_document(document), planning.shipped_catalog(), planning.evidence(), today=planning.TODAY)
    return plan_document(result)


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_narrow_terminal_gets_the_plan_all_the_same(
    form: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lab.yaml"
    path.write_text(LAB.read_text(encoding="utf-8").replace("name: Hybrid lab", 'name: "Größe 日本"'), encoding="utf-8")
    narrow = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", narrow)
    assert main(["plan", str(path), *form, *TODAY]) == 0
    narrow.seek(0)
    text = narrow.read()
    assert json.loads(text)["name"] == "Größe 日本" if form else "Gr??e" in text


def test_a_closed_output_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["plan", str(LAB), *TODAY]) == 2
    assert "standard output" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_output_is_said_without_a_traceback() -> None:
    with Path("/dev/full").open("w") as full:
        done = program("plan", str(LAB), out=full)
    assert done.returncode == 2
    assert "standard output" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("text", ["1_000", " 0x10", "٣٠٠", "1e5", "12:30", "a\x1b[31m"])
def test_values_on_the_command_line_are_read_as_in_a_file(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = main(["plan", str(LAB), "--set", f"jobs.daily.runs_per_month={text}", *TODAY])
    except SystemExit as stop:
        status = int(stop.code or 0)
    assert status == 2
    assert "runs_per_month" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ("catalog", "diff", "", "data"), ("catalog", "diff", "data", " "), ("catalog", "diff", "", ""),
        ("catalog", "check", ""), ("plan", ""), ("plan", str(LAB), "--csv", ""),
        ("validate", ""), ("validate", "a\0b"), ("validate", "a.csv", "--csv", " "), ("plan", "a\0b"),
        ("estimate", "--gpu", "a10", "--gpus", "1", "--model-config", ""),
    ],
)  # fmt: skip
def test_an_empty_path_is_refused(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([*arguments, *TODAY])
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert out == "" and "expected the name of a file or folder" in err


@pytest.mark.parametrize("text", ["1_0", "\uff11", "\u0663", "1e0x", "", "nan", "inf", "-1", "0"])
@pytest.mark.parametrize("option", ["--gpus", "--tokens"])
def test_numbers_of_options_are_written_in_plain_digits(
    option: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["estimate", "--gpu", "rtx-4090", "--gpus", "1", "--workload", "gpt-1.3b", option + "=" + text]
    with pytest.raises(SystemExit) as stop:
        main([*run, *TODAY])
    assert stop.value.code == 2
    assert f"argument {option}: found {text!r}" in capsys.readouterr().err


def test_lists_can_be_set_and_a_path_only_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(LAB), "--set", "rental.gpus=[h100-sxm5-80gb]", "--json", *TODAY]) == 0
    jobs = json.loads(capsys.readouterr().out)["strategies"][1]["jobs"]
    assert {job["gpu"] for job in jobs} == {"h100-sxm5-80gb"}
    twice = ["--set", "horizon_months=24", "--set", "horizon_months=36"]
    assert main(["plan", str(LAB), *twice, *TODAY]) == 2


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("jobs.daily.runs_per_month", 10**400), ("jobs.daily.runs_per_month", 5e-324), ("horizon_months", 10**30),
        ("jobs.daily.throughput.server", 5e-324), ("machines.server.powered_h_per_month", 1e-300),
        ("jobs.daily.local_share", 1e-300),
        ("jobs.daily.global_batch", 10**12), ("machines.server.gpu_price_usd", 10**400), ("rental.storage_gb", 1e300),
    ],
)  # fmt: skip
def test_numbers_beyond_reason_are_refused(path: str, value: float) -> None:
    with pytest.raises(PlannerError) as caught:
        shipped({path: value})
    assert path in str(caught.value)


@pytest.mark.parametrize(
    "overrides",
    [
        {"jobs.daily.runs_per_month": 1e-9}, {"jobs.daily.throughput.server": 1e18, "jobs.daily.gpus": 1},
        {"jobs.key.tokens": 1e-9}, {"jobs.daily.runs_per_month": 1e18}, {"jobs.daily.throughput.server": 1e-9},
        {"machines.server.gpu_price_usd": 1e18}, {"discount_rate": 1, "tax.rate": 1},
    ],
)  # fmt: skip
def test_extreme_numbers_within_reason_give_a_finite_plan(overrides: dict[str, Any]) -> None:
    document = shipped(overrides)
    text = json.dumps(document, allow_nan=False)
    assert "Infinity" not in text
    for entry in document["strategies"]:
        for machine in entry["machines"]:
            assert machine["count"] >= 1
        if entry["lines"]:
            assert entry["tco_usd"] == pytest.approx(sum(line["amount_usd"] for line in entry["lines"]))


def test_work_however_little_is_never_free() -> None:
    plan = planning.small_plan({"jobs.work.runs_per_month": 1e-9, "machines.own.count": None})
    own, rented, _ = planning.solve(plan).strategies
    assert own.evaluation is not None
    assert own.evaluation.machine_count.tolist() == [[1.0]]
    assert rented.tco_usd > 0


def test_a_long_billing_unit_is_paid_once_for_a_short_session() -> None:
    plan = planning.small_plan({"offers.rented.billing_unit_s": 2_628_000})
    line = planning.by_id(planning.costed(plan, "cloud"))["rental.work.rented"]
    assert planning.quantity(line) == pytest.approx(12 * 100 * 730)


def test_the_total_of_many_equal_jobs_lies_in_its_likely_range() -> None:
    job = {"workload": "gpt-1.3b", "tokens": 1e9, "runs_per_month": 10}
    plan = read_document(LAB.read_bytes()) | {"jobs": {f"job{i}": job for i in range(40)}}
    result = evaluate(check_document(plan), planning.shipped_catalog(), planning.evidence(), today=planning.TODAY)
    for strategy in result.strategies:
        if strategy.range is not None:
            assert strategy.range.tco_low_usd < strategy.tco_usd < strategy.range.tco_high_usd


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"offers": {"server": {"gpu": "rtx-4090", "gpu_count": 1, "price_usd_per_h": 1}}}, "offers.server"),
        ({"offers": {"rtx-4090": {"gpu": "rtx-4090", "gpu_count": 1, "price_usd_per_h": 1}}}, "offers.rtx-4090"),
        ({"machines": {"site": {"gpu": "rtx-4090", "host": "workstation-1"}}}, "machines.site"),
        ({"machines": {"rtx-4090": {"gpu": "rtx-4090", "host": "workstation-1"}}}, "machines.rtx-4090"),
    ],
)
def test_names_that_stand_for_two_things_are_refused(changes: dict[str, Any], field: str) -> None:
    document = read_document(LAB.read_bytes()) | changes
    with pytest.raises(InputError) as caught:
        evaluate(check_document(document), planning.shipped_catalog(), planning.evidence(), today=planning.TODAY)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("currencies.eur.usd_per_unit", 5),
        ("currencies.EURO.usd_per_unit", 5),
        ("machines.server.residual_gpu", {0: 0.5, 90: 0.1}),
    ],
)
def test_slips_that_would_change_nothing_are_refused(path: str, value: object) -> None:
    with pytest.raises(PlannerError):
        shipped({path: value})


def test_a_report_of_problems_has_an_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "many.yaml"
    keys = "\n".join(f"key{i}: 1" for i in range(1_000))
    path.write_text(f"schema_version: 1\n{keys}", encoding="utf-8")
    assert main(["plan", str(path), *TODAY]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) < 200
    assert "more" in lines[-1]


def test_an_estimate_of_a_run_that_never_ends_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    run = ["--gpu", "rtx-4000-ada", "--gpus", "8", "--workload", "gpt-j-6b", "--checkpoint-s", "1e12", "--restarts"]
    assert main(["estimate", *run, "--json", *TODAY]) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert "--checkpoint-s: found" in found.err and "never end" in found.err
    assert main(["estimate", *run, "--no-restarts", "--json", *TODAY]) == 0
    assert main(["estimate", *run, "--checkpoints", "1", *TODAY]) == 2
    assert "--checkpoints: found" in capsys.readouterr().err


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("deadline_h", [None, 8])
def test_a_plan_of_jobs_that_never_end_says_so(deadline_h: int | None) -> None:
    job = {"checkpoints": 10, "checkpoint_s": 1e12, "restarts": True}
    changes = {f"jobs.{id}.{key}": value for id in ("daily", "key") for key, value in job.items()}
    plan = shipped({**changes, "jobs.daily.deadline_h": deadline_h})
    json.dumps(plan, allow_nan=False)
    assert plan["recommended"] is None
    problems = [problem for entry in plan["strategies"] for problem in entry["problems"]]
    ends = [problem for problem in problems if problem["code"] == "attempt_never_ends"]
    assert {problem["field"] for problem in ends} == {"jobs.daily.checkpoints", "jobs.key.checkpoints"}
    assert "never end" in ends[0]["message"]


@pytest.mark.parametrize("link", [None, os.symlink, os.link])
@pytest.mark.parametrize("command", ["plan", "validate"])
def test_the_output_is_not_written_over_the_input(
    command: str, link: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in"
    content = LAB.read_bytes() if command == "plan" else text_of({}).encode()
    path.write_bytes(content)
    target = path if link is None else tmp_path / "same"
    if link is not None:
        link(path, target)
    assert main([command, str(path), "--csv", str(target), *TODAY]) == 2
    assert "it is the file that is read" in capsys.readouterr().err
    assert path.read_bytes() == content


def test_the_plan_is_not_written_over_measurements(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = tmp_path / "runs.csv"
    runs.write_text(text_of({"tokens_per_s_total": 20000}), encoding="utf-8")
    before = runs.read_bytes()
    assert main(["plan", str(LAB), "--measurements", str(runs), "--csv", str(runs), *TODAY]) == 2
    assert "it is the file that is read" in capsys.readouterr().err
    assert runs.read_bytes() == before


def test_a_csv_is_replaced_whole_keeps_its_rights_and_leaves_nothing_else(tmp_path: Path) -> None:
    path, target = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text(text_of({}), encoding="utf-8")
    target.write_text("old")
    target.chmod(0o640)
    before = target.stat().st_ino
    with target.open() as reader:  # still sees the old file, whole
        assert main(["validate", str(path), "--csv", str(target), *TODAY]) == 0
        assert reader.read() == "old"
    assert target.stat().st_ino != before
    assert target.stat().st_mode & 0o777 == 0o640
    assert target.read_text(encoding="utf-8").startswith("id,measured")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "out.csv"]
    assert main(["validate", str(path), "--csv", os.devnull, *TODAY]) == 0


def test_a_csv_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, target = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text(text_of({}), encoding="utf-8")
    target.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert main(["validate", str(path), "--csv", str(target), *TODAY]) == 2
    assert target.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "out.csv"]


def test_an_interruption_while_it_is_loading_is_one_like_any_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Loading:
        def __getattr__(self, name: str) -> Any:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "planner.cli.run", Loading())
    assert main(["plan", str(LAB), *TODAY]) == 130
    assert capsys.readouterr() == ("", "interrupted\n")
