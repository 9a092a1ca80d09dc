"""Published speeds counted in samples by configuration, in which rows of tables may have been measured before."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import TypeAlias

from planner.measurements.prediction import RowPrediction
from planner.measurements.rows import SampleRow
from planner.performance.constants import Constants
from planner.performance.repeated import Published, repeated
from planner.performance.transfer.cards import PrecisionClass
from planner.performance.transfer.published import CHANNELS_LAST, PublishedTable, input_key, unit_key
from planner.performance.transfer.software import UNKNOWN_STACK, source_of_stack

Speeds: TypeAlias = Mapping[Hashable, Mapping[str, tuple[str, tuple[Published, ...]]]]
"""Unit and rows of each software, by configuration."""


def measured_before(
    row: SampleRow, gpu: str, precision: PrecisionClass, stack: str, constants: Constants, speeds: Speeds
) -> RowPrediction | None:
    """What other published rows of a row's configuration say; None without one, or where it is left open.

    Those of the same software. For a row whose software isn't known, those of the newest in which this was measured,
    with an interval for software that is new; software that is known but wasn't measured here is better transferred.
    """
    if row.batch_per_gpu is None or row.n_gpus is None or not row.model:
        return None
    nhwc = CHANNELS_LAST in f"{row.notes or ''} {row.framework or ''}".casefold()
    size = input_key(row.input or "", row.notes or "")
    key = (
        row.model.strip().casefold(), size, gpu, row.n_gpus, row.gpus_per_node or row.n_gpus, precision,
        row.batch_per_gpu, nhwc,
    )  # fmt: skip
    by_stack = speeds.get(key, {})
    if row.throughput_unit and unit_key(row.throughput_unit) not in {unit for unit, _ in by_stack.values()}:
        return None
    if stack in by_stack:
        return repeated(
            by_stack[stack][1], id=row.id, date=row.date, origin=source_of_stack(stack),
            half_width=constants.half_width_measured, novelty="known",
        )  # fmt: skip
    if stack != UNKNOWN_STACK or not by_stack:
        return None
    newest = max(by_stack, key=lambda name: (max(one.date for one in by_stack[name][1]), name))
    return repeated(
        by_stack[newest][1], id=row.id, date=row.date, origin=source_of_stack(stack),
        half_width=constants.half_width_new_gpu, novelty="new-stack",
    )  # fmt: skip


@lru_cache(maxsize=2)
def speeds_of(table: PublishedTable) -> Speeds:
    """Speeds of a table by their configuration."""
    found: dict[Hashable, dict[str, tuple[str, tuple[Published, ...]]]] = {}
    for row in table.rows:
        if row.batch is None or row.flagged:
            continue
        key = (
            row.model.casefold(), row.input, row.gpu, row.gpus, row.gpus_per_node, row.precision, row.batch,
            row.channels_last,
        )  # fmt: skip
        one = Published(id=row.id, date=row.date, origin=source_of_stack(row.stack), speed=row.speed)
        stacks = found.setdefault(key, {})
        stacks[row.stack] = (row.unit, (*stacks.get(row.stack, (row.unit, ()))[1], one))
    return found
