"""Training steps of a model: mixed precision and recomputation on and off, batches up to what the memory holds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from planner.catalog.records import Precision
from planner.measure.devices import Device, clock_of, is_out_of_memory, peak_gb, release_memory
from planner.measure.power import LEAST_S, Meter
from planner.measure.rates import first_line
from planner.measure.results import Result, Skipped, TrainingStep
from planner.measure.subjects import Configuration, Subject, training_step
from planner.measure.timing import Rule, time_runs

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How far a search for the largest batch goes."""

    most: int
    limit_s: float  # after it, no further batch is begun


def search_batches(
    attempt: Callable[[int], _Found | None], search: Search, now: Callable[[], float] = time.perf_counter
) -> Iterator[_Found]:
    """Results of batches 1, 2, 4, ... until one is too large, then of batches between the last two.

    Parameters
    ----------
    attempt : callable
        Measures a batch; None where the memory doesn't hold it, at whatever moment that shows.
    search : Search
        Where it ends.
    now : callable
        The time. [s]

    Yields
    ------
    What `attempt` returned, in the order of the attempts. The gap to the batch that was too large is halved until it is
    a quarter of the one that fits.
    """
    start = now()
    good, too_large, batch = 0, 0, 1
    while batch <= search.most and now() - start < search.limit_s:
        found = attempt(batch)
        if found is None:
            too_large = batch
            break
        yield found
        good, batch = batch, batch * 2
    while too_large - good > max(1, good // 4) and now() - start < search.limit_s:
        batch = (good + too_large) // 2
        found = attempt(batch)
        if found is None:
            too_large = batch
        else:
            yield found
            good = batch


def training_precisions(device: Device, *, quick: bool) -> tuple[tuple[Precision, bool], ...]:
    """Precision with and without automatic mixed precision, as one would train on this device."""
    if device.capability is None:
        return (("fp32", False), ("bf16", True))
    newer = device.capability >= (8, 0)
    mixed: tuple[Precision, bool] = ("bf16" if newer else "fp16", True)
    return (mixed,) if quick else (mixed, ("tf32" if newer else "fp32", False))


def measure_training(
    torch: Any, device: Device, subject: Subject, rule: Rule, search: Search, meter: Meter, *, quick: bool
) -> Iterator[Result]:
    """Training steps of a model in every configuration, the ones that don't run with their reason."""
    for precision, amp in training_precisions(device, quick=quick):
        for checkpointing in subject.checkpointings:
            found = 0
            what = f"{precision}{' with AMP' if amp else ''}, checkpointing {checkpointing}"

            def attempt(
                batch: int, precision: Precision = precision, amp: bool = amp, checkpointing: Any = checkpointing
            ) -> TrainingStep | None:
                chosen = Configuration(precision=precision, amp=amp, checkpointing=checkpointing, batch=batch)
                return measure_step(torch, device, subject, chosen, rule, meter)

            try:
                for step in search_batches(attempt, search):
                    found += 1
                    yield step
            except RuntimeError as error:
                yield Skipped(workload=subject.shape.workload, what=what, reason=first_line(error))
                continue
            if not found:
                yield Skipped(workload=subject.shape.workload, what=what, reason="out of memory with a batch of 1")


def measure_step(
    torch: Any, device: Device, subject: Subject, configuration: Configuration, rule: Rule, meter: Meter
) -> TrainingStep | None:
    """One configuration; None where memory runs out, also in the middle of the timed steps."""
    release_memory(torch, device)
    try:
        timing = time_runs(
            training_step(torch, device, subject, configuration), clock_of(torch, device), rule, meter.read_j
        )  # the model lives no longer than this call
        allocated, reserved = peak_gb(torch, device)
    except Exception as error:
        if not is_out_of_memory(torch, error):
            raise
        timing = None
    finally:
        torch.set_float32_matmul_precision("highest")
    release_memory(torch, device)  # after the error is gone: its traceback holds the tensors
    if timing is None:
        return None
    shape = subject.shape
    energy = timing.counted if timing.counted and timing.total_s >= LEAST_S else None
    per_sample = (shape.seq_len or 1) if shape.unit == "tokens" else 1
    return TrainingStep(
        shape=shape,
        framework=subject.framework,
        optimizer=subject.optimizer,
        precision=configuration.precision,
        amp=configuration.amp,
        checkpointing=configuration.checkpointing,
        batch=configuration.batch,
        per_s=configuration.batch * per_sample / timing.median_s,
        timing=timing,
        allocated_gb=allocated,
        reserved_gb=reserved,
        mean_w=None if energy is None else energy / timing.total_s,
        j_per_step=None if energy is None else energy / timing.runs,
    )
