"""What makes a run fit, ranked by a simple fake of the step time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.performance.memory import MemorySetup, peak_memory
from planner.performance.remedy import cheapest_change
from tests.unit.performance.hardware import shipped_constants
from tests.unit.workload.test_transformer import LLAMA_7B

CONSTANTS = shipped_constants()
RUN = MemorySetup(spec=LLAMA_7B, parameters=6.74e9, seq_len=4096, micro_batch=4, shards=8, sharding="sharded")
SLOWING = {"none": 1.0, "selective": 1.1, "full": 1.3}


def step_s(setup: MemorySetup) -> float:
    """Ten seconds on eight GPUs; recomputation, small micro-batches and quantised weights slow it down."""
    slowing = SLOWING[setup.checkpointing] * (1 + 0.1 / setup.micro_batch)
    quantised = 1.5 if setup.method == "qlora" else 0.8 if setup.method == "lora" else 1.0
    return 10.0 * slowing * quantised * (8 / setup.shards) ** 0.9


def changes(capacity_bytes: float, **settings: object):
    return cheapest_change(replace(RUN, **settings), capacity_bytes, step_s, CONSTANTS)


def reserved(**settings: object) -> float:
    return peak_memory(replace(RUN, **settings), CONSTANTS).reserved_bytes


def test_what_fits_needs_no_change() -> None:
    assert changes(reserved()) == []


def test_every_change_fits_and_says_its_memory_and_price() -> None:
    capacity = 60e9
    found = changes(capacity)
    assert {change.kinds for change in found} >= {("micro_batch",), ("checkpointing",)}
    for change in found:
        assert change.memory_bytes <= capacity
        assert change.memory_bytes == pytest.approx(peak_memory(change.setup, CONSTANTS).reserved_bytes)
        assert change.added_s == pytest.approx(step_s(change.setup) - step_s(RUN))


def test_the_cheapest_comes_first_and_adapters_come_last() -> None:
    found = changes(60e9)
    keeping = [change for change in found if not change.changes_result]
    assert found[: len(keeping)] == keeping
    assert [change.gpu_s for change in keeping] == sorted(change.gpu_s for change in keeping)
    assert all(change.kinds[0] in ("lora", "qlora") for change in found[len(keeping) :])


def test_a_smaller_micro_batch_is_the_largest_that_fits() -> None:
    (smaller,) = [change for change in changes(60e9) if change.kinds == ("micro_batch",)]
    micro_batch = smaller.setup.micro_batch
    assert micro_batch == int(micro_batch) < 4
    assert reserved(micro_batch=micro_batch) <= 60e9 < reserved(micro_batch=micro_batch + 1)


def test_the_mildest_recomputation_that_fits_is_taken() -> None:
    capacity = reserved(checkpointing="selective")
    (recomputed,) = [change for change in changes(capacity) if change.kinds == ("checkpointing",)]
    assert recomputed.setup.checkpointing == "selective"
    (more,) = [change for change in changes(capacity - 1e6) if change.kinds == ("checkpointing",)]
    assert more.setup.checkpointing == "full"


def test_one_gpu_that_can_not_hold_a_model_is_told_to_share_or_to_train_adapters() -> None:
    found = changes(24e9, micro_batch=1, shards=1, sharding="replicated", seq_len=1024)
    assert found[-1].changes_result and not found[0].changes_result
    assert any("more_gpus" in change.kinds for change in found)
    assert {change.kinds[0] for change in found if change.changes_result} == {"lora", "qlora"}
    shared = next(change for change in found if "more_gpus" in change.kinds)
    assert shared.gpus_factor == shared.setup.shards > 1


def test_changes_are_combined_only_where_no_single_one_is_enough() -> None:
    found = [change for change in changes(20e9) if not change.changes_result]
    fewest = len(found[0].kinds)
    assert fewest > 1
    assert {len(change.kinds) for change in found} == {fewest}


def test_replicated_state_is_shared_among_the_gpus_that_are_there() -> None:
    found = changes(80e9, sharding="replicated", micro_batch=1)
    sharings = [change for change in found if change.kinds == ("sharding",)]
    assert [change.setup.sharding for change in sharings] == ["optimizer"]
    assert sharings[0].gpus_factor == 1


def test_more_gpus_share_everything_so_sharing_is_not_named_beside_them() -> None:
    found = changes(9e9, sharding="optimizer", micro_batch=1)
    assert any("more_gpus" in change.kinds for change in found)
    assert not any({"sharding", "more_gpus"} <= set(change.kinds) for change in found)


def test_an_optimizer_in_eight_bit_is_offered_only_where_it_is_smaller() -> None:
    small = {"micro_batch": 1, "seq_len": 512, "sharding": "replicated", "shards": 1}
    fewer = replace(LLAMA_7B, layers=4)
    for optimizer, capacity, offered in (("adamw-16", 15e9, True), ("adamw-pure-16bit", 10e9, False)):
        found = changes(capacity, spec=fewer, parameters=1.2e9, optimizer=optimizer, **small)
        assert any("optimizer_8bit" in change.kinds for change in found) is offered
        assert found


def test_nothing_helps_where_the_memory_is_tiny() -> None:
    assert changes(1e9) == []


def test_more_gpus_stop_at_the_limit() -> None:
    alone = replace(RUN, shards=1, sharding="replicated", micro_batch=1, seq_len=512)
    found = cheapest_change(alone, 40e9, step_s, CONSTANTS, most_replicas=1)
    assert not any("more_gpus" in change.kinds for change in found)
