"""The jobs table of the Work page, the empty scenario and the ways out of an impossible one through AppTest."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from planner.scenario.paths import with_overrides
from ui.jobs_table import editor_key
from ui.state import typed_value

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


def opened(at):
    at.switch_page("ui/pages/work.py").run()
    assert not at.exception
    return at


def edit(at, rows=None, added=(), deleted=()):
    """What a browser sends after cells were edited, and a click on the button."""
    key = editor_key(document_jobs(at))
    at.session_state[key] = {"edited_rows": rows or {}, "added_rows": list(added), "deleted_rows": list(deleted)}
    at.button(key="apply_jobs").click().run()
    assert not at.exception
    return at


def document_jobs(at):
    """Jobs of the scenario with what was typed over them."""
    typed = {path: typed_value(raw, kind) for path, (raw, kind) in at.session_state["typed"].items()}
    return with_overrides(at.session_state["base"], typed).get("jobs") or {}


def to_plan(at):
    at.switch_page("ui/pages/plan.py").run()
    assert not at.exception
    return at


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


def test_an_edited_cell_and_an_added_job_move_the_answer_at_once():
    at = opened(start())
    before, daily = totals(at), dict(jobs(at)["daily"])
    new = {"name": "vision", "workload": "resnet50-imagenet", "runs_per_month": "4", "class": "development"}
    edit(at, {0: {"runs_per_month": "2600"}}, [new])
    assert not at.error
    assert at.title[0].value.startswith("2,604 runs a month fill ")
    assert totals(at) != before
    assert jobs(at)["daily"] == {**daily, "runs_per_month": 2600}
    assert list(jobs(at)) == ["daily", "key", "vision"]
    to_plan(at)
    assert field(at, "jobs.daily.runs_per_month") == "2600"
    assert field(at, "jobs.vision.runs_per_month") == "4"


def test_where_a_job_may_run_is_edited_as_words_and_lists():
    at = edit(opened(start()), {1: {"in_house": "true", "arrivals": "office_hours", "priority": "3"}})
    assert not at.error
    key = jobs(at)["key"]
    assert (key["in_house"], key["arrivals"], key["priority"]) == (True, "office_hours", 3)
    where = {"regions": "us-east-1, eu-west-1", "terms": "on_demand", "not_on": "rtx-4090"}
    edit(at, {1: {"in_house": "false", **where}})
    key = jobs(at)["key"]
    assert (key["in_house"], key["regions"], key["not_on"]) == (False, ["us-east-1", "eu-west-1"], ["rtx-4090"])
    edit(at, {1: {"terms": "weekly", "priority": "11"}})
    assert "Row 2, key, Rented as**: “weekly” does not work here" in at.error[0].value
    assert "Row 2, key, Priority**: “11” does not work here" in at.error[0].value
    assert jobs(at)["key"] == key


def test_what_was_typed_in_the_fields_is_in_the_table_and_stays():
    at = start()
    at.text_input(key="in:jobs.daily.runs_per_month").set_value("1400").run()
    at.text_input(key="in:horizon_months").set_value("24").run()
    edit(opened(at), {1: {"name": "grand"}})
    assert jobs(at)["daily"]["runs_per_month"] == 1400
    assert list(jobs(at)) == ["daily", "grand"]
    assert at.session_state["typed"] == {"horizon_months": ("24", "number")}
    assert to_plan(at).metric[0].label == "Total, 24 months"


def test_wrong_cells_are_named_and_nothing_is_changed():
    at = opened(start())
    before, given = totals(at), dict(jobs(at))
    edit(at, {0: {"runs_per_month": "-5"}}, [{"name": "key", "workload": "no-such-model"}])
    said = at.error[0].value
    assert "Row 1, daily, Runs a month**: “-5” does not work here" in said
    assert "Row 3, key, Job**: another job has this name" in said
    assert "Row 3, key, Runs a month**: nothing entered" in said
    assert jobs(at) == given
    assert totals(at) == before
    edit(at, {0: {"runs_per_month": "1400"}})
    assert not at.error
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
    assert jobs(at)["daily"]["runs_per_month"] == 1400
    assert "last good plan" in at.warning[0].value
    assert "Horizon" in to_plan(at).error[0].value


def test_a_job_that_is_faulty_on_the_plan_page_is_named_by_row():
    at = start()
    at.text_input(key="in:jobs.key.deadline_h").set_value("soon").run()
    opened(at)
    assert "Row 2, key, Limit, h**: “soon” does not work here" in at.error[0].value
    assert ":gray[" in at.title[0].value
    edit(at, {1: {"deadline_h": "168"}})
    assert not at.error


def test_starting_from_nothing_asks_for_a_first_job():
    at = start()
    at.button(key="open_nothing").click().run()
    assert not at.exception
    assert at.title[0].value == "Nothing to plan yet"
    assert not at.error and not at.metric
    assert " Example]" not in " ".join(text.value for text in at.markdown)
    at.button(key="first_job").click().run()
    assert at.title[0].value == "What do you train?"
    edit(at, {0: {"name": "first", "workload": "bert-large-squad", "runs_per_month": "20"}})
    assert not at.error
    assert at.title[0].value.startswith("20 first runs a month take ")
    assert to_plan(at).title[0].value.startswith("Rent ")


def test_removing_all_jobs_empties_the_scenario_and_an_example_fills_it():
    at = edit(opened(start()), deleted=[0, 1])
    assert at.title[0].value == "What do you train?"
    assert to_plan(at).title[0].value == "Nothing to plan yet"
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
    edit(opened(at), {0: {"name": "a", "workload": "gpt2-small", "runs_per_month": "1"}})
    assert to_plan(at).metric[0].label == "Total, 24 months"


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
    assert "ours run a month" in opened(at).title[0].value
