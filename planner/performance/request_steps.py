"""Time of an optimizer step of a request under choices of settings, those of a transformer all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner.performance.constants import Constants
from planner.performance.device import device_of
from planner.performance.fitting import Choice, is_fused, memory_setup, software_of
from planner.performance.layout import Layout
from planner.performance.memory.setup import adapter_parameters
from planner.performance.request import Request
from planner.performance.scaling import link_of
from planner.performance.stacks import load_stacks
from planner.performance.throughput import StepPlan, StepTime, transformer_steps
from planner.performance.vision import vision_step

ENCODER_STACK, FUSED_STACK = "lambda-pytorch", "llm-foundry"


def units_per_sample(request: Request) -> float:
    """Tokens of a sequence where work is counted in tokens, else 1."""
    return float(request.seq_len or 1) if request.setup.workload.unit == "tokens" else 1.0


def request_steps(
    request: Request,
    choices: Sequence[Choice],
    batches: Sequence[int],
    constants: Constants,
    *,
    kernels: Mapping[str, Any] | None = None,
) -> list[StepTime]:
    """Time of a step under each choice, those of a transformer in one go.

    `kernels` replaces what the usual code of a transformer has: `fused_attention`, `fused_elementwise`.
    """
    setup = request.setup
    workload = setup.workload
    device = device_of(setup.gpu, request.precision, constants)
    link = link_of(setup.gpu, setup.gpus, setup.gpus_per_node, setup.network_gbit_per_s, constants)
    # A last micro-batch that is not full counts by its share.
    passes = [batch / choice.layout.ranks / choice.micro_batch for choice, batch in zip(choices, batches, strict=True)]
    if workload.transformer is None:
        vision = workload.vision
        assert vision is not None
        return [
            vision_step(vision, workload.parameters.value, choice.micro_batch, count, device, link, constants)
            for choice, count in zip(choices, passes, strict=True)
        ]
    plans = [
        replace(_plan(request, choice, count), **(kernels or {})) for choice, count in zip(choices, passes, strict=True)
    ]
    steps = transformer_steps(workload.transformer, workload.parameters.value, plans, device, link, constants)
    return [step.faster(_stack_offset(request, choice.layout)) for step, choice in zip(steps, choices, strict=True)]


def _stack_offset(request: Request, layout: Layout) -> float:
    """Log by which the code that the formulas stand for was measured to be faster: of encoders, and of fused decoders.

    Others may be any code, and adapters are trained with other code.
    """
    assert request.setup.workload.transformer is not None
    if request.adapters:
        return 0.0
    fused = software_of(request, layout) == "fused"
    id = ENCODER_STACK if request.setup.workload.transformer.encoder else FUSED_STACK if fused else ""
    return sum(stack.offset for stack in load_stacks() if stack.id == id)


def _plan(request: Request, choice: Choice, micro_steps: float) -> StepPlan:
    workload, layout = request.setup.workload, choice.layout
    assert request.seq_len is not None and workload.transformer is not None
    software = software_of(request, layout)
    # Norms and gated blocks of today's models are many eager kernels, those of older ones few.
    fused = is_fused(workload) and (software != "eager" or not workload.transformer.gated_mlp)
    return StepPlan(
        seq_len=request.seq_len,
        micro_batch=choice.micro_batch,
        micro_steps=micro_steps,
        checkpointing=choice.checkpointing,
        sharding=layout.sharding,
        fused_attention=is_fused(workload),
        fused_elementwise=fused,
        software=software,
        shards=layout.shards,
        tensor=layout.tensor,
        pipeline=layout.pipeline,
        chunks=layout.chunks,
        method=request.setup.method,
        trainable_parameters=trained_parameters(request) if request.adapters else None,
    )


def trained_parameters(request: Request) -> float:
    """Parameters that a run trains: all, or those of its adapters. [-]"""
    if not request.adapters:
        return request.setup.workload.parameters.value
    return adapter_parameters(memory_setup(request, "none", Layout(sharding="replicated", gpus=1)))
