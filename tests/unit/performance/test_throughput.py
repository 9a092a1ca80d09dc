import math
from dataclasses import replace

import pytest

from planner.performance.device import device_of
from planner.performance.scaling import link_of
from planner.performance.step_compute import paced_s
from planner.performance.throughput import StepPlan, transformer_step
from tests.unit.performance.hardware import figure, geforce, gpu, shipped_constants
from tests.unit.workload.test_transformer import GPT2

CONSTANTS = shipped_constants()
PLAN = StepPlan(
    seq_len=1024,
    micro_batch=8,
    micro_steps=1.0,
    checkpointing="none",
    sharding="replicated",
    fused_attention=True,
    fused_elementwise=True,
)


def step(plan=PLAN, *, card=None, gpus=1, spec=GPT2, constants=CONSTANTS, precision="fp16", network=None):
    card = card or gpu()
    device = device_of(card, precision, constants)
    link = link_of(card, gpus, 8, network, constants)
    return transformer_step(spec, 124e6, plan, device, link, constants)


def test_parts_add_up_to_the_step():
    found = step()
    assert found.total_s == pytest.approx(sum(found.parts_s.values()))
    assert all(seconds >= 0 for seconds in found.parts_s.values())


def test_a_stack_that_was_measured_faster_is_so_in_every_part():
    usual, faster = step(), step().faster(math.log(2))
    assert {name: 2 * seconds for name, seconds in faster.parts_s.items()} == pytest.approx(dict(usual.parts_s))
    assert faster.launch_bound == usual.launch_bound


def test_matmul_time_by_hand():
    bare = shipped_constants(gemm_efficiency=1.0, gemm_bytes_factor=0.0)
    weights = 12 * (4 * 768**2 + 2 * 768 * 3072)
    assert step(constants=bare).parts_s["matmul"] == pytest.approx(6 * 8 * 1024 * weights / 80e12)


def test_flash_attention_by_hand():
    bare = shipped_constants(attention_efficiency=0.5, attention_share_ampere=0.6)
    forward = 12 * 2 * 8 * 1024 * 1024 * 768 / (100e12 * 0.6 * 0.5)  # causal: half of 4 s d a token
    assert step(constants=bare).parts_s["attention"] == pytest.approx(3.5 * forward)


def test_more_passes_repeat_the_work_but_not_the_optimizer():
    once, twice = step(), step(replace(PLAN, micro_steps=2.0))
    assert twice.parts_s["matmul"] == pytest.approx(2 * once.parts_s["matmul"])
    assert twice.parts_s["optimizer"] == once.parts_s["optimizer"]


def test_recomputation_repeats_a_forward_pass_or_the_attention():
    constants = shipped_constants(recompute_share=1.0, selective_matmul_share=0.25)
    full = step(replace(PLAN, checkpointing="full"), constants=constants).parts_s
    assert full["recompute"] == pytest.approx(full["matmul"] / 3 + full["attention"] / 3.5 + full["elementwise"] / 3)
    eager, vendor = (
        step(replace(PLAN, checkpointing="selective", software=software), constants=constants).parts_s
        for software in ("eager", "vendor")
    )
    assert vendor["recompute"] == pytest.approx(vendor["attention"] / 3.5)
    assert eager["recompute"] == pytest.approx(eager["attention"] / 3.5 + 0.25 * eager["matmul"] / 3)
    assert step().parts_s["recompute"] == 0.0


def test_plain_attention_pays_for_the_score_matrix():
    assert step(replace(PLAN, fused_attention=False)).total_s > step().total_s


def test_an_encoder_has_no_head_over_its_tokens():
    assert step(spec=replace(GPT2, encoder=True)).parts_s["head"] == 0.0


def test_small_batches_are_paced_by_the_host():
    small = step(replace(PLAN, micro_batch=1, seq_len=64))
    assert small.launch_bound
    assert small.total_s >= 12 * 3 * CONSTANTS.kernels_per_layer * CONSTANTS.kernel_launch_us / 1e6
    assert not step(replace(PLAN, micro_batch=64)).launch_bound


def test_the_pace_is_about_the_longer():
    assert paced_s(3.0, 0.0) == pytest.approx(3.0)
    assert paced_s(1.0, 1.0) == pytest.approx(2**0.25)


def test_replicas_exchange_once_and_shards_in_every_pass():
    replicated = [step(replace(PLAN, micro_steps=n), card=geforce(), gpus=2).parts_s["communication"] for n in (1, 4)]
    sharded = [
        step(replace(PLAN, micro_steps=n, sharding="sharded"), card=geforce(), gpus=2).parts_s["communication"]
        for n in (1, 4)
    ]
    assert replicated[1] == replicated[0]
    assert sharded[1] == pytest.approx(4 * sharded[0])


def test_shards_divide_the_optimizer():
    alone = step(gpus=8).parts_s["optimizer"]
    assert step(replace(PLAN, sharding="sharded"), gpus=8).parts_s["optimizer"] == pytest.approx(alone / 8)


def test_twice_the_bandwidth_is_never_slower():
    wide = gpu(memory_bandwidth_gb_per_s=replace(gpu().memory_bandwidth_gb_per_s, value=2000))
    assert step(card=wide).total_s < step().total_s


def test_tensor_parallelism_divides_the_work_and_adds_exchange():
    alone, split = step(gpus=8), step(replace(PLAN, sharding="optimizer", tensor=8), gpus=8)
    assert split.parts_s["attention"] == pytest.approx(alone.parts_s["attention"] / 8)
    assert split.parts_s["elementwise"] == pytest.approx(alone.parts_s["elementwise"] / 8)
    assert split.parts_s["matmul"] < alone.parts_s["matmul"] / 4  # each matmul still reads all its inputs
    assert split.parts_s["communication"] > 0


def test_a_pipeline_divides_the_layers_and_waits_to_fill():
    plan = replace(PLAN, sharding="optimizer", pipeline=4, micro_steps=8.0)
    whole, staged = step(replace(PLAN, micro_steps=8.0), gpus=16), step(plan, gpus=16)
    assert staged.parts_s["matmul"] == pytest.approx(whole.parts_s["matmul"] / 4)
    # on the last stage, for which all wait but where stages are balanced
    assert staged.parts_s["head"] == pytest.approx(CONSTANTS.head_share_pipeline * whole.parts_s["head"])
    interleaved = step(replace(plan, chunks=3), gpus=16)
    assert whole.parts_s["waiting"] < interleaved.parts_s["waiting"] < staged.parts_s["waiting"]


def test_full_recomputation_repeats_the_exchange():
    plan = replace(PLAN, sharding="optimizer", tensor=8)
    selective, full = (step(replace(plan, checkpointing=c), gpus=8) for c in ("selective", "full"))
    assert full.parts_s["communication"] == pytest.approx(1.5 * selective.parts_s["communication"])


def test_groups_of_shards_gather_less_far():
    plan = replace(PLAN, sharding="sharded", micro_steps=64.0)
    everywhere = step(plan, gpus=64, card=gpu(), network=100)
    in_the_node = step(replace(plan, shards=8), gpus=64, card=gpu(), network=100)
    assert in_the_node.parts_s["communication"] < everywhere.parts_s["communication"]
    assert in_the_node.parts_s["optimizer"] == pytest.approx(8 * everywhere.parts_s["optimizer"])


def test_the_vendors_kernels_are_faster_at_attention_on_hopper_alone():
    def attention(architecture, software):
        return step(replace(PLAN, software=software), card=gpu(architecture=architecture)).parts_s["attention"]

    assert attention("Hopper", "vendor") < attention("Hopper", "eager")
    assert attention("Ampere", "vendor") == pytest.approx(attention("Ampere", "eager"))


def test_fp8_leaves_the_head_in_16_bit():
    rates = {"fp32": 20, "fp16": 100, "bf16": 100, "fp8": 200}
    card = gpu(dense_tflop_per_s={name: figure(rate) for name, rate in rates.items()})
    eight, sixteen = step(card=card, precision="fp8"), step(card=card, precision="bf16")
    assert eight.parts_s["head"] == pytest.approx(sixteen.parts_s["head"])
    assert eight.parts_s["matmul"] < sixteen.parts_s["matmul"]
