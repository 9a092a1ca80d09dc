"""What was measured, for a terminal."""

from __future__ import annotations

from planner.measure.results import Bandwidth, MatmulRate, Report, Result, Skipped
from planner.measure.timing import SPREAD_LIMIT, Timing
from planner.report.text_table import table


def result_line(result: Result) -> str:
    """One result in a line, as progress."""
    if isinstance(result, MatmulRate):
        what = f"matmul {result.precision} {result.size}: {result.tflop_per_s:.4g} TFLOP/s"
    elif isinstance(result, Bandwidth):
        what = f"bandwidth {result.kind}: {result.gb_per_s:.4g} GB/s"
    elif isinstance(result, Skipped):
        return f"{result.workload}, {result.what}: not measured, {result.reason}"
    else:
        amp = " with AMP" if result.amp else ""
        what = (
            f"{result.shape.workload} {result.precision}{amp}, checkpointing {result.checkpointing},"
            f" batch {result.batch}: {_figure(result.per_s)} {result.shape.unit}/s"
        )
    return f"{what} (spread {_spread(result.timing)})"


def report_text(report: Report) -> str:
    """The whole report: device, rates, training steps, what wasn't measured, and what to think of the spread."""
    device = report.device
    known = "" if device.in_catalog or device.is_cpu else "; the catalog has no GPU of that name: see --gpu-name"
    parts = [
        f"{device.name}, called {device.gpu} in tables{known}",
        f"torch {device.torch_version}, CUDA {device.cuda_version or 'none'}, driver {report.driver or 'unknown'}",
        f"power: {report.power}",
    ]
    if report.matmuls:
        rows = [[m.precision, str(m.size), f"{m.tflop_per_s:.4g}", _spread(m.timing)] for m in report.matmuls]
        parts += ["", *table(["matmul", "size", "TFLOP/s", "spread"], rows)]
    if report.bandwidths:
        rows = [[b.kind, f"{b.array_gb:.3g}", f"{b.gb_per_s:.4g}", _spread(b.timing)] for b in report.bandwidths]
        parts += ["", *table(["bandwidth", "array, GB", "GB/s", "spread"], rows)]
    if report.steps:
        head = ["training", "precision", "checkpointing", "batch", "per second", "spread", "peak GB", "W", "J/step"]
        rows = []
        for step in report.steps:
            precision = f"{step.precision}{' AMP' if step.amp else ''}"
            speed = f"{_figure(step.per_s)} {step.shape.unit}"
            cells = [step.shape.model, precision, step.checkpointing, str(step.batch), speed, _spread(step.timing)]
            rows.append([*cells, *map(_figure, (step.reserved_gb, step.mean_w, step.j_per_step))])
        parts += ["", *table(head, rows)]
    if report.skipped:
        parts += ["", "Not measured:"]
        parts += [f"  {skipped.workload}, {skipped.what}: {skipped.reason}" for skipped in report.skipped]
    unsettled = sum(not timed.settled for timed in timings(report))
    if unsettled:
        parts += [
            "",
            f"{unsettled} of {len(timings(report))} spread by more than {SPREAD_LIMIT:.0%} (!): was the machine idle?"
            " Measured again, they may differ by more than 10 %.",
        ]
    return "\n".join(parts) + "\n"


def timings(report: Report) -> list[Timing]:
    """Timings of everything that was measured."""
    return [found.timing for found in report.results if not isinstance(found, Skipped)]


def _spread(timing: Timing) -> str:
    return f"{timing.spread:.1%}{'' if timing.settled else ' !'}"


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
