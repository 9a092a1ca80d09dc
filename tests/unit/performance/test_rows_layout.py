"""How a measured run is spread and cut: as said, and by rule where it isn't."""

from __future__ import annotations

import pytest

from planner.performance.rows.layout import gpus_per_node, plans_of
from tests.unit.performance.rows import CONSTANTS, NO_SHAPE, only_plan, plans, subject

MANY = {"n_gpus": 64, "gpus_per_node": 8}


def spread(plan):
    return plan.tensor, plan.pipeline, plan.context, plan.chunks, plan.sharding, plan.shards


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("ddp", (1, 1, 1, 1, "replicated", 1)),
        ("fsdp", (1, 1, 1, 1, "sharded", 64)),
        ("fsdp8", (1, 1, 1, 1, "sharded", 8)),
        ("hsdp", (1, 1, 1, 1, "sharded", 8)),  # the shards of a node
        ("fsdp8-cp2", (1, 1, 2, 1, "sharded", 8)),
        ("fsdp-cp2", (1, 1, 2, 1, "sharded", 64)),  # ranks of one sequence share the state too
        ("zero1", (1, 1, 1, 1, "optimizer", 64)),
        ("tp1-zero1(8)-dp64", (1, 1, 1, 1, "optimizer", 8)),
        ("tp8-pp4-dp2", (8, 4, 1, 1, "optimizer", 2)),
        ("tp8-pp4-vp2-dp2", (8, 4, 1, 2, "optimizer", 2)),
    ],
)
def test_a_layout_that_is_said(said: str, expected: tuple[object, ...]) -> None:
    assert spread(only_plan(parallelism=said, **MANY)) == expected
    assert "parallelism by rule" not in subject(parallelism=said, **MANY).choices


def test_experts_that_are_spread() -> None:
    assert only_plan(parallelism="tp1-pp1-ep8-dp64", **MANY).expert == 8


def test_a_vendors_replicas_share_the_optimizer() -> None:
    assert only_plan(parallelism="ddp", software_tier="vendor", **MANY).sharding == "optimizer"
    assert only_plan(parallelism="ddp", software_tier="vendor", task="lora", **MANY).sharding == "replicated"
    assert only_plan(parallelism="ddp", software_tier="vendor", model="bert-x", **MANY).sharding == "replicated"


def test_nodes_have_at_most_eight_gpus_unless_said() -> None:
    assert [gpus_per_node(subject(n_gpus=n)) for n in (None, 1, 4, 8, 64)] == [1, 1, 4, 8, 8]
    assert gpus_per_node(subject(n_gpus=64, gpus_per_node=16)) == 16


def test_unsaid_layouts_of_code_that_does_not_split() -> None:
    assert spread(only_plan(n_gpus=1)) == (1, 1, 1, 1, "replicated", 1)
    assert spread(only_plan(**MANY)) == (1, 1, 1, 1, "sharded", 64)
    assert only_plan(model="bert-large", **MANY).sharding == "replicated"
    run = subject(**MANY)
    plans_of(run, CONSTANTS)
    assert "parallelism by rule" in run.choices
    alone = subject(n_gpus=1)
    plans_of(alone, CONSTANTS)
    assert "parallelism by rule" not in alone.choices


def test_adapters_are_sharded_only_where_the_model_does_not_fit_whole() -> None:
    large = {**NO_SHAPE, "n_params": 70e9}
    assert only_plan(task="lora").sharding == "replicated"
    assert only_plan(task="lora", model="own-70b", **large).sharding == "sharded"
    assert only_plan(task="qlora", model="own-70b", **large).sharding == "replicated"


@pytest.mark.parametrize(("accumulation", "micro", "split"), [(4, 1, 2), (8, None, 4), (4, 2, 4), (2, None, 1)])
def test_gpus_times_accumulation_over_the_batch_split_a_vendors_model(
    accumulation: int, micro: int | None, split: int
) -> None:
    found = plans(
        software_tier="vendor", global_batch_seqs=128, grad_accum=accumulation, micro_batch_seqs=micro, **MANY
    )
    assert {plan.tensor * plan.pipeline for plan in found} == {split}
    assert {plan.sharding for plan in found} == {"optimizer"}
    assert {plan.shards for plan in found} == {64 // split}
    assert len({spread(plan) for plan in found}) == len(found)


def test_splits_stay_in_the_node_and_stages_are_nearly_even() -> None:
    batch = {"global_batch_seqs": 4, "grad_accum": 1}  # 16 GPUs a sequence
    found = plans(software_tier="vendor", **batch, **MANY)
    assert {(plan.tensor, plan.pipeline, plan.chunks) for plan in found} == {
        (1, 16, 2), (2, 8, 4), (4, 4, 4), (8, 2, 4),
    }  # fmt: skip
    uneven = plans(software_tier="vendor", n_layers=18, **batch, **MANY)
    assert {(plan.tensor, plan.pipeline) for plan in uneven} == {(8, 2)}
    few_heads = plans(software_tier="vendor", n_heads=4, **batch, **MANY)
    assert max(plan.tensor for plan in few_heads) == 4


def test_a_vendors_model_is_split_as_little_as_fits() -> None:
    assert only_plan(software_tier="vendor", **MANY).tensor == 1
    gpt3 = {"model": "own-175b", "n_params": 175e9, "n_layers": 96, "d_model": 12288, "n_heads": 96, "d_ff": 49152}
    found = plans(software_tier="vendor", **gpt3, **MANY)
    # 6 bytes a weight and 12 over the replicas, in 0.8 of 85.5 GB
    assert {plan.tensor * plan.pipeline for plan in found} == {32}


def test_a_vendors_adapters_are_split_in_the_node() -> None:
    shape = {"n_params": 70e9, "n_layers": 80, "d_model": 8192, "n_heads": 64, "n_kv_heads": 8, "d_ff": 28672}
    large = {**shape, "model": "own-70b", "task": "lora", "software_tier": "vendor"}
    found = only_plan(n_gpus=8, **large)
    assert (found.tensor, found.context) == (4, 1)  # 140 GB of frozen weights
    batch = {"global_batch_seqs": 8, "grad_accum": 2}
    assert (only_plan(**large, **batch, **MANY).tensor, only_plan(**large, **batch, **MANY).context) == (8, 2)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("none", "none"),
        ("No", "none"),
        ("full", "full"),
        ("full-block", "full"),
        ("selective", "selective"),
        ("selective-per-op", "selective"),
    ],
)
def test_recomputation_that_is_said(said: str, expected: str) -> None:
    assert only_plan(activation_checkpointing=said).checkpointing == expected


def test_full_recomputation_only_where_it_does_not_fit_without() -> None:
    unsaid = {"activation_checkpointing": None}
    fits, tight = {"micro_batch_seqs": 1, **unsaid}, {"micro_batch_seqs": 32, **unsaid}
    assert only_plan(**fits).checkpointing == "none"
    assert only_plan(**tight).checkpointing == "full"
    # a vendor's layout was made to fit, and encoders are small
    assert only_plan(software_tier="vendor", parallelism="ddp", **tight).checkpointing == "none"
    assert only_plan(model="bert-large", **tight).checkpointing == "none"
    # with an open micro-batch, recomputation may pay by a larger one
    both = plans(parallelism="fsdp")
    assert [plan.checkpointing for plan in both] == ["none", "full"]
    assert both[0].micro_batch < both[1].micro_batch
    settled = {"parallelism": "fsdp", "global_batch_seqs": 64, "grad_accum": 4}
    assert only_plan(**settled, **unsaid).checkpointing == "none"


def cut(**changes):
    run = subject(**changes)
    ((plan, batch),) = plans_of(run, CONSTANTS)
    return plan.micro_batch, plan.micro_steps, batch


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # sequences of a pass, passes, sequences of a step of eight replicas
        ({"micro_batch_seqs": 2, "global_batch_seqs": 64}, (2, 4, 64)),
        ({"micro_batch_seqs": 2, "grad_accum": 3}, (2, 3, 48)),
        ({"micro_batch_seqs": 2}, (2, 1, 16)),
        ({"grad_accum": 4, "global_batch_seqs": 64}, (2, 4, 64)),
        ({"micro_batch_seqs": 16, "global_batch_seqs": 64}, (8, 1, 64)),  # never more than there are
        ({"micro_batch_seqs": 3, "global_batch_seqs": 64}, (3, 8 / 3, 64)),  # a last pass that isn't full
        ({"global_batch_seqs": 16}, (2, 1, 16)),  # the largest power of two up to the local batch
    ],
)
def test_batches(changes: dict[str, int], expected: tuple[float, float, float]) -> None:
    assert cut(parallelism="fsdp", activation_checkpointing="full", **changes) == pytest.approx(expected)


def test_an_open_micro_batch_is_the_largest_power_of_two_that_fits() -> None:
    tight, roomy = (cut(parallelism="fsdp", activation_checkpointing=kind)[0] for kind in ("none", "full"))
    assert 1 <= tight < roomy <= 64
    assert all(size == 2 ** int(size).bit_length() // 2 for size in (tight, roomy))


def test_with_a_pipeline_and_no_accumulation_a_large_micro_batch_is_the_local_batch() -> None:
    layout = {"parallelism": "tp8-pp8-dp1", "software_tier": "vendor", **MANY}
    assert cut(micro_batch_seqs=16, global_batch_seqs=16, **layout) == (1, 16, 16)
    assert cut(micro_batch_seqs=16, global_batch_seqs=16, grad_accum=2, **layout) == (16, 1, 16)
    assert cut(micro_batch_seqs=4, global_batch_seqs=16, **layout) == (4, 4, 16)
    flat = {"parallelism": "tp8-dp8", "software_tier": "vendor", **MANY}
    assert cut(micro_batch_seqs=2, global_batch_seqs=16, **flat) == (2, 1, 16)


@pytest.mark.parametrize(("said", "beside"), [("1", True), ("True", True), ("0", False), ("no", False), (None, False)])
def test_transfers_beside_the_matmuls_where_a_table_says_so(said: str | None, beside: bool) -> None:
    assert only_plan(parallelism="tp8-fsdp8", async_tp=said, **MANY).overlapped_tensor is beside


def test_only_predicted_positions_of_encoders_have_a_head() -> None:
    assert only_plan(model="bert-large").head_share == 0.16
    assert only_plan(model="bert-large", task="full-finetune").head_share == 0.0
    assert only_plan().head_share == 1.0


def test_electra_trains_a_generator_and_some_codes_drop_padding() -> None:
    assert only_plan(model="electra-base").generator
    assert not only_plan(model="electra-base", task="full-finetune").generator
    apex = {"model": "bert-large", "framework": "PyTorch+apex (NGC)"}
    assert only_plan(seq_len=512, **apex).unpadded
    assert not only_plan(seq_len=128, **apex).unpadded
    assert not only_plan(seq_len=512, model="bert-large").unpadded
