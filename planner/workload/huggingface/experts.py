"""Experts of a decoder's layers: routed, shared, and the layers that have none."""

from __future__ import annotations

from planner.errors import InputError
from planner.workload.huggingface.keys import Keys
from planner.workload.huggingface.model import Experts

_COUNTS = ("num_local_experts", "num_experts", "n_routed_experts")
_CHOSEN = ("num_experts_per_tok", "experts_per_token", "num_experts_per_token")


def read_experts(keys: Keys, family: str, *, layers: int, width: int) -> Experts | None:
    """Experts of a family that can have them; None where the config asks for none.

    Raises
    ------
    InputError
        More experts for a token than there are, or sizes that aren't sizes.
    """
    if "n_routed_experts" in keys.data and keys.data["n_routed_experts"] is None:
        return None
    names = _COUNTS if keys.given(*_COUNTS) else tuple(name for name in _COUNTS if name in keys.family)
    count = keys.size(*names)
    per_token = keys.size(*_CHOSEN)
    if per_token > count:
        name = keys.given(*_CHOSEN) or _CHOSEN[0]
        expected = f"at most the {count:,} experts"
        raise InputError("model_config_value", field=keys.at(name), value=per_token, expected=expected)
    own_width = "moe_intermediate_size" in keys.family
    expert_d_ff = keys.size("moe_intermediate_size" if own_width else "intermediate_size")
    shared = keys.size("shared_expert_intermediate_size", default=0, low=0)
    if family == "llama4_text":
        shared += expert_d_ff
    shared += keys.size("n_shared_experts", default=0, low=0) * expert_d_ff
    return Experts(
        count=count,
        per_token=per_token,
        d_ff=expert_d_ff,
        shared_d_ff=shared,
        dense_layers=layers - len(_expert_layers(keys, layers)),
        gate=_beside_router(family, count, width),
        bias=family == "gpt_oss",
    )


def _beside_router(family: str, count: int, width: int) -> int:
    """Parameters beside a router's weights: a bias for each expert, or the gate of the shared one.

    The bias that keeps DeepSeek's experts in balance is a parameter of the published model, though not trained by
    gradients.
    """
    if family in ("gpt_oss", "deepseek_v3", "glm4_moe"):
        return count
    return width if family == "qwen2_moe" else 0


def _expert_layers(keys: Keys, layers: int) -> range | list[int]:
    """Layers with experts: all, every so-manieth, or all after the first dense ones."""
    first = keys.size("first_k_dense_replace", default=0, low=0)
    every = keys.size("moe_layer_freq", default=1)
    step = keys.size(
        "interleave_moe_layer_step" if "interleave_moe_layer_step" in keys.family else "decoder_sparse_step", default=1
    )
    dense = set(keys.sizes("mlp_only_layers"))
    return [
        layer for layer in range(first, layers) if layer % every == 0 and (layer + 1) % step == 0 and layer not in dense
    ]
