"""What the user's own rows change of other predictions: their errors without them, by software, GPU and kind."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from statistics import median

from planner.catalog.records import Catalog, Workload
from planner.errors import InputError
from planner.performance.estimate import Setup, predict_unmeasured
from planner.performance.evidence import OWN, Evidence, Measurement
from planner.performance.measured import precision_class
from planner.performance.own_offset import FEWEST_ROWS, Kind, OwnEntry, OwnOffset, evenly, own_offset, software_key


def with_offsets(evidence: Evidence, catalog: Catalog, known: Mapping[str, Workload]) -> Evidence:
    """The same evidence with what its own rows say of other configurations.

    Parameters
    ----------
    evidence : Evidence
        With own rows.
    catalog : Catalog
        GPUs, those of a scenario included.
    known : mapping
        Workloads by each of their names in lower case.
    """
    groups: dict[tuple[str, Kind, str], dict[Hashable, list[Measurement]]] = {}
    for row in evidence.own:
        workload = known.get(row.model.casefold())
        if workload is None or row.gpu not in catalog.gpus:
            continue
        kind: Kind = "vision" if workload.transformer is None else "transformer"
        alike = groups.setdefault((row.gpu, kind, software_key(row.framework)), {})
        alike.setdefault(_configuration(row, workload), []).append(row)
    found = (
        _offset(key, list(alike.values()), evidence, catalog, known)
        for key, alike in groups.items()
        if len(alike) >= FEWEST_ROWS
    )
    return replace(evidence, offsets=tuple(offset for offset in found if offset is not None))


def _configuration(row: Measurement, workload: Workload) -> Hashable:
    return (
        workload.id, row.gpus, row.gpus_per_node, precision_class(row.precision), row.seq_len, row.micro_batch,
        row.global_batch, row.checkpointing,
    )  # fmt: skip


def _offset(
    key: tuple[str, Kind, str],
    configurations: Sequence[Sequence[Measurement]],
    evidence: Evidence,
    catalog: Catalog,
    known: Mapping[str, Workload],
) -> OwnOffset | None:
    entries = []
    for rows in (configurations[at] for at in evenly(len(configurations))):
        workload = known[rows[0].model.casefold()]
        predicted = _cold(rows[0], workload, evidence, catalog)
        if predicted is not None:
            entries.append(
                OwnEntry(
                    model=workload.id,
                    ids=tuple(row.id for row in rows),
                    files=tuple(row.source.removeprefix(OWN) for row in rows),
                    log_ratio=math.log(predicted / median(row.throughput for row in rows)),
                )
            )
    return own_offset(*key, entries)


def _cold(row: Measurement, workload: Workload, evidence: Evidence, catalog: Catalog) -> float | None:
    """Speed of a row's configuration without any measurement of it; None where it can't be estimated."""
    setup = Setup(
        workload=workload,
        gpu=catalog.gpus[row.gpu],
        gpus=row.gpus,
        gpus_per_node=min(row.gpus, row.gpus_per_node),
        precision=row.precision,
        seq_len=row.seq_len if workload.transformer is not None else None,
        micro_batch=row.micro_batch,
        global_batch=row.global_batch,
        checkpointing=row.checkpointing,
    )
    try:
        return float(predict_unmeasured(setup, catalog, evidence).throughput)
    except InputError:  # of batches that don't divide, or a precision that the GPU lacks
        return None
