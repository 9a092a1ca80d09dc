"""Encoders: BERT and what descends from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from planner.workload.huggingface.heads import task
from planner.workload.huggingface.keys import Keys
from planner.workload.huggingface.model import Attention, Stack, linear, norm

_LAYERS = {
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
}


def _attention(keys: Keys, width: int, heads: int, heads_key: str) -> Attention:
    return Attention(
        width=width,
        heads=heads,
        kv_heads=heads,
        head_dim=keys.dividing(width, heads, heads_key),
        q_bias=True,
        k_bias=True,
        v_bias=True,
        out_bias=True,
    )


def _refuse_decoder(keys: Keys) -> None:
    for key in ("is_decoder", "add_cross_attention"):
        if keys.flag(key):
            raise keys.refused(key, "false: this architecture is read as an encoder")


def _masked_head(width: int, token_width: int, vocab: int, *, tied: bool) -> int:
    """Dense, norm and the bias of a projection onto the vocabulary."""
    untied = 0 if tied else token_width * vocab
    return linear(width, token_width, True) + norm(token_width, True) + vocab + untied


def _bert(keys: Keys) -> Stack:
    _refuse_decoder(keys)
    keys = keys.with_defaults({"vocab_size": 30522, **_LAYERS})
    width, vocab = keys.size("hidden_size"), keys.size("vocab_size")
    rows, types = keys.size("max_position_embeddings"), keys.size("type_vocab_size", low=0)
    tied = keys.flag("tie_word_embeddings", default=True)
    pooler = linear(width, width, True)
    masked = _masked_head(width, width, vocab, tied=tied)
    heads = {
        "": pooler,
        "ForPreTraining": pooler + masked + linear(width, 2, True),
        "ForMaskedLM": masked,
        "ForSequenceClassification": pooler + linear(width, keys.labels(), True),
        "ForTokenClassification": linear(width, keys.labels(), True),
        "ForQuestionAnswering": linear(width, keys.labels(), True),
        "ForMultipleChoice": pooler + linear(width, 1, True),
        "ForNextSentencePrediction": pooler + linear(width, 2, True),
    }
    return _encoder(keys, width=width, token_width=width, rows=rows, types=types, heads=heads, longest=rows)


def _roberta(keys: Keys) -> Stack:
    _refuse_decoder(keys)
    keys = keys.with_defaults(
        {"vocab_size": 50265 if keys.word("model_type") == "roberta" else 30522, "pad_token_id": 1, **_LAYERS}
    )
    width, vocab = keys.size("hidden_size"), keys.size("vocab_size")
    rows, types = keys.size("max_position_embeddings"), keys.size("type_vocab_size", low=0)
    tied = keys.flag("tie_word_embeddings", default=True)
    classifier = linear(width, width, True) + linear(width, keys.labels(), True)
    heads = {
        "": linear(width, width, True),
        "ForMaskedLM": _masked_head(width, width, vocab, tied=tied),
        "ForSequenceClassification": classifier,
        "ForTokenClassification": linear(width, keys.labels(), True),
        "ForQuestionAnswering": linear(width, keys.labels(), True),
        "ForMultipleChoice": linear(width, width, True) + linear(width, 1, True),
    }
    longest = max(1, rows - 1 - keys.size("pad_token_id", low=0))  # positions begin behind that of padding
    return _encoder(keys, width=width, token_width=width, rows=rows, types=types, heads=heads, longest=longest)


def _electra(keys: Keys) -> Stack:
    _refuse_decoder(keys)
    keys = keys.with_defaults(
        {
            **_LAYERS, "vocab_size": 30522, "embedding_size": 128, "hidden_size": 256, "intermediate_size": 1024,
            "num_attention_heads": 4,
        }
    )  # fmt: skip
    width, token_width, vocab = keys.size("hidden_size"), keys.size("embedding_size"), keys.size("vocab_size")
    rows, types = keys.size("max_position_embeddings"), keys.size("type_vocab_size", low=0)
    tied = keys.flag("tie_word_embeddings", default=True)
    heads = {
        "": 0,
        "ForPreTraining": linear(width, width, True) + linear(width, 1, True),
        "ForMaskedLM": _masked_head(width, token_width, vocab, tied=tied),
        "ForSequenceClassification": linear(width, width, True) + linear(width, keys.labels(), True),
        "ForTokenClassification": linear(width, keys.labels(), True),
        "ForQuestionAnswering": linear(width, keys.labels(), True),
    }
    return _encoder(keys, width=width, token_width=token_width, rows=rows, types=types, heads=heads, longest=rows)


def _encoder(
    keys: Keys, *, width: int, token_width: int, rows: int, types: int, heads: Mapping[str, int], longest: int
) -> Stack:
    """Layers of BERT under one of several heads; the bare model where the class isn't known."""
    asked = task(keys)
    widened = linear(token_width, width, True) if token_width != width else 0
    return Stack(
        layers=keys.layers("num_hidden_layers"),
        width=width,
        d_ff=keys.size("intermediate_size"),
        vocab=keys.size("vocab_size"),
        attention=_attention(keys, width, keys.size("num_attention_heads"), "num_attention_heads"),
        gated=False,
        mlp_bias=True,
        layer_norms=2 * norm(width, True),
        outer=(rows + types) * token_width + norm(token_width, True) + widened,
        head=heads.get(asked, heads[""]),
        encoder=True,
        learned_positions=rows,
        token_width=token_width,
        longest=longest,
        notes=() if asked in heads else (f"the head of {asked} isn't known and taken as that of the bare model",),
    )


def _distilbert(keys: Keys) -> Stack:
    keys = keys.with_defaults(
        {
            "vocab_size": 30522, "max_position_embeddings": 512, "n_layers": 6, "n_heads": 12, "dim": 768,
            "hidden_dim": 3072,
        }
    )  # fmt: skip
    width, vocab = keys.size("dim", "hidden_size"), keys.size("vocab_size")
    rows = keys.size("max_position_embeddings")
    asked = task(keys)
    heads = {
        "": 0,
        "ForMaskedLM": _masked_head(width, width, vocab, tied=keys.flag("tie_word_embeddings", default=True)),
        "ForSequenceClassification": linear(width, width, True) + linear(width, keys.labels(), True),
        "ForTokenClassification": linear(width, keys.labels(), True),
        "ForQuestionAnswering": linear(width, keys.labels(), True),
    }
    return Stack(
        layers=keys.layers("n_layers", "num_hidden_layers"),
        width=width,
        d_ff=keys.size("hidden_dim"),
        vocab=vocab,
        attention=_attention(keys, width, keys.size("n_heads", "num_attention_heads"), "n_heads"),
        gated=False,
        mlp_bias=True,
        layer_norms=2 * norm(width, True),
        outer=rows * width + norm(width, True),
        head=heads.get(asked, 0),
        encoder=True,
        learned_positions=rows,
        longest=rows,
        notes=() if asked in heads else (f"the head of {asked} isn't known and taken as that of the bare model",),
    )


READERS: Mapping[str, Callable[[Keys], Stack]] = {
    "bert": _bert,
    "roberta": _roberta,
    "xlm-roberta": _roberta,
    "camembert": _roberta,
    "electra": _electra,
    "distilbert": _distilbert,
}
