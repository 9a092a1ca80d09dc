"""Parameters of published config.json files against the numbers in print; sources stand in `published.yaml`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from planner.strict_yaml import parse
from planner.workload.huggingface import read_config
from planner.workload.transformer import active_parameter_count, parameter_count
from tests.planning import shipped_catalog

FOLDER = Path(__file__).parents[1] / "fixtures" / "hf_configs"
# Published with other bounds than the config's: see the notes in published.yaml.
INEXACT = {
    "electra-small-discriminator", "gpt-j-6b", "opt-1.3b", "paligemma-3b-224", "smollm3-3b", "stablelm-base-alpha-3b",
    "stablelm-base-alpha-7b",
}  # fmt: skip
WITHOUT_TOKEN_TABLE = {"deepseek-v2-lite", "gpt-oss-20b"}  # their cards count active parameters so


@cache
def published() -> dict[str, Any]:
    parsed = parse((FOLDER / "published.yaml").read_bytes(), file="published.yaml")
    assert parsed.problems == ()
    return dict(parsed.data)


def model(name: str) -> Any:
    return read_config((FOLDER / f"{name}.json").read_bytes())


MODELS = sorted(path.stem for path in FOLDER.glob("*.json"))


def test_every_config_has_a_published_number_with_a_source():
    assert set(MODELS) == set(published()["models"])
    assert len(MODELS) > 50
    assert {entry["source"] for entry in published()["models"].values()} == set(published()["sources"])


@pytest.mark.parametrize("name", MODELS)
def test_parameters_are_those_published(name):
    expected = published()["models"][name]["parameters"]
    found = model(name).parameters
    assert found == pytest.approx(expected, rel=1e-3)
    assert (found == expected) == (name not in INEXACT)


@pytest.mark.parametrize("name", [name for name in MODELS if "active" in published()["models"][name]])
def test_active_parameters_are_those_published(name):
    found = model(name)
    active = found.active_parameters
    if name in WITHOUT_TOKEN_TABLE:
        active -= found.transformer.vocab * found.transformer.d_model
    assert active == pytest.approx(published()["models"][name]["active"], rel=0.022)


@pytest.mark.parametrize("name", MODELS)
def test_the_shape_counts_the_same_but_for_biases_and_norms(name):
    found = model(name)
    with_images = any("reads images" in note for note in found.notes)
    if found.transformer is None or found.transformer.encoder or with_images:
        return  # pooler, token types and towers of images aren't part of the shape
    assert parameter_count(found.transformer) == pytest.approx(found.parameters, rel=2e-3)
    assert active_parameter_count(found.transformer) == pytest.approx(found.active_parameters, rel=2e-3)


@pytest.mark.parametrize("name", ["vit-base-patch16-224", "vit-large-patch16-224"])
def test_the_work_of_a_vision_transformer_is_that_of_the_preset(name):
    preset = shipped_catalog().workloads[name.replace("-patch16-224", "-imagenet")].vision
    found = model(name).vision
    assert found.gmacs == pytest.approx(preset.gmacs, rel=2e-3)
    assert found.activations_m == pytest.approx(preset.activations_m, rel=2e-3)
    assert (found.input, found.patches) == (preset.input, True)


PRESETS = [workload for workload in shipped_catalog().workloads.values() if workload.transformer is not None]


# Configs of presets that are named otherwise than the preset.
CONFIGS = {
    "bloom-176b": "bloom", "deepseek-v3": "deepseek-v3", "gpt2-small": "gpt2", "llama-3-70b": "llama-3.1-70b",
    "mistral-7b": "mistral-7b-v0.1", "mistral-small-24b": "magistral-small-2506", "qwen2.5-7b": "qwen2-7b",
}  # fmt: skip


def config_of(workload):
    """The published config of a preset's model; else its shape as the config.json of its family."""
    spec, name = workload.transformer, CONFIGS.get(workload.id, workload.id)
    if name in MODELS:
        return (FOLDER / f"{name}.json").read_bytes()
    if spec.experts:
        return {"model_type": "gpt_oss", "num_hidden_layers": spec.layers, "num_local_experts": spec.experts}
    if spec.encoder or spec.gated_mlp:
        config = {
            "hidden_size": spec.d_model, "intermediate_size": spec.d_ff, "num_hidden_layers": spec.layers,
            "num_attention_heads": spec.heads, "num_key_value_heads": spec.kv_heads, "vocab_size": spec.vocab,
            "tie_word_embeddings": spec.tied_embeddings,
        }  # fmt: skip
        head = {"model_type": "bert", "architectures": ["BertForQuestionAnswering"]}
        return {**config, **(head if spec.encoder else {"model_type": "llama"})}
    if workload.source == "llm-foundry-bench":
        return {
            "model_type": "mpt", "d_model": spec.d_model, "n_heads": spec.heads, "n_layers": spec.layers,
            "vocab_size": spec.vocab, "max_seq_len": spec.learned_positions, "no_bias": False,
            "attn_config": {"alibi": False},
        }  # fmt: skip
    return {
        "model_type": "gpt2", "n_embd": spec.d_model, "n_head": spec.heads, "n_layer": spec.layers,
        "vocab_size": spec.vocab, "n_positions": spec.learned_positions,
    }  # fmt: skip


@pytest.mark.parametrize("workload", PRESETS, ids=lambda workload: workload.id)
def test_presets_have_the_parameters_of_their_shape(workload):
    assert read_config(config_of(workload)).parameters == workload.parameters.value


@pytest.mark.parametrize("workload", PRESETS, ids=lambda workload: workload.id)
def test_presets_have_the_shape_of_their_config(workload):
    assert read_config(config_of(workload), seq_len=workload.transformer.seq_len).transformer == workload.transformer


# The models' own papers and cards, not the data file's.
@pytest.mark.parametrize(
    ("id", "name"),
    [
        ("gemma-7b", "gemma-7b"), ("gpt2-small", "gpt2"), ("gpt2-xl", "gpt2-xl"), ("qwen2.5-72b", "qwen2.5-72b"),
        ("falcon-7b", "falcon-7b"), ("mistral-7b", "mistral-7b-v0.1"), ("mixtral-8x22b", "mixtral-8x22b"),
        ("llama-2-7b", "llama-2-7b"), ("llama-3-70b", "llama-3.1-70b"),
        ("llama-3-8b", "llama-3-8b"), ("llama-3.1-405b", "llama-3.1-405b"), ("llama-3.2-1b", "llama-3.2-1b"),
        ("vit-base-imagenet", "vit-base-patch16-224"), ("vit-large-imagenet", "vit-large-patch16-224"),
    ],
)  # fmt: skip
def test_presets_have_the_published_parameters(id, name):
    assert shipped_catalog().workloads[id].parameters.value == published()["models"][name]["parameters"]
