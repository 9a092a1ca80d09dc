"""The command line: contracts of its output, exit statuses, and messages for bad input."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planner.__main__ import main
from planner.report.listing import KINDS

ROOT = Path(__file__).resolve().parents[3]
LAB = ROOT / "examples" / "hybrid-lab.yaml"
TODAY = ("--today", "2026-11-30")

MINIMAL = """\
schema_version: 1
horizon_months: 12
site: {id: us-average}
jobs:
  daily: {workload: bert-large-squad, runs_per_month: 10}
machines:
  pc: {gpu: rtx-4090, host: workstation-1}
"""


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def scenario(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "scenario.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_plan_prints_json_and_writes_the_csv(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "plan.csv"
    status, out, err = run(capsys, "plan", LAB, "--json", "--csv", target, *TODAY)
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert document["recommended"] == "hybrid"
    assert {job["id"] for job in document["strategies"][2]["jobs"]} == {"daily", "key"}
    totals = {row["strategy"]: row for row in csv.DictReader(target.open(encoding="utf-8")) if row["month"] == "total"}
    for entry in document["strategies"]:
        assert float(totals[entry["id"]]["amount_usd"]) == pytest.approx(entry["tco_usd"], abs=0.005)


def test_plan_as_text_names_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "plan", LAB, *TODAY)
    assert status == 0
    assert "Recommended: Mix." in out


def test_plan_takes_overrides_by_path(capsys: pytest.CaptureFixture[str]) -> None:
    _, after, _ = run(capsys, "plan", LAB, "--json", "--set", "jobs.daily.runs_per_month=130", *TODAY)
    assert json.loads(after)["strategies"][0]["jobs"][0]["runs"] == pytest.approx(130 * 36)


def test_an_impossible_plan_is_no_error_of_input(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = MINIMAL.replace("runs_per_month: 10", "runs_per_month: 10, deadline_h: 0.001")
    status, out, err = run(capsys, "plan", scenario(tmp_path, text), "--json", *TODAY)
    assert status == 0
    document = json.loads(out)
    assert document["recommended"] is None
    assert document["reason_code"] == "none_feasible"
    assert "daily needs" in err
    assert "0.001 h" in err
    assert {line.partition(":")[0] for line in err.splitlines()[1:]} <= {"Own all", "Rent all", "Mix", "Best mix"}


def test_estimate_prints_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--gpu", "h100-sxm5-80gb", "--gpus", "8", "--workload", "gpt-1.3b", "--tokens", "1e9")
    status, out, _ = run(capsys, "estimate", *arguments, "--json", *TODAY)
    document = json.loads(out)
    assert status == 0
    assert set(document) >= {
        "gpu", "gpus", "workload", "throughput", "throughput_low", "throughput_high", "throughput_unit", "basis",
        "memory_gb", "fits", "time_to_train_h", "low_h", "high_h", "wall_power_w", "warnings",
    }  # fmt: skip
    assert document["time_to_train_h"] == pytest.approx(1e9 / document["throughput"] / 3600)
    assert document["wall_power_w"] == pytest.approx(7112)


def test_estimate_without_evidence_of_a_gpu_is_taken_over_from_others(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("estimate", "--gpu", "rtx-4090", "--gpus", "1", "--workload", "bert-large-squad", "--json", *TODAY)
    assert json.loads(run(capsys, *arguments)[1])["basis"] == "measured"
    assert json.loads(run(capsys, *arguments, "--without-evidence-of", "rtx-4090")[1])["basis"] == "transferred"


@pytest.mark.parametrize("kind", KINDS)
def test_lists_are_lists(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "catalog", "list", kind, "--json", *TODAY)
    rows = json.loads(out)
    assert status == 0
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)
    assert all(row["source"] for row in rows)


def test_gpus_are_listed_with_the_price_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    listed = ("catalog", "list", "gpus", "--json", *TODAY)
    new, used, launch = (
        {row["id"]: row for row in json.loads(run(capsys, *listed, *more)[1])}["rtx-4090"]
        for more in ((), ("--price", "used"), ("--price", "launch"))
    )
    assert [card["price_condition"] for card in (new, used, launch)] == ["new", "used", "new"]
    assert launch["price_usd"] == 1599
    assert launch["usd_per_gb"] == pytest.approx(1599 / 24)
    status, out, err = run(capsys, "catalog", "list", "offers", "--price", "used")
    assert (status, out) == (2, "") and err.startswith("--price: found used, expected the kind gpus")


def test_offers_print_both_prices_and_a_status(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {row["id"]: row for row in json.loads(run(capsys, "catalog", "list", "offers", "--json", *TODAY)[1])}
    assert all(
        row["price_usd_per_h"] == pytest.approx(row["price_usd_per_gpu_h"] * row["gpu_count"]) for row in rows.values()
    )
    p4d, p5 = (rows[f"aws-{name}-us-east-1-on-demand"] for name in ("p4d-24xlarge", "p5-48xlarge"))
    assert (p4d["price_usd_per_h"], p4d["status"], p4d["as_of"]) == (21.957642, "current", "2026-11-09")
    assert (p5["price_usd_per_h"], p5["status"]) == (55.04, "current")
    retired = {row["price_usd_per_h"] for row in rows.values() if row["status"] == "retired"}
    assert {32.77, 98.32} <= retired


def test_status_depends_on_the_day(capsys: pytest.CaptureFixture[str]) -> None:
    later = json.loads(run(capsys, "catalog", "list", "offers", "--json", "--today", "2029-01-01")[1])
    assert {row["status"] for row in later} == {"stale", "retired"}


def test_the_shipped_catalog_is_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "catalog", "check", "--json", *TODAY)
    assert status == 0
    assert json.loads(out)["offers"] >= 40


def test_a_broken_catalog_lists_its_problems(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for path in (ROOT / "tests" / "fixtures" / "catalog").glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        if path.name == "prices.yaml":
            text = text.replace("price_usd_per_h: 22.0", "price_usd_per_h: -22.0")
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    status, _, err = run(capsys, "catalog", "check", tmp_path, *TODAY)
    assert status == 2
    assert "prices.yaml" in err
    assert "-22" in err


BAD_SCENARIOS: dict[str, tuple[str, str]] = {
    "not yaml": ("{[", "scenario.yaml"),
    "not a mapping": ("- 1\n- 2\n", "scenario.yaml"),
    "empty": ("", "scenario.yaml"),
    "unknown workload": (MINIMAL.replace("bert-large-squad", "bert-large-squat"), "bert-large-squad"),
    "unknown gpu": (MINIMAL.replace("rtx-4090", "rtx-4091"), "rtx-4090"),
    "unknown site": (MINIMAL.replace("us-average", "us-avrage"), "us-average"),
    "unknown key": (MINIMAL.replace("runs_per_month", "runs_per_mont"), "runs_per_month"),
    "negative": (MINIMAL.replace("runs_per_month: 10", "runs_per_month: -1"), "-1"),
    "zero": (MINIMAL.replace("runs_per_month: 10", "runs_per_month: 0"), "above 0"),
    "infinite": (MINIMAL.replace("runs_per_month: 10", "runs_per_month: .inf"), "runs_per_month"),
    "not a number": (MINIMAL.replace("runs_per_month: 10", "runs_per_month: .nan"), "runs_per_month"),
    "text for a number": (MINIMAL.replace("runs_per_month: 10", "runs_per_month: ten"), "'ten'"),
    "horizon 0": (MINIMAL.replace("horizon_months: 12", "horizon_months: 0"), "horizon_months"),
    "no jobs": (MINIMAL.replace("  daily: {workload: bert-large-squad, runs_per_month: 10}\n", ""), "jobs"),
    "no version": (MINIMAL.replace("schema_version: 1\n", ""), "schema_version"),
    "later version": (MINIMAL.replace("schema_version: 1", "schema_version: 2"), "schema_version"),
    "currency without a rate": (MINIMAL + "currency: XAU\n", "XAU"),
    "money without a rate": (MINIMAL.replace("host: workstation-1", 'host: workstation-1, gpu_price: "9 XAU"'), "XAU"),
    "duplicate key": (MINIMAL + "horizon_months: 24\n", "horizon_months"),
    "bomb": ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n" + MINIMAL, "anchor"),
    "missing host": (MINIMAL.replace(", host: workstation-1", ""), "machines.pc.host"),
    "too many cards": (MINIMAL.replace("host: workstation-1", "host: workstation-1, gpus: 4"), "machines.pc.gpus"),
    "reserved": (MINIMAL + "rental: {terms: [reserved_1y]}\n", "rental.terms"),
    "interruptions on demand": (
        MINIMAL
        + "offers: {mine: {gpu: rtx-4090, gpu_count: 1, price_usd_per_h: 1, interrupted_share_per_month: 0.1}}\n",
        "offers.mine.interrupted_share_per_month",
    ),
    "all are interrupted": (
        MINIMAL
        + "offers: {mine: {gpu: rtx-4090, gpu_count: 1, price_usd_per_h: 1, term: spot,"
        + " interrupted_share_per_month: 1}}\n",
        "offers.mine.interrupted_share_per_month",
    ),
    "unknown offer": (MINIMAL + "rental: {offers: [aws-p4d]}\n", "aws-p4d"),
    "own quote without a price": (MINIMAL + "offers: {mine: {gpu: rtx-4090, gpu_count: 1}}\n", "offers.mine"),
    "work in the wrong unit": (
        MINIMAL.replace("runs_per_month: 10", "runs_per_month: 10, tokens: 5"),
        "jobs.daily.tokens",
    ),
}


@pytest.mark.parametrize("name", BAD_SCENARIOS)
def test_bad_input_ends_with_status_2_and_names_the_fault(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text, named = BAD_SCENARIOS[name]
    status, out, err = run(capsys, "plan", scenario(tmp_path, text), "--json", *TODAY)
    assert (status, out) == (2, "")
    assert named in err
    assert "expected" in err or "did you mean" in err
    assert "Traceback" not in err


def test_a_file_of_ten_megabytes_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, _, err = run(capsys, "plan", scenario(tmp_path, MINIMAL + "# " + "x" * 10_000_000), *TODAY)
    assert status == 2
    assert "1,000,000" in err or "1 MB" in err or "1000000" in err


@pytest.mark.parametrize("path", ["missing.yaml", "."])
def test_a_file_that_cannot_be_read_is_named(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "plan", path)
    assert status == 2
    assert path in err


def test_binary_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_bytes(b"\xff\xfe\x00\x01")
    status, _, err = run(capsys, "plan", path)
    assert status == 2
    assert "UTF-8" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--gpus", "0"), ("--gpus", "-1"), ("--gpus", "two"), ("--tokens", "nan"), ("--tokens", "0"),
        ("--precision", "fp12"), ("--today", "soon"),
    ],
)  # fmt: skip
def test_bad_arguments_end_with_status_2(arguments: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    given = {"--gpu": "rtx-4090", "--gpus": "1", "--workload": "gpt-1.3b", arguments[0]: arguments[1]}
    with pytest.raises(SystemExit) as stop:
        main(["estimate", *(part for pair in given.items() for part in pair)])
    assert stop.value.code == 2
    assert arguments[1] in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"--gpu": "rtx-9090"}, "--gpu"),
        ({"--workload": "bert-huge"}, "--workload"),
        ({"--precision": "fp8", "--gpu": "rtx-3090"}, "--precision"),
        ({"--micro-batch": "3", "--global-batch": "32"}, "--global-batch"),
        ({"--samples": "5"}, "--samples"),
    ],
)
def test_impossible_estimates_name_the_option(
    changes: dict[str, str], field: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"--gpu": "a100-sxm4-80gb", "--gpus": "1", "--workload": "gpt-1.3b", **changes}
    status, out, err = run(capsys, "estimate", *(part for pair in given.items() for part in pair), "--json", *TODAY)
    assert (status, out) == (2, "")
    assert field in err


def test_an_unwritable_csv_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, _, err = run(capsys, "plan", LAB, "--csv", tmp_path / "no" / "plan.csv", *TODAY)
    assert status == 2
    assert "--csv" in err


def test_an_unknown_path_suggests_near_ones(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "plan", LAB, "--set", "jobs.daily.runs_per_mnth=3", *TODAY)
    assert status == 2
    assert "jobs.daily.runs_per_month" in err


def test_the_module_runs_as_a_program() -> None:
    arguments: list[Any] = [sys.executable, "-m", "planner", "catalog", "check"]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert io.StringIO(done.stdout).readline().startswith("The catalog is in order")


CONFIGS = ROOT / "tests" / "fixtures" / "hf_configs"


def test_estimate_reads_a_config_json(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["estimate", "--gpu", "h100-sxm5-80gb", "--gpus", "8", "--json", *TODAY]
    status, out, err = run(capsys, *command, "--model-config", CONFIGS / "llama-2-7b.json", "--tokens", "1e9")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert (document["workload"], document["parameters"], document["seq_len"]) == ("llama-2-7b", 6738415616, 4096)
    assert document["active_parameters"] == document["parameters"]
    assert document["time_to_train_h"] > 0
    _, out, _ = run(capsys, *command, "--workload", "llama-2-7b", "--tokens", "1e9")
    preset = json.loads(out)
    assert (preset["parameters"], preset["seq_len"]) == (document["parameters"], 4096)


@pytest.mark.parametrize(
    ("config", "settings", "work"),
    [
        ("qwen3-8b", "bf16, lora, sequences of 4,096, micro-batch ", "(--tokens)"),
        ("bert-base-uncased", "bf16, lora, sequences of 512, micro-batch ", "(--samples and --epochs)"),
    ],
)
def test_estimate_prints_its_settings_and_what_the_time_lacks(
    capsys: pytest.CaptureFixture[str], config: str, settings: str, work: str
) -> None:
    command = ["estimate", "--gpu", "h100-sxm5-80gb", "--gpus", "8", "--method", "lora", *TODAY]
    out = run(capsys, *command, "--model-config", CONFIGS / f"{config}.json")[1].splitlines()
    assert any(line.startswith(f"settings    {settings}") for line in out)
    assert f"time        not known without an amount of work {work}" in out


def test_estimate_says_what_a_config_json_left_open(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["estimate", "--gpu", "h100-sxm5-80gb", "--gpus", "64", *TODAY]
    _, out, _ = run(capsys, *command, "--model-config", CONFIGS / "mixtral-8x7b.json")
    assert "parameters  46,702,792,704, of which 12,879,925,248 for a token\n" in out
    assert "sequences of 4,096 tokens are assumed; the model reads up to 32,768" in out
    _, out, _ = run(capsys, *command, "--model-config", CONFIGS / "mixtral-8x7b.json", "--seq-len", "8192", "--json")
    document = json.loads(out)
    assert document["seq_len"] == 8192
    assert "model_note" not in {warning["code"] for warning in document["warnings"]}


@pytest.mark.parametrize(
    ("content", "more", "message"),
    [
        (None, [], "--model-config: found '{file}', which can't be read (No such file or directory)"),
        (b"no", [], "--model-config: found no JSON (Expecting value, line 1)"),
        (b"[]", [], "--model-config: found no mapping, expected a mapping of keys and values"),
        (b'{"model_type": "mamba"}', [], "--model-config model_type: found 'mamba', which isn't understood"),
        (b'{"model_type": "gpt2", "n_embd": 100}', [], "--model-config n_head: found 12, expected heads that divide"),
        (b'{"model_type": "t5"}', [], "--model-config model_type: found 't5', whose parameters can be counted"),
        (b'{"model_type": "gpt2"}', ["--seq-len", "2048"], "--seq-len: found 2048, expected at most 1,024"),
        (b" " * 1_000_001, [], "--model-config: found '{file}', which can't be read (above 1,000,000 bytes)"),
    ],
)
def test_a_faulty_config_json_is_refused(
    content: bytes | None, more: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "config.json"
    if content is not None:
        file.write_bytes(content)
    status, out, err = run(
        capsys, "estimate", "--gpu", "rtx-4090", "--gpus", "1", "--model-config", file, *more, *TODAY
    )
    assert (status, out) == (2, "")
    assert err.startswith(message.format(file=file))


def estimated(capsys: pytest.CaptureFixture[str], gpus: int, *options: str) -> dict[str, Any]:
    arguments = ("--gpu", "h100-sxm5-80gb", "--gpus", str(gpus), "--workload", "gpt-1.3b", "--tokens", "1e12")
    status, out, _ = run(capsys, "estimate", *arguments, *options, "--json", *TODAY)
    assert status == 0
    document: dict[str, Any] = json.loads(out)
    return document


def test_an_estimate_counts_interruptions_over_several_machines_alone(capsys: pytest.CaptureFixture[str]) -> None:
    for gpus, options, counted in (
        (8, (), False),
        (64, (), True),
        (64, ("--no-restarts",), False),
        (8, ("--restarts",), True),
        (8, ("--gpus-per-node", "4"), True),
    ):
        document = estimated(capsys, gpus, *options)
        parts = document["time_to_train"]
        work_h = 1e12 / document["throughput"] / 3600
        assert parts["work_h"] == pytest.approx(work_h)
        assert parts["restarts_counted"] is counted
        assert document["time_to_train_h"] == parts["total_h"]
        assert (parts["total_h"] > work_h * 1.0001) is counted
        assert (parts["lost_h"] > 0) is (parts["interruptions"] > 0) is counted
        assert document["low_h"] < document["time_to_train_h"] < document["high_h"]


def test_an_estimate_adds_evaluation_and_checkpoints(capsys: pytest.CaptureFixture[str]) -> None:
    document = estimated(capsys, 8, "--eval-share", "0.25", "--checkpoints", "7", "--checkpoint-s", "100")
    parts = document["time_to_train"]
    assert parts["evaluation_h"] == pytest.approx(parts["work_h"] / 4)
    assert parts["checkpoint_h"] == pytest.approx(700 / 3600)
    assert parts["total_h"] == pytest.approx(1.25 * parts["work_h"] + 700 / 3600)
    assert estimated(capsys, 8, "--checkpoints", "6")["time_to_train"]["checkpoint_h"] == pytest.approx(180 / 3600)


def test_the_text_says_what_is_lost_where_something_is(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("estimate", "--gpu", "h100-sxm5-80gb", "--workload", "gpt-1.3b", "--tokens", "1e12", *TODAY)
    assert "of which" not in run(capsys, *arguments, "--gpus", "8")[1]
    assert "expected interruptions" in run(capsys, *arguments, "--gpus", "64")[1]
    assert "\nbottleneck  matrix products" in run(capsys, *arguments, "--gpus", "8")[1]
    assert "\nWould fit: a micro-batch of" in run(capsys, *arguments, "--gpus", "8", "--micro-batch", "512")[1]


@pytest.mark.parametrize("share", ["1.5", "-0.1", "nan", "half"])
def test_a_share_of_evaluation_that_cannot_be_is_refused(capsys: pytest.CaptureFixture[str], share: str) -> None:
    arguments = ("estimate", "--gpu", "h100-sxm5-80gb", "--gpus", "8", "--workload", "gpt-1.3b")
    with pytest.raises(SystemExit):
        run(capsys, *arguments, f"--eval-share={share}")
    assert f"found '{share}', expected a number from 0 to 1" in capsys.readouterr().err
