"""A GPT of GPT-2's shape, built from the blocks of torch itself."""

from __future__ import annotations

from typing import Any

from planner.measure.devices import Device
from planner.measure.results import Shape
from planner.measure.subjects import Built, Configuration, Subject, random_tokens


def gpt_subject(torch: Any, *, tiny: bool) -> Subject:
    """GPT-2 small, or a tiny one that a CPU trains many steps a second of."""
    size = (
        {"layers": 2, "d_model": 128, "heads": 4, "d_ff": 512, "vocab": 1000, "seq_len": 128}
        if tiny
        else {"layers": 12, "d_model": 768, "heads": 12, "d_ff": 3072, "vocab": 50257, "seq_len": 1024}
    )
    shape = Shape(
        workload="gpt",
        model="gpt2-tiny" if tiny else "gpt2-small",
        parameters=parameters_of(**size),
        unit="tokens",
        input=f"seq{size['seq_len']}",
        **size,
    )

    def build(torch: Any, device: Device, configuration: Configuration) -> Built:
        model = _gpt(torch, shape, configuration.checkpointing == "full").to(device.torch_name)
        tokens = random_tokens(torch, device, configuration.batch, size["seq_len"] + 1, size["vocab"])
        inputs, targets = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()

        def loss() -> Any:
            logits = model(inputs)
            return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

        return Built(loss=loss, model=model)

    return Subject(
        shape=shape,
        framework=f"planner measure (PyTorch {torch.__version__}, nn.TransformerEncoderLayer)",
        optimizer="adamw",
        checkpointings=("none", "full"),
        build=build,
    )


def parameters_of(*, layers: int, d_model: int, d_ff: int, vocab: int, seq_len: int, heads: int) -> int:
    """Parameters of a GPT with biases, learned positions and an output that shares the embedding. [-]

    Examples
    --------
    >>> parameters_of(layers=12, d_model=768, heads=12, d_ff=3072, vocab=50257, seq_len=1024)
    124439808
    """
    attention = 4 * d_model**2 + 4 * d_model
    mlp = 2 * d_model * d_ff + d_ff + d_model
    norms = 4 * d_model
    return layers * (attention + mlp + norms) + (vocab + seq_len) * d_model + 2 * d_model


def _gpt(torch: Any, shape: Shape, checkpointing: bool) -> Any:
    assert shape.d_model and shape.layers and shape.heads and shape.d_ff and shape.vocab and shape.seq_len
    nn = torch.nn
    d_model, heads, d_ff = shape.d_model, shape.heads, shape.d_ff
    layers, vocab, seq_len = shape.layers, shape.vocab, shape.seq_len

    class Gpt(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(vocab, d_model)
            self.positions = nn.Embedding(seq_len, d_model)
            nn.init.normal_(self.tokens.weight, std=0.02)
            self.blocks = nn.ModuleList(
                nn.TransformerEncoderLayer(
                    d_model, heads, d_ff, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
                )
                for _ in range(layers)
            )
            self.norm = nn.LayerNorm(d_model)

        def forward(self, ids: Any) -> Any:
            length = ids.shape[1]
            x = self.tokens(ids) + self.positions.weight[:length]
            mask = nn.Transformer.generate_square_subsequent_mask(length, device=ids.device)
            for block in self.blocks:
                if checkpointing:
                    x = torch.utils.checkpoint.checkpoint(block, x, mask, None, True, use_reentrant=False)
                else:
                    x = block(x, mask, None, True)
            return nn.functional.linear(self.norm(x), self.tokens.weight)

    return Gpt()
