"""A typical month of one simulated course as rows, for a picture of what runs when."""

from __future__ import annotations

from typing import Any

from planner.strategy.queueing.excerpt import MOST_ATTEMPTS, excerpt
from planner.strategy.waiting import MachineWaiting


def course_entry(found: MachineWaiting) -> dict[str, Any]:
    """Attempts on one type of machine, one row for each group of neighbouring GPUs that an attempt holds.

    Hours run from the beginning of what is shown. `attempts` counts all within it, also those beyond the most that have
    rows. `repairs` are the times in which a machine was away.
    """
    course = found.waiting.typical
    part = excerpt(found.pool, found.streams, course, found.waiting.months)
    bars = [
        {
            "job": found.streams[course.stream[at]].id,
            "machine": placed.machine,
            "first_gpu": placed.first_gpu,
            "gpus": placed.gpus,
            "submitted_h": float(course.submitted_h[at]) - part.start_h,
            "started_h": float(course.started_h[at]) - part.start_h,
            "ended_h": float(course.ended_h[at]) - part.start_h,
            "failed": bool(course.failed[at]),
        }
        for placed in part.placed
        for at in (placed.attempt,)
    ]
    return {
        "machine": found.machine,
        "count": found.count,
        "gpus_per_machine": found.pool.gpus,
        "month": part.month,
        "span_h": part.end_h - part.start_h,
        "start_h": part.start_h,
        "attempts": part.attempts,
        "complete": part.attempts <= MOST_ATTEMPTS,
        "jobs": [stream.id for stream in found.streams],
        "bars": bars,
        "repairs": [
            {
                "machine": repair.machine,
                "failed_h": repair.failed_h - part.start_h,
                "back_h": repair.back_h - part.start_h,
            }
            for repair in course.repairs
            if repair.failed_h < part.end_h and repair.back_h > part.start_h
        ],
    }
