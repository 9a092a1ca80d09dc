"""Finds the published measurement of a request: same model, GPU, count, precision class, length and batch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

from planner.catalog.records import Precision
from planner.performance.evidence import Evidence, Measurement
from planner.performance.request import Request
from planner.performance.scaling import node_count


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The median of the newest stack's rows in one configuration, and how far they lie apart."""

    throughput: float
    micro_batch: int
    global_batch: int
    row: Measurement  # one of the rows, for its settings
    spread: float  # largest |log(row / median)|
    ids: tuple[str, ...]
    others: tuple[float, float] | None  # slowest and fastest of other published software, where the batch is open


def precision_class(precision: Precision) -> str:
    """Precisions that measure the same: automatic mixed fp16, pure fp16 and bf16 all multiply in 16 bit."""
    return "16-bit" if precision in ("fp16", "bf16") else precision


def find_measured(request: Request, evidence: Evidence) -> Measured | None:
    """Measurement of exactly this request, or None.

    Of several stacks (sources) the newest counts, of several batches in it the fastest. Where the setup leaves the
    batch open, the measured one is taken: it fitted.
    """
    rows = [row for model in request.setup.workload.evidence_models for row in evidence.by_model.get(model, ())]
    alike = [row for row in rows if _same_machine(row, request)]
    rows = [row for row in alike if _matches(row, request)]
    if not rows:
        return None
    newest = max(rows, key=lambda row: (row.date, row.source)).source
    by_batch: dict[tuple[int, int, str], list[Measurement]] = {}
    for row in rows:
        if row.source == newest:
            by_batch.setdefault((row.micro_batch, row.global_batch, row.checkpointing), []).append(row)
    speeds = {key: median(row.throughput for row in group) for key, group in by_batch.items()}
    best = max(speeds, key=lambda key: speeds[key])
    group = by_batch[best]
    asked = request.setup.global_batch
    others = [row.throughput for row in alike if row.source != newest]
    open_batch = asked is None and request.setup.micro_batch is None
    return Measured(
        throughput=speeds[best],
        micro_batch=best[0],
        global_batch=best[1] if asked is None else asked,
        row=group[0],
        spread=max(abs(math.log(row.throughput / speeds[best])) for row in group),
        ids=tuple(sorted(row.id for row in group)),
        others=(min(others), max(others)) if others and open_batch else None,
    )


def _same_machine(row: Measurement, request: Request) -> bool:
    """Whether a row is of the same GPUs, precision class and sequence length, in whatever software and batch."""
    setup = request.setup
    return (
        row.gpu == setup.gpu.id
        and row.gpus == setup.gpus
        and node_count(row.gpus, row.gpus_per_node) == node_count(setup.gpus, setup.gpus_per_node)
        and precision_class(row.precision) == precision_class(request.precision)
        and (row.seq_len is None or request.seq_len is None or row.seq_len == request.seq_len)
    )


def _matches(row: Measurement, request: Request) -> bool:
    setup = request.setup
    step = row.micro_batch * setup.gpus
    return (
        row.use == "evidence"
        and (setup.micro_batch is None or row.micro_batch == setup.micro_batch)
        and (setup.checkpointing is None or row.checkpointing == setup.checkpointing)
        and (setup.global_batch is None or (step <= setup.global_batch and setup.global_batch % step == 0))
    )
