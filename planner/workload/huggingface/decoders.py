"""Decoders built like Llama: rotary positions, separate projections, mostly gated blocks; with or without experts."""

from __future__ import annotations

from planner.workload.huggingface.experts import read_experts
from planner.workload.huggingface.families import FAMILIES, Bias, Family
from planner.workload.huggingface.heads import causal_head
from planner.workload.huggingface.keys import Keys
from planner.workload.huggingface.model import Attention, LatentAttention, Stack, norm


def read_decoder(keys: Keys, name: str) -> Stack:
    """A decoder of one of `FAMILIES`."""
    family = FAMILIES[name]
    keys = keys.with_defaults(family.defaults)
    layers = keys.layers("num_hidden_layers")
    width = keys.size("hidden_size")
    # Llama 4 has a width of its own for layers without experts.
    d_ff = keys.size("intermediate_size_mlp" if "intermediate_size_mlp" in family.defaults else "intermediate_size")
    vocab = keys.size("vocab_size")
    tied = keys.flag("tie_word_embeddings")
    parallel = _holds(keys, family.parallel)
    one_norm = 0 if family.plain_norm else norm(width, family.norm_bias)
    latent = "kv_lora_rank" in family.defaults
    return Stack(
        layers=layers,
        width=width,
        d_ff=d_ff,
        vocab=vocab,
        attention=_latent_attention(keys, width) if latent else _attention(keys, family, width),
        gated=family.gated,
        mlp_bias=_holds(keys, family.mlp_bias),
        layer_norms=(1 if parallel else family.norms) * one_norm,
        outer=one_norm,
        tied=tied,
        head=causal_head(keys, width, vocab, tied=tied, bias=_holds(keys, family.head_bias)),
        experts=read_experts(keys, name, layers=layers, width=width) if family.experts else None,
        parallel=parallel,
        longest=keys.size("max_position_embeddings"),
        notes=_notes(keys),
    )


def _holds(keys: Keys, answer: Bias | None) -> bool:
    """An answer that a family has once and for all, or that a key gives."""
    return keys.flag(answer) if isinstance(answer, str) else bool(answer)


def _attention(keys: Keys, family: Family, width: int) -> Attention:
    heads = keys.size("num_attention_heads")
    kv_heads = keys.grouped(heads, "num_key_value_heads")
    head_dim = keys.maybe_size("head_dim") or keys.dividing(width, heads, "num_attention_heads")
    bias = _holds(keys, family.bias)
    inner = heads if family.sinks else 0
    if family.qk_norm and (not family.qk_norm_key or keys.flag(family.qk_norm_key)):
        inner += head_dim * (2 if family.qk_norm == "head" else heads + kv_heads)
    return Attention(
        width=width,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        q_bias=bias,
        k_bias=bias,
        v_bias=bias,
        out_bias=bias if family.out_bias is None else _holds(keys, family.out_bias),
        inner_norms=inner,
    )


def _latent_attention(keys: Keys, width: int) -> LatentAttention:
    return LatentAttention(
        width=width,
        heads=keys.size("num_attention_heads"),
        q_rank=keys.maybe_size("q_lora_rank"),
        kv_rank=keys.size("kv_lora_rank"),
        nope_dim=keys.size("qk_nope_head_dim"),
        rope_dim=keys.size("qk_rope_head_dim"),
        v_dim=keys.size("v_head_dim"),
        bias=keys.flag("attention_bias"),
    )


def _notes(keys: Keys) -> tuple[str, ...]:
    if keys.size("num_nextn_predict_layers", default=0, low=0):
        return ("layers that predict further tokens (num_nextn_predict_layers) aren't counted",)
    return ()
