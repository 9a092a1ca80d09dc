"""How a job is trained, on the Plan page: method, optimizer, adapters, evaluation, interruptions."""

from pathlib import Path

import pytest
import yaml
from streamlit.testing.v1 import AppTest

from planner.scenario.load import read_document
from ui import state

pytestmark = pytest.mark.app

ROOT = Path(__file__).resolve().parents[2]
KEY = "in:jobs.key."
RECIPE = {
    "method": "lora", "optimizer": "adamw-8bit", "adapter_rank": 32, "adapter_targets": "all", "eval_share": 0.05,
    "restarts": True,
}  # fmt: skip


def start():
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.session_state["advanced_work"] = True
    at.run()
    assert not at.exception
    return at


def widget(at, kind, name):
    return next(box for box in at.get(kind) if box.key.split("#")[0] == KEY + name)


def names(at):
    return {box.key.split("#")[0].removeprefix(KEY) for kind in ("selectbox", "text_input") for box in at.get(kind)}


def choose(at, kind, name, value):
    widget(at, kind, name).set_value(value).run()
    assert not at.exception
    return at


def asked(at):
    """The scenario as the page would save it."""
    typed = {path: state.typed_value(*value) for path, value in at.session_state["typed"].items()}
    return state.with_overrides(at.session_state["base"], typed)


def test_a_recipe_is_chosen_and_saved_and_opens_again():
    at = start()
    before = [metric.value for metric in at.metric]
    assert not {"adapter_rank", "adapter_targets"} & names(at)
    assert widget(at, "selectbox", "optimizer").placeholder == "usual one"
    choose(at, "selectbox", "method", "lora")
    assert {"adapter_rank", "adapter_targets"} <= names(at)
    choose(at, "selectbox", "optimizer", "adamw-8bit")
    choose(at, "text_input", "adapter_rank", "32")
    choose(at, "selectbox", "adapter_targets", "all")
    choose(at, "text_input", "eval_share", "5")
    choose(at, "toggle", "restarts", True)
    assert not at.error
    assert [metric.value for metric in at.metric] != before
    saved = state.scenario_yaml(asked(at))
    assert RECIPE.items() <= read_document(saved)["jobs"]["key"].items()
    again = start()
    again.file_uploader(key="open_file").upload("x.yaml", saved.encode(), "application/yaml").run()
    assert [metric.value for metric in again.metric] == [metric.value for metric in at.metric]
    assert widget(again, "selectbox", "method").value == "lora"
    assert widget(again, "selectbox", "optimizer").value == "adamw-8bit"
    assert widget(again, "text_input", "adapter_rank").value == "32"
    assert widget(again, "text_input", "eval_share").value == "5"
    assert widget(again, "toggle", "restarts").value


def test_adapters_without_their_method_are_explained_where_they_stand():
    at = choose(start(), "selectbox", "method", "qlora")
    choose(at, "text_input", "adapter_rank", "16")
    choose(at, "selectbox", "method", "full")
    assert "rank of key: found 16, expected nothing: full training has no adapters" in at.error[0].value
    assert widget(at, "text_input", "adapter_rank").value == "16"
    assert at.button(key="remedy_0").label == "Leave out the rank of the adapters of key"
    at.button(key="remedy_0").click().run()
    assert not at.exception
    assert not at.error
    assert "adapter_rank" not in names(at)


def test_image_models_have_no_method_to_choose():
    text = (ROOT / "examples" / "hybrid-lab.yaml").read_text()
    scenario = yaml.safe_load(text)
    scenario["jobs"] = {"key": {"workload": "resnet50-imagenet", "runs_per_month": 2}}
    at = start()
    at.file_uploader(key="open_file").upload("x.yaml", yaml.safe_dump(scenario).encode(), "application/yaml").run()
    assert not at.error
    assert not {"method", "optimizer"} & names(at)
    assert "eval_share" in names(at)


def test_the_jobs_of_a_plan_say_what_takes_their_time_and_memory():
    at = start()
    at.session_state["details_jobs"] = True
    at.run()
    assert not at.exception
    said = next(text.value for text in at.markdown if "What takes the time" in text.value)
    assert said.count("\n- **") == said.count(" of a step: ") == 5  # the offer of mix and rent all only once
    assert "**daily**, own RTX 4090 (workstation), 1 GPU: " in said
    memory = next(frame.value for frame in at.dataframe)["Memory per GPU"]
    assert all(" of " in text for text in memory)


def test_usual_amounts_are_written_out():
    at = start()
    jobs = {**at.session_state["base"]["jobs"], "key": {"workload": "llama-3-8b", "runs_per_month": 0.001}}
    at.session_state["base"] = {**at.session_state["base"], "jobs": jobs}
    at.run()
    assert widget(at, "text_input", "tokens").placeholder == "15000000000000"


def test_notes_name_offers_as_the_tables_do():
    at = start()
    at.session_state["details_warnings"] = True
    at.run()
    assert not at.exception
    notes = next(text.value for text in at.markdown if "memory is tight" in text.value)
    assert "Key on Verda (DataCrunch) 4A100.88V, on demand: memory is tight" in notes
    assert "verda-4a100" not in notes
