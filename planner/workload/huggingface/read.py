"""Any config.json of Hugging Face -> ModelConfig, or a refusal that names the key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.catalog.records import TransformerSpec, VisionSpec
from planner.errors import InputError
from planner.strict_yaml import describe
from planner.validation import near
from planner.workload.huggingface import encoder_decoders, encoders, gpts, vision
from planner.workload.huggingface.decoders import read_decoder
from planner.workload.huggingface.families import FAMILIES
from planner.workload.huggingface.heads import architecture, task
from planner.workload.huggingface.keys import Keys
from planner.workload.huggingface.model import ModelConfig, Stack
from planner.workload.huggingface.multimodal import TEXT, VISION

USUAL_SEQ_LEN = 4096  # pretraining of today's models; the longest one they read is seldom trained with
MOST_PARAMETERS = 10**15
_LONGEST_NAME = 100
_TEXT_PARTS = ("text_config", "language_config", "llm_config")
_SAME_AS = {
    "gpt-neox": "gpt_neox",
    "gpt-j": "gptj",
    "kimi_k2": "deepseek_v3",
    "ministral3": "mistral",
    "stablelm_epoch": "stablelm",
    "phi-msft": "phi",
    "xlm_roberta": "xlm-roberta",
}
_STATE_SPACE = (
    "attn_layer_period", "block_types", "hybrid_override_pattern", "linear_num_value_heads", "mamba_d_state",
    "mamba_expand", "ssm_cfg", "state_size", "time_mix_extra_dim",
)  # fmt: skip
_ATTENTION_LAYERS = ("full_attention", "sliding_attention", "chunked_attention", "attention", "global", "local")
KNOWN = tuple(
    sorted({*FAMILIES, *gpts.READERS, *encoders.READERS, *encoder_decoders.READERS, *vision.READERS, *VISION})
)
"""The model types that are understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What a reader of a family brought."""

    parameters: int
    active_parameters: int
    stack: Stack | None = None
    vision: VisionSpec | None = None
    notes: tuple[str, ...] = ()


def read_config(config: Mapping[str, Any] | str | bytes, *, seq_len: int | None = None) -> ModelConfig:
    """Read a model's config.json.

    Parameters
    ----------
    config : mapping, str or bytes
        The config, or its JSON text.
    seq_len : int, optional
        Tokens of a training sequence; None: what the model was made for, at most 4,096. [-]

    Returns
    -------
    ModelConfig
        Exact numbers of parameters, and the shape where speed and memory can be estimated for it.

    Raises
    ------
    InputError
        No JSON, sizes that can't be, or a model that isn't understood; `field` is the path of the key.

    Examples
    --------
    >>> read_config({"model_type": "gpt2"}).parameters
    124439808
    """
    keys = Keys(_mapping(config))
    kind = _kind(keys)
    found, inner = _read(keys, kind)
    if found.parameters > MOST_PARAMETERS:
        expected = f"sizes of a model of at most {MOST_PARAMETERS:,} parameters"
        raise InputError("model_config_value", field="", value=f"{found.parameters:.3g} parameters", expected=expected)
    notes = list(found.notes)
    if keys.filled:
        filled = ", ".join(f"{name} {_plain(value)}" for name, value in keys.filled.items())
        notes.append(f"the config leaves to the library's defaults: {filled}")
    if keys.data.get("quantization_config") is not None:
        notes.append("the weights are stored quantised; they are counted and trained as if they weren't")
    shape = None if found.stack is None else _shape(found.stack, inner, seq_len, notes)
    return ModelConfig(
        family=kind,
        parameters=found.parameters,
        active_parameters=found.active_parameters,
        transformer=shape,
        vision=found.vision,
        notes=tuple(notes),
    )


def _mapping(config: Mapping[str, Any] | str | bytes) -> Mapping[str, Any]:
    if isinstance(config, str | bytes):
        try:
            config = json.loads(config, object_pairs_hook=_without_doubles)
        except (ValueError, RecursionError) as error:
            raise InputError("model_config_not_json", field="", reason=_json_fault(error)) from None
    if not isinstance(config, Mapping):
        raise InputError("model_config_value", field="", value="no mapping", expected="a mapping of keys and values")
    return config


def _json_fault(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.removesuffix(' (using utf-8-sig)')}, line {error.lineno}"
    return "nested too deep" if isinstance(error, RecursionError) else str(error)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {double!r} stands twice")
    return data


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value}"


def _kind(keys: Keys, default: str = "") -> str:
    """Model type: as given, else by the class under `architectures`."""
    kind = keys.word("model_type", default)
    if kind:
        return _SAME_AS.get(kind, kind)
    name = architecture(keys)[:_LONGEST_NAME]
    plain = {known.replace("_", "").replace("-", ""): known for known in KNOWN}
    for end in range(len(name), 0, -1):
        if name[:end].lower() in plain:
            return plain[name[:end].lower()]
    raise keys.wrong("model_type", "the type of the model, such as llama, gpt2 or bert")


def _read(keys: Keys, kind: str) -> tuple[_Found, Keys]:
    """The model, and the keys of the text model in it."""
    part = next((name for name in _TEXT_PARTS if isinstance(keys.data.get(name), Mapping)), None)
    if kind in VISION or (part is not None and kind not in KNOWN):
        return _read_with_images(keys, kind, part)
    return _read_alone(keys, kind), keys


def _read_with_images(keys: Keys, kind: str, part: str | None) -> tuple[_Found, Keys]:
    """A model of text and images: the text model inside, and the rest where it is understood."""
    if part is None:  # older configs of Qwen2-VL have the text model's keys at the top
        inner = Keys({**keys.data, "model_type": TEXT[kind]}, filled=keys.filled)
    else:
        outer = {name: keys.data[name] for name in ("tie_word_embeddings",) if keys.data.get(name) is not None}
        text = {**outer, **keys.data[part]}
        if keys.data.get("architectures") is not None:
            text["architectures"] = keys.data["architectures"]
        inner = Keys(text, path=part, filled=keys.filled)
    text_kind = _kind(inner, TEXT.get(kind, ""))
    found = _read_alone(inner, TEXT.get(text_kind, text_kind))
    if found.stack is None:
        raise inner.refused("model_type", "a decoder")
    if kind in VISION:
        if not isinstance(keys.data.get("vision_config"), Mapping):
            raise keys.wrong("vision_config", "keys with values")
        beside = VISION[kind](keys, found.stack.width)
        notes = ("the part that reads images is in the number of parameters and not in the estimated time",)
    else:
        beside = 0
        notes = (f"of {kind}, only the text model is counted: what else it has isn't understood",)
    return _Found(
        parameters=found.parameters + beside,
        active_parameters=found.active_parameters + beside,
        stack=found.stack,
        notes=(*notes, *found.notes),
    ), inner


def _read_alone(keys: Keys, kind: str) -> _Found:
    _refuse_state_spaces(keys, kind)
    if kind in FAMILIES:
        return _of_stack(read_decoder(keys, kind))
    if kind in gpts.READERS:
        return _of_stack(gpts.READERS[kind](keys))
    if kind in encoders.READERS:
        return _of_stack(encoders.READERS[kind](keys))
    if kind in encoder_decoders.READERS:
        count = encoder_decoders.READERS[kind](keys)
        notes = ("an encoder with a decoder: its parameters are counted, its speed and memory aren't estimated",)
        return _Found(parameters=count, active_parameters=count, notes=notes)
    if kind in vision.READERS:
        count, spec = vision.READERS[kind](keys)
        return _Found(parameters=count, active_parameters=count, vision=spec)
    close = near(kind[:_LONGEST_NAME], KNOWN)
    such_as = close or ["llama", "mistral", "qwen2", "gemma2", "deepseek_v3", "gpt2", "bert", "t5", "vit"]
    raise keys.refused("model_type", f"a type of model that is understood, such as {', '.join(such_as)}")


def _refuse_state_spaces(keys: Keys, kind: str) -> None:
    """Refuse what isn't attention in every layer, by the keys that say so."""
    expected = "a transformer with attention in every layer: state-space and other recurrent layers aren't understood"
    recurrent = ("mamba", "rwkv", "jamba", "zamba", "recurrent", "retnet", "hyena", "xlstm")
    if any(word in kind.lower() for word in recurrent):
        raise keys.refused("model_type", expected)
    layer_types = keys.data.get("layer_types")
    if isinstance(layer_types, list | tuple) and any(entry not in _ATTENTION_LAYERS for entry in layer_types):
        other = next(entry for entry in layer_types if entry not in _ATTENTION_LAYERS)
        raise InputError(
            "model_config_unsupported", field=keys.at("layer_types"), value=describe(other), expected=expected
        )
    for key in _STATE_SPACE:
        if keys.data.get(key) is not None:
            raise keys.refused(key, expected)


def _of_stack(stack: Stack) -> _Found:
    return _Found(
        parameters=stack.parameters, active_parameters=stack.active_parameters, stack=stack, notes=stack.notes
    )


def _head_notes(stack: Stack, keys: Keys) -> list[str]:
    """Where the head that is counted isn't the one that the estimate computes."""
    asked = task(keys)
    discriminates = asked == "ForPreTraining" and keys.word("model_type") == "electra"
    if stack.encoder and asked in ("ForMaskedLM", "ForPreTraining") and not discriminates:
        return ["the head over the vocabulary is in the number of parameters and not in the estimated time"]
    if not stack.encoder and asked not in ("", "ForCausalLM", "ForConditionalGeneration"):
        return [f"the head {asked} is counted; the estimated time is that of a language model"]
    return []


def _shape(stack: Stack, keys: Keys, seq_len: int | None, notes: list[str]) -> TransformerSpec:
    """Shape with a sequence: as asked, else as long as the model reads, within what is usual.

    Raises
    ------
    InputError
        A sequence below 1, or longer than a table of positions.
    """
    longest = stack.longest
    if seq_len is None:
        seq_len = min(longest or USUAL_SEQ_LEN, USUAL_SEQ_LEN)
        if longest is None:
            notes.append(f"sequences of {seq_len:,} tokens are assumed: the config doesn't say how long they are")
        elif longest > seq_len:
            notes.append(f"sequences of {seq_len:,} tokens are assumed; the model reads up to {longest:,}")
    elif isinstance(seq_len, bool) or seq_len < 1:
        raise InputError("model_config_value", field="seq_len", value=seq_len, expected="a whole number from 1")
    elif longest is not None and seq_len > longest:
        if stack.learned_positions:
            expected = f"at most {longest:,}, the positions that the model has"
            raise InputError("model_config_value", field="seq_len", value=seq_len, expected=expected)
        notes.append(f"the model was made for sequences of up to {longest:,} tokens")
    notes += _head_notes(stack, keys)
    window = keys.data.get("sliding_window")
    if isinstance(window, int) and keys.data.get("use_sliding_window") is not False and 0 < window < seq_len:
        notes.append(f"attention is counted over the whole sequence, though layers look back {window:,} tokens only")
    return stack.spec(seq_len)
