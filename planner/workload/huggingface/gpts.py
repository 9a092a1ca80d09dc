"""Decoders with a reader of their own: the GPT family, OPT, BLOOM, Falcon, MPT and Phi."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from planner.workload.huggingface.heads import causal_head
from planner.workload.huggingface.keys import Keys
from planner.workload.huggingface.model import Attention, Stack, norm

_WIDTH = ("n_embd", "hidden_size")
_LAYERS = ("n_layer", "num_hidden_layers")
_HEADS = ("n_head", "num_attention_heads")
_LONGEST = ("n_positions", "max_position_embeddings", "n_ctx")


def _full(keys: Keys, width: int, heads: int, heads_key: str, *, inputs: bool, output: bool) -> Attention:
    """Attention with a key and a value for each head; biases on the inputs and on the output."""
    return Attention(
        width=width,
        heads=heads,
        kv_heads=heads,
        head_dim=keys.dividing(width, heads, heads_key),
        q_bias=inputs,
        k_bias=inputs,
        v_bias=inputs,
        out_bias=output,
    )


def _gpt2(keys: Keys) -> Stack:
    keys = keys.with_defaults(
        {"vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12, "multi_query": True}
    )
    width, heads, vocab = keys.size(*_WIDTH), keys.size(*_HEADS), keys.size("vocab_size")
    head_dim = keys.dividing(width, heads, "n_head")
    longest = keys.size(*_LONGEST)
    tied = keys.flag("tie_word_embeddings", default=True)
    one_key = keys.word("model_type") == "gpt_bigcode" and keys.flag("multi_query")
    if keys.flag("add_cross_attention"):
        raise keys.refused("add_cross_attention", "false: a decoder on its own")
    return Stack(
        layers=keys.layers(*_LAYERS),
        width=width,
        d_ff=keys.maybe_size("n_inner") or 4 * width,
        vocab=vocab,
        attention=Attention(
            width=width, heads=heads, kv_heads=1 if one_key else heads, head_dim=head_dim,
            q_bias=True, k_bias=True, v_bias=True, out_bias=True,
        ),
        gated=False,
        mlp_bias=True,
        layer_norms=2 * norm(width, True),
        outer=longest * width + norm(width, True),
        tied=tied,
        head=causal_head(keys, width, vocab, tied=tied),
        learned_positions=longest,
        longest=longest,
    )  # fmt: skip


def _gpt_neo(keys: Keys) -> Stack:
    keys = keys.with_defaults(
        {"vocab_size": 50257, "max_position_embeddings": 2048, "hidden_size": 2048, "num_layers": 24, "num_heads": 16}
    )
    width, vocab = keys.size("hidden_size"), keys.size("vocab_size")
    heads = keys.size("num_heads", "num_attention_heads")
    longest = keys.size("max_position_embeddings")
    tied = keys.flag("tie_word_embeddings", default=True)
    return Stack(
        layers=keys.layers("num_layers", "num_hidden_layers"),
        width=width,
        d_ff=keys.maybe_size("intermediate_size") or 4 * width,
        vocab=vocab,
        attention=_full(keys, width, heads, "num_heads", inputs=False, output=True),
        gated=False,
        mlp_bias=True,
        layer_norms=2 * norm(width, True),
        outer=longest * width + norm(width, True),
        tied=tied,
        head=causal_head(keys, width, vocab, tied=tied),
        learned_positions=longest,
        longest=longest,
    )


def _gpt_neox(keys: Keys) -> Stack:
    keys = keys.with_defaults(
        {
            "vocab_size": 50432, "hidden_size": 6144, "num_hidden_layers": 44, "num_attention_heads": 64,
            "intermediate_size": 24576, "max_position_embeddings": 2048,
        }
    )  # fmt: skip
    width, vocab = keys.size("hidden_size"), keys.size("vocab_size")
    bias = keys.flag("attention_bias", default=True)
    tied = keys.flag("tie_word_embeddings")
    return Stack(
        layers=keys.layers("num_hidden_layers"),
        width=width,
        d_ff=keys.size("intermediate_size"),
        vocab=vocab,
        attention=_full(keys, width, keys.size("num_attention_heads"), "num_attention_heads", inputs=bias, output=bias),
        gated=False,
        mlp_bias=True,
        layer_norms=2 * norm(width, True),
        outer=norm(width, True),
        tied=tied,
        head=causal_head(keys, width, vocab, tied=tied),
        parallel=keys.flag("use_parallel_residual", default=True),
        longest=keys.size("max_position_embeddings"),
    )


def _gptj(keys: Keys) -> Stack:
    keys = keys.with_defaults({"vocab_size": 50400, "n_positions": 2048, "n_embd": 4096, "n_layer": 28, "n_head": 16})
    width, vocab = keys.size(*_WIDTH), keys.size("vocab_size")
    tied = keys.flag("tie_word_embeddings")
    return Stack(
        layers=keys.layers(*_LAYERS),
        width=width,
        d_ff=keys.maybe_size("n_inner") or 4 * width,
        vocab=vocab,
        attention=_full(keys, width, keys.size(*_HEADS), "n_head", inputs=False, output=False),
        gated=False,
        mlp_bias=True,
        layer_norms=norm(width, True),
        outer=norm(width, True),
        tied=tied,
        head=causal_head(keys, width, vocab, tied=tied, bias=True),
        parallel=True,
        longest=keys.size(*_LONGEST),
    )


def _opt(keys: Keys) -> Stack:
    keys = keys.with_defaults(
        {
            "vocab_size": 50272, "hidden_size": 768, "num_hidden_layers": 12, "ffn_dim": 3072,
            "num_attention_heads": 12, "max_position_embeddings": 2048,
        }
    )  # fmt: skip
    width, vocab, longest = keys.size("hidden_size"), keys.size("vocab_size"), keys.size("max_position_embeddings")
    bias = keys.flag("enable_bias", default=True)
    affine = keys.flag("layer_norm_elementwise_affine", default=True)
    one_norm = norm(width, True) if affine else 0
    before = keys.flag("do_layer_norm_before", default=True) and not keys.flag("_remove_final_layer_norm")
    token_width = keys.maybe_size("word_embed_proj_dim") or width
    tied = keys.flag("tie_word_embeddings", default=True)
    rows = longest + 2  # the first two positions are never used
    projections = 2 * token_width * width if token_width != width else 0
    return Stack(
        layers=keys.layers("num_hidden_layers"),
        width=width,
        d_ff=keys.size("ffn_dim"),
        vocab=vocab,
        attention=_full(keys, width, keys.size("num_attention_heads"), "num_attention_heads", inputs=bias, output=bias),
        gated=False,
        mlp_bias=bias,
        layer_norms=2 * one_norm,
        outer=rows * width + projections + (one_norm if before else 0),
        tied=tied,
        head=causal_head(keys, token_width, vocab, tied=tied),
        learned_positions=rows,
        token_width=token_width,
        longest=longest,
    )


def _bloom(keys: Keys) -> Stack:
    keys = keys.with_defaults({"vocab_size": 250880, "hidden_size": 64, "n_layer": 2, "n_head": 8})
    width, vocab = keys.size("hidden_size", "n_embed", "n_embd"), keys.size("vocab_size")
    tied = keys.flag("tie_word_embeddings", default=True)
    return Stack(
        layers=keys.layers(*_LAYERS),
        width=width,
        d_ff=4 * width,
        vocab=vocab,
        attention=_full(keys, width, keys.size(*_HEADS), "n_head", inputs=True, output=True),
        gated=False,
        mlp_bias=True,
        layer_norms=2 * norm(width, True),
        outer=2 * norm(width, True),  # behind the token table, and the last one
        tied=tied,
        head=causal_head(keys, width, vocab, tied=tied),
        longest=keys.maybe_size("seq_length"),
    )


def _falcon(keys: Keys) -> Stack:
    keys = keys.with_defaults(
        {
            "vocab_size": 65024, "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71,
            "max_position_embeddings": 2048,
        }
    )  # fmt: skip
    width, vocab = keys.size("hidden_size", "n_embed"), keys.size("vocab_size")
    heads = keys.size("num_attention_heads", "n_head")
    grouped = keys.flag("new_decoder_architecture", default=keys.word("model_type") == "RefinedWeb")
    if grouped:
        kv_heads = keys.grouped(heads, "num_kv_heads", "n_head_kv")
    else:
        kv_heads = 1 if keys.flag("multi_query", default=True) else heads
    bias = keys.flag("bias")
    parallel = keys.flag("parallel_attn", default=True)
    two_norms = keys.size("num_ln_in_parallel_attn", default=2) == 2 if grouped else not parallel
    tied = keys.flag("tie_word_embeddings", default=True)
    return Stack(
        layers=keys.layers("num_hidden_layers", "n_layer"),
        width=width,
        d_ff=keys.maybe_size("ffn_hidden_size") or 4 * width,
        vocab=vocab,
        attention=Attention(
            width=width, heads=heads, kv_heads=kv_heads, head_dim=keys.dividing(width, heads, "num_attention_heads"),
            q_bias=bias, k_bias=bias, v_bias=bias, out_bias=bias,
        ),
        gated=False,
        mlp_bias=bias,
        layer_norms=(2 if two_norms else 1) * norm(width, True),
        outer=norm(width, True),
        tied=tied,
        head=causal_head(keys, width, vocab, tied=tied),
        parallel=grouped or parallel,
        longest=keys.size("max_position_embeddings"),
    )  # fmt: skip


def _mpt(keys: Keys) -> Stack:
    keys = keys.with_defaults(
        {"vocab_size": 50368, "d_model": 2048, "n_layers": 24, "n_heads": 16, "expansion_ratio": 4, "max_seq_len": 2048}
    )
    attn = keys.part("attn_config")
    width, heads, vocab = keys.size("d_model"), keys.size("n_heads"), keys.size("vocab_size")
    longest = keys.size("max_seq_len")
    if attn.flag("qk_ln"):
        raise attn.refused("qk_ln", "false: norms on queries and keys aren't understood here")
    kv_heads = attn.grouped(heads, "kv_n_heads")
    if attn.word("attn_type") == "multiquery_attention":
        kv_heads = 1
    bias = not keys.flag("no_bias", default=True)
    learned = keys.flag("learned_pos_emb", default=True) and not attn.flag("alibi", default=True)
    rows = longest if learned else 0
    tied = keys.flag("tie_word_embeddings", default=True)
    return Stack(
        layers=keys.layers("n_layers"),
        width=width,
        d_ff=keys.size("expansion_ratio") * width,
        vocab=vocab,
        attention=Attention(
            width=width, heads=heads, kv_heads=kv_heads, head_dim=keys.dividing(width, heads, "n_heads"),
            q_bias=bias, k_bias=bias, v_bias=bias, out_bias=bias,
        ),
        gated=False,
        mlp_bias=bias,
        layer_norms=2 * norm(width, bias),
        outer=rows * width + norm(width, bias),
        tied=tied,
        head=causal_head(keys, width, vocab, tied=tied),
        learned_positions=rows,
        longest=longest,
    )  # fmt: skip


def _phi(keys: Keys) -> Stack:
    keys = keys.with_defaults(
        {
            "vocab_size": 51200, "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 24,
            "num_attention_heads": 32, "max_position_embeddings": 2048,
        }
    )  # fmt: skip
    width, vocab = keys.size("hidden_size", "n_embd"), keys.size("vocab_size")
    heads = keys.size("num_attention_heads", "n_head")
    head_dim = keys.dividing(width, heads, "num_attention_heads")
    tied = keys.flag("tie_word_embeddings")
    return Stack(
        layers=keys.layers("num_hidden_layers", "n_layer"),
        width=width,
        d_ff=keys.maybe_size("intermediate_size", "n_inner") or 4 * width,
        vocab=vocab,
        attention=Attention(
            width=width, heads=heads, kv_heads=keys.grouped(heads, "num_key_value_heads"), head_dim=head_dim,
            q_bias=True, k_bias=True, v_bias=True, out_bias=True,
            inner_norms=2 * norm(head_dim, True) if keys.flag("qk_layernorm") else 0,
        ),
        gated=False,
        mlp_bias=True,
        layer_norms=norm(width, True),
        outer=norm(width, True),
        tied=tied,
        head=causal_head(keys, width, vocab, tied=tied, bias=True),
        parallel=True,
        longest=keys.size("max_position_embeddings", "n_positions"),
    )  # fmt: skip


def _qwen(keys: Keys) -> Stack:
    """The first Qwen; its `intermediate_size` counts gate and up projection together."""
    keys = keys.with_defaults(
        {
            "vocab_size": 151936, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
            "kv_channels": 128, "intermediate_size": 22016,
        }
    )  # fmt: skip
    width, vocab, heads = keys.size("hidden_size"), keys.size("vocab_size"), keys.size("num_attention_heads")
    tied = keys.flag("tie_word_embeddings")
    bias = not keys.flag("no_bias", default=True)
    return Stack(
        layers=keys.layers("num_hidden_layers"),
        width=width,
        d_ff=keys.size("intermediate_size", low=2) // 2,
        vocab=vocab,
        attention=Attention(
            width=width, heads=heads, kv_heads=heads, head_dim=keys.size("kv_channels"),
            q_bias=True, k_bias=True, v_bias=True, out_bias=bias,
        ),
        gated=True,
        mlp_bias=bias,
        layer_norms=2 * norm(width),
        outer=norm(width),
        tied=tied,
        head=causal_head(keys, width, vocab, tied=tied),
        longest=keys.maybe_size("seq_length", "max_position_embeddings"),
    )  # fmt: skip


READERS: Mapping[str, Callable[[Keys], Stack]] = {
    "gpt2": _gpt2,
    "gpt_bigcode": _gpt2,
    "gpt_neo": _gpt_neo,
    "gpt_neox": _gpt_neox,
    "gptj": _gptj,
    "codegen": _gptj,
    "opt": _opt,
    "bloom": _bloom,
    "falcon": _falcon,
    "RefinedWeb": _falcon,
    "RefinedWebModel": _falcon,
    "mpt": _mpt,
    "phi": _phi,
    "qwen": _qwen,
}
