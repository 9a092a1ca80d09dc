"""Rows of the public tables, and files that are whole or not there."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

import pytest

from planner.errors import InputError
from planner.measure.document import report_document
from planner.measure.tables import check_writable, path_of, table_files, write_files
from planner.measure.text import report_text
from planner.measurements.rows import LanguageRow, MemoryRow
from planner.measurements.table import read_table
from planner.performance.evidence import load_evidence
from planner.performance.own_rows import with_own_rows
from planner.performance.predict_rows import predict_language_rows, predict_memory_rows
from planner.performance.time_to_target.predict import predict_time_rows
from planner.performance.transfer.predict import predict_sample_rows
from planner.validate.run import validate_table
from tests.planning import shipped_catalog
from tests.unit.measure.fakes import BERT, report, step

OUT = Path("runs.csv")
SAMPLES, MEMORY = Path("runs-samples.csv"), Path("runs-memory.csv")


def everything() -> dict[Path, str]:
    gpt = step(allocated_gb=9.5, reserved_gb=10.25, mean_w=512.0, j_per_step=51.2)
    return table_files(OUT, report(gpt, step(batch=16, precision="fp16"), step(BERT, precision="fp16", per_s=80.0)))


def test_each_table_has_its_file_and_one_without_rows_has_none() -> None:
    assert set(everything()) == {OUT, SAMPLES, MEMORY}
    assert set(table_files(OUT, report(step()))) == {OUT}
    assert set(table_files(OUT, report(step(BERT)))) == {SAMPLES}
    assert table_files(OUT, report()) == {}
    assert path_of(Path("a/b.c.csv"), "memory") == Path("a/b.c-memory.csv")


def test_rows_of_language_models_are_read_without_a_fault() -> None:
    table = read_table(everything()[OUT].encode(), file="runs.csv")
    assert (table.schema, table.faults, table.notes) == ("llm_throughput", {}, ())
    row = table.rows[0]
    assert isinstance(row, LanguageRow)
    assert (row.gpu, row.model, row.n_params) == ("h100-sxm5-80gb", "gpt2-small", 124_439_808)
    assert (row.micro_batch_seqs, row.seq_len, row.precision, row.tokens_per_s_total) == (8, 1024, "bf16", 81920.0)
    assert "512 W and 51.2 J a step" in (row.notes or "")


def test_peaks_of_memory_are_read_without_a_fault() -> None:
    table = read_table(everything()[MEMORY].encode(), file="memory.csv")
    assert (table.schema, table.faults, table.notes) == ("memory_peaks", {}, ())
    kinds = {row.memory_kind: row.peak_memory_gb for row in table.rows if isinstance(row, MemoryRow)}
    assert kinds == {"allocated": 9.5, "reserved": 10.25}


def test_both_are_predicted() -> None:
    catalog = shipped_catalog()
    for path, rows in ((OUT, 2), (MEMORY, 2), (SAMPLES, 1)):
        validation = validate_table(
            read_table(everything()[path].encode(), file="t"),
            catalog,
            language=lambda rows: predict_language_rows(rows, catalog),
            memory=lambda rows: predict_memory_rows(rows, catalog),
            samples=lambda rows: predict_sample_rows(rows, catalog),
            times=lambda rows: predict_time_rows(rows, catalog),
        )
        assert validation.summary.n == rows, [row.skipped for row in validation.rows]


def test_columns_of_other_models_are_those_of_the_evidence() -> None:
    (row,) = csv.DictReader(io.StringIO(everything()[SAMPLES]))
    shipped = Path(__file__).parents[3] / "data" / "measurements" / "dl_throughput.csv"
    lines = [line for line in shipped.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert set(lines[0].split(",")) - set(row) == {"activations_m_per_sample", "use"}
    assert (row["precision"], row["input"], row["throughput_unit"]) == ("amp-fp16", "seq384", "sequences/s")


def test_all_rows_of_speeds_become_own_evidence() -> None:
    evidence = load_evidence()
    for path in (OUT, SAMPLES):
        evidence, problems = with_own_rows(
            evidence, everything()[path].encode(), file=path.name, catalog=shipped_catalog()
        )
        assert problems == ()
    assert [row.id for row in evidence.own] == [
        "own:runs.csv:gpt-1", "own:runs.csv:gpt-2", "own:runs-samples.csv:bert-large-3",
    ]  # fmt: skip


def test_files_are_whole_or_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("before")

    def fail(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_files({path: "after"}, replace=fail)
    assert (path.read_text(), os.listdir(tmp_path)) == ("before", ["runs.csv"])
    write_files({path: "after"})
    assert (path.read_text(), os.listdir(tmp_path)) == ("after", ["runs.csv"])
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("name", ["missing/runs.csv", "."])
def test_a_place_that_cannot_be_written_is_found_before_measuring(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be written") as caught:
        check_writable(tmp_path / name)
    assert caught.value.field == "--out"
    with pytest.raises(InputError, match="can't be written"):
        write_files({tmp_path / "missing" / "runs.csv": ""})


def test_the_text_says_what_is_uncertain_and_what_is_unknown() -> None:
    from dataclasses import replace

    from tests.unit.measure.fakes import H100, TIMING

    wild = step(timing=replace(TIMING, spread=0.3))
    text = report_text(report(step(), wild, device=replace(H100, gpu="X", in_catalog=False)))
    assert "1 of 2 spread by more than 5% (!)" in text
    assert "30.0% !" in text
    assert "see --gpu-name" in text
    assert "(!)" not in report_text(report(step()))
    assert report_document(report(wild))["steps"][0]["settled"] is False
