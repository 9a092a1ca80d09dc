"""Reading a config.json: what is filled in, what is noted, what is refused and how."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.errors import InputError
from planner.workload.huggingface import KNOWN, ModelConfig, read_config
from planner.workload.transformer import key_value_width, query_width

ROOT = Path(__file__).parents[3]
LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 100,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": False,
}
MIXTRAL = {**LLAMA, "model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2}


def without(config, *names):
    return {key: value for key, value in config.items() if key not in names}


def refusal(config, **more):
    with pytest.raises(InputError) as caught:
        read_config(config, **more)
    return caught.value


def test_a_small_llama_by_hand():
    attention = 64 * 64 + 2 * 64 * 32 + 64 * 64  # queries, keys and values of 2 heads, output
    layer = attention + 3 * 64 * 96 + 2 * 64
    assert read_config(LLAMA).parameters == 2 * layer + 2 * 100 * 64 + 64


def test_tied_embeddings_count_once():
    tied = read_config({**LLAMA, "tie_word_embeddings": True})
    assert read_config(LLAMA).parameters - tied.parameters == 100 * 64
    assert tied.transformer.tied_embeddings


def test_biases_are_counted_where_the_config_has_them():
    biased = read_config({**LLAMA, "attention_bias": True, "mlp_bias": True}).parameters
    assert biased - read_config(LLAMA).parameters == 2 * (64 + 32 + 32 + 64 + 96 + 96 + 64)


def test_a_given_head_width_counts():
    wide = read_config({**LLAMA, "head_dim": 32})
    assert wide.parameters - read_config(LLAMA).parameters == 2 * 2 * 64 * (4 + 2) * 16
    assert (query_width(wide.transformer), key_value_width(wide.transformer)) == (128, 64)


def test_every_expert_is_stored_and_two_are_active():
    model = read_config(MIXTRAL)
    assert model.parameters - model.active_parameters == 2 * 6 * 3 * 64 * 96
    assert (model.transformer.experts, model.transformer.experts_per_token) == (8, 2)


def test_the_head_follows_the_class():
    body = read_config({**LLAMA, "architectures": ["LlamaModel"]}).parameters
    assert read_config(LLAMA).parameters - body == 64 * 100
    assert read_config(without(LLAMA, "architectures")).parameters - body == 64 * 100
    classifier = {
        **LLAMA,
        "architectures": ["LlamaForSequenceClassification"],
        "id2label": {"0": "a", "1": "b", "2": "c"},
    }
    assert read_config(classifier).parameters - body == 64 * 3


def test_json_text_is_read_like_a_mapping():
    assert read_config(json.dumps(LLAMA)) == read_config(LLAMA)
    assert read_config(json.dumps(LLAMA).encode()) == read_config(LLAMA)


def test_what_is_filled_in_is_said():
    model = read_config(without(LLAMA, "vocab_size", "tie_word_embeddings"))
    assert model.transformer.vocab == 32000
    assert any("vocab_size 32000" in note and "tie_word_embeddings false" in note for note in model.notes)
    assert read_config(LLAMA).notes == ()


def test_a_null_stands_for_no_value_of_the_family():
    assert read_config({**MIXTRAL, "num_key_value_heads": None}).transformer.kv_heads == 4
    assert read_config(without(MIXTRAL, "num_key_value_heads") | {"num_attention_heads": 8}).transformer.kv_heads == 8


@pytest.mark.parametrize(
    ("longest", "asked", "seq_len", "note"),
    [
        (2048, None, 2048, None),
        (131072, None, 4096, "sequences of 4,096 tokens are assumed; the model reads up to 131,072"),
        (131072, 8192, 8192, None),
        (2048, 8192, 8192, "the model was made for sequences of up to 2,048 tokens"),
    ],
)
def test_sequences_are_as_long_as_usual(longest, asked, seq_len, note):
    model = read_config({**LLAMA, "max_position_embeddings": longest}, seq_len=asked)
    assert model.transformer.seq_len == seq_len
    assert model.notes == (() if note is None else (note,))


def test_other_assumptions_are_said():
    mistral = {**LLAMA, "model_type": "mistral", "max_position_embeddings": 2048, "sliding_window": 512}
    assert "look back 512 tokens only" in read_config(mistral).notes[0]
    quantised = {**LLAMA, "quantization_config": {"quant_method": "gptq"}}
    assert "stored quantised" in read_config(quantised).notes[0]
    assert read_config(quantised).parameters == read_config(LLAMA).parameters


@pytest.mark.parametrize(
    ("config", "note"),
    [
        ({**LLAMA, "architectures": ["LlamaForSequenceClassification"]}, "that of a language model"),
        ({"model_type": "bert", "architectures": ["BertForMaskedLM"]}, "not in the estimated time"),
        ({"model_type": "bert", "architectures": ["BertForOurTask"]}, "the head of ForOurTask isn't known"),
    ],
)
def test_heads_that_the_estimate_leaves_out_are_said(config, note):
    assert sum(note in found for found in read_config(config).notes) == 1


def test_a_type_is_found_by_its_class():
    found = read_config(without(LLAMA, "model_type"))
    assert (found.family, found.parameters) == ("llama", read_config(LLAMA).parameters)
    moe = read_config({"architectures": ["Qwen3MoeForCausalLM"]})
    assert moe.family == "qwen3_moe"


def test_a_text_model_inside_is_read():
    vision = {"model_type": "clip_vision_model", "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
              "intermediate_size": 40, "image_size": 28, "patch_size": 14}  # fmt: skip
    whole = {"model_type": "llava", "text_config": LLAMA, "vision_config": vision}
    tower = 3 * 14 * 14 * 32 + 6 * 32 + 4 * (32 * 32 + 32) + (32 * 40 + 40 + 40 * 32 + 32) + 8 * 32
    joint = 32 * 64 + 64 + 64 * 64 + 64
    assert read_config(whole).parameters == read_config(LLAMA).parameters + tower + joint
    assert read_config(whole).transformer == read_config(LLAMA).transformer
    unknown = read_config({**whole, "model_type": "our_own_vlm"})
    assert unknown.parameters == read_config(LLAMA).parameters
    assert "of our_own_vlm, only the text model is counted" in unknown.notes[0]
    broken = {**whole, "text_config": {**LLAMA, "hidden_size": -1}}
    assert refusal(broken).field == "text_config.hidden_size"


def test_an_encoder_with_a_decoder_has_no_shape():
    model = read_config({"model_type": "t5"})
    assert (model.parameters, model.transformer, model.vision) == (60_506_624, None, None)
    assert "aren't estimated" in model.notes[0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Expecting value, line 1"),
        ("{'model_type': 'llama'}", "Expecting property name enclosed in double quotes, line 1"),
        ('{"model_type": "llama",\n "model_type": "gpt2"}', "the key 'model_type' stands twice"),
        ("[" * 100_000, "nested too deep"),
        (b"\xff\xfe\x00", "decode"),
    ],
)
def test_what_is_no_json_is_refused(text, reason):
    error = refusal(text)
    assert error.code == "model_config_not_json"
    assert reason in str(error)


@pytest.mark.parametrize("config", ["[1, 2]", '"llama"', "3", "null"])
def test_what_is_no_mapping_is_refused(config):
    assert "expected a mapping of keys and values" in str(refusal(config))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("hidden_size", -64, "found -64, expected a whole number from 1 to 1,000,000,000"),
        ("hidden_size", 0, "found 0, expected a whole number from 1 to 1,000,000,000"),
        ("hidden_size", 64.5, "found 64.5, expected a whole number from 1 to 1,000,000,000"),
        ("hidden_size", "64", "found '64', expected a whole number from 1 to 1,000,000,000"),
        ("hidden_size", True, "found true, expected a whole number from 1 to 1,000,000,000"),
        ("hidden_size", [64], "found a list, expected a whole number from 1 to 1,000,000,000"),
        ("hidden_size", None, "found nothing, expected a whole number from 1 to 1,000,000,000"),
        ("hidden_size", float("nan"), "found nan, expected a whole number from 1 to 1,000,000,000"),
        ("vocab_size", 10**12, "found 1000000000000, expected a whole number from 1 to 1,000,000,000"),
        ("num_hidden_layers", 10**8, "found 100000000, expected a whole number from 1 to 100,000"),
        ("num_attention_heads", 6, "found 6, expected heads that divide the width of 64"),
        ("num_key_value_heads", 3, "found 3, expected a number that divides the 4 attention heads"),
        ("num_key_value_heads", 8, "found 8, expected a number that divides the 4 attention heads"),
        ("tie_word_embeddings", 1, "found 1, expected true or false"),
        ("model_type", 3, "found 3, expected text"),
        ("architectures", "LlamaForCausalLM", "found 'LlamaForCausalLM', expected a list of class names"),
    ],
)  # fmt: skip
def test_what_cannot_be_names_key_value_and_what_is_expected(key, value, message):
    error = refusal({**LLAMA, key: value})
    assert (error.field, str(error)) == (key, f"{key}: {message}")


def test_a_number_of_thousands_of_digits_is_refused():
    assert "vocab_size: found a number of more than 40 digits" in str(refusal({**LLAMA, "vocab_size": 10**5000}))


def test_enormous_models_are_refused():
    error = refusal({**LLAMA, "hidden_size": 10**8, "intermediate_size": 10**8})
    assert "expected sizes of a model of at most 1,000,000,000,000,000 parameters" in str(error)


def test_more_experts_a_token_than_there_are():
    assert str(refusal({**MIXTRAL, "num_experts_per_tok": 9})) == (
        "num_experts_per_tok: found 9, expected at most the 8 experts"
    )


@pytest.mark.parametrize(
    ("config", "field", "words"),
    [
        ({"model_type": "mamba2"}, "model_type", "state-space"),
        ({"model_type": "rwkv"}, "model_type", "state-space"),
        ({"model_type": "jamba", "attn_layer_period": 8}, "model_type", "state-space"),
        ({**LLAMA, "layer_types": ["full_attention", "linear_attention"]}, "layer_types", "'linear_attention'"),
        ({**LLAMA, "mamba_d_state": 128}, "mamba_d_state", "attention in every layer"),
        ({"model_type": "lama"}, "model_type", "such as llama"),
        ({"model_type": "zzz"}, "model_type", "such as llama, mistral"),
        ({"hidden_size": 64}, "model_type", "the type of the model"),
        ({"model_type": "mllama", "text_config": {"model_type": "mllama_text_model"}}, "text_config.model_type", ""),
        ({"model_type": "bert", "is_decoder": True}, "is_decoder", "read as an encoder"),
        ({"model_type": "mpt", "attn_config": {"qk_ln": True}}, "attn_config.qk_ln", "false"),
    ],
)
def test_what_is_not_understood_is_refused_with_the_key(config, field, words):
    error = refusal(config)
    assert error.field == field
    assert words in str(error)


@pytest.mark.parametrize(
    ("config", "seq_len", "message"),
    [
        ({"model_type": "gpt2"}, 2000, "found 2000, expected at most 1,024, the positions that the model has"),
        ({"model_type": "bert"}, 513, "found 513, expected at most 512, the positions that the model has"),
        (LLAMA, 0, "found 0, expected a whole number from 1"),
    ],
)  # fmt: skip
def test_sequences_that_cannot_be_are_refused(config, seq_len, message):
    assert str(refusal(config, seq_len=seq_len)) == f"seq_len: {message}"


@pytest.mark.parametrize("kind", [kind for kind in KNOWN if kind not in ("deepseek_v2", "glm4_moe")])
def test_every_type_can_be_read_by_its_name_alone(kind):
    config = {"model_type": kind, "vision_config": {}}
    assert read_config(config).parameters > 0


def test_every_type_is_named_in_the_documentation():
    section = (ROOT / "docs" / "estimator.md").read_text(encoding="utf-8").partition("## Models from a config.json")[2]
    named = set(re.findall(r"`([\w-]+)`", section.partition("\n## ")[0]))
    assert set(KNOWN) <= named


CONFIGS = [json.loads(path.read_text()) for path in sorted((ROOT / "tests/fixtures/hf_configs").glob("*.json"))]
JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**6), st.just(10**30), st.floats(), st.text(max_size=5),
    st.lists(st.integers(-1, 3), max_size=3), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_any_value_under_any_key_is_read_or_refused(data):
    config = dict(data.draw(st.sampled_from(CONFIGS)))
    for key in data.draw(st.lists(st.sampled_from(sorted(config)), min_size=1, max_size=3)):
        if isinstance(config[key], dict) and config[key] and data.draw(st.booleans()):
            inner = data.draw(st.sampled_from(sorted(config[key])))
            config[key] = {**config[key], inner: data.draw(JUNK)}
        else:
            config[key] = data.draw(JUNK)
    try:
        model = read_config(config)
    except InputError as error:
        assert str(error)
    else:
        assert isinstance(model, ModelConfig)
        assert 0 < model.active_parameters <= model.parameters <= 10**15
