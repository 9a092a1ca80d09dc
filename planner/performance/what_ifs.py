"""One run with one thing changed: how much faster it would be, by the same formulas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from planner.catalog.records import Precision
from planner.performance.constants import Constants
from planner.performance.device import supports, usable_bytes
from planner.performance.estimate import Prediction, Setup
from planner.performance.fitting import Choice, is_fused, layout_need
from planner.performance.layout import Layout, hybrid_layouts
from planner.performance.request import Request, resolve_request
from planner.performance.request_steps import request_steps, units_per_sample
from planner.workload.settings import CHECKPOINTINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """A change, what to set, and the speed with it over the speed without. [-]"""

    code: str
    settings: Mapping[str, int | str]
    factor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """Everything that decides the time of a step."""

    request: Request
    choice: Choice
    batch: int
    kernels: Mapping[str, bool]  # of a StepPlan, where they differ from the usual code's


class WhatIfs:
    """Changes of one run. Each gives None where it doesn't apply, doesn't fit or can't be.

    Parameters
    ----------
    setup, prediction : Setup, Prediction
        What was asked, and what the estimator says.
    constants : Constants
        The estimator's constants.
    """

    def __init__(self, setup: Setup, prediction: Prediction, constants: Constants) -> None:
        request = resolve_request(setup)
        choice = Choice(
            micro_batch=prediction.micro_batch,
            checkpointing=prediction.checkpointing,
            layout=prediction.layout,
            memory_bytes=0.0,
            capacity_bytes=usable_bytes(setup.gpu, constants),
            min_gpus=None,
        )
        self._constants = constants
        self._run = _Run(request=request, choice=choice, batch=prediction.global_batch, kernels={})
        self._speed = self._speed_of(self._run)

    def find(self, code: str) -> WhatIf | None:
        """The change of that name: one of the methods of this class."""
        changed = getattr(self, f"_{code}")()
        if changed is None:
            return None
        run, settings = changed
        if not self._fits(run):
            return None
        return WhatIf(code=code, settings=settings, factor=self._speed_of(run) / self._speed)

    def _speed_of(self, run: _Run) -> float:
        (step,) = request_steps(run.request, [run.choice], [run.batch], self._constants, kernels=run.kernels)
        return run.batch * units_per_sample(run.request) / step.total_s

    def _fits(self, run: _Run) -> bool:
        choice = run.choice
        need = layout_need(run.request, choice.checkpointing, choice.layout, self._constants)
        return float(need.peak_bytes(choice.micro_batch, choice.layout.shards)) <= choice.capacity_bytes

    def _with(self, *, batch: int | None = None, setup: dict[str, Any] | None = None, **choice: Any) -> _Run:
        run = self._run
        return replace(
            run,
            request=replace(run.request, setup=replace(run.request.setup, **(setup or {}))),
            choice=replace(run.choice, **choice),
            batch=run.batch if batch is None else batch,
        )

    def _larger_micro_batch(self) -> tuple[_Run, dict[str, int | str]] | None:
        size = 2 * self._run.choice.micro_batch
        if size * self._run.choice.layout.ranks > self._run.batch:
            return None
        return self._with(micro_batch=size), {"micro_batch": size}

    def _larger_global_batch(self) -> tuple[_Run, dict[str, int | str]]:
        size = 2 * self._run.batch
        return self._with(batch=size), {"global_batch": size}

    def _compiled(self) -> tuple[_Run, dict[str, int | str]] | None:
        workload, layout = self._run.request.setup.workload, self._run.choice.layout
        if workload.transformer is None or layout.sharding == "optimizer":
            return None
        if not is_fused(workload):  # an encoder, whose usual code is eager
            return replace(self._run, kernels={"fused_elementwise": True}), {"software": "compiled"}
        if self._run.request.software != "eager":
            return None
        return self._with(setup={"software": "compiled"}), {"software": "compiled"}

    def _flash_attention(self) -> tuple[_Run, dict[str, int | str]] | None:
        workload = self._run.request.setup.workload
        if workload.transformer is None or is_fused(workload):
            return None
        return replace(self._run, kernels={"fused_attention": True}), {}

    def _shorter_sequences(self) -> tuple[_Run, dict[str, int | str]] | None:
        request, choice = self._run.request, self._run.choice
        if request.setup.workload.unit != "tokens" or request.seq_len is None or request.seq_len < 2:
            return None
        length = request.seq_len // 2
        run = self._with(micro_batch=2 * choice.micro_batch, batch=2 * self._run.batch)
        return replace(run, request=replace(run.request, seq_len=length)), {"seq_len": length}

    def _lower_precision(self) -> tuple[_Run, dict[str, int | str]] | None:
        request = self._run.request
        lower: tuple[Precision, ...] = ("bf16", "fp16") if request.precision in ("fp32", "tf32") else ()
        if is_fused(request.setup.workload) and not request.adapters and request.precision in ("bf16", "fp16"):
            lower = ("fp8",)
        for precision in lower:
            if supports(request.setup.gpu, precision):
                return replace(self._run, request=replace(request, precision=precision)), {"precision": precision}
        return None

    def _less_recomputation(self) -> tuple[_Run, dict[str, int | str]] | None:
        choice = self._run.choice
        at = CHECKPOINTINGS.index(choice.checkpointing)
        for less in CHECKPOINTINGS[:at]:
            size = choice.micro_batch
            while size >= 1:
                run = self._with(checkpointing=less, micro_batch=size)
                if self._fits(run):
                    return run, {"checkpointing": less, "micro_batch": size}
                size //= 2
        return None

    def _shards_in_node(self) -> tuple[_Run, dict[str, int | str]] | None:
        setup, layout = self._run.request.setup, self._run.choice.layout
        if layout.sharding != "sharded" or layout.shards != layout.gpus:
            return None
        for other in hybrid_layouts(setup.gpus, setup.gpus_per_node):
            run = self._with(layout=other)
            if self._fits(run):
                return run, {"shards": other.shards}
        return None

    def _half_the_gpus(self) -> tuple[_Run, dict[str, int | str]] | None:
        setup, layout = self._run.request.setup, self._run.choice.layout
        if setup.gpus % 2 or not layout.is_plain:
            return None
        gpus = setup.gpus // 2
        half = Layout(sharding=layout.sharding, gpus=gpus, shards=min(layout.shards, gpus))
        nodes = {"gpus": gpus, "gpus_per_node": min(gpus, setup.gpus_per_node)}
        return self._with(layout=half, setup=nodes), {"gpus": gpus}
