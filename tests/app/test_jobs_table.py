"""The jobs table, the empty scenario and the ways out of an impossible one through AppTest."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.app

ROOT = Path(__file__).resolve().parents[2]
EMPTY = "schema_version: 1\nname: New lab\nhorizon_months: 24\njobs: {}\n"
IMPOSSIBLE = """schema_version: 1
name: Too large
horizon_months: 12
site: {id: us-average}
jobs:
  giant: {workload: llama-3.1-405b, tokens: 1000000000, runs_per_month: 1, class: key, max_gpus: 8, deadline_h: 1}
machines:
  pc: {gpu: rtx-3060-12gb, host: pc-entry}
rental: {gpus: [t4]}
"""


def start():
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    assert not at.exception
    return at


def opened(at, button="open_jobs_table"):
    at.button(key=button).click().run()
    assert not at.exception
    return at


def edit(at, rows=None, added=(), deleted=()):
    """What a browser sends after cells were edited, and a click on the button."""
    key = f"jobs_editor_{at.session_state['jobs_table_version']}"
    at.session_state[key] = {"edited_rows": rows or {}, "added_rows": list(added), "deleted_rows": list(deleted)}
    at.button(key="apply_jobs").click().run()
    assert not at.exception
    return at


def is_open(at):
    return any(button.key == "apply_jobs" for button in at.button)


def upload(at, text):
    at.file_uploader(key="open_file").upload("x.yaml", text.encode(), "application/yaml").run()
    assert not at.exception
    return at


def totals(at):
    return [metric.value for metric in at.metric]


def field(at, path):
    return next(box.value for box in at.text_input if box.key.split("#")[0] == f"in:{path}")


def jobs(at):
    return at.session_state["base"]["jobs"]


def test_nothing_of_the_table_is_drawn_while_it_is_closed():
    at = start()
    assert not at.get("arrow_data_frame") and not is_open(at)
    assert not any(button.key == "work_in_table" for button in at.button)


def test_an_edited_cell_and_an_added_job_move_the_plan():
    at = start()
    before, daily = totals(at), dict(jobs(at)["daily"])
    opened(at)
    assert at.button(key="work_in_table").disabled
    new = {"name": "vision", "workload": "resnet50-imagenet", "runs_per_month": "4", "class": "development"}
    edit(at, {0: {"runs_per_month": "2600"}}, [new])
    assert not is_open(at)
    assert not at.error
    assert totals(at) != before
    assert jobs(at)["daily"] == {**daily, "runs_per_month": 2600}
    assert list(jobs(at)) == ["daily", "key", "vision"]
    assert field(at, "jobs.daily.runs_per_month") == "2600"
    assert field(at, "jobs.vision.runs_per_month") == "4"


def test_what_was_typed_in_the_fields_is_in_the_table_and_stays():
    at = start()
    at.text_input(key="in:jobs.daily.runs_per_month").set_value("1400").run()
    at.text_input(key="in:horizon_months").set_value("24").run()
    edit(opened(at), {1: {"name": "grand"}})
    assert jobs(at)["daily"]["runs_per_month"] == 1400
    assert list(jobs(at)) == ["daily", "grand"]
    assert at.session_state["typed"] == {"horizon_months": ("24", "number")}
    assert at.metric[0].label == "Total, 24 months"


def test_wrong_cells_are_named_and_nothing_is_changed():
    at = start()
    before, given = totals(at), dict(jobs(at))
    edit(opened(at), {0: {"runs_per_month": "-5"}}, [{"name": "key", "workload": "no-such-model"}])
    assert is_open(at)
    said = at.error[0].value
    assert "Row 1, daily, Runs a month**: “-5” does not work here" in said
    assert "Row 3, key, Job**: another job has this name" in said
    assert "Row 3, key, Runs a month**: nothing entered" in said
    assert jobs(at) == given
    assert totals(at) == before
    edit(at, {0: {"runs_per_month": "1400"}})
    assert not is_open(at)
    assert jobs(at)["daily"]["runs_per_month"] == 1400


def test_what_only_the_engine_knows_is_named_too():
    at = start()
    edit(opened(at), {0: {"tokens": "1000"}})
    assert "Row 1, daily, Tokens" in at.error[0].value
    edit(at, {1: {"workload": "gpt-1.4b"}})
    assert "Row 2, key, Model" in at.error[0].value


def test_a_fault_elsewhere_does_not_keep_the_jobs_from_being_applied():
    at = start()
    at.text_input(key="in:horizon_months").set_value("0").run()
    edit(opened(at), {0: {"runs_per_month": "1400"}})
    assert not is_open(at)
    assert jobs(at)["daily"]["runs_per_month"] == 1400
    assert "Horizon" in at.error[0].value


def test_starting_from_nothing_asks_for_a_first_job():
    at = start()
    at.button(key="open_nothing").click().run()
    assert not at.exception
    assert at.title[0].value == "Nothing to plan yet"
    assert not at.error and not at.metric
    assert " Example]" not in " ".join(text.value for text in at.markdown)
    edit(opened(at, "first_job"), {0: {"name": "first", "workload": "bert-large-squad", "runs_per_month": "20"}})
    assert not at.error
    assert at.title[0].value.startswith("Rent ")
    assert totals(at)


def test_removing_all_jobs_empties_the_scenario_and_an_example_fills_it():
    at = start()
    edit(opened(at), deleted=[0, 1])
    assert at.title[0].value == "Nothing to plan yet"
    at.switch_page("ui/pages/catalog.py").run()
    assert not at.exception
    at.switch_page("ui/pages/plan.py").run()
    at.button(key="first_example").click().run()
    assert not at.exception
    assert totals(at)
    assert " Example]" in " ".join(text.value for text in at.markdown)


@pytest.mark.parametrize("text", [EMPTY, EMPTY.replace("jobs: {}\n", "")])
def test_a_file_without_jobs_opens_empty(text):
    at = upload(start(), text)
    assert at.title[0].value == "Nothing to plan yet"
    edit(opened(at, "first_job"), {0: {"name": "a", "workload": "gpt2-small", "runs_per_month": "1"}})
    assert at.metric[0].label == "Total, 24 months"


def test_an_impossible_plan_becomes_possible_at_a_click():
    at = upload(start(), IMPOSSIBLE)
    assert "cannot be made" in at.error[0].value
    at.button(key="remedy_0").click().run()
    assert not at.exception
    assert not at.error
    assert totals(at)
    assert at.session_state["typed"]["rental.gpus"] == ([], "choice_or_none")


OWN_MODEL = """schema_version: 1
name: Own model
horizon_months: 12
site: {id: us-average}
jobs:
  ours: {workload: ours, runs_per_month: 1}
machines:
  pc: {gpu: rtx-4090, host: workstation-1}
models:
  ours:
    name: Our own model
    tokens: 100000000
    config: {model_type: llama, hidden_size: 1024, intermediate_size: 4096, num_hidden_layers: 12,
             num_attention_heads: 16, vocab_size: 32000, max_position_embeddings: 8192, tie_word_embeddings: true}
"""


def test_a_model_of_the_scenario_is_planned_and_counted_in_tokens():
    at = upload(start(), OWN_MODEL)
    assert totals(at)
    assert not at.error
    at.session_state["advanced_work"] = True
    at.run()
    assert field(at, "jobs.ours.tokens") == ""
    assert all("jobs.ours.samples" not in box.key for box in at.text_input)
    assert is_open(opened(at))
