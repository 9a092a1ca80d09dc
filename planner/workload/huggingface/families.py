"""Families of decoders built like Llama, and the defaults that the transformers library (5.24) has for their keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Bias = bool | str
"""Whether there is a bias, or the key that says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How a family differs from Llama; `defaults` are those of the transformers library."""

    defaults: Mapping[str, Any]
    bias: Bias = False  # of queries, keys and values
    out_bias: Bias | None = None  # of attention's output; None: as of the queries
    mlp_bias: Bias = False
    head_bias: Bias = False
    norm_bias: bool = False
    norms: int = 2  # of one layer, of the width of the model
    parallel: bool | str = False  # attention and feed-forward beside each other, on one norm
    plain_norm: bool = False  # norms without parameters
    qk_norm: Literal["", "head", "all"] = ""  # on queries and keys: shared by the heads, or over all of them
    qk_norm_key: str = ""  # the key that says whether there is one
    gated: bool = True
    experts: bool = False
    sinks: bool = False  # a learned number for each head beside the scores


def _sizes(
    vocab: int,
    width: int,
    d_ff: int,
    layers: int,
    heads: int,
    longest: int,
    *,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    tied: bool = False,
    **more: Any,
) -> dict[str, Any]:
    sizes = {
        "vocab_size": vocab,
        "hidden_size": width,
        "intermediate_size": d_ff,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "max_position_embeddings": longest,
        "tie_word_embeddings": tied,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        **more,
    }
    return {name: value for name, value in sizes.items() if value is not None}


_LLAMA = _sizes(32000, 4096, 11008, 32, 32, 2048)
_MISTRAL = _sizes(32000, 4096, 14336, 32, 32, 131072, kv_heads=8)
_GLM = _sizes(151552, 4096, 13696, 40, 32, 131072, kv_heads=2, head_dim=128, attention_bias=True)
_COHERE = _sizes(256000, 8192, 22528, 40, 64, 8192, tied=True)
_OLMO = _sizes(50304, 4096, 11008, 32, 32, 2048)

FAMILIES: Mapping[str, Family] = {
    "llama": Family(defaults=_LLAMA, bias="attention_bias", mlp_bias="mlp_bias"),
    "mistral": Family(defaults=_MISTRAL),
    "ministral": Family(defaults=_MISTRAL),
    "mixtral": Family(defaults={**_MISTRAL, "num_local_experts": 8, "num_experts_per_tok": 2}, experts=True),
    "qwen2": Family(defaults=_sizes(151936, 4096, 22016, 32, 32, 32768, kv_heads=32), bias=True, out_bias=False),
    "qwen2_moe": Family(
        defaults=_sizes(
            151936, 2048, 5632, 24, 16, 32768, kv_heads=16, qkv_bias=True, num_experts=60, num_experts_per_tok=4,
            moe_intermediate_size=1408, shared_expert_intermediate_size=5632, decoder_sparse_step=1,
        ),
        bias="qkv_bias",
        out_bias=False,
        experts=True,
    ),
    "qwen3": Family(
        defaults=_sizes(151936, 4096, 22016, 32, 32, 32768, kv_heads=32, head_dim=128),
        bias="attention_bias",
        qk_norm="head",
    ),
    "qwen3_moe": Family(
        defaults=_sizes(
            151936, 2048, 6144, 24, 32, 32768, kv_heads=4, num_experts=128, num_experts_per_tok=8,
            moe_intermediate_size=768, decoder_sparse_step=1,
        ),
        bias="attention_bias",
        qk_norm="head",
        experts=True,
    ),
    "llama4_text": Family(
        defaults=_sizes(
            202048, 5120, 8192, 48, 40, 131072, kv_heads=8, head_dim=128, intermediate_size_mlp=16384,
            num_local_experts=16, num_experts_per_tok=1, interleave_moe_layer_step=1,
        ),
        bias="attention_bias",
        experts=True,
    ),
    "gemma": Family(
        defaults=_sizes(256000, 3072, 24576, 28, 16, 8192, kv_heads=16, head_dim=256, tied=True),
        bias="attention_bias",
    ),
    "gemma2": Family(
        defaults=_sizes(256000, 2304, 9216, 26, 8, 8192, kv_heads=4, head_dim=256, tied=True),
        bias="attention_bias",
        norms=4,
    ),
    "gemma3_text": Family(
        defaults=_sizes(262208, 2304, 9216, 26, 8, 131072, kv_heads=4, head_dim=256, tied=True),
        bias="attention_bias",
        norms=4,
        qk_norm="head",
    ),
    "phi3": Family(defaults=_sizes(32064, 3072, 8192, 32, 32, 4096)),
    "phimoe": Family(
        defaults=_sizes(
            32064, 4096, 6400, 32, 32, 131072, kv_heads=8, num_local_experts=16, num_experts_per_tok=2
        ),
        bias="attention_bias",
        head_bias="lm_head_bias",
        norm_bias=True,
        experts=True,
    ),
    "stablelm": Family(
        defaults=_sizes(50304, 2560, 6912, 32, 32, 4096, kv_heads=32),
        bias="use_qkv_bias",
        out_bias=False,
        norm_bias=True,
        parallel="use_parallel_residual",
        qk_norm="all",
        qk_norm_key="qk_layernorm",
    ),
    "starcoder2": Family(
        defaults=_sizes(49152, 3072, 12288, 30, 24, 4096, kv_heads=2, tied=True, use_bias=True),
        bias="use_bias",
        mlp_bias="use_bias",
        norm_bias=True,
        gated=False,
    ),
    "smollm3": Family(
        defaults=_sizes(128256, 2048, 11008, 36, 16, 32768, kv_heads=4, tied=True),
        bias="attention_bias",
        mlp_bias="mlp_bias",
    ),
    "granite": Family(
        defaults=_LLAMA, bias="attention_bias", mlp_bias="mlp_bias"
    ),
    "granitemoe": Family(
        defaults={**_LLAMA, "num_local_experts": 8, "num_experts_per_tok": 2},
        bias="attention_bias",
        experts=True,
    ),
    "cohere": Family(
        defaults=_COHERE,
        bias="attention_bias",
        parallel=True,
        qk_norm="all",
        qk_norm_key="use_qk_norm",
    ),
    "cohere2": Family(
        defaults=_COHERE, bias="attention_bias", parallel=True
    ),
    "olmo": Family(defaults=_OLMO, bias="attention_bias", plain_norm=True),
    "olmo2": Family(defaults=_OLMO, bias="attention_bias", qk_norm="all"),
    "olmo3": Family(defaults=_OLMO, bias="attention_bias", qk_norm="all"),
    "olmoe": Family(
        defaults=_sizes(50304, 2048, 2048, 16, 16, 4096, num_experts=64, num_experts_per_tok=8),
        bias="attention_bias",
        qk_norm="all",
        experts=True,
    ),
    "glm": Family(defaults=_GLM, bias="attention_bias", out_bias=False),
    "glm4": Family(defaults=_GLM, bias="attention_bias", out_bias=False, norms=4),
    "glm4_moe": Family(
        defaults=_sizes(
            151552, 4096, 10944, 46, 96, 131072, kv_heads=8, n_routed_experts=128, n_shared_experts=1,
            num_experts_per_tok=8, moe_intermediate_size=1408, first_k_dense_replace=1,
        ),
        bias="attention_bias",
        out_bias=False,
        qk_norm="head",
        qk_norm_key="use_qk_norm",
        experts=True,
    ),
    "gpt_oss": Family(
        defaults=_sizes(
            201088, 2880, 2880, 36, 64, 131072, kv_heads=8, head_dim=64, attention_bias=True,
            num_local_experts=128, num_experts_per_tok=4,
        ),
        bias="attention_bias",
        experts=True,
        sinks=True,
    ),
    "deepseek_v2": Family(
        defaults=_sizes(
            102400, 4096, 11008, 32, 32, 2048, n_routed_experts=64, n_shared_experts=2, moe_intermediate_size=1407,
            first_k_dense_replace=0, moe_layer_freq=1, kv_lora_rank=512, q_lora_rank=1536, qk_nope_head_dim=128,
            qk_rope_head_dim=64, v_head_dim=128,
        ),
        experts=True,
    ),
    "deepseek_v3": Family(
        defaults=_sizes(
            129280, 7168, 18432, 61, 128, 4096, n_routed_experts=256, n_shared_experts=1, num_experts_per_tok=8,
            moe_intermediate_size=2048, first_k_dense_replace=3, moe_layer_freq=1, kv_lora_rank=512, q_lora_rank=1536,
            qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128,
        ),
        experts=True,
    ),
}  # fmt: skip
