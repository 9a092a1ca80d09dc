"""Models of an encoder and a decoder: T5, BART, Whisper. Their parameters are counted; their speed isn't estimated."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from planner.workload.huggingface.heads import architecture
from planner.workload.huggingface.keys import Keys
from planner.workload.huggingface.model import feed_forward, linear, norm


def _t5(keys: Keys) -> int:
    """T5: biases of relative position in the first layer of each side (umT5: in every one), norms without bias."""
    kind = keys.word("model_type")
    if kind == "t5":
        defaults = {"vocab_size": 32128, "d_ff": 2048, "num_layers": 6, "num_heads": 8}
    else:
        defaults = {"vocab_size": 250112, "d_ff": 1024, "num_layers": 8, "num_heads": 6}
    keys = keys.with_defaults({**defaults, "d_model": 512, "d_kv": 64, "relative_attention_num_buckets": 32})
    width, d_ff, vocab = keys.size("d_model"), keys.size("d_ff"), keys.size("vocab_size")
    heads = keys.size("num_heads")
    gated = keys.word("feed_forward_proj", "relu" if kind == "t5" else "gated-gelu").startswith("gated-")
    layers = keys.layers("num_layers")
    inner = heads * keys.size("d_kv")
    attention = 4 * width * inner + norm(width)
    block = feed_forward(width, d_ff, gated=gated) + norm(width)
    positions = heads * keys.size("relative_attention_num_buckets")
    each = kind == "umt5"
    encoder = layers * (attention + block) + (layers if each else 1) * positions + norm(width)
    total = vocab * width + encoder
    name = architecture(keys)
    if name.endswith("EncoderModel"):
        return total
    decoder_layers = keys.maybe_size("num_decoder_layers") or layers
    total += decoder_layers * (2 * attention + block) + (decoder_layers if each else 1) * positions + norm(width)
    untied = not keys.flag("tie_word_embeddings", default=kind == "t5")
    has_head = not name.endswith("Model") or name.endswith("WithLMHeadModel")
    return total + (vocab * width if untied and has_head else 0)


def _layers(count: int, width: int, d_ff: int, *, attentions: int, keys_have_bias: bool = True) -> int:
    """Post- or pre-norm layers with biases: attentions and a feed-forward block, a norm for each."""
    attention = 4 * linear(width, width, True) - (0 if keys_have_bias else width)
    block = feed_forward(width, d_ff, gated=False, bias=True)
    return count * (attentions * (attention + norm(width, True)) + block + norm(width, True))


def _bart(keys: Keys) -> int:
    """BART and mBART: one token table for both sides, learned positions that begin at 2, a norm behind each table."""
    keys = keys.with_defaults(
        {
            "vocab_size": 50265, "max_position_embeddings": 1024, "d_model": 1024, "encoder_layers": 12,
            "decoder_layers": 12, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096, "encoder_attention_heads": 16,
            "decoder_attention_heads": 16,
        }
    )  # fmt: skip
    width, vocab = keys.size("d_model"), keys.size("vocab_size")
    for side in ("encoder", "decoder"):
        keys.dividing(width, keys.size(f"{side}_attention_heads"), f"{side}_attention_heads")
    final = norm(width, True) if keys.word("model_type") == "mbart" else 0
    table = (keys.size("max_position_embeddings") + 2) * width + norm(width, True)
    total = vocab * width + 2 * (table + final)
    total += _layers(keys.layers("encoder_layers"), width, keys.size("encoder_ffn_dim"), attentions=1)
    total += _layers(keys.layers("decoder_layers"), width, keys.size("decoder_ffn_dim"), attentions=2)
    name = architecture(keys)
    if name.endswith("ForSequenceClassification"):
        return total + linear(width, width, True) + linear(width, keys.labels(3), True)
    untied = not keys.flag("tie_word_embeddings", default=True)
    return total + (vocab * width if untied and not name.endswith("Model") else 0)


def _whisper(keys: Keys) -> int:
    """Whisper: two convolutions over the spectrum, positions of both sides, keys without bias."""
    keys = keys.with_defaults(
        {
            "vocab_size": 51865, "num_mel_bins": 80, "encoder_layers": 4, "encoder_attention_heads": 6,
            "decoder_layers": 4, "decoder_attention_heads": 6, "decoder_ffn_dim": 1536, "encoder_ffn_dim": 1536,
            "d_model": 384, "max_source_positions": 1500, "max_target_positions": 448,
        }
    )  # fmt: skip
    width, vocab = keys.size("d_model"), keys.size("vocab_size")
    for side in ("encoder", "decoder"):
        keys.dividing(width, keys.size(f"{side}_attention_heads"), f"{side}_attention_heads")
    convolutions = linear(3 * keys.size("num_mel_bins"), width, True) + linear(3 * width, width, True)
    tables = (vocab + keys.size("max_source_positions") + keys.size("max_target_positions")) * width
    encoder = _layers(
        keys.layers("encoder_layers"), width, keys.size("encoder_ffn_dim"), attentions=1, keys_have_bias=False
    )
    decoder = _layers(
        keys.layers("decoder_layers"), width, keys.size("decoder_ffn_dim"), attentions=2, keys_have_bias=False
    )
    untied = not keys.flag("tie_word_embeddings", default=True)
    head = vocab * width if untied and not architecture(keys).endswith("Model") else 0
    return convolutions + tables + encoder + decoder + 2 * norm(width, True) + head


READERS: Mapping[str, Callable[[Keys], int]] = {
    "t5": _t5,
    "mt5": _t5,
    "umt5": _t5,
    "bart": _bart,
    "mbart": _bart,
    "whisper": _whisper,
}
