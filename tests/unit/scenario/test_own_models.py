"""Models of a scenario's own: checked, named by jobs like workloads of the catalog, never in their place."""

import json

import pytest

from planner.errors import InputError, ScenarioError
from planner.scenario.jobs import ModelInput
from planner.scenario.load import check_document, parse_scenario
from planner.scenario.own_models import with_own_models
from planner.strategy.evaluate import evaluate
from planner.workload.huggingface import read_config
from tests.planning import TODAY, catalog, document, evidence, shipped_catalog

CONFIG = {
    "model_type": "llama",
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 12,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "vocab_size": 32000,
    "max_position_embeddings": 8192,
    "tie_word_embeddings": True,
}


def own(config=CONFIG, **more):
    return ModelInput.model_validate({"config": config, **more})


def test_without_own_models_the_catalog_is_the_same():
    assert with_own_models(catalog(), {}) is catalog()


def test_an_own_model_stands_beside_the_workloads():
    merged = with_own_models(catalog(), {"ours": own(name="Our model", tokens=1e9, global_batch=64, precision="fp16")})
    ours = merged.workloads["ours"]
    assert set(merged.workloads) == {*catalog().workloads, "ours"}
    assert (ours.name, ours.unit, ours.precision, ours.global_batch) == ("Our model", "tokens", "fp16", 64)
    assert (ours.parameters.value, ours.parameters.sources) == (read_config(CONFIG).parameters, ("scenario",))
    assert ours.transformer == read_config(CONFIG).transformer
    assert ours.tokens is not None and ours.tokens.value == 1e9
    assert "ours" not in catalog().workloads


@pytest.mark.parametrize(
    ("config", "unit", "batch"),
    [(CONFIG, "tokens", 512), ({"model_type": "bert"}, "samples", 256), ({"model_type": "vit"}, "samples", 1024)],
)
def test_recipes_by_kind_of_model(config, unit, batch):
    ours = with_own_models(catalog(), {"ours": own(config)}).workloads["ours"]
    assert (ours.unit, ours.global_batch, ours.precision, ours.checkpointing) == (unit, batch, "bf16", "none")
    assert (ours.transformer is None) == (ours.vision is not None)


@pytest.mark.parametrize("id", ["llama-2-7b", "LLAMA2-7B", "gpt2"])
def test_a_name_that_the_catalog_has_is_refused(id):
    with pytest.raises(InputError) as caught:
        with_own_models(shipped_catalog(), {id: own()})
    assert (caught.value.code, caught.value.field) == ("model_identity", f"models.{id}")


@pytest.mark.parametrize(
    ("entry", "field", "code"),
    [
        (own({**CONFIG, "hidden_size": -1}), "models.ours.config.hidden_size", "model_config_value"),
        (own({"model_type": "mamba"}), "models.ours.config.model_type", "model_config_unsupported"),
        (own({"model_type": "t5"}), "models.ours.config.model_type", "model_not_estimated"),
        (own("{"), "models.ours.config", "model_config_not_json"),
        (own({"model_type": "gpt2"}, seq_len=2048), "models.ours.seq_len", "model_config_value"),
    ],
)
def test_faults_name_the_path_of_the_key(entry, field, code):
    with pytest.raises(InputError) as caught:
        with_own_models(catalog(), {"ours": entry})
    assert (caught.value.field, caught.value.code) == (field, code)
    assert str(caught.value).startswith(f"{field}: found ")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({}, "a value (the key is required)"),
        ({"config": 3}, "the keys of a config.json, or its text"),
        ({"config": CONFIG, "precision": "int8"}, "'fp32', 'tf32', 'fp16', 'bf16' or 'fp8'"),
        ({"config": CONFIG, "seq_len": 0}, "a number of at least 1"),
        ({"config": CONFIG, "tokens": 1e9, "epochs": 2}, "either 'tokens', or 'samples' with 'epochs', not both"),
    ],
)
def test_faulty_entries_are_named(entry, expected):
    with pytest.raises(ScenarioError) as caught:
        check_document({**document("workstation-or-rental"), "models": {"ours": entry}})
    assert any(expected in problem.expected for problem in caught.value.problems)


def test_a_config_can_be_pasted_as_text_with_numbers_that_yaml_reads_otherwise():
    text = json.dumps({**CONFIG, "rms_norm_eps": 1e-05}, indent=2).replace("\n", "\n      ")
    scenario = parse_scenario(
        "schema_version: 1\nhorizon_months: 12\nsite: {id: us-average}\n"
        "jobs:\n  daily: {workload: ours, runs_per_month: 1}\n"
        f"models:\n  ours:\n    config: |\n      {text}\n"
    )
    assert "1e-05" in scenario.models["ours"].config
    merged = with_own_models(catalog(), scenario.models)
    assert merged.workloads["ours"].parameters.value == read_config(CONFIG).parameters


def test_a_plan_trains_it_and_says_what_was_assumed():
    plan = document("workstation-or-rental")
    plan["jobs"] = {"ours": {"workload": "ours", "runs_per_month": 1}}
    plan["models"] = {"ours": {"config": CONFIG, "name": "Our model", "tokens": 100_000_000}}
    result = evaluate(check_document(plan), shipped_catalog(), evidence(), today=TODAY)
    assert any(strategy.feasible for strategy in result.strategies)
    notes = [issue for issue in result.warnings if issue.code == "model_note"]
    assert [(issue.field, issue.params["model"]) for issue in notes] == [("models.ours", "Our model")]
    assert "sequences of 4,096 tokens are assumed" in notes[0].params["note"]
