"""What a measured row ran, from what it says and by rules for what it doesn't."""

from __future__ import annotations

import pytest

from planner.performance.rows.subject import RowError
from planner.workload.transformer import parameter_count
from tests.unit.performance.rows import CATALOG, NO_SHAPE, subject


@pytest.mark.parametrize(
    ("said", "gpu", "precision", "element_bytes"),
    [
        ("bf16", "a100-sxm4-80gb", "bf16", 2.0),
        ("BF16", "a100-sxm4-80gb", "bf16", 2.0),
        ("bfloat16", "a100-sxm4-80gb", "bf16", 2.0),
        ("amp_bf16", "a100-sxm4-80gb", "bf16", 2.0),
        ("bf16-true", "a100-sxm4-80gb", "bf16", 2.0),
        ("bf16-mixed", "v100-sxm2-32gb", "fp16", 2.0),  # the other 16-bit format where one is lacking
        ("amp-fp16", "a100-sxm4-80gb", "fp16", 2.0),
        ("16-mixed", "a100-sxm4-80gb", "fp16", 2.0),
        ("pure-fp16", "v100-sxm2-32gb", "fp16", 2.0),
        ("fp16", "gtx-titan-x", "fp32", 2.0),  # multiplies in fp32, keeps what was asked for
        ("tf32", "a100-sxm4-80gb", "tf32", 4.0),
        ("tf32", "v100-sxm2-32gb", "fp32", 4.0),
        ("fp32", "a100-sxm4-80gb", "fp32", 4.0),
        ("32-true", "a100-sxm4-80gb", "fp32", 4.0),
        ("fp8", "h100-sxm5-80gb", "fp8", 2.0),
        ("mxfp8", "b200-sxm-180gb", "fp8", 2.0),
        ("nvfp4", "b200-sxm-180gb", "fp8", 2.0),
        ("fp8", "a100-sxm4-80gb", "bf16", 2.0),
        ("nf4-dq", "a100-sxm4-80gb", "bf16", 2.0),  # 4-bit weights compute in 16
        ("int8", "a100-sxm4-80gb", "bf16", 2.0),
        (None, "h100-sxm5-80gb", "bf16", 2.0),
    ],
)
def test_words_for_precisions(said: str | None, gpu: str, precision: str, element_bytes: float) -> None:
    found = subject(precision=said, gpu=gpu)
    assert (found.precision, found.element_bytes) == (precision, element_bytes)


def test_a_precision_that_was_chosen_is_said() -> None:
    assert subject().choices == []
    assert subject(precision=None).choices == ["precision bf16"]
    assert subject(gpu="v100-sxm2-32gb").choices == ["precision fp16"]
    vendors = subject(precision=None, software_tier="vendor", gpu="h100-sxm5-80gb")
    assert (vendors.precision, vendors.choices) == ("fp8", ["precision fp8"])
    assert subject(precision=None, software_tier="vendor").precision == "bf16"  # no 8 bit on an A100


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"precision": "posit8"}, "precision: found 'posit8', expected one of bf16"),
        ({"gpu": "no such card"}, "gpu: found 'no such card', expected a GPU of the catalog"),
        ({"gpu": None}, "gpu: found 'None', expected a GPU"),
        ({"gpu": "TPU v5p"}, "Google's accelerators aren't estimated"),
        ({"gpu": "gaudi3-128gb"}, "Intel's accelerators aren't estimated"),
        ({"model": "google/flan-t5-large"}, "with an encoder and a decoder"),
        ({"model": "T5-11B"}, "with an encoder and a decoder"),
        ({"model": "google/mt5-xl"}, "with an encoder and a decoder"),
        ({"model": "facebook/bart-base"}, "with an encoder and a decoder"),
        ({"model": "transformer-xl-large"}, "with segment memory"),
        ({"model": "state-spaces/mamba-2.8b"}, "with state-space layers"),
        ({"model": "nvidia/Nemotron-H-8B"}, "with state-space layers"),
        ({"model": "unheard-of", **NO_SHAPE}, "expected a model of the catalog; or n_layers and d_model"),
        ({"model": None, **NO_SHAPE}, "model: found '', expected a model"),
    ],
)
def test_what_is_not_understood_says_why(changes: dict[str, object], words: str) -> None:
    with pytest.raises(RowError) as caught:
        subject(**changes)
    assert words in str(caught.value)


@pytest.mark.parametrize("name", ["mpt500m", "own-gpt5-20b", "megatron-gpt530b", "own-t50", "barton-7b-of-mpt5b"])
def test_a_name_that_only_contains_another_is_another(name: str) -> None:
    assert subject(model=name).spec.layers == 32


def test_a_card_whose_rates_are_unknown_is_refused() -> None:
    bare = next(gpu for gpu in CATALOG.partial_gpus.values() if gpu.vendor == "NVIDIA" and not gpu.dense_tflop_per_s)
    with pytest.raises(RowError, match="whose rates aren't known"):
        subject(gpu=bare.id)


def test_partly_known_cards_with_rates_are_computed() -> None:
    assert subject(gpu="gtx-titan-x", precision="fp32").gpu.id in CATALOG.partial_gpus


def test_the_shape_that_is_given() -> None:
    found = subject(n_kv_heads=8, gated_mlp=True)
    assert (found.spec.layers, found.spec.d_model, found.spec.kv_heads, found.spec.d_ff) == (32, 4096, 8, 11008)
    assert (found.parameters, found.is_encoder) == (6_738_415_616, False)


def test_what_a_shape_lacks_is_usual() -> None:
    found = subject(n_heads=None, d_ff=None, vocab=None, n_params=None)
    assert (found.spec.heads, found.spec.kv_heads, found.spec.d_ff, found.spec.vocab) == (32, 32, 16384, 32000)
    assert found.choices == ["usual n_heads, d_ff, vocab"]
    assert found.parameters == parameter_count(found.spec)


@pytest.mark.parametrize(
    ("changes", "gated"),
    [
        ({}, True),  # 6.74 B are those of a gated block
        ({"n_params": 5.3e9}, False),
        ({"n_params": 6_738_415_616, "gated_mlp": False}, False),
        ({"n_params": None}, True),  # not four times as wide
        ({"n_params": None, "d_ff": 16384}, False),
        ({"model": "bert-own", "n_params": None}, False),
    ],
)
def test_blocks_are_gated_as_the_number_of_parameters_says(changes: dict[str, object], gated: bool) -> None:
    assert subject(**changes).spec.gated_mlp is gated


@pytest.mark.parametrize("name", ["bert-large", "RoBERTa-base", "electra-small", "distilbert", "DeBERTa-v3"])
def test_encoders_are_known_by_their_names(name: str) -> None:
    found = subject(model=name)
    assert found.is_encoder and found.spec.tied_embeddings and not found.fused_attention


@pytest.mark.parametrize("name", ["llama-3-8b", "Llama 3 8B", "Llama 3 8B (base)", "llama-3-8b (seed 2)"])
def test_models_of_the_catalog_are_known_by_name(name: str) -> None:
    found = subject(model=name, **NO_SHAPE)
    preset = CATALOG.workloads["llama-3-8b"]
    assert (found.spec, found.parameters) == (preset.transformer, preset.parameters.value)
    assert found.choices == ["shape of the catalog's model"]


@pytest.mark.parametrize("parameters", [1e8, 1.3e9, 6.7e9, 13e9, 70e9, 175e9, 530e9])
def test_a_number_of_parameters_alone_gives_a_usual_shape(parameters: float) -> None:
    found = subject(model="who-knows", **{**NO_SHAPE, "n_params": parameters})
    assert 12 * found.spec.layers * found.spec.d_model**2 == pytest.approx(parameters, rel=0.2)
    assert found.spec.heads * 128 == found.spec.d_model
    assert found.parameters == parameters
    assert found.choices == ["usual shape for the number of parameters"]


@pytest.mark.parametrize(
    ("changes", "software", "choices"),
    [
        ({"software_tier": "Vendor"}, "vendor", []),
        ({"software_tier": "fused"}, "fused", []),
        ({"software_tier": None}, "eager", ["software eager"]),
        ({"software_tier": None, "compile_flash_notes": "torch.compile; flash"}, "compiled", ["software compiled"]),
        ({"software_tier": None, "compile_flash_notes": "no compile"}, "eager", ["software eager"]),
        ({"framework": "DeepSpeed", "source": "mlcommons-x", "software_tier": "vendor"}, "eager", []),
    ],
)
def test_the_training_code(changes: dict[str, object], software: str, choices: list[str]) -> None:
    found = subject(**changes)
    assert (found.software, found.choices) == (software, choices)


@pytest.mark.parametrize(
    ("task", "method"), [("pretrain", "full"), ("full-finetune", "full"), ("LoRA", "lora"), ("qlora", "qlora")]
)
def test_the_method(task: str, method: str) -> None:
    assert subject(task=task).method == method


@pytest.mark.parametrize(
    ("notes", "model", "flash"),
    [
        (None, "own-7b", True),
        (None, "bert-own", False),
        ("FlashAttention", "bert-own", True),
        ("no flash-attention; fused kernels", "own-7b", False),
        ("TransformerEngine + cuDNN attention", "bert-own", True),
        ("sdpa", "bert-own", True),
    ],
)
def test_flash_attention_as_the_notes_say_or_as_usual(notes: str | None, model: str, flash: bool) -> None:
    assert subject(compile_flash_notes=notes, model=model).fused_attention is flash


def test_elementwise_kernels_as_the_stack_has_them_or_by_the_model() -> None:
    gpt = {"gated_mlp": False}
    assert not subject(gated_mlp=True).fused_elementwise  # today's norms and gates are single eager kernels
    assert subject(**gpt).fused_elementwise
    assert subject(gated_mlp=True, software_tier="compiled").fused_elementwise
    assert subject(gated_mlp=True, software_tier="fused").fused_elementwise
    assert not subject(model="bert-own").fused_elementwise
    assert not subject(framework="PyTorch (Languini GPT)", **gpt).fused_elementwise
    assert subject(framework="Megatron-LM", gated_mlp=True).fused_elementwise


def test_sequences_that_are_not_said() -> None:
    found = subject(model="llama-3-8b", **{**NO_SHAPE, "seq_len": None})
    assert (found.seq_len, "sequence length 2048" in found.choices) == (2048, True)


def test_a_task_that_is_not_said_is_reported() -> None:
    assert "task full training" in subject(task=None).choices
    assert "task full training" not in subject(task="lora").choices
