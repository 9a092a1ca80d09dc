"""What would make a run fit that doesn't: the cheapest changes, each with its memory and its price in time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import floor

from planner.catalog.records import Catalog
from planner.messages import render
from planner.performance.constants import Constants, constants_of
from planner.performance.device import usable_bytes
from planner.performance.estimate import Prediction, Setup
from planner.performance.fitting import Choice, memory_need, memory_setup
from planner.performance.layout import Layout
from planner.performance.memory import MemorySetup
from planner.performance.remedy import MOST_REPLICAS, Change, cheapest_change
from planner.performance.request import Request, resolve_request
from planner.performance.request_steps import request_steps
from planner.units import BYTES_PER_GB

USUAL_MACHINE_GPUS = 8
MOST_KEEPING, MOST_CHANGING = 3, 2  # remedies that leave the result as it is, and that train something else
NOTICEABLE_SHARE = 0.005  # of a step, below which it takes as long as before


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """Changes that together make a run fit. Factors are over the run as asked for, if it fitted."""

    changes: tuple[str, ...]
    settings: Mapping[str, int | str]  # what to set, by name
    memory_gb: float
    gpus: int
    step_s: float
    step_time_factor: float
    gpu_time_factor: float
    changes_result: bool

    @property
    def text(self) -> str:
        """The changes with memory and price in words."""
        phrases = [render(f"remedy_{change}", **_words(change, self.settings)) for change in self.changes]
        longer = self.step_time_factor - 1
        time = "same" if abs(longer) < NOTICEABLE_SHARE else "longer" if longer > 0 else "shorter"
        time = "times" if longer >= 1 else time
        return render(
            "remedy_price",
            changes=", with ".join(phrases),
            memory_gb=_rounded(self.memory_gb),
            time=render(f"remedy_time_{time}", share=abs(longer), times=_rounded(1 + longer, 2)),
            gpu_time=_rounded(self.gpu_time_factor) if "more_gpus" in self.changes else None,
        )


def _rounded(value: float, digits: int = 3) -> float:
    return float(f"{value:.{digits}g}")


def _words(change: str, settings: Mapping[str, int | str]) -> dict[str, object]:
    stage = {"optimizer": 1, "gradients": 2, "sharded": 3}.get(str(settings.get("sharding")))
    return {**settings, "stage": stage} if change == "sharding" else dict(settings)


def remedies(
    setup: Setup,
    prediction: Prediction,
    catalog: Catalog,
    *,
    machine_gpus: int | None = None,
    most_gpus: int = MOST_REPLICAS,
) -> tuple[Remedy, ...]:
    """Changes that make a run fit into memory, the cheapest in GPU time first.

    Parameters
    ----------
    setup, prediction : Setup, Prediction
        What was asked, and what the estimator says; a run that fits needs nothing.
    catalog : Catalog
        For the constants among its assumptions.
    machine_gpus : int, optional
        GPUs of one machine, when more of them are tried; by default eight.
    most_gpus : int
        Limit on more GPUs.

    Returns
    -------
    tuple of Remedy
        A few that train the same; then a few that train adapters instead. Empty where nothing helps.
    """
    if prediction.fits:
        return ()
    constants = constants_of(catalog.assumptions)
    request = resolve_request(setup)
    if request.seq_len is None:
        return _smaller_batch(request, prediction, constants)
    run = memory_setup(request, prediction.checkpointing, prediction.layout, prediction.micro_batch)
    run = replace(run, shards=prediction.layout.ranks)
    timer = _StepTimer(request, prediction, machine_gpus or USUAL_MACHINE_GPUS, constants)
    capacity = usable_bytes(setup.gpu, constants)
    most = min(most_gpus, prediction.global_batch)
    found = cheapest_change(
        run, capacity, timer.step_s, constants, most_replicas=most, round_batch=_batch_rounding(setup)
    )
    before_s = timer.step_s(run)
    keeping = [change for change in found if not change.changes_result][:MOST_KEEPING]
    changing = [change for change in found if change.changes_result][:MOST_CHANGING]
    return tuple(_remedy(change, before_s, setup.gpus) for change in (*keeping, *changing))


def _batch_rounding(setup: Setup) -> Callable[[float], int]:
    """Micro-batches that may be used: where the global batch was asked for, those that divide a GPU's part of it."""
    if setup.global_batch is None:
        return floor
    part = setup.global_batch // setup.gpus
    return lambda limit: max(size for size in range(1, floor(limit) + 1) if part % size == 0)


def _remedy(change: Change, before_s: float, gpus: int) -> Remedy:
    of_kind = {
        "micro_batch": ("micro_batch", int(change.setup.micro_batch)),
        "checkpointing": ("checkpointing", change.setup.checkpointing),
        "sharding": ("sharding", change.setup.sharding),
        "chunked_loss": ("loss", "chunked"),
        "optimizer_8bit": ("optimizer", "adamw-8bit"),
        "more_gpus": ("gpus", round(gpus * change.gpus_factor)),
        "lora": ("method", "lora"),
        "qlora": ("method", "qlora"),
    }  # fmt: skip
    return Remedy(
        changes=change.kinds,
        settings=dict(of_kind[kind] for kind in change.kinds),
        memory_gb=change.memory_bytes / BYTES_PER_GB,
        gpus=round(gpus * change.gpus_factor),
        step_s=change.step_s,
        step_time_factor=change.step_s / before_s,
        gpu_time_factor=change.gpu_s / before_s,
        changes_result=change.changes_result,
    )


class _StepTimer:
    """Seconds of an optimizer step of changed runs, all with the batch of the run as asked for."""

    def __init__(self, request: Request, prediction: Prediction, machine_gpus: int, constants: Constants) -> None:
        self._request = request
        self._prediction = prediction
        self._machine_gpus = machine_gpus
        self._constants = constants

    def step_s(self, run: MemorySetup) -> float:
        """Time of a step; sharing the optimizer or the gradients alone sends as much as replicas do.

        References
        ----------
        .. [1] S. Rajbhandari et al., "ZeRO," 2020, sec. 7, arXiv:1910.02054.
        """
        was = self._prediction.layout
        gpus = run.shards * was.tensor * was.pipeline
        layout = Layout(sharding="replicated", gpus=gpus, tensor=was.tensor, pipeline=was.pipeline, chunks=was.chunks)
        if run.sharding == "sharded" and gpus > 1:
            layout = replace(layout, sharding="sharded", shards=run.shards)
        batch = self._prediction.global_batch
        choice = Choice(
            micro_batch=max(1, min(int(run.micro_batch), batch // layout.ranks)),
            checkpointing="selective" if run.checkpointing == "selective-per-op" else run.checkpointing,
            layout=layout,
            memory_bytes=0.0,
            capacity_bytes=0.0,
            min_gpus=None,
        )
        setup = replace(self._request.setup, method=run.method)
        if gpus != was.gpus:
            setup = replace(setup, gpus=gpus, gpus_per_node=min(gpus, self._machine_gpus))
        request = replace(self._request, setup=setup)
        (step,) = request_steps(request, [choice], [batch], self._constants)
        return step.total_s


def _smaller_batch(request: Request, prediction: Prediction, constants: Constants) -> tuple[Remedy, ...]:
    """The one change for a vision model: fewer samples at once."""
    need = memory_need(request, "none", "replicated", constants)
    micro = int(need.largest_micro_batch(usable_bytes(request.setup.gpu, constants), 1))
    if not 1 <= micro < prediction.micro_batch:
        return ()
    choices = [
        Choice(
            micro_batch=size,
            checkpointing="none",
            layout=prediction.layout,
            memory_bytes=float(need.peak_bytes(size, 1)),
            capacity_bytes=0.0,
            min_gpus=None,
        )
        for size in (prediction.micro_batch, micro)
    ]
    before, after = request_steps(request, choices, [prediction.global_batch] * 2, constants)
    factor = after.total_s / before.total_s
    return (
        Remedy(
            changes=("micro_batch",),
            settings={"micro_batch": micro},
            memory_gb=choices[1].memory_bytes / BYTES_PER_GB,
            gpus=request.setup.gpus,
            step_s=after.total_s,
            step_time_factor=factor,
            gpu_time_factor=factor,
            changes_result=False,
        ),
    )
