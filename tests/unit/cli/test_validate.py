"""The command `validate`: exit statuses, output, and files that can't be used."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from planner.report.validation import COLUMNS
from tests.unit.cli.test_cli import ROOT, TODAY, run
from tests.unit.validate.tables import MEMORY, TIMES, text_of


def write(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "runs.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_good_row_is_scored_and_a_bad_one_has_its_reason(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = write(tmp_path, text_of({"tokens_per_s_total": 30000}, {"id": "b", "tokens_per_s_total": -1}))
    target = tmp_path / "out.csv"
    status, out, err = run(capsys, "validate", path, "--json", "--csv", target, *TODAY)
    assert (status, err) == (0, "")
    document: dict[str, Any] = json.loads(out)
    good, bad = document["rows"]
    assert good["predicted"] > 0
    assert good["low"] <= good["predicted"] <= good["high"]
    assert good["ape"] == pytest.approx(100 * abs(good["predicted"] / 30000 - 1))
    assert bad["skipped"] == "tokens_per_s_total: found '-1', expected a number greater than 0"
    with target.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert tuple(rows[0]) == COLUMNS
    assert float(rows[0]["predicted"]) == good["predicted"]


def test_the_measured_value_does_not_change_the_prediction(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    predicted = []
    for measured in (20000, 90000):
        path = write(tmp_path, text_of({"tokens_per_s_total": measured}))
        predicted.append(json.loads(run(capsys, "validate", path, "--json", *TODAY)[1])["rows"][0]["predicted"])
    assert predicted[0] == predicted[1]


def test_memory_tables_and_text(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, _ = run(capsys, "validate", write(tmp_path, text_of({}, base=MEMORY)), *TODAY)
    assert status == 0
    assert out.startswith("1 rows of memory_peaks scored")


def test_the_evidence_of_the_project_can_be_validated(capsys: pytest.CaptureFixture[str]) -> None:
    path = ROOT / "data" / "measurements" / "llm_throughput.csv"
    status, out, _ = run(capsys, "validate", path, "--json", *TODAY)
    document = json.loads(out)
    assert status == 0
    assert document["summary"]["n"] > 150
    assert document["rows"][0]["line"] == 3


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "runs.csv: found nothing"),
        (b"speed\n1\n", "peak_memory_gb (memory_peaks) or throughput (dl_throughput)"),
        (b"\0\1\2", "binary data"),
        (b"gpu,n_gpus,modl,tokens_per_s_total\nL40S,1,a,5\n", "the nearest here is 'modl'"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error(
    content: bytes, words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, out, err = run(capsys, "validate", write(tmp_path, content), "--json", *TODAY)
    assert (status, out) == (2, "")
    assert words in err


def test_a_missing_file_and_an_output_that_cannot_be_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, _, err = run(capsys, "validate", tmp_path / "none.csv", *TODAY)
    assert status == 2
    assert "No such file" in err
    status, out, err = run(capsys, "validate", write(tmp_path, text_of({})), "--csv", tmp_path / "no" / "o.csv", *TODAY)
    assert (status, out) == (2, "")
    assert "--csv" in err


def test_a_table_of_which_nothing_can_be_scored_still_gives_the_reasons(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, out, err = run(capsys, "validate", write(tmp_path, text_of({"gpu": "none such"})), "--json", *TODAY)
    assert status == 0
    assert "no row could be scored" in err
    assert "none such" in json.loads(out)["rows"][0]["skipped"]


def test_hostile_cells_break_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    odd = [
        "\x1b[31m",
        "\uff19\uff19",
        "1_000",
        "0x10",
        "=cmd()",
        "a" * 2000,
        "1e308",
        "-0",
        "\u202e",
        "{field}",
        "[[x]]",
    ]
    rows = [{"id": cell, name: cell} for name in ("gpu", "n_gpus", "model", "parallelism", "precision", "notes", "task",
            "tokens_per_s_total", "activation_checkpointing", "source") for cell in odd]  # fmt: skip
    status, out, _ = run(capsys, "validate", write(tmp_path, text_of(*rows)), "--json", *TODAY)
    assert status == 0
    assert len(json.loads(out)["rows"]) == len(rows)
    status, out, _ = run(capsys, "validate", tmp_path / "runs.csv", *TODAY)
    assert status == 0
    assert not {"\x1b", "\u202e"} & set(out)


OWN_COLUMNS = "id,gpu,n_gpus,model,seq_len,micro_batch_seqs,global_batch_seqs,precision,framework,tokens_per_s_total"


def own_table(*rows: tuple[str, str, int, float], software: str = "mine 1") -> str:
    """Rows of GPT-2 by id, GPU, batch and speed."""
    lines = [f"{id},{gpu},1,gpt2-small,1024,{batch},{batch},bf16,{software},{speed}" for id, gpu, batch, speed in rows]
    return "\n".join([OWN_COLUMNS, *lines]) + "\n"


def test_own_rows_beside_a_table_are_shown_with_and_without(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    batches = (4, 8, 16, 12)
    unknown = write(tmp_path, own_table(*(("x", "rtx-4090", batch, 1.0) for batch in batches)))
    predicted = [row["predicted"] for row in json.loads(run(capsys, "validate", unknown, "--json", *TODAY)[1])["rows"]]
    own = tmp_path / "own.csv"
    slower = [(id, "rtx-4090", batch, 0.8 * speed) for id, batch, speed in zip("abc", batches, predicted, strict=False)]
    own.write_text(own_table(*slower, ("d", "rtx-9999", 4, 1.0)))
    asked = write(tmp_path, own_table(("e", "rtx-4090", 12, 0.8 * predicted[3]), software="mine 2"))
    status, out, err = run(capsys, "validate", asked, "--measurements", own, "--json", *TODAY)
    document = json.loads(out)
    assert status == 0
    assert err.startswith("own.csv:5: d gpu: found 'rtx-9999', expected a GPU of the catalog")
    (row,), (offset,) = document["rows"], document["own_rows"]
    assert row["novelty"] == "own-stack"
    assert row["sources"] == [f"measurements:own:own.csv:{id}" for id in "abc"]
    assert (offset["gpu"], offset["software"], offset["rows"], offset["used"]) == ("rtx-4090", "mine", 3, True)
    assert offset["change"] == pytest.approx(row["predicted"] / predicted[3] - 1)
    assert offset["error"] < offset["error_without"]
    cold = json.loads(run(capsys, "validate", asked, "--json", *TODAY)[1])
    assert (cold["own_rows"], cold["summary_without_own_rows"]) == (None, None)
    assert document["summary_without_own_rows"] == cold["summary"]
    assert document["summary"]["median_ape"] < 5 < 24 < cold["summary"]["median_ape"]
    text = run(capsys, "validate", asked, "--measurements", own, *TODAY)[1]
    assert "without own rows: median 25" in text
    assert "3 own rows of own.csv (mine) lower estimates on rtx-4090 by 18 %" in text


def test_very_many_complaints_are_cut(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text(own_table(*[("d", "rtx-9999", 4, 1.0)] * 81))
    asked = write(tmp_path, text_of({"tokens_per_s_total": 30000}))
    _, _, err = run(capsys, "validate", asked, "--measurements", own, *TODAY)
    lines = err.splitlines()
    assert len(lines) == 51
    assert lines[-1] == "and 31 more such lines"


def test_times_to_a_target_are_read_and_what_repeats_them_is_never_looked_at(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    hidden = {"throughput": 1, "implied_samples_per_s": 1, "samples_to_converge": 1, "epochs_to_converge": 1}
    path = write(
        tmp_path,
        text_of(
            hidden,
            dict.fromkeys(hidden, 9000000.0) | {"minutes": 7},
            {"benchmark": "chess"},
            {"minutes": 0},
            base=TIMES,
        ),
    )
    status, out, _ = run(capsys, "validate", path, "--json", *TODAY)
    document = json.loads(out)
    assert (status, document["schema"], document["unit"]) == (0, "mlperf_time_to_train", "min")
    one, two, unknown, impossible = document["rows"]
    assert one["predicted"] == two["predicted"] > 0
    assert (one["source"], one["model"], one["task"], one["basis"]) == ("v4.0", "bert", "unknown", "transferred")
    assert "benchmark: found 'chess'" in unknown["skipped"]
    assert impossible["skipped"] == "minutes: found '0', expected a number greater than 0"


def test_the_published_times_can_be_validated(capsys: pytest.CaptureFixture[str]) -> None:
    path = ROOT / "data" / "measurements" / "mlperf_time_to_train.csv"
    document = json.loads(run(capsys, "validate", path, "--json", *TODAY)[1])
    assert document["summary"]["n"] > 330
    assert {row["source"] for row in document["rows"]} == {f"mlcommons-training-v{n}" for n in ("2.1", "4.0", "4.1")}
