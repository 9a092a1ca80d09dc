"""Jobs as rows and back: untouched settings survive, faults name row and column."""

import pytest

from planner.errors import Problem, ScenarioError
from planner.scenario.load import check_document
from ui.jobs_table import (
    CLASSES,
    COLUMNS,
    edited,
    faults_of,
    job_keys,
    jobs_from,
    rows_of,
    sentence,
    shown_rows,
)

JOBS = {
    "daily": {
        "workload": "bert-large-squad",
        "runs_per_month": 1300,
        "attempts_per_run": 1.2,
        "local_share": 1 / 3,
        "throughput": {"rtx-4090": 250.0},
        "regions": ["us-east-1"],
        "checkpoints": 3,
    },
    "key": {"workload": "gpt-1.3b", "class": "key", "tokens": 26_000_000_000, "runs_per_month": 0.2, "deadline_h": 168},
}


def after(changes, jobs=JOBS):
    rows = edited(jobs, changes)
    keys, faults = job_keys(rows)
    return jobs_from(jobs, rows, keys), rows, keys, faults


def problems(jobs):
    try:
        check_document({"schema_version": 1, "horizon_months": 12, "jobs": jobs})
    except ScenarioError as error:
        return error.problems
    return ()


def test_rows_hold_texts_with_all_digits():
    daily, key = rows_of(JOBS)
    assert list(daily) == list(COLUMNS)
    assert (daily["runs_per_month"], daily["attempts_per_run"], daily["deadline_h"]) == ("1300", "1.2", "")
    assert daily["class"] == CLASSES[0]
    assert (key["tokens"], key["runs_per_month"]) == ("26000000000", "0.2")


def test_nothing_edited_changes_nothing():
    jobs, _, _, faults = after({"edited_rows": {}, "added_rows": [], "deleted_rows": []})
    assert jobs == JOBS
    assert list(jobs) == list(JOBS)
    assert not faults
    assert jobs["daily"]["local_share"] == 1 / 3  # not the digits that are shown


def test_a_changed_cell_is_written_and_an_emptied_one_falls_back():
    changes = {"edited_rows": {0: {"runs_per_month": " 1500 ", "attempts_per_run": None}, 1: {"local_share": "25 %"}}}
    jobs, *_ = after(changes)
    assert jobs["daily"] == {
        **{k: v for k, v in JOBS["daily"].items() if k != "attempts_per_run"},
        "runs_per_month": 1500,
    }
    assert jobs["key"] == {**JOBS["key"], "local_share": 0.25}


def test_renaming_keeps_everything_else_and_the_place():
    jobs, *_ = after({"edited_rows": {0: {"name": "weekly"}}})
    assert list(jobs) == ["weekly", "key"]
    assert jobs["weekly"] == JOBS["daily"]


def test_names_can_be_swapped():
    jobs, _, _, faults = after({"edited_rows": {0: {"name": "key"}, 1: {"name": "daily"}}})
    assert not faults
    assert jobs == {"key": JOBS["daily"], "daily": JOBS["key"]}


def test_rows_are_added_and_removed():
    row = {"name": "new", "workload": "resnet50-imagenet", "runs_per_month": "4", "class": "development"}
    jobs, *_ = after({"added_rows": [row, {"class": "development"}, {}], "deleted_rows": [0]})
    assert list(jobs) == ["key", "new"]
    assert jobs["new"] == {"workload": "resnet50-imagenet", "runs_per_month": 4, "class": "development"}


def test_without_jobs_there_is_a_row_to_fill_in():
    assert len(shown_rows({})) == 1
    assert after({}, {})[0] == {}
    jobs, *_ = after({"edited_rows": {0: {"name": "first", "workload": "gpt2-small", "runs_per_month": "2"}}}, {})
    assert jobs == {"first": {"workload": "gpt2-small", "runs_per_month": 2}}


def test_the_jobs_given_are_not_changed():
    jobs, *_ = after({"edited_rows": {0: {"name": "weekly"}}})
    jobs["weekly"]["throughput"]["rtx-4090"] = 1.0
    assert JOBS["daily"]["throughput"] == {"rtx-4090": 250.0}


@pytest.mark.parametrize(
    ("name", "words"), [("", "needs a name"), (None, "needs a name"), ("key", "has this name"), ("a b.c", "letters")]
)
def test_a_name_that_cannot_be_is_named_by_row(name, words):
    _, rows, keys, faults = after({"added_rows": [{"name": name, "workload": "gpt2-small", "runs_per_month": "1"}]})
    (fault,) = faults
    assert (fault.row, fault.column) == (3, "name")
    assert words in sentence(fault, rows)
    assert len(set(keys)) == 3


def test_two_rows_without_a_name_are_two_faults():
    *_, keys, faults = after({"added_rows": [{"tokens": "1"}, {"tokens": "2"}, {"name": "row-3", "tokens": "3"}]})
    assert [fault.row for fault in faults] == [3, 4]
    assert len(set(keys)) == 5


def test_every_wrong_cell_is_said_with_row_and_column_and_what_was_typed():
    changes = {
        "edited_rows": {0: {"runs_per_month": "-5", "local_share": "150"}, 1: {"deadline_h": "1,5", "workload": None}},
        "added_rows": [{"name": "", "workload": "gpt2-small", "runs_per_month": "many"}],
    }
    jobs, rows, keys, named = after(changes)
    found = faults_of(problems(jobs), rows, keys)
    assert {(fault.row, fault.column) for fault in found} == {
        (1, "runs_per_month"), (1, "local_share"), (2, "deadline_h"), (2, "workload"), (3, "runs_per_month")
    }  # fmt: skip
    said = [sentence(fault, rows) for fault in found]
    assert said[0].startswith("**Row 1, daily, ")
    assert any("Runs a month**: “-5” does not work here. Expected: a number above 0" in words for words in said)
    assert any("“150” does not work here. Expected: a number from 0 to 100" in words for words in said)
    assert any("“1,5”" in words for words in said)
    assert any(words.startswith("**Row 2, key, Model**: nothing entered") for words in said)
    assert any(words.startswith("**Row 3, Runs a month**: “many”") for words in said)
    assert len(named) == 1


def test_fields_that_contradict_each_other_name_the_one_to_change():
    jobs, rows, keys, _ = after({"edited_rows": {1: {"epochs": "3"}}})
    (fault,) = faults_of(problems(jobs), rows, keys)
    assert (fault.row, fault.column) == (2, "tokens")
    assert "either 'tokens', or 'samples'" in sentence(fault, rows).replace("\\", "")


def test_a_fault_in_a_setting_without_a_column_is_named_with_its_key():
    jobs = {**JOBS, "key": {**JOBS["key"], "seq_len": -1}}
    _, rows, keys, _ = after({}, jobs)
    (fault,) = faults_of(problems(jobs), rows, keys)
    assert fault.row == 2
    assert "seq" in sentence(fault, rows)


def test_the_engines_own_sentence_stands_as_it_is():
    rows = edited(JOBS, {})
    own = Problem(file="", record="", field="jobs.key.tokens", found="", expected="jobs.key.tokens: counts in samples")
    elsewhere = Problem(file="", record="", field="horizon_months", found="0", expected="a number")
    (fault,) = faults_of([own, elsewhere], rows, list(JOBS))
    assert sentence(fault, rows) == "**Row 2, key, Tokens**: counts in samples"


def test_methods_and_optimizers_have_columns_and_adapters_go_with_their_method():
    jobs = {"a": {**JOBS["key"], "method": "lora", "adapter_rank": 16, "adapter_targets": "all", "eval_share": 0.05}}
    assert rows_of(jobs)[0]["method"] == "lora"
    assert rows_of(JOBS)[1]["method"] == "full"
    kept = edited(jobs, {"edited_rows": {0: {"method": "qlora", "optimizer": "adamw-8bit"}}})
    assert jobs_from(jobs, kept, ["a"])["a"] == {**jobs["a"], "method": "qlora", "optimizer": "adamw-8bit"}
    whole = jobs_from(jobs, edited(jobs, {"edited_rows": {0: {"method": "full"}}}), ["a"])["a"]
    assert whole == {**JOBS["key"], "method": "full", "eval_share": 0.05}
    faulty = {"a": {**JOBS["key"], "adapter_rank": 16}}  # what the file says by mistake is for its reader to mend
    assert jobs_from(faulty, edited(faulty, {}), ["a"]) == faulty
