"""What one pass computes, by hand: GPT-2 small on a card of 80 TFLOP/s reached and 1 TB/s."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.performance.step_compute import gemm_share, pass_s, pass_tokens, stage_layers
from tests.unit.performance.hardware import figure, gpu
from tests.unit.performance.runs import BARE, columns
from tests.unit.workload.test_transformer import LLAMA_7B, MIXTRAL

TOKENS = 8 * 1024
RATE, BANDWIDTH = 80e12, 1e12


def one(part, *, constants=BARE, **settings):
    """Seconds of a part of a pass."""
    found = getattr(pass_s(columns(constants=constants, **settings), constants), f"{part}_s")
    assert found.shape == (1,)
    return float(found[0])


def test_one_matmul_by_hand() -> None:
    # the head is one matmul forward and two backward; each touches input, output and weight, 2 bytes an element
    weight = 768 * 50257
    arithmetic = 2 * TOKENS * weight / RATE
    assert one("head") == pytest.approx(3 * arithmetic)
    touched = 2 * (TOKENS * (768 + 50257) + weight)
    penalised = replace(BARE, gemm_bytes_factor=1.5)
    assert one("head", constants=penalised) == pytest.approx(3 * (arithmetic + 1.5 * touched / BANDWIDTH))
    loss = replace(BARE, loss_bytes_per_logit=20.0)
    assert one("head", constants=loss) == pytest.approx(3 * arithmetic + 20 * TOKENS * 50257 / BANDWIDTH)
    assert one("head", head_share=0.25) == pytest.approx(3 * arithmetic / 4)
    assert one("head", tensor=8, gpus=8) == pytest.approx(3 * arithmetic / 8)


def test_positions_without_a_head_cost_nothing() -> None:
    assert one("head", head_share=0.0, constants=replace(BARE, gemm_bytes_factor=1.0)) == 0.0


def test_layers_and_tokens_of_one_gpu() -> None:
    x = columns(gpus=64, pipeline=5, context=4, tensor=2, sharding="optimizer")
    assert stage_layers(x).tolist() == [3.0]  # of twelve, on the fullest of five stages
    assert pass_tokens(x).tolist() == [TOKENS / 4]


def test_context_parallelism_divides_tokens_and_not_what_they_look_at() -> None:
    for part in ("matmul", "attention", "elementwise", "head"):
        assert one(part, context=4, gpus=4) == pytest.approx(one(part) / 4)


def test_attention_over_scores_by_hand() -> None:
    constants = replace(BARE, unfused_attention_share=0.5, unfused_score_passes=7.0)
    settings = {"constants": constants, "fused_attention": False}
    products = 12 * 2 * TOKENS * 1024 * 2 * 768 / (RATE * 0.5)  # no half is masked
    passes = 12 * 7 * 2 * TOKENS * 12 * 1024 / BANDWIDTH
    assert one("attention", **settings) == pytest.approx((products + passes) + (2 * products + passes))


def test_a_cache_speeds_up_what_it_holds() -> None:
    def cached(megabytes, **settings):
        card = gpu(spec=replace(gpu().spec, l2_mb=figure(megabytes)))
        return one("elementwise", card=card, constants=replace(BARE, cache_gain=0.5), **settings)

    plain = one("elementwise")
    small = TOKENS * 768 * 2 / 2**20  # of one tensor, in the units of a cache
    assert cached(2 * small) == pytest.approx(plain / 1.5)  # an input and an output
    assert cached(20 * small) == pytest.approx(plain / 1.5)
    assert cached(small) == pytest.approx(plain / 1.25)
    assert cached(0) == plain


def test_frozen_weights_need_no_gradients_of_their_own() -> None:
    alone = replace(BARE, adapter_backward_share=0.0)
    assert one("matmul", method="lora", constants=alone) == pytest.approx(one("matmul") * 2 / 3)
    adapters = replace(BARE, adapter_backward_share=0.1)  # the adapters' own matmuls
    assert one("matmul", method="lora", constants=adapters) == pytest.approx(one("matmul") * 2.1 / 3)
    assert one("head", method="lora") == pytest.approx(one("head") * 2 / 3)
    assert one("attention", method="lora") == one("attention")


def test_weights_in_4_bit_are_unpacked_for_each_pass() -> None:
    weights = 12 * (4 * 768**2 + 2 * 768 * 3072)
    unpacking = weights * (0.5 + 2 + 2) / BANDWIDTH
    lora, qlora = one("matmul", method="lora"), one("matmul", method="qlora")
    assert qlora - lora == pytest.approx(2 * unpacking)
    repeated = [one("recompute", method=method, checkpointing="full") for method in ("lora", "qlora")]
    assert repeated[1] - repeated[0] == pytest.approx(unpacking)


def test_experts_compute_the_active_and_read_all() -> None:
    settings = {"spec": MIXTRAL, "seq_len": 4096, "micro_batch": 1}
    active = 32 * (4096 * (2 * 4096 + 2 * 1024) + 2 * 3 * 4096 * 14336)
    assert one("matmul", **settings) == pytest.approx(6 * 4096 * active / RATE)
    more = {**settings, "spec": replace(MIXTRAL, experts=16)}
    assert one("matmul", **more) == one("matmul", **settings)
    reading = replace(BARE, gemm_bytes_factor=1.0, expert_bytes_factor=0.0)
    added = 32 * 8 * 3 * 4096 * 14336 * 2  # bytes of eight more experts a layer
    difference = one("matmul", constants=reading, **more) - one("matmul", constants=reading, **settings)
    assert difference == pytest.approx(3 * added / BANDWIDTH)
    spread = [one("matmul", constants=reading, expert=8, gpus=8, **of) for of in (more, settings)]
    assert spread[0] - spread[1] == pytest.approx(difference / 8)


def test_small_matmuls_of_experts_are_slower() -> None:
    settings = {"spec": replace(MIXTRAL, shared_d_ff=14336), "seq_len": 4096}
    slow = one("matmul", constants=replace(BARE, expert_efficiency=0.5), **settings)
    experts = 6 * 8 * 4096 * 32 * 2 * 3 * 4096 * 14336 / RATE  # the shared one counts as dense
    assert slow - one("matmul", **settings) == pytest.approx(experts)


SHARES = replace(
    BARE,
    gemm_efficiency=0.9,
    gemm_efficiency_compiled=0.95,
    gemm_efficiency_vendor=1.1,
    gemm_share_blackwell=0.8,
    gemm_share_no_tensor_cores=0.7,
    gemm_share_volta_compiled=0.5,
)


@pytest.mark.parametrize(
    ("architecture", "segment", "software", "expected"),
    [
        ("Ampere", "datacenter", "eager", 0.9),
        ("Ampere", "datacenter", "fused", 0.9),
        ("Ampere", "datacenter", "compiled", 0.95),
        ("Hopper", "datacenter", "vendor", 1.1),
        ("Blackwell", "datacenter", "vendor", 1.1 * 0.8),
        ("Blackwell", "consumer", "eager", 0.9),
        ("Pascal", "datacenter", "eager", 0.9 * 0.7),
        ("Volta", "datacenter", "eager", 0.9),
        ("Volta", "datacenter", "compiled", 0.95 * 0.5),
    ],
)
def test_the_share_of_the_matmul_rate_by_software_and_gpu(architecture, segment, software, expected) -> None:
    x = columns(card=gpu(architecture=architecture, segment=segment), software=software)
    assert gemm_share(x, SHARES)[0] == pytest.approx(expected)


def test_kernels_are_fused_or_not() -> None:
    constants = replace(
        BARE,
        elementwise_factor_fused=0.5,
        elementwise_factor_unfused=1.5,
        elementwise_factor_vendor=0.4,
        elementwise_factor_vendor_unfused=1.2,
    )

    def seconds(software, fused):
        return one("elementwise", constants=constants, software=software, fused_elementwise=fused)

    moved = 3 * 12 * TOKENS * 2 * (14 * 768 + 2 * 3072 + 3 * 768) / BANDWIDTH
    assert seconds("eager", True) == pytest.approx(0.5 * moved)
    assert seconds("compiled", False) == pytest.approx(1.5 * moved)
    assert seconds("vendor", True) == pytest.approx(0.4 * moved)
    assert seconds("vendor", False) == pytest.approx(1.2 * moved)


def test_8_bit_pays_for_conversions() -> None:
    card = gpu(dense_tflop_per_s={"fp16": figure(100), "bf16": figure(100), "fp8": figure(200)})
    constants = replace(BARE, fp8_cast_bytes=4.0, fp8_efficiency=0.5)
    settings = {"card": card, "constants": constants, "spec": LLAMA_7B}
    eight = one("elementwise", precision="fp8", **settings)
    casts = 3 * 32 * TOKENS * 4 * (2 * 4096 + 4 * 4096 + 3 * 11008) / BANDWIDTH
    assert eight - one("elementwise", precision="bf16", **settings) == pytest.approx(casts)
    # twice the rate at half the efficiency
    assert one("matmul", precision="fp8", **settings) == pytest.approx(one("matmul", precision="bf16", **settings))


def test_the_host_launches_kernels_of_every_pass() -> None:
    constants = replace(
        BARE, kernels_per_layer=10, kernel_launch_us=1e4, launch_share_vendor=0.5, launch_share_modern=0.2
    )

    def paced(**settings):
        found = pass_s(columns(constants=constants, **settings), constants)
        assert found.launch_bound[0]
        return float(found.total_s[0])

    host = 12 * 10 * 3 * 1e-2
    assert paced() == pytest.approx(host, rel=1e-3)
    assert paced(checkpointing="full") == pytest.approx(host * 4 / 3, rel=1e-3)
    assert paced(method="lora") == pytest.approx(host * 2.5 / 3, rel=1e-3)
    assert paced(software="vendor") == pytest.approx(host / 2, rel=1e-3)
    assert paced(software="vendor", card=gpu(architecture="Hopper")) == pytest.approx(host / 5, rel=1e-3)
    assert paced(card=gpu(architecture="Hopper")) == pytest.approx(host, rel=1e-3)


def test_parts_make_up_the_pass() -> None:
    constants = replace(BARE, kernel_gap_us=5.0, kernel_launch_us=20.0)
    found = pass_s(columns(constants=constants, checkpointing="full"), constants)
    parts = ("matmul", "attention", "elementwise", "head", "recompute", "launch")
    assert sum(float(getattr(found, f"{part}_s")[0]) for part in parts) == pytest.approx(float(found.total_s[0]))
