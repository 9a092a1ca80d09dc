"""Finds the measurement of a request: same model, GPU, count, precision class, length and batch; own ones first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from planner.catalog.records import Precision, Workload
from planner.performance.evidence import OWN, Evidence, Measurement
from planner.performance.request import Request
from planner.performance.scaling import node_count

CONTRADICTION = 1.3
"""Fastest over slowest of own rows of one configuration, from which they contradict each other."""
WILD_SPREAD = 0.1
"""Spread of an own row's samples from which its median says little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The median of the newest stack's rows in one configuration, and how far they lie apart."""

    throughput: float
    micro_batch: int
    global_batch: int
    row: Measurement  # one of the rows, for its settings
    spread: float  # largest |log(row / median)|, or the spread of an own row's samples where that is larger
    ids: tuple[str, ...]
    others: tuple[float, float] | None  # slowest and fastest of other published software, where the batch is open
    contradicting: tuple[float, float] | None  # slowest and fastest of own rows that can't both be right


def precision_class(precision: Precision) -> str:
    """Precisions that measure the same: automatic mixed fp16, pure fp16 and bf16 all multiply in 16 bit."""
    return "16-bit" if precision in ("fp16", "bf16") else precision


def find_measured(request: Request, evidence: Evidence) -> Measured | None:
    """Measurement of exactly this request, or None.

    The user's own rows come before all others. Of several published stacks (sources) the newest counts, of several
    batches in it the fastest. Where the setup leaves the batch open, the measured one is taken: it fitted.
    """
    own = [row for row in _own_rows(request, evidence) if _same_machine(row, request) and _matches(row, request)]
    if own:
        return _fastest(request, own, ())
    rows = [row for model in request.setup.workload.evidence_models for row in evidence.by_model.get(model, ())]
    alike = [row for row in rows if _same_machine(row, request)]
    rows = [row for row in alike if _matches(row, request)]
    if not rows:
        return None
    newest = max(rows, key=lambda row: (row.date, row.source)).source
    others = [row.throughput for row in alike if row.source != newest]
    return _fastest(request, [row for row in rows if row.source == newest], others)


def names_of(workload: Workload) -> frozenset[str]:
    """Names under which the user's own rows may have a workload, in lower case."""
    return frozenset(name.casefold() for name in (workload.id, *workload.aliases, *workload.evidence_models))


def _own_rows(request: Request, evidence: Evidence) -> list[Measurement]:
    if not evidence.own:
        return []
    setup = request.setup
    return [row for name in names_of(setup.workload) for row in evidence.own_by_subject.get((name, setup.gpu.id), ())]


def _fastest(request: Request, rows: Sequence[Measurement], others: Sequence[float]) -> Measured:
    """The batch in which rows of one stack are the fastest."""
    by_batch: dict[tuple[int, int, str], list[Measurement]] = {}
    for row in rows:
        by_batch.setdefault((row.micro_batch, row.global_batch, row.checkpointing), []).append(row)
    speeds = {key: median(row.throughput for row in group) for key, group in by_batch.items()}
    best = max(speeds, key=lambda key: speeds[key])
    group = by_batch[best]
    asked = request.setup.global_batch
    open_batch = asked is None and request.setup.micro_batch is None
    apart = max(abs(math.log(row.throughput / speeds[best])) for row in group)
    slowest, fastest = min(row.throughput for row in group), max(row.throughput for row in group)
    contradict = group[0].id.startswith(OWN) and fastest > CONTRADICTION * slowest
    return Measured(
        throughput=speeds[best],
        micro_batch=best[0],
        global_batch=best[1] if asked is None else asked,
        row=group[0],
        spread=max(apart, *(row.spread or 0.0 for row in group)),
        ids=tuple(sorted(row.id for row in group)),
        others=(min(others), max(others)) if others and open_batch else None,
        contradicting=(slowest, fastest) if contradict else None,
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
