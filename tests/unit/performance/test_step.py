"""A whole step of many runs at once: bubble, optimizer, waiting, and that rows don't touch each other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.performance.step import step_times
from planner.performance.step_compute import pass_s
from planner.performance.step_exchange import pass_exchange_s, rates_of
from planner.performance.step_inputs import StepInputs, stacked
from tests.unit.performance.hardware import geforce, shipped_constants, workstation_card
from tests.unit.performance.runs import BARE, PARAMETERS, columns, numbers
from tests.unit.workload.test_transformer import GPT2, LLAMA_7B, MIXTRAL

SHIPPED = shipped_constants()
PARTS = ("matmul", "attention", "elementwise", "head", "recompute", "launch", "communication", "optimizer", "waiting")


def part(name: str, *, constants=BARE, **changes: Any) -> float:
    found = step_times(columns(constants=constants, **changes), constants)
    assert tuple(found.parts_s) == PARTS
    return float(found.parts_s[name][0])


@pytest.mark.parametrize(("stages", "chunks"), [(2, 1), (4, 1), (4, 3), (12, 1)])
def test_a_pipeline_stands_still_for_its_stages_but_one_over_its_chunks(stages: int, chunks: int) -> None:
    # arXiv:2104.04473, sections 2.2.1 and 2.2.2: (p - 1) passes, over v with v chunks
    layout = {"gpus": 16, "pipeline": stages, "chunks": chunks, "sharding": "optimizer", "micro_steps": 8.0}
    x = columns(**layout)
    one_pass = pass_s(x, BARE).total_s[0] + pass_exchange_s(x, rates_of(x, BARE), BARE)[0]
    assert part("waiting", **layout) == pytest.approx((stages - 1) / chunks * one_pass)
    assert part("waiting", **{**layout, "micro_steps": 64.0}) == pytest.approx(part("waiting", **layout))


def test_every_pass_does_all_of_its_work() -> None:
    run = {"constants": SHIPPED, "gpus": 8, "sharding": "sharded", "checkpointing": "full"}
    one, three = (step_times(columns(micro_steps=n, **run), SHIPPED).parts_s for n in (1.0, 3.0))
    for name in ("matmul", "attention", "elementwise", "head", "recompute", "launch", "communication"):
        assert three[name][0] == pytest.approx(3 * one[name][0]), name
        assert one[name][0] > 0
    assert three["optimizer"][0] == one["optimizer"][0]


def test_the_optimizer_by_hand() -> None:
    constants = replace(BARE, optimizer_bytes_per_parameter=36.0, optimizer_factor=1.5)
    alone = 1.5 * 36 * PARAMETERS / 1e12
    settings = {"constants": constants, "gpus": 64}
    assert part("optimizer", **settings) == pytest.approx(alone)
    assert part("optimizer", sharding="sharded", **settings) == pytest.approx(alone / 64)
    assert part("optimizer", sharding="sharded", shards=8, **settings) == pytest.approx(alone / 8)
    split = {"sharding": "optimizer", "tensor": 4, "pipeline": 2}
    assert part("optimizer", **split, **settings) == pytest.approx(alone / 64)
    adapters = part("optimizer", method="lora", trainable_parameters=PARAMETERS / 100, **settings)
    assert adapters == pytest.approx(alone / 100)


def test_waiting_is_a_share_of_the_step_by_doublings() -> None:
    constants = replace(BARE, sync_share_per_doubling=0.02, node_jitter_per_doubling=0.01)
    found = step_times(columns(gpus=32, constants=constants), constants)
    waiting = found.parts_s["waiting"][0]
    assert waiting / (found.total_s[0] - waiting) == pytest.approx(1.06 * 1.02 - 1)


def test_a_generator_beside_the_model_and_dropped_padding_scale_the_step() -> None:
    constants = replace(BARE, generator_factor=1.25, unpadded_share=0.5)
    usual = step_times(columns(), constants).total_s[0]
    for flags, factor in (({"generator": True}, 1.25), ({"unpadded": True}, 0.5)):
        found = step_times(columns(**flags), constants)
        assert found.total_s[0] == pytest.approx(factor * usual)
        assert found.parts_s["matmul"][0] == pytest.approx(factor * part("matmul"))


def test_a_shared_optimizer_is_mostly_hidden_by_a_vendor() -> None:
    constants = replace(
        BARE, shared_optimizer_exposed=0.1, shared_optimizer_exposed_eager=0.6, all_reduce_gain_vendor=1.0
    )
    layout = {"gpus": 8, "sharding": "optimizer", "constants": constants}
    eager, vendor = (part("communication", software=software, **layout) for software in ("eager", "vendor"))
    assert eager == pytest.approx(0.6 * 7 / 8 * 4 * PARAMETERS / 150e9)
    assert vendor == pytest.approx(0.1 * 7 / 8 * 6 * PARAMETERS / 150e9)


LLAMA = {"spec": LLAMA_7B, "parameters": 6.7e9}
RUNS: tuple[dict[str, Any], ...] = (
    {},
    {**LLAMA, "gpus": 64, "sharding": "sharded", "checkpointing": "full"},
    {**LLAMA, "gpus": 8, "card": geforce(), "method": "qlora", "micro_steps": 3.5},
    {**LLAMA, "gpus": 64, "sharding": "optimizer", "tensor": 4, "pipeline": 4, "chunks": 2, "software": "vendor"},
    {"spec": MIXTRAL, "parameters": 46.7e9, "gpus": 64, "sharding": "optimizer", "expert": 8, "software": "vendor"},
    {"spec": replace(GPT2, encoder=True), "fused_attention": False, "fused_elementwise": False, "generator": True},
    {"gpus": 16, "context": 4, "checkpointing": "selective", "software": "compiled"},
    {"card": workstation_card(architecture="Volta"), "method": "lora", "gpus": 2, "head_share": 0.16},
)


def test_runs_computed_together_are_runs_computed_alone() -> None:
    together = step_times(stacked([numbers(constants=SHIPPED, **run) for run in RUNS]), SHIPPED)
    assert together.total_s.shape == (len(RUNS),)
    assert np.all(np.isfinite(together.total_s)) and np.all(together.total_s > 0)
    for at, run in enumerate(RUNS):
        alone = step_times(columns(constants=SHIPPED, **run), SHIPPED)
        assert together.total_s[at] == pytest.approx(alone.total_s[0], rel=1e-12)
        for name in PARTS:
            assert together.parts_s[name][at] == pytest.approx(alone.parts_s[name][0], rel=1e-12, abs=1e-18), name
        assert together.launch_bound[at] == alone.launch_bound[0]


def test_parts_add_up_and_none_is_negative() -> None:
    found = step_times(stacked([numbers(constants=SHIPPED, **run) for run in RUNS]), SHIPPED)
    np.testing.assert_allclose(sum(found.parts_s.values()), found.total_s)
    for name, seconds in found.parts_s.items():
        assert np.all(seconds >= -1e-12), name


FASTER = {
    "memory": ("bandwidth_bytes_per_s",),
    "matmul": ("matmul_flop_per_s", "linear_flop_per_s", "head_flop_per_s"),
    "attention": ("attention_flop_per_s", "vendor_attention_flop_per_s"),
    "nvlink": ("nvlink_bytes_per_s",),
    "bus": ("bus_bytes_per_s",),
    "network": ("fabric_bytes_per_s",),
    "all-reduce": ("all_reduce_bytes_per_s",),
    "cache": ("cache_bytes",),
}


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    run=st.sampled_from(RUNS),
    what=st.sampled_from(sorted(FASTER)),
    factor=st.floats(1.0, 100.0),
    micro_batch=st.floats(0.25, 64.0),
    seq_len=st.integers(1, 32768),
    cache=st.floats(0.0, 1e9),
)
def test_more_of_anything_is_never_slower(
    run: dict[str, Any], what: str, factor: float, micro_batch: float, seq_len: int, cache: float
) -> None:
    usual: StepInputs = columns(constants=SHIPPED, **{**run, "micro_batch": micro_batch, "seq_len": seq_len})
    usual = replace(usual, cache_bytes=np.array([cache]))
    faster = replace(usual, **{name: factor * getattr(usual, name) for name in FASTER[what]})
    assert step_times(faster, SHIPPED).total_s[0] <= step_times(usual, SHIPPED).total_s[0] * (1 + 1e-9)


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(run=st.sampled_from(RUNS), micro_steps=st.floats(1.0, 512.0), factor=st.floats(1.0, 8.0))
def test_more_work_is_never_faster_and_tokens_never_dearer(
    run: dict[str, Any], micro_steps: float, factor: float
) -> None:
    few, many = (
        step_times(columns(constants=SHIPPED, **{**run, "micro_steps": steps}), SHIPPED).total_s[0]
        for steps in (micro_steps, micro_steps * factor)
    )
    assert few <= many * (1 + 1e-9)
    assert many <= factor * few * (1 + 1e-9)
