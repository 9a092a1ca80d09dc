"""Runs to a target: a system, its rates for a benchmark, and, of published ones, what came of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from planner.catalog.query import find_accelerator
from planner.catalog.records import Catalog, Gpu, PartialGpu, Precision
from planner.errors import CatalogError, Problem
from planner.performance.constants import Constants
from planner.performance.device import generation_of, matmul_fraction
from planner.performance.evidence import MEASUREMENTS_FOLDER
from planner.performance.scaling import default_network_gbit_per_s, is_switched, link_of
from planner.performance.time_to_target.benchmarks import Benchmark, find_benchmark, year_of_round
from planner.units import BITS_PER_BYTE, BYTES_PER_GB

TIME_FILE = "mlperf_time_to_train.csv"
_EIGHT_BIT_VENDORS = frozenset({"NVIDIA", "AMD"})
"""Those whose training libraries multiply in 8 bit by themselves."""
_GPUS_OF_FULL_NODE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What of a system decides its speed in a benchmark."""

    s_per_tflop: float  # of matrix products on one GPU, 8 and 16 bit mixed as the benchmark mixes them
    bandwidth_gb_per_s: float
    inside_gb_per_s: float  # NVLink, one direction, or the bus between PCIe cards
    network_gb_per_s: float  # of a node
    fabric_gb_per_s: float  # that the generation's full nodes have
    switched: bool
    local: int  # GPUs of a node that work together


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run. Of those to be predicted `minutes` and `work` are None; `batch` may be unknown of any."""

    id: str
    benchmark: str
    year: float
    submitter: str
    system: str
    gpu: str  # id in the catalog
    generation: str  # of the card
    gpus: int
    nodes: int
    batch: float | None
    rates: Rates
    minutes: float | None = None
    work: float | None = None  # samples to the target, or epochs where the benchmark's rows count these


def rates_of(gpu: Gpu | PartialGpu, benchmark: Benchmark, gpus: int, nodes: int, constants: Constants) -> Rates | None:
    """Rates of a system in a benchmark; None where the catalog lacks the card's bandwidth or its 16-bit rate.

    Entries are tuned by vendors, so the share that other software loses on cards of young software isn't taken off.

    Parameters
    ----------
    gpu : Gpu or PartialGpu
        The card.
    benchmark : Benchmark
        For the precision that it is trained in.
    gpus, nodes : int
        Of the run. [-]
    constants : Constants
        Of the estimator, for matmul rates that nobody measured, the mix of 8 and 16 bit, and for links.
    """
    sixteen = _sixteen(gpu)
    if gpu.memory_bandwidth_gb_per_s is None or sixteen is None:
        return None
    s_per_tflop = _s_per_tflop(gpu, sixteen, constants)
    if _in_eight_bit(gpu, benchmark):
        eight = _s_per_tflop(gpu, "fp8", constants)
        s_per_tflop = (1 - constants.sixteen_bit_share) * eight + constants.sixteen_bit_share * s_per_tflop
    local = max(1, gpus // nodes)
    link = link_of(gpu, gpus, local, None, constants)
    switched = is_switched(gpu)
    fabric = default_network_gbit_per_s(gpu, constants) / BITS_PER_BYTE
    # Fewer GPUs in a node have fewer adapters each as well.
    of_pcie_host = constants.pcie_host_network_gb_per_s
    network = fabric * min(local / _GPUS_OF_FULL_NODE, 1.0) ** 2 if switched else of_pcie_host
    return Rates(
        s_per_tflop=s_per_tflop,
        bandwidth_gb_per_s=gpu.memory_bandwidth_gb_per_s.value,
        inside_gb_per_s=(link.nvlink_bytes_per_s if switched else link.bus_bytes_per_s) / BYTES_PER_GB,
        network_gb_per_s=network,
        fabric_gb_per_s=max(fabric, of_pcie_host),
        switched=switched,
        local=min(gpus, link.gpus_per_node),
    )


def _in_eight_bit(gpu: Gpu | PartialGpu, benchmark: Benchmark) -> bool:
    return benchmark.eight_bit and "fp8" in gpu.dense_tflop_per_s and gpu.vendor in _EIGHT_BIT_VENDORS


def peak_tflop_per_s(gpu: Gpu | PartialGpu, benchmark: Benchmark) -> float:
    """Dense peak of a card in the precision that a benchmark is trained in. [TFLOP/s]"""
    precision: Precision = "fp8" if _in_eight_bit(gpu, benchmark) else _sixteen(gpu) or "fp32"
    return gpu.dense_tflop_per_s[precision].value


def _sixteen(gpu: Gpu | PartialGpu) -> Precision | None:
    kinds: tuple[Precision, ...] = ("bf16", "fp16")
    return next((kind for kind in kinds if kind in gpu.dense_tflop_per_s), None)


def _s_per_tflop(gpu: Gpu | PartialGpu, precision: Precision, constants: Constants) -> float:
    return 1 / (gpu.dense_tflop_per_s[precision].value * matmul_fraction(gpu, precision, constants))


def nodes_of(gpu: Gpu | PartialGpu, gpus: int, nodes: int, constants: Constants) -> int:
    """Nodes as the exchange sees them: a rack of superchips, which one switch joins, is one. [-]"""
    return min(nodes, link_of(gpu, gpus, max(1, gpus // nodes), None, constants).nodes)


def published_runs(catalog: Catalog, constants: Constants, folder: Path = MEASUREMENTS_FOLDER) -> tuple[Run, ...]:
    """Runs of the published table on systems whose rates the catalog has, in the table's order.

    Raises
    ------
    CatalogError
        The table is missing, isn't text, or has rows that can't be read: all of them.
    """
    try:
        text = (folder / TIME_FILE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogError("catalog_invalid", [_problem("", str(error), "a table saved as UTF-8")]) from None
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    runs, problems = [], []
    for cells in csv.DictReader(io.StringIO("\n".join(lines))):
        try:
            run = _published(cells, catalog, constants)
        except (KeyError, ValueError, TypeError) as error:
            expected = "the columns and units of the table"
            problems.append(_problem(cells.get("id") or "", f"a cell that can't be read ({error})", expected))
            continue
        runs += [run] if run is not None else []
    if problems or not runs:
        raise CatalogError("catalog_invalid", problems or [_problem("", "no rows", "measurements")])
    return tuple(runs)


def _problem(record: str, found: str, expected: str) -> Problem:
    return Problem(file=f"measurements/{TIME_FILE}", record=record, field="", found=found, expected=expected)


def _published(cells: Mapping[str, str], catalog: Catalog, constants: Constants) -> Run | None:
    benchmark, year = find_benchmark(cells["benchmark"]), year_of_round(cells["round"])
    if year is None:
        raise ValueError(f"round {cells['round']!r}")
    gpus, nodes = int(cells["n_gpus"]), int(cells["nodes"])
    gpu = find_accelerator(catalog, cells["gpu"])
    rates = None if benchmark is None else rates_of(gpu, benchmark, gpus, nodes, constants)
    if benchmark is None or rates is None:
        return None
    return Run(
        id=cells["id"],
        benchmark=benchmark.id,
        year=year,
        submitter=cells["submitter"],
        system=cells["system"],
        gpu=gpu.id,
        generation=generation_of(gpu),
        gpus=gpus,
        nodes=nodes_of(gpu, gpus, nodes, constants),
        batch=float(cells["global_batch_size"]) if cells["global_batch_size"] else None,
        rates=rates,
        minutes=float(cells["minutes"]),
        work=_work(cells, benchmark),
    )


def _work(cells: Mapping[str, str], benchmark: Benchmark) -> float | None:
    if cells["samples_to_converge"]:
        return float(cells["samples_to_converge"])
    if not cells["epochs_to_converge"]:
        return None
    return float(cells["epochs_to_converge"]) * (benchmark.samples_of_epoch or 1.0)
