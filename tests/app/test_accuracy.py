"""The Accuracy page through AppTest: figures, groups, own runs with faults, and what they do to the plan."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from planner.report.comparison import comparison_csv
from ui import accuracy_data, accuracy_upload

pytestmark = pytest.mark.app

ROOT = Path(__file__).resolve().parents[2]
HEAD = "id,gpu,n_gpus,model,input,batch_per_gpu,precision,throughput,throughput_unit,spread\n"
GOOD = "good,rtx-4090,1,bert-large-squad,seq384,32,amp-fp16,120,sequences/s,0.02\n"
FAULTY = (
    "odd,rtx-3090,1,bert-large-squad,seq384,16,amp-fp16,60,sequences/s,0\n"
    "who,rtx-490,1,bert-large-squad,seq384,16,amp-fp16,60,sequences/s,0.01\n"
    "none,rtx-4090,1,bert-large-squad,seq384,8,amp-fp16,,sequences/s,0.01\n"
)
MEMORY = "id,gpu,n_gpus,model,seq_len,micro_batch_seqs,peak_memory_gb\nm,rtx-4090,1,gpt2-small,1024,1,6\n"


@pytest.fixture
def page():
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    return go(at, "accuracy")


def go(at, name):
    at.switch_page(f"ui/pages/{name}.py").run()
    assert not at.exception
    return at


def upload(at, *tables):
    """Attach tables, each a name and its text."""
    chooser = next(one for one in at.file_uploader if one.key.startswith("own_upload_"))
    chooser.set_value([(name, text.encode(), "text/csv") for name, text in tables]).run()
    assert not at.exception
    return at


def texts(at):
    return "\n".join(str(one.value) for one in (*at.title, *at.markdown, *at.error, *at.subheader)).replace("\\", "")


def tables(at):
    return [one.value for one in at.dataframe]


def table_with(at, column):
    return next(table for table in tables(at) if column in table.columns)


def total(at):
    go(at, "plan")
    found = next(one.value for one in at.metric if one.label.startswith("Total"))
    speeds = [job["throughput"] for way in at.session_state["last_good"].report["strategies"] for job in way["jobs"]]
    go(at, "accuracy")
    return found, speeds


def test_the_title_and_figures_are_those_of_the_shipped_tables(page):
    errors = accuracy_data.shipped().errors
    title = page.title[0].value.replace("\N{NO-BREAK SPACE}", " ")
    assert (
        title
        == f"Half of the predictions are within {errors.median_ape:.0f} %, nine in ten within {errors.p90_ape:.0f} %"
    )
    values = {one.label: one.value for one in page.metric}
    assert values["Runs compared"] == f"{errors.n:,}"
    assert values["Within their range"].startswith(f"{errors.coverage_80 * 100:.0f}")
    assert "the constants were fitted on many of these runs".casefold() in texts(page).casefold()


def test_every_kind_of_table_has_a_panel(page):
    charts = page.get("vega_lite_chart") or page.get("arrow_vega_lite_chart")
    assert len(charts) == len(accuracy_data.shipped().comparison.tables)
    assert "nan" not in texts(page).lower().split()
    assert "None" not in texts(page)


def test_a_gpu_can_be_shown(page):
    page.selectbox(key="accuracy_gpu").set_value("GeForce RTX 4090").run()
    assert not page.exception
    assert "**GeForce RTX 4090**: half of" in texts(page)
    go(go(page, "plan"), "accuracy")
    assert page.selectbox(key="accuracy_gpu").value == "GeForce RTX 4090"
    page.session_state["accuracy_view"] = "errors"
    page.run()
    assert not page.exception


@pytest.mark.parametrize("by", ["gpu", "model", "source", "table"])
def test_groups_hold_all_rows_that_count(page, by):
    page.session_state["accuracy_by"] = by
    page.run()
    assert not page.exception
    table = table_with(page, "Signed, %")
    assert table["Runs"].sum() == accuracy_data.shipped().errors.n
    assert list(table["Median, %"]) == sorted(table["Median, %"], reverse=True)


def test_the_worst_runs_are_listed_with_their_sources(page):
    worst = next(table for table in tables(page) if "Source" in table.columns and "Run" in table.columns)
    assert len(worst) == 50
    assert all(worst["Source"])
    assert "The worst is predicted" in texts(page)


def test_held_out_errors_stand_with_limits(page):
    table = table_with(page, "Left out")
    first = table.iloc[0]
    assert (first["Left out"], first["Runs"]) == ("llm-foundry, groups of GPU and model", 126)
    assert (first["Median / nine in ten, %"], first["Limit, %"]) == ("2.6 / 8.9", "3.5 / 9.0")
    assert first["Limit kept"] == "kept"


def test_rows_that_were_not_compared_are_counted_by_reason(page):
    shipped = accuracy_data.shipped()
    left_out = len(shipped.rows) - shipped.errors.n
    assert f"{left_out} more could not be compared" in texts(page)
    page.session_state["accuracy_skipped"] = True
    page.run()
    assert table_with(page, "Reason")["Runs"].sum() == left_out


def test_the_csv_has_every_row(page):
    shipped = accuracy_data.shipped()
    rows = list(csv.DictReader(io.StringIO(comparison_csv(shipped.comparison.tables))))
    assert len(rows) == len(shipped.rows)
    assert {"table", "predicted", "measured", "basis", "skipped"} <= set(rows[0])


def test_the_plan_says_what_its_speeds_rest_on(page):
    table = table_with(page, "Speed is")
    assert set(table["Job"]) == {"daily", "key"}
    measured = table[table["Speed is"] == "measured, published"]
    assert all(measured["Rows behind it"].str.startswith("lam-"))
    estimated = table[table["Speed is"] == "estimated"]
    assert len(estimated) > 0
    assert all("runs: half within" in words for words in estimated["Predictions like it"])
    page.session_state["accuracy_all"] = True
    page.run()
    assert len(table_with(page, "Speed is")) > len(table)


def test_without_jobs_the_plan_part_says_so(page):
    go(page, "plan").button(key="open_nothing").click().run()
    go(page, "accuracy")
    assert "Your plan has no speeds yet" in texts(page)


def test_own_runs_are_compared_row_by_row_with_what_is_wrong(page):
    upload(page, ("runs.csv", HEAD + GOOD + FAULTY))
    assert "Your runs: half are within" in texts(page)
    table = table_with(page, "In a plan")
    assert list(table["Run"]) == ["good", "odd", "who", "none"]
    assert list(table["In a plan"]) == ["yes", "yes", "no", "no"]
    assert table["Predicted"][0] not in ("unknown", "")
    words = texts(page)
    assert "Something is wrong with these rows: 3" in words
    assert "Line 3, odd: answers a plan, but is odd, spread: found 0" in words
    assert "Line 4, who: neither compared nor used, gpu: found 'rtx-490'" in words
    assert "Line 5, none: not compared, no measured value; answers no plan, throughput: found nothing" in words


def test_own_runs_are_used_by_the_plan_and_taken_back(page):
    before = total(page)
    upload(page, ("runs.csv", HEAD + GOOD))
    assert total(page) == before  # attached is not used
    page.button(key="own_use_runs.csv").click().run()
    assert not page.exception
    assert "in use by your plan" in texts(page)
    assert "runs.csv: in use. " in texts(page)
    own = table_with(page, "Speed is")
    assert list(own[own["Speed is"] == "your own measurement"]["Rows behind it"].unique()) == ["own:runs.csv:good"]
    with_own = total(page)
    assert 120.0 in with_own[1]
    assert with_own != before
    go(page, "plan")
    assert "One job rests on your own measurements (runs.csv)." in texts(page)
    sources = page.session_state["last_good"].report["sources"]
    assert "own measurements in runs.csv" in sources["measurements:own:runs.csv:good"]["title"]
    page.button(key="open_student").click().run()  # another scenario, without such a job or with it: the runs stay
    assert "own measurements" in texts(page)
    page.button(key="open_hybrid-lab").click().run()
    go(page, "accuracy").button(key="own_use_runs.csv").click().run()
    assert "runs.csv: no longer in use." in texts(page)
    assert total(page) == before
    page.button(key="own_use_runs.csv").click().run()
    page.button(key="own_remove_runs.csv").click().run()
    assert "Your runs:" not in texts(page)
    assert total(page) == before
    go(page, "plan")
    assert "own measurements" not in texts(page)


def test_runs_of_another_configuration_are_said_not_to_answer(page):
    upload(page, ("runs.csv", HEAD + GOOD.replace("rtx-4090", "rtx-3090")))
    page.button(key="own_use_runs.csv").click().run()
    go(page, "plan")
    assert "are in use, but no job here has their model" in texts(page)


def test_a_table_of_memory_is_compared_and_no_plan_takes_it(page):
    upload(page, ("peaks.csv", MEMORY))
    assert "A plan cannot take this table: found a table of memory_peaks" in texts(page)
    assert page.button(key="own_use_peaks.csv").disabled


def test_a_file_that_is_no_table_is_refused_in_words_and_can_be_removed(page):
    upload(page, ("notes.csv", "a,b\n1,2\n"), ("runs.csv", HEAD + GOOD))
    assert "notes.csv was not understood" in texts(page)
    assert "no measured column" in texts(page)
    page.button(key="own_remove_notes.csv").click().run()
    assert "notes.csv" not in texts(page)
    assert len(table_with(page, "In a plan")) == 1


def test_odd_names_and_cells_break_nothing(page):
    upload(page, ("my $runs* [1].csv", HEAD + GOOD.replace("good", "=cmd|$x$<b>")))
    assert "my $runs* [1].csv" in texts(page)
    page.button(key="own_use_my $runs* [1].csv").click().run()
    assert not page.exception
    go(page, "plan")
    assert "my $runs* [1].csv" in texts(page)


def test_a_replaced_table_is_used_as_it_was(page):
    upload(page, ("runs.csv", HEAD + GOOD))
    page.button(key="own_use_runs.csv").click().run()
    upload(page, ("runs.csv", HEAD + GOOD.replace(",120,", ",111,")))
    assert 111.0 in total(page)[1]


def test_of_a_large_table_it_is_said_what_is_shown(page, monkeypatch):
    monkeypatch.setattr(accuracy_upload, "_MOST_ROWS", 3)
    monkeypatch.setattr(accuracy_upload, "_MOST_POINTS", 4)
    monkeypatch.setattr(accuracy_upload, "_MOST_LINES", 2)
    rows = "".join(f"r{n},rtx-4090,1,bert-large-squad,seq384,{n + 1},amp-fp16,60,sequences/s,0.02\n" for n in range(6))
    upload(page, ("runs.csv", HEAD + rows + FAULTY))
    assert "The first 3 of 9 rows" in texts(page)
    assert len(table_with(page, "In a plan")) == 3
    assert "Drawn: 4 points of 7" in texts(page)
    assert "Something is wrong with these rows: 3" in texts(page)
    assert "1 more" in texts(page)


def test_rows_with_one_id_are_counted_each(page):
    upload(page, ("runs.csv", HEAD + GOOD + GOOD.replace(",32,", ",16,") + GOOD.replace("rtx-4090", "rtx-490")))
    assert list(table_with(page, "In a plan")["In a plan"]) == ["yes", "yes", "no"]


def test_it_is_said_what_own_rows_do_to_other_predictions(page):
    rows = "".join(
        f"r{batch},rtx-3090,1,bert-large-squad,seq384,{batch},amp-fp16,{speed},sequences/s,0.02\n"
        for batch, speed in ((4, 20), (8, 22), (12, 23), (16, 24))
    )
    upload(page, ("runs.csv", HEAD + rows))
    assert "4 own rows of runs.csv" in texts(page)
    assert "leave-one-out error" in texts(page)
