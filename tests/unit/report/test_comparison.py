"""Whole tables against the estimator: as `validate` does it, also of models by their names in the catalog."""

from __future__ import annotations

import csv
import io
import json

import pytest

from planner.__main__ import main
from planner.performance.evidence import MEASUREMENTS_FOLDER
from planner.performance.transfer.models import load_transfer
from planner.report.comparison import compare_folder, compare_text, comparison_csv
from planner.report.errors_by_group import errors_of
from tests.planning import shipped_catalog

HEAD = "id,gpu,n_gpus,model,input,batch_per_gpu,precision,throughput\n"


@pytest.fixture(scope="module")
def comparison():
    return compare_folder(shipped_catalog())


def test_every_shipped_table_is_compared(comparison):
    files = {path.name for path in MEASUREMENTS_FOLDER.glob("*.csv")}
    assert {table.file for table in comparison.tables} | {problem.file for problem in comparison.unread} == files
    assert {"llm_throughput.csv", "dl_throughput.csv", "memory_peaks.csv"} <= {
        table.file for table in comparison.tables
    }
    assert errors_of(comparison.rows).n > 2900
    for table in comparison.tables:
        assert [row.id for row, _ in table.pairs] == [scored.id for _, scored in table.pairs]


def test_a_table_comes_out_as_on_the_command_line(comparison, capsys):
    table = next(table for table in comparison.tables if table.file == "memory_peaks.csv")
    assert main(["validate", str(MEASUREMENTS_FOLDER / table.file), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["predicted"] for row in document["rows"]] == [row.predicted for row in table.validation.rows]


def test_all_rows_stand_in_the_csv_with_their_table(comparison):
    rows = list(csv.DictReader(io.StringIO(comparison_csv(comparison.tables))))
    assert len(rows) == len(comparison.rows)
    assert {row["table"] for row in rows} == {table.file for table in comparison.tables}
    first = comparison.rows[0]
    assert (rows[0]["id"], float(rows[0]["predicted"])) == (first.id, first.predicted)


def test_a_table_that_isnt_understood_is_said(tmp_path):
    (tmp_path / "odd.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    found = compare_folder(shipped_catalog(), tmp_path)
    assert found.tables == ()
    assert [problem.file for problem in found.unread] == ["odd.csv"]


def test_a_model_may_be_called_as_in_the_catalog():
    lines = [
        "one,rtx-4090,1,bert-large-squad,seq384,32,amp-fp16,80",
        "two,rtx-4090,1,BERT-large-SQuAD-finetune,seq384,32,amp-fp16,80",
        "three,rtx-4090,1,no-such-model,seq384,32,amp-fp16,80",
    ]
    found = compare_text((HEAD + "\n".join(lines)).encode(), file="own.csv", catalog=shipped_catalog())
    by_id, by_table, unknown = found.validation.rows
    assert by_id.predicted == by_table.predicted is not None
    assert by_id.model == "bert-large-squad"  # still as it was written
    assert unknown.predicted is None
    assert "no-such-model" in (unknown.skipped or "")


def test_a_model_that_was_never_measured_takes_the_catalogs_arithmetic():
    catalog, measured = shipped_catalog(), load_transfer().models
    vision = [
        workload
        for workload in catalog.workloads.values()
        if workload.vision is not None and not {name.casefold() for name in workload.evidence_models} & set(measured)
    ]
    assert vision
    row = f"one,rtx-4090,1,{vision[0].id},,32,amp-fp16,80"
    (scored,) = compare_text((HEAD + row).encode(), file="own.csv", catalog=catalog).validation.rows
    assert scored.predicted is not None
    assert scored.basis == "estimated"
