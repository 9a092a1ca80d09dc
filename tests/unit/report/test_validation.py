"""A validation as JSON, CSV and text."""

from __future__ import annotations

import csv
import io
import json

import pytest

from planner.report.validation import COLUMNS, validation_csv, validation_document, validation_text
from planner.validate.run import Validation
from tests.unit.validate.tables import always, validate


@pytest.fixture(scope="module")
def mixed() -> Validation:
    """Scored, flagged and skipped rows, with choices, and a name that a spreadsheet would run."""
    predictor = always(110.0, low=90.0, high=130.0, novelty="new GPU", choices=("micro-batch 4", "ddp"))
    return validate(
        {},
        {"id": "=1+1", "gpu": "H100-SXM5-80GB", "tokens_per_s_total": 220.0},
        {"id": "c", "notes": "flag=odd"},
        {"id": "d", "gpu": "none such"},
        {"id": "e", "tokens_per_s_total": ""},
        predictor=predictor,
    )


def test_the_document_has_what_was_promised(mixed: Validation) -> None:
    document = validation_document(mixed)
    assert {"rows", "summary", "groups"} <= set(document)
    promised = {"id", "measured", "predicted", "low", "high", "unit", "ape", "basis", "novelty", "skipped"}
    assert all(promised <= set(row) for row in document["rows"])
    assert set(document["summary"]) >= {
        "n", "skipped", "median_ape", "p90_ape", "coverage_80", "median_half_width",
    }  # fmt: skip
    assert all(set(group) == {"by", "key", "n", "median_ape", "p90_ape", "bias"} for group in document["groups"])
    assert document["summary"]["n"] == 2
    assert document["rows"][0]["ape"] == pytest.approx(10.0)
    assert document["rows"][1]["ape"] == pytest.approx(50.0)
    assert document["rows"][3]["predicted"] is None
    assert document["rows"][0]["choices"] == ["micro-batch 4", "ddp"]
    assert document["choices"][0] == {"choice": "ddp", "rows": 4}
    assert [entry["rows"] for entry in document["reasons"]] == [1, 1]
    json.dumps(document, allow_nan=False)


def test_a_table_without_a_scored_row_has_no_figures() -> None:
    document = validation_document(validate({"gpu": "none such"}))
    assert document["summary"] == {
        "n": 0, "skipped": 1, "flagged": 0, "median_ape": None, "p90_ape": None, "coverage_80": None,
        "median_half_width": None,
    }  # fmt: skip
    assert "unknown" in validation_text(validate({"gpu": "none such"}))


def test_the_csv_repeats_the_rows(mixed: Validation) -> None:
    rows = list(csv.DictReader(io.StringIO(validation_csv(mixed))))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 5
    assert float(rows[1]["ape"]) == pytest.approx(50.0)
    assert (rows[0]["choices"], rows[0]["flagged"], rows[2]["flagged"]) == ("micro-batch 4; ddp", "false", "true")
    assert (rows[3]["predicted"], rows[3]["basis"], rows[4]["measured"]) == ("", "", "")
    assert rows[1]["id"] == "'=1+1"


def test_the_text_has_the_worst_group_first_and_counts_what_was_left_out_and_filled_in(mixed: Validation) -> None:
    text = validation_text(mixed)
    assert text.startswith("2 rows of llm_throughput scored, 2 skipped, 1 flagged by the table\n")
    assert text.index("H100-SXM5-80GB  1") < text.index("A100-SXM4-80GB  1")
    assert "median error             30.0 %" in text
    assert "-50.0 %" in text
    assert "  1 x no measured value" in text
    assert "  4 x micro-batch 4" in text
    assert "nan" not in text


def test_long_lists_are_cut_in_the_text_only() -> None:
    changes = [{"id": at, "model": f"net-{at}", "task": f"task {at}"} for at in range(40)]
    validation = validate(*({**change, "task": "lora"} for change in changes), *changes)
    text = validation_text(validation)
    assert "... and 15 more" in text  # 40 models, 25 shown
    assert "... and 25 more" in text  # 40 reasons, 15 shown
    document = validation_document(validation)
    assert sum(group["by"] == "model" for group in document["groups"]) == 40
    assert len(document["reasons"]) == 40


def test_notes_of_the_reading_are_repeated() -> None:
    validation = validate({"microbatch_seqs": 4}, base={
        "gpu": "L40S", "n_gpus": 1, "model": "llama-2-7b", "tokens_per_s_total": 5.0,
    })  # fmt: skip
    assert "Note: the column 'microbatch_seqs' was ignored" in validation_text(validation)
    assert validation_document(validation)["notes"]
