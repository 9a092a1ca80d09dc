"""Plants faults of the usual kinds in a copy of the project, one after the other: do the tests catch them?

    python benchmarks/planted_faults.py [--only KIND] [--processes N]

Most kinds have several places, and count as caught where all of them are. The same tests run each time, up to their
first failure; they pass without a fault, or nothing is said. Takes some minutes. Status 1 where fewer than nine of ten
kinds are caught.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIRST = (
    "tests/unit/cost", "tests/unit/energy", "tests/unit/workload", "tests/unit/catalog/test_load.py",
    "tests/published/test_worked_examples.py", "tests/unit/strategy/test_owned_machines.py",
    "tests/unit/strategy/test_data_moves.py", "tests/unit/strategy/test_resolve_offers.py",
    "tests/unit/strategy/test_machines_at_start.py", "tests/unit/performance/test_scaling.py",
)  # fmt: skip
"""Tests that are quick and see most; the others run where these see nothing."""
REST = ("tests/unit/strategy", "tests/published", "tests/property", "tests/unit/performance", "tests/unit/catalog")
SKIPPED = shutil.ignore_patterns("__pycache__", ".*_cache", "*.pyc")
WANTED = 9  # of the kinds


@dataclass(frozen=True, slots=True)
class Fault:
    """A change of one place; `right` stands exactly once in the file."""

    file: str
    right: str
    wrong: str


FAULTS: dict[str, tuple[Fault, ...]] = {
    "units": (
        Fault("planner/energy/facility.py", "pue / W_PER_KW", "pue"),
        Fault("planner/strategy/sessions.py", "pair.nodes * billed_s / S_PER_H", "pair.nodes * billed_s / 60.0"),
        Fault("planner/performance/duration.py", "data_gb * BYTES_PER_GB * BITS_PER_BYTE", "data_gb * BYTES_PER_GB"),
        Fault("planner/catalog/build.py", "scale=1 / units.G_PER_KG", "scale=1.0"),
    ),
    "per GPU against per node": (
        Fault("planner/catalog/build.py", 'origin, "price_usd_per_gpu_h", scale=entry.gpu_count)',
              'origin, "price_usd_per_gpu_h")'),
        Fault("planner/strategy/resolve/offers.py", "lambda price: price * gpu_count", "lambda price: price * 1"),
        Fault("planner/strategy/sessions.py", "/ S_PER_H * pair.gpus / machine.gpus", "/ S_PER_H * pair.gpus"),
        Fault("planner/strategy/sessions.py", "np.asarray(pair.nodes * billed_s / S_PER_H)",
              "np.asarray(pair.gpus * billed_s / S_PER_H)"),
    ),
    "PUE twice": (
        Fault("planner/energy/facility.py", "hours * pue", "hours * pue * pue"),
        Fault("planner/strategy/owned_lines.py", "np.asarray(load_kwh + ", "np.asarray(pue * load_kwh + "),
        Fault("planner/strategy/sessions.py", "return np.asarray(pair.nodes * kwh)",
              "return np.asarray(pair.nodes * kwh * pue)"),
    ),
    "sign of resale": (
        Fault("planner/strategy/owned_lines.py", "unit_price = -base", "unit_price = base"),
        Fault("planner/strategy/start_lines.py", "-rows.p(column) if sold else rows.p(column)", "rows.p(column)"),
    ),
    "exponent of the discount": (
        Fault("planner/cost/finance.py", "+ discount_rate) ** (-np.asarray(month, dtype=float) / MONTHS_PER_YEAR)",
              "+ discount_rate) ** -np.asarray(month, dtype=float)"),
        Fault("planner/strategy/kernel.py", "np.arange(rows.last_month + 1.0)", "np.arange(rows.last_month + 1.0) + 1"),
        Fault("planner/cost/finance.py", "+ discount_rate) ** (-np", "+ discount_rate) ** (np"),
    ),
    "MAC against FLOP": (
        Fault("planner/workload/convolutional.py", "FORWARD_AND_BACKWARD * FLOP_PER_MAC", "FORWARD_AND_BACKWARD"),
        Fault("planner/workload/transformer.py", "matmul = FLOP_PER_MAC * (", "matmul = ("),
        Fault("planner/workload/transformer.py", "full = spec.layers * FLOP_PER_MAC", "full = spec.layers"),
    ),
    "link of both directions": (
        Fault("planner/performance/scaling.py", "rated = both_directions / 2", "rated = both_directions"),
    ),
    "rounding up of billing": (
        Fault("planner/cost/rental.py", "np.ceil(used / billing_unit_s - _ROUNDING_SLACK)", "used / billing_unit_s"),
        Fault("planner/cost/rental.py", "np.ceil(used / billing_unit_s - _ROUNDING_SLACK)",
              "np.floor(used / billing_unit_s - _ROUNDING_SLACK)"),
        Fault("planner/cost/rental.py", "return np.maximum(rounded, minimum_s)", "return rounded"),
    ),
    "idle hours": (
        Fault("planner/strategy/owned_lines.py", "np.maximum(powered_h - rows.busy_h[:, index], 0.0)", "powered_h"),
        Fault("planner/strategy/owned_lines.py", "np.maximum(powered_h - rows.busy_h[:, index], 0.0)",
              "np.zeros_like(powered_h)"),
        Fault("planner/strategy/owned_lines.py", "kwh(rows.p(machine.idle_w_at)", "kwh(rows.p(machine.load_w_at)"),
    ),
    "inverse exchange rate": (
        Fault("planner/strategy/resolve/figures.py", "money.amount * rate.value", "money.amount / rate.value"),
        Fault("planner/catalog/build.py", "price.value * rate.value", "price.value / rate.value"),
    ),
}  # fmt: skip


@contextmanager
def planted(folder: Path, fault: Fault) -> Iterator[None]:
    """A copy of the project with a fault in it; it is taken out again.

    Raises
    ------
    ValueError
        The place has changed since the fault was written down.
    """
    path = folder / fault.file
    text = path.read_text(encoding="utf-8")
    if text.count(fault.right) != 1:
        raise ValueError(f"{fault.file} holds {fault.right!r} {text.count(fault.right)} times, expected once")
    path.write_text(text.replace(fault.right, fault.wrong), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(text, encoding="utf-8")


def first_failure(folder: Path, processes: int) -> str | None:
    """The first test that fails in a copy; None where all pass."""
    for tests, at_once in ((FIRST, 0), (REST, processes)):
        command = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "-n", str(at_once), "--no-header", *tests]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
            return lines[0].removeprefix("FAILED ").partition(" - ")[0] if lines else done.stdout.strip()[-500:]
    return None


def main() -> int:
    """Print each fault with the test that catches it, then the kinds caught."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=sorted(FAULTS), metavar="KIND", help="plant the faults of one kind")
    parser.add_argument("--processes", type=int, default=2, help="tests that run at once (default 2)")
    options = parser.parse_args()
    kinds = [options.only] if options.only else list(FAULTS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("planner", "tests", "data", "examples", "docs", "benchmarks", "ui"):
            shutil.copytree(ROOT / part, folder / part, ignore=SKIPPED)
        for file in ROOT.glob("*.*"):
            if file.is_file():
                shutil.copy(file, folder)
        failure = first_failure(folder, options.processes)
        if failure is not None:
            print(f"the tests fail without any fault: {failure}", file=sys.stderr)
            return 2
        caught = 0
        for kind in kinds:
            missed = 0
            for fault in FAULTS[kind]:
                start = time.perf_counter()
                with planted(folder, fault):
                    failure = first_failure(folder, options.processes)
                missed += failure is None
                seconds = time.perf_counter() - start
                print(
                    f"{kind:26s} {seconds:5.0f} s  {fault.file}: {failure or 'NOT CAUGHT: ' + fault.wrong}", flush=True
                )
            caught += not missed
    print(f"{caught} of {len(kinds)} kinds caught")
    return 0 if options.only or caught >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
