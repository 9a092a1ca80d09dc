"""What estimates are compared with: formulas checked by hand on a model small enough for that."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import baselines
from benchmarks.baselines import Facts
from planner.catalog.records import TransformerSpec

SMALL = TransformerSpec(
    layers=2,
    d_model=8,
    heads=2,
    kv_heads=2,
    d_ff=32,
    gated_mlp=False,
    vocab=100,
    seq_len=16,
    encoder=False,
    tied_embeddings=True,
)
RUN = Facts(
    model="mpt-1b",
    stack="foundry",
    gpu="a",
    gpu_class="Ampere datacenter",
    segment="datacenter",
    precision="bf16",
    gpus=8,
    flop_per_token=1e6,
    peak_flop_per_s=1e14,
    bandwidth_bytes_per_s=1e12,
)


def at_mfu(facts: Facts, mfu: float) -> float:
    """Log of the speed that this MFU is."""
    return math.log(mfu * facts.gpus * facts.peak_flop_per_s / facts.flop_per_token)


def speed(found: np.ndarray) -> list[float]:
    return [float(value) for value in np.exp(found)]


def test_six_flop_a_weight_and_twelve_l_d_s_for_attention() -> None:
    # A layer: 4 x 8 x 8 in attention, 2 x 8 x 32 in the block; the head 8 x 100.
    weights = 2 * (256 + 512) + 800
    assert baselines.flop_per_token(SMALL, 16) == 6 * weights + 12 * 2 * 8 * 16 == 17088


@pytest.mark.parametrize(
    ("spec", "weights"),
    [
        (replace(SMALL, gated_mlp=True), 2 * (256 + 3 * 8 * 32) + 800),
        (replace(SMALL, kv_heads=1), 2 * (8 * (8 + 4 + 4 + 8) + 512) + 800),
        (replace(SMALL, encoder=True), 2 * (256 + 512)),
        # two of four experts, and the weights that choose them
        (replace(SMALL, experts=4, experts_per_token=2), 2 * (256 + 2 * 512 + 4 * 8) + 800),
    ],
    ids=["gated", "grouped queries", "encoder", "experts"],
)
def test_only_weights_that_multiply_a_token_count(spec: TransformerSpec, weights: int) -> None:
    assert baselines.flop_per_token(spec, 16) == 6 * weights + 3072


def test_wide_heads_lengthen_attention() -> None:
    assert baselines.flop_per_token(replace(SMALL, head_dim=8), 16) - baselines.flop_per_token(SMALL, 16) == (
        6 * 2 * 4 * 8 * 8 + 12 * 2 * 8 * 16  # projections and attention, both twice as wide
    )


def test_usual_mfu_is_forty_percent_of_the_peak_of_all_gpus() -> None:
    assert speed(baselines.usual_mfu([RUN])) == pytest.approx([0.4 * 8 * 1e14 / 1e6])


def test_mfu_of_a_gpu_is_the_median_of_the_same_code_on_it() -> None:
    others = [replace(RUN, stack="megatron"), replace(RUN, gpu="b")]
    given = [RUN, replace(RUN, gpus=1), replace(RUN, flop_per_token=3e6), *others]
    measured = np.array([at_mfu(f, mfu) for f, mfu in zip(given, [0.2, 0.5, 0.3, 0.9, 0.9], strict=True)])
    asked = [replace(RUN, gpus=2)]
    assert speed(baselines.mfu_by_gpu(asked, given, measured)) == pytest.approx([0.3 * 2 * 1e14 / 1e6])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([("foundry", "b", "Ampere datacenter"), ("foundry", "c", "Hopper datacenter")], 0.1),
        ([("foundry", "c", "Hopper datacenter"), ("megatron", "a", "Ampere datacenter")], 0.1),
        ([("megatron", "a", "Ampere datacenter"), ("megatron", "b", "Ampere datacenter")], 0.1),
        ([("megatron", "b", "Ampere datacenter"), ("megatron", "c", "Hopper datacenter")], 0.1),
        ([("megatron", "c", "Hopper datacenter"), ("megatron", "d", "Ampere consumer")], 0.1),
        ([("megatron", "d", "Ampere consumer")], 0.1),
    ],
    ids=["class before others", "code before GPU", "GPU before class", "class", "segment", "any"],
)
def test_mfu_falls_back_on_what_is_nearest(given: list[tuple[str, str, str]], expected: float) -> None:
    rows = [replace(RUN, stack=stack, gpu=gpu, gpu_class=of, segment=of.split()[1]) for stack, gpu, of in given]
    measured = np.array([at_mfu(facts, 0.1 if at == 0 else 0.7) for at, facts in enumerate(rows)])
    assert speed(baselines.mfu_by_gpu([RUN], rows, measured)) == pytest.approx([expected * 8 * 1e14 / 1e6])


def test_mfu_of_a_class_takes_all_codes_and_cards_of_it() -> None:
    given = [RUN, replace(RUN, stack="megatron", gpu="b"), replace(RUN, gpu="e", gpu_class="Hopper datacenter")]
    measured = np.array([at_mfu(facts, mfu) for facts, mfu in zip(given, [0.2, 0.4, 0.9], strict=True)])
    # of two the middle on the log
    assert speed(baselines.mfu_by_class([RUN], given, measured)) == pytest.approx([0.08**0.5 * 8 * 1e14 / 1e6])


@pytest.mark.parametrize(("peak", "nearest"), [(1.9e14, 1e14), (2.1e14, 4e14)])
def test_the_nearest_gpu_is_that_by_the_log_of_the_ratio(peak: float, nearest: float) -> None:
    given = [RUN, replace(RUN, gpu="d", peak_flop_per_s=4e14)]
    speeds = {1e14: 1000.0, 4e14: 5000.0}
    measured = np.log([speeds[facts.peak_flop_per_s] for facts in given])
    found = baselines.peak_ratio([replace(RUN, gpu="new", peak_flop_per_s=peak)], given, measured)
    assert speed(found) == pytest.approx([speeds[nearest] * peak / nearest])


def test_bandwidth_carries_over_models_and_numbers_of_gpus_by_their_flop() -> None:
    found = baselines.bandwidth_ratio(
        [replace(RUN, model="mpt-3b", gpu="new", bandwidth_bytes_per_s=3e12, gpus=4, flop_per_token=2e6)],
        [RUN],
        np.log([1000.0]),
    )
    assert speed(found) == pytest.approx([1000 * 3 * (4 / 8) * (1e6 / 2e6)])


def test_ratios_look_at_the_family_first_then_at_the_gpu_and_there_at_model_and_precision() -> None:
    asked = replace(RUN, gpu="new", peak_flop_per_s=1.1e14)
    far = replace(RUN, gpu="far", peak_flop_per_s=4e14)
    given = [
        replace(RUN, model="gpt3-175b", peak_flop_per_s=1.1e14),  # the very peak, but another family
        replace(RUN, model="mpt-3b"),  # near, another size
        replace(RUN, precision="fp16"),  # near, this model, another precision
        RUN,
        far,
    ]
    measured = np.log([1.0, 20.0, 300.0, 4000.0, 50000.0])
    assert speed(baselines.peak_ratio([asked], given, measured)) == pytest.approx([4000 * 1.1])
    assert speed(baselines.peak_ratio([asked], given[:3], measured[:3])) == pytest.approx([300 * 1.1])
    assert speed(baselines.peak_ratio([asked], given[:2], measured[:2])) == pytest.approx([20 * 1.1])
    assert speed(baselines.peak_ratio([asked], given[:1], measured[:1])) == pytest.approx([1.0])


@pytest.mark.parametrize(
    ("model", "family"), [("Llama3.1-405b", "llama"), ("mpt-70b", "mpt"), ("gpt oss 120b", "gpt"), ("7b", "")]
)
def test_family_is_the_first_word(model: str, family: str) -> None:
    assert baselines.family_of(model) == family
