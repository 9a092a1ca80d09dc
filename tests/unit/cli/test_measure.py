"""The command `measure`, and own measurements in `estimate` and `plan`: the whole way from a step to a plan."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli import measure as command_line
from planner.errors import InputError
from planner.measure.results import Result, Skipped
from planner.measure.run import RULES as command_rules
from planner.measure.timing import Rule
from tests.unit.cli.test_cli import MINIMAL, TODAY, run, scenario
from tests.unit.measure.fakes import real_torch, report, step, torch_with

OWN_MACHINE = """\
schema_version: 1
horizon_months: 12
site: {id: us-average}
gpus:
  lab-cpu: {memory_gb: 24, memory_bandwidth_gb_per_s: 20, tdp_w: 100, fp32_dense_tflop_per_s: 1}
models:
  gpt2-tiny:
    config: {model_type: gpt2, n_layer: 2, n_embd: 128, n_head: 4, n_inner: 512, vocab_size: 1000, n_positions: 128}
    seq_len: 128
    precision: fp32
jobs:
  daily: {workload: gpt2-tiny, tokens: 1.0e+6, runs_per_month: 10}
machines:
  pc: {gpu: lab-cpu, host: workstation-1, gpu_price_usd: 300, residual_gpu: {0: 1, 12: 0.5}, useful_life_months: 12}
"""
OWN_ROWS = """\
id,gpu,n_gpus,model,input,batch_per_gpu,precision,throughput,spread
mine,RTX 4090,1,bert-large,seq384,16,amp-fp16,99,0.01
strange,RTX 4091,1,bert-large,seq384,16,amp-fp16,99,0.01
"""


def local_jobs(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [job for entry in document["strategies"] if entry["id"] == "local" for job in entry["jobs"]]


@pytest.mark.slow
def test_from_a_measured_step_to_a_plan_that_says_measured(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_torch()
    short = Rule(limit_s=0.05, warm_up_s=0.0, warm_up_runs=1, least_samples=3)
    monkeypatch.setitem(command_rules, ("cpu", True), short)  # how well it is measured doesn't matter here
    out = tmp_path / "runs.csv"
    command = ["--quick", "--device", "cpu", "--workload", "gpt", "--gpu-name", "lab-cpu", "--out", out, "--json"]
    status, text, err = run(capsys, "measure", *command, *TODAY)
    assert status == 0
    measured = json.loads(text)
    assert measured["files"] == [str(out)]
    assert "gpt fp32, checkpointing none, batch 1" in err
    assert {(found["precision"], found["checkpointing"]) for found in measured["steps"]} == {
        ("fp32", "none"), ("fp32", "full"), ("bf16", "none"), ("bf16", "full"),
    }  # fmt: skip

    status, text, _ = run(capsys, "validate", out, "--json", *TODAY)  # read, though no CPU can be predicted
    rows = json.loads(text)["rows"]
    assert (status, len(rows)) == (0, len(measured["steps"]))
    assert all(row["skipped"].startswith("gpu: found 'lab-cpu'") for row in rows)

    plan = scenario(tmp_path, OWN_MACHINE)
    before = local_jobs(json.loads(run(capsys, "plan", plan, "--json", *TODAY)[1]))
    status, text, _ = run(capsys, "plan", plan, "--measurements", out, "--json", *TODAY)
    (job,) = local_jobs(document := json.loads(text))
    assert (status, before[0]["basis"], job["basis"]) == (0, "estimated", "measured")
    steady = [found for found in measured["steps"] if (found["spread"] or 0.0) <= 1.0]  # others are refused
    best = max(found["throughput"] for found in steady if found["precision"] == "fp32")
    assert job["throughput"] == pytest.approx(best, rel=1e-5)
    assert all(source.startswith("measurements:own:runs.csv:gpt-") for source in job["sources"])
    assert "own measurements in runs.csv" in document["sources"][job["sources"][0]]["title"]


def test_own_rows_of_a_card_of_the_catalog_answer_an_estimate_and_a_plan(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    own = tmp_path / "own.csv"
    own.write_text(OWN_ROWS)
    command = ["estimate", "--gpu", "rtx-4090", "--gpus", "1", "--workload", "bert-large-squad", "--json", *TODAY]
    status, out, err = run(capsys, *command, "--measurements", own)
    found = json.loads(out)
    assert (status, found["basis"], found["throughput"]) == (0, "measured", 99.0)
    assert found["sources"] == ["measurements:own:own.csv:mine"]
    assert err == "own.csv:3: strange gpu: found 'RTX 4091', expected a GPU of the catalog or of the scenario\n"
    assert json.loads(run(capsys, *command)[1])["throughput"] != 99.0

    status, out, err = run(capsys, "plan", scenario(tmp_path, MINIMAL), "--measurements", own, "--json", *TODAY)
    (job,) = local_jobs(json.loads(out))
    assert (status, job["basis"], job["throughput"]) == (0, "measured", 99.0)
    assert job["sources"] == ["measurements:own:own.csv:mine"]
    assert "strange" in err


def test_own_rows_may_name_the_model_of_a_config(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config = tmp_path / "mine.json"
    config.write_text('{"model_type": "gpt2", "n_layer": 2, "n_embd": 128, "n_head": 4, "vocab_size": 1000}')
    own = tmp_path / "own.csv"
    own.write_text(
        "gpu,n_gpus,model,seq_len,micro_batch_seqs,precision,tokens_per_s_total\nL40S,1,mine,512,4,bf16,1000\n"
    )
    command = ["estimate", "--gpu", "l40s", "--gpus", "1", "--model-config", config, "--seq-len", "512", "--json"]
    status, out, err = run(capsys, *command, "--measurements", own, *TODAY)
    assert (status, err, json.loads(out)["basis"]) == (0, "", "measured")


def test_own_rows_of_other_configurations_move_an_estimate_and_say_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    own = tmp_path / "own.csv"
    command = ["estimate", "--gpu", "l40s", "--gpus", "1", "--workload", "gpt2-small", "--json", *TODAY]
    lines = ["gpu,n_gpus,model,seq_len,micro_batch_seqs,precision,framework,tokens_per_s_total"]
    for batch in (1, 2, 4):
        batches = ("--micro-batch", batch, "--global-batch", batch)
        speed = 0.8 * json.loads(run(capsys, *command, *batches)[1])["throughput"]
        lines.append(f"L40S,1,gpt2,1024,{batch},bf16,mine,{speed}")
    own.write_text("\n".join(lines))
    command += ["--micro-batch", "16"]
    cold = json.loads(run(capsys, *command)[1])
    status, out, err = run(capsys, *command, "--measurements", own, "--measurements", own)
    found = json.loads(out)
    assert (status, err) == (0, "own.csv: found the same table as own.csv, expected each table once: it counts once\n")
    assert found["basis"] == "estimated"
    assert 0.8 < found["throughput"] / cold["throughput"] < 0.83
    assert "measurements:own:own.csv:row 1" in found["sources"]
    (said,) = [warning for warning in found["warnings"] if warning["code"].startswith("own_rows")]
    assert said["message"].startswith("3 own rows of own.csv (mine) lower estimates on L40S by 18 %")


@pytest.mark.parametrize("content", [None, "a,b\n1,2\n"])
def test_own_rows_that_cannot_be_read_are_an_error(
    content: str | None, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    own = tmp_path / "own.csv"
    if content is not None:
        own.write_text(content)
    status, out, err = run(capsys, "plan", scenario(tmp_path, MINIMAL), "--measurements", own, *TODAY)
    assert (status, out) == (2, "")
    assert "own.csv" in err


def pretend(monkeypatch: pytest.MonkeyPatch, *results: Result, interrupted: bool = False) -> None:
    """Let `measure` have found these results."""
    found = report(*results)
    found.interrupted = interrupted
    monkeypatch.setattr(command_line, "load_torch", torch_with)
    monkeypatch.setattr(command_line, "measure", lambda *_, **__: found)


def test_an_interruption_writes_what_was_measured(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, step(), interrupted=True)
    out = tmp_path / "runs.csv"
    status, text, err = run(capsys, "measure", "--out", out, "--json", *TODAY)
    assert (status, json.loads(text)["interrupted"]) == (130, True)
    assert "what was measured until then is kept" in err
    with out.open(encoding="utf-8") as stream:
        assert [row["tokens_per_s_total"] for row in csv.DictReader(stream)] == ["81920.0"]


def test_an_interruption_elsewhere_ends_without_a_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line, "load_torch", interrupt)
    assert run(capsys, "measure", *TODAY) == (130, "", "interrupted\n")


def test_where_nothing_could_be_measured_the_status_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, Skipped(workload="bert-large", what="all of it", reason="needs transformers"))
    status, out, _ = run(capsys, "measure", "--workload", "bert-large", *TODAY)
    assert status == 2
    assert "bert-large, all of it: needs transformers" in out


def test_without_torch_the_error_says_where_to_get_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    status, out, err = run(capsys, "measure", *TODAY)
    assert (status, out) == (2, "")
    assert "needs torch" in err and "https://pytorch.org" in err


def test_a_gpu_that_is_not_there_and_a_bad_place_for_the_file_are_errors(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_line, "load_torch", torch_with)
    status, out, err = run(capsys, "measure", "--device", "cuda:3", *TODAY)
    assert (status, out) == (2, "")
    assert "--device: found 'cuda:3', and no GPU that torch" in err

    def never() -> None:
        raise InputError("unknown_choice", field="torch was loaded first")

    monkeypatch.setattr(command_line, "load_torch", never)
    status, out, err = run(capsys, "measure", "--out", tmp_path / "none" / "runs.csv", *TODAY)
    assert (status, out) == (2, "")
    assert "--out: found" in err
