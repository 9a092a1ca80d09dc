"""A whole run of `measure`: the workloads that are asked for, one after the other, with progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from planner.measure.devices import Device
from planner.measure.gpt import gpt_subject
from planner.measure.library_models import NotInstalledError, bert_subject, resnet_subject
from planner.measure.power import Meter, open_meter
from planner.measure.rates import measure_bandwidth, measure_matmuls
from planner.measure.results import WORKLOADS, Report, Result, Skipped, Workload
from planner.measure.text import result_line
from planner.measure.timing import Rule
from planner.measure.training import Search, measure_training

Say = Callable[[str], None]

RULES = {
    ("cpu", True): Rule(limit_s=0.8, warm_up_s=0.2, warm_up_runs=1, least_samples=8),
    ("cpu", False): Rule(limit_s=20.0),
    ("cuda", True): Rule(limit_s=5.0, least_sample_s=0.1),
    ("cuda", False): Rule(limit_s=20.0, warm_up_s=2.0, least_sample_s=0.1),
}
SEARCHES = {
    ("cpu", True): Search(most=2, limit_s=3.0),
    ("cpu", False): Search(most=8, limit_s=120.0),  # memory that runs out stops the whole machine
    ("cuda", True): Search(most=8, limit_s=30.0),
    ("cuda", False): Search(most=4096, limit_s=300.0),
}


def chosen_workloads(asked: Sequence[str]) -> tuple[Workload, ...]:
    """Workloads in their order; none or `all` means all of them."""
    everything = not asked or "all" in asked
    return tuple(workload for workload in WORKLOADS if everything or workload in asked)


def measure(
    torch: Any,
    device: Device,
    asked: Sequence[str],
    *,
    quick: bool,
    date: str,
    say: Say,
    meter: Meter | None = None,
) -> Report:
    """Measure the workloads that are asked for; an interruption ends it and keeps what was measured.

    Parameters
    ----------
    torch : module
        As `load_torch` returns it.
    device : Device
        What is measured.
    asked : sequence of str
        Names of workloads, or `all`; nothing means all.
    quick : bool
        Fewer sizes and configurations, and shorter.
    date : str
        Day of the measurement.
    say : callable
        Takes a line of progress.
    meter : Meter, optional
        Of energy; by default NVML.
    """
    meter = meter or open_meter(device)
    report = Report(device=device, driver=meter.driver, power=meter.said, quick=quick, date=date)
    say(f"measuring {device.name} ({device.torch_name}) with torch {device.torch_version}")
    report.gather(_told(_results(torch, device, asked, meter, quick), say))
    return report


def _told(found: Iterator[Result], say: Say) -> Iterator[Result]:
    for result in found:
        say(result_line(result))
        yield result


def _results(torch: Any, device: Device, asked: Sequence[str], meter: Meter, quick: bool) -> Iterator[Result]:
    key = ("cpu" if device.is_cpu else "cuda", quick)
    rule, search = RULES[key], SEARCHES[key]
    for workload in chosen_workloads(asked):
        if workload == "matmul":
            yield from measure_matmuls(torch, device, rule, quick=quick)
        elif workload == "bandwidth":
            yield from measure_bandwidth(torch, device, rule, quick=quick)
        elif device.is_cpu and quick and workload != "gpt" and workload not in asked:
            reason = f"takes minutes on a CPU: ask for it by name, --workload {workload}"
            yield Skipped(workload=workload, what="all of it", reason=reason)
        else:
            try:
                subject = (
                    gpt_subject(torch, tiny=device.is_cpu and quick)
                    if workload == "gpt"
                    else bert_subject(torch) if workload == "bert-large" else resnet_subject(torch)
                )  # fmt: skip
            except NotInstalledError as error:
                yield Skipped(workload=workload, what="all of it", reason=str(error))
                continue
            yield from measure_training(torch, device, subject, rule, search, meter, quick=quick)
