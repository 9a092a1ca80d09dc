"""What a config.json comes to, and the parts that its parameters are counted from."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.records import TransformerSpec, VisionSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """A model read from its config.json.

    `transformer` is the shape of a decoder or encoder that speed and memory can be estimated for, `vision` the size of
    a vision transformer; both are None for the others, whose parameters are counted alone.
    """

    family: str
    parameters: int  # all: biases, norms, position tables, every expert
    active_parameters: int  # without the experts that a token doesn't pass
    transformer: TransformerSpec | None
    vision: VisionSpec | None = None
    notes: tuple[str, ...] = ()


def linear(inputs: int, outputs: int, bias: bool = False) -> int:
    """Parameters of a fully connected layer."""
    return inputs * outputs + (outputs if bias else 0)


def norm(width: int, bias: bool = False) -> int:
    """Parameters of a norm."""
    return 2 * width if bias else width


def feed_forward(width: int, inner: int, *, gated: bool, bias: bool = False) -> int:
    """Parameters of a feed-forward block: up (twice when gated) and down."""
    return (2 if gated else 1) * linear(width, inner, bias) + linear(inner, width, bias)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """Attention projections of one layer; `inner_norms` are parameters of norms on queries and keys."""

    width: int
    heads: int
    kv_heads: int
    head_dim: int
    q_bias: bool = False
    k_bias: bool = False
    v_bias: bool = False
    out_bias: bool = False
    inner_norms: int = 0

    @property
    def parameters(self) -> int:
        """Weights and biases."""
        queries, keys = self.heads * self.head_dim, self.kv_heads * self.head_dim
        return (
            linear(self.width, queries, self.q_bias)
            + linear(self.width, keys, self.k_bias)
            + linear(self.width, keys, self.v_bias)
            + linear(queries, self.width, self.out_bias)
            + self.inner_norms
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentAttention:
    """Attention whose queries, keys and values pass through narrow projections (multi-head latent attention)."""

    width: int
    heads: int
    q_rank: int | None
    kv_rank: int
    nope_dim: int
    rope_dim: int
    v_dim: int
    bias: bool = False

    @property
    def weights(self) -> int:
        """Weights of the projections alone."""
        query = self.nope_dim + self.rope_dim
        if self.q_rank is None:
            queries = self.width * self.heads * query
        else:
            queries = self.q_rank * (self.width + self.heads * query)
        latent = self.width * (self.kv_rank + self.rope_dim)
        return queries + latent + self.heads * (self.kv_rank * (self.nope_dim + self.v_dim) + self.v_dim * self.width)

    @property
    def parameters(self) -> int:
        """Weights, norms of the narrow parts, biases."""
        biases = (self.q_rank or 0) + self.kv_rank + self.rope_dim + self.width if self.bias else 0
        return self.weights + (self.q_rank or 0) + self.kv_rank + biases


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """Routed and shared experts of the layers that have them; `gate` are parameters beside the router's weights."""

    count: int
    per_token: int
    d_ff: int
    shared_d_ff: int = 0
    dense_layers: int = 0
    gate: int = 0
    bias: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A decoder or encoder: equal layers between an embedding and a head."""

    layers: int
    width: int
    d_ff: int
    vocab: int
    attention: Attention | LatentAttention
    gated: bool
    mlp_bias: bool = False
    layer_norms: int  # parameters of the norms of one layer
    outer: int  # all outside layers, token table and head: final norm, positions, token types, projections
    tied: bool = True
    head: int = 0  # parameters of all heads besides a tied matrix
    experts: Experts | None = None
    encoder: bool = False
    parallel: bool = False
    learned_positions: int = 0
    token_width: int | None = None  # of the token table, where it isn't the width of the layers
    longest: int | None = None  # sequence that the model was made for, where it says so
    notes: tuple[str, ...] = ()

    @property
    def parameters(self) -> int:
        """All parameters."""
        return self._count(None if self.experts is None else self.experts.count)

    @property
    def active_parameters(self) -> int:
        """Parameters without the experts that a token doesn't pass."""
        return self._count(None if self.experts is None else self.experts.per_token)

    def _count(self, experts: int | None) -> int:
        dense = feed_forward(self.width, self.d_ff, gated=self.gated, bias=self.mlp_bias)
        blocks = self.layers * dense
        if self.experts is not None and experts is not None:
            e = self.experts
            one = feed_forward(self.width, e.d_ff, gated=self.gated, bias=e.bias)
            shared = feed_forward(self.width, e.shared_d_ff, gated=self.gated) if e.shared_d_ff else 0
            router = self.width * e.count + e.gate
            blocks = e.dense_layers * dense + (self.layers - e.dense_layers) * (experts * one + shared + router)
        layers = self.layers * (self.attention.parameters + self.layer_norms) + blocks
        return layers + self.vocab * (self.token_width or self.width) + self.outer + self.head

    def spec(self, seq_len: int) -> TransformerSpec:
        """The shape as the estimator reads it."""
        a, e = self.attention, self.experts
        latent = isinstance(a, LatentAttention)
        head_dim = a.nope_dim + a.rope_dim if isinstance(a, LatentAttention) else a.head_dim
        return TransformerSpec(
            layers=self.layers,
            d_model=self.width,
            heads=a.heads,
            kv_heads=a.heads if isinstance(a, LatentAttention) else a.kv_heads,
            d_ff=self.d_ff,
            gated_mlp=self.gated,
            vocab=self.vocab,
            seq_len=seq_len,
            encoder=self.encoder,
            tied_embeddings=self.tied,
            parallel_blocks=self.parallel,
            learned_positions=self.learned_positions,
            head_dim=head_dim if latent or head_dim * a.heads != self.width else None,
            v_head_dim=a.v_dim if isinstance(a, LatentAttention) else None,
            attention_parameters=a.weights if isinstance(a, LatentAttention) else None,
            experts=0 if e is None else e.count,
            experts_per_token=0 if e is None else e.per_token,
            expert_d_ff=None if e is None or e.d_ff == self.d_ff else e.d_ff,
            shared_d_ff=0 if e is None else e.shared_d_ff,
            dense_layers=0 if e is None else e.dense_layers,
        )
