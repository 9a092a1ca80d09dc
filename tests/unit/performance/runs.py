"""Runs of the step model as columns, in round numbers unless said."""

from __future__ import annotations

from typing import Any

from planner.catalog.records import Gpu, Precision, TransformerSpec
from planner.performance.constants import Constants
from planner.performance.device import device_of
from planner.performance.scaling import link_of
from planner.performance.step_inputs import StepInputs, StepPlan, numbers_of, stacked
from tests.unit.performance.hardware import gpu, shipped_constants
from tests.unit.workload.test_transformer import GPT2

# Nothing but arithmetic: rates as published, no size penalties, no launches, no waiting.
BARE = shipped_constants(
    bandwidth_share=1.0,
    cache_gain=0.0,
    gemm_efficiency=1.0,
    gemm_efficiency_vendor=1.0,
    gemm_bytes_factor=0.0,
    expert_efficiency=1.0,
    loss_bytes_per_logit=0.0,
    kernel_gap_us=0.0,
    kernel_launch_us=0.0,
    nvlink_share_fsdp=0.5,
    nvlink_share_ddp=0.25,
    network_share=0.5,
    link_latency_us=0.0,
    node_latency_us=0.0,
    gather_latency_us=0.0,
    sync_share_per_doubling=0.0,
    node_jitter_per_doubling=0.0,
)
PARAMETERS = 124e6


def plan(**changes: Any) -> StepPlan:
    """Eight sequences of 1,024 tokens in one pass."""
    usual: dict[str, Any] = {
        "seq_len": 1024,
        "micro_batch": 8,
        "micro_steps": 1.0,
        "checkpointing": "none",
        "sharding": "replicated",
        "fused_attention": True,
        "fused_elementwise": True,
    }
    return StepPlan(**{**usual, **changes})


def numbers(
    *,
    spec: TransformerSpec = GPT2,
    parameters: float = PARAMETERS,
    card: Gpu | None = None,
    gpus: int = 1,
    per_node: int = 8,
    network: float | None = 400.0,
    precision: Precision = "fp16",
    constants: Constants = BARE,
    **changes: Any,
) -> dict[str, Any]:
    """One run as numbers."""
    card = card or gpu()
    link = link_of(card, gpus, per_node, network, constants)
    return numbers_of(spec, parameters, plan(**changes), device_of(card, precision, constants), link)


def columns(**settings: Any) -> StepInputs:
    """One run as columns of one row."""
    return stacked([numbers(**settings)])
