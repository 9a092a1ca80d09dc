"""Models that read text and images: the text model inside, the vision tower, and what joins them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from planner.workload.huggingface.keys import Keys
from planner.workload.huggingface.model import linear, norm
from planner.workload.huggingface.vision import (
    clip_tower,
    pixtral_tower,
    qwen2_5_vl_tower,
    qwen2_vl_tower,
    qwen3_vl_tower,
    siglip_tower,
)

_TOWERS: Mapping[str, Callable[[Keys], int]] = {
    "clip_vision_model": clip_tower,
    "siglip_vision_model": siglip_tower,
}


def _tower(keys: Keys, default: str) -> tuple[int, int]:
    """Parameters and width of the vision tower.

    Raises
    ------
    InputError
        A tower that isn't understood.
    """
    vision = keys.part("vision_config")
    kind = vision.word("model_type", default)
    if kind not in _TOWERS:
        raise vision.refused("model_type", f"one of {', '.join(sorted(_TOWERS))}")
    return _TOWERS[kind](vision), vision.size("hidden_size", default=768)


def _llava(keys: Keys, text_width: int) -> int:
    """Two linear layers between tower and text; LLaVA-NeXT adds a vector that ends a row of patches."""
    tower, width = _tower(keys, "clip_vision_model")
    bias = keys.flag("multimodal_projector_bias", default=True)
    newline = text_width if keys.word("model_type") == "llava_next" else 0
    return tower + linear(width, text_width, bias) + linear(text_width, text_width, bias) + newline


def _gemma3(keys: Keys, text_width: int) -> int:
    vision = keys.part("vision_config")
    without_head = {"vision_use_head": False, **vision.data}  # it is never built here
    tower = siglip_tower(Keys(without_head, path=vision.path, filled=vision.filled))
    width = vision.size("hidden_size", default=768)
    return tower + width * text_width + norm(width)


def _paligemma(keys: Keys, text_width: int) -> int:
    vision = keys.part("vision_config")
    without_head = {"vision_use_head": False, **vision.data}
    tower = siglip_tower(Keys(without_head, path=vision.path, filled=vision.filled))
    return tower + linear(vision.size("hidden_size", default=768), text_width, True)


def _mistral3(keys: Keys, text_width: int) -> int:
    """Pixtral, a norm, a layer that merges patches, and two linear layers."""
    vision = keys.part("vision_config")
    kind = vision.word("model_type", "pixtral")
    if kind != "pixtral":
        raise vision.refused("model_type", "pixtral")
    width = vision.size("hidden_size", default=1024)
    bias = keys.flag("multimodal_projector_bias")
    merged = width * keys.size("spatial_merge_size", default=2) ** 2
    joint = norm(width) + merged * width + linear(width, text_width, bias) + linear(text_width, text_width, bias)
    return pixtral_tower(vision) + joint


def _qwen3_vl(keys: Keys, text_width: int) -> int:
    return qwen3_vl_tower(keys.part("vision_config"))


def _qwen2_vl(keys: Keys, text_width: int) -> int:
    return qwen2_vl_tower(keys.part("vision_config"))


def _qwen2_5_vl(keys: Keys, text_width: int) -> int:
    return qwen2_5_vl_tower(keys.part("vision_config"))


VISION: Mapping[str, Callable[[Keys, int], int]] = {
    "llava": _llava,
    "llava_next": _llava,
    "gemma3": _gemma3,
    "paligemma": _paligemma,
    "qwen2_vl": _qwen2_vl,
    "qwen2_5_vl": _qwen2_5_vl,
    "qwen3_vl": _qwen3_vl,
    "qwen3_vl_moe": _qwen3_vl,
    "mistral3": _mistral3,
}
"""Parameters beside the text model, by what a config calls the whole."""

TEXT: Mapping[str, str] = {
    "llava": "llama",
    "llava_next": "llama",
    "gemma3": "gemma3_text",
    "paligemma": "gemma",
    "qwen2_vl": "qwen2",
    "qwen2_5_vl": "qwen2",
    "qwen2_vl_text": "qwen2",
    "qwen2_5_vl_text": "qwen2",
    "qwen3_vl": "qwen3",
    "qwen3_vl_text": "qwen3",
    "qwen3_vl_moe": "qwen3_moe",
    "qwen3_vl_moe_text": "qwen3_moe",
    "mistral3": "mistral",
    "llama4": "llama4_text",
}
"""Family of the text model where the config doesn't say, or says it by another name."""
