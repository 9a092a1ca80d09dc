"""Refits the estimator's fitted constants to the shipped measurements: `python -m planner.performance.calibrate`.

Deterministic: every fit starts at the centre of the priors, which are the ranges low to high of the assumptions, read
as 80 % of a log-normal. No RTX 4090 row is looked at, so that its predictions stay a test of a card never seen.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt

from planner.catalog.load import DATA_FOLDER, load_catalog
from planner.catalog.records import Catalog, Workload
from planner.measurements.rows import LanguageRow
from planner.performance.constants import Constants, assumption_id, constants_of
from planner.performance.evidence import Evidence, Measurement, load_evidence
from planner.performance.fit_constants import fit_constants
from planner.performance.fit_steps import FITTED as STEP_CONSTANTS
from planner.performance.fit_steps import (
    KEPT_OUT_GPU,
    FitRows,
    StackOffsets,
    fit_steps,
    language_rows,
    priors,
    write_stacks,
)
from planner.performance.fit_vision import LAYOUT, VISION, VisionRows, fit_vision, vision_rows
from planner.performance.fitting import element_bytes_of
from planner.performance.held_out import HeldOut, print_held_out
from planner.performance.held_out_intervals import HeldOutIntervals, print_intervals
from planner.performance.held_out_vision import print_vision
from planner.performance.percent_errors import errors_of
from planner.performance.robust import group_weights
from planner.performance.scaling import data_parallel_step_s, link_of
from planner.performance.stacks import STACKS_FILE, load_stacks

GPUS_PER_NODE = 8
NOISE = 0.08  # log error that counts as one unit of misfit

LINKS = (
    "nvlink_share_ddp",
    "pcie_gb_per_s_professional",
    "pcie_gb_per_s_geforce",
    "geforce_contention",
    "sync_share_per_doubling",
)
FITTED = (*STEP_CONSTANTS, *VISION, *LAYOUT, *LINKS)
UNKNOWN_CODE = ("unknown_code_slower", "unknown_code_faster")  # from errors of sources left out

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A measurement and a function of the constants that predicts its throughput."""

    measurement: Measurement
    predict: Callable[[Constants], float]

    def log_error(self, constants: Constants) -> float:
        """Log of predicted over measured."""
        return math.log(self.predict(constants) / self.measurement.throughput)

    @property
    def group(self) -> tuple[str, str, str]:
        """Source, GPU and model."""
        return self.measurement.source, self.measurement.gpu, self.measurement.model


def link_rows(catalog: Catalog, evidence: Evidence) -> list[Row]:
    """Rows of scaling, in any precision, but for those of the GPU kept out."""
    workloads = {model: workload for workload in catalog.workloads.values() for model in workload.evidence_models}
    known = [m for m in evidence.measurements if m.gpu in catalog.gpus and m.gpu != KEPT_OUT_GPU and m.use != "compare"]
    known = [m for m in known if m.unit == "samples_per_s"]
    singles = _single_gpu_speeds(known)
    return [
        _link_row(m, singles[_configuration(m)], workloads[m.model], catalog)
        for m in known
        if m.gpus > 1 and _configuration(m) in singles and m.model in workloads
    ]


def _configuration(m: Measurement) -> tuple[str, str, str, str, int]:
    return m.source, m.gpu, m.model, m.precision, m.micro_batch


def _single_gpu_speeds(measurements: Sequence[Measurement]) -> dict[tuple[str, str, str, str, int], float]:
    speeds: dict[tuple[str, str, str, str, int], list[float]] = {}
    for m in measurements:
        if m.gpus == 1:
            speeds.setdefault(_configuration(m), []).append(m.throughput)
    return {key: median(values) for key, values in speeds.items()}


def _link_row(m: Measurement, single_gpu_speed: float, workload: Workload, catalog: Catalog) -> Row:
    """A data-parallel row: from the measured speed of one GPU, only the scaling is predicted."""

    gradient_bytes = element_bytes_of(m.precision) * workload.parameters.value

    def predict(constants: Constants) -> float:
        link = link_of(catalog.gpus[m.gpu], m.gpus, GPUS_PER_NODE, None, constants)
        alone_s = m.micro_batch / single_gpu_speed
        return m.global_batch / data_parallel_step_s(alone_s, gradient_bytes, link, constants)

    return Row(measurement=m, predict=predict)


def fit_links(rows: Sequence[Row], start: Constants, catalog: Catalog) -> Constants:
    """Constants of the links from rows of scaling."""

    def log_errors(constants: Constants) -> Vector:
        return np.array([row.log_error(constants) for row in rows])

    return fit_constants(LINKS, log_errors, group_weights([row.group for row in rows]), NOISE, start, catalog)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """All fitted constants, and what is known of stacks."""

    constants: Constants
    offsets: StackOffsets


def start_constants(catalog: Catalog) -> Constants:
    """Hand-set constants as they stand, fitted ones at the centre of their priors."""
    centres, _ = priors(FITTED, catalog)
    return replace(
        constants_of(catalog.assumptions),
        **{name: math.exp(log) for name, log in zip(FITTED, centres, strict=True)},
    )


def calibrated(
    catalog: Catalog, links: Sequence[Row], vision: VisionRows, language: Sequence[LanguageRow]
) -> Calibration:
    """All fitted constants from rows alone; their present values do not matter."""
    constants = start_constants(catalog)
    for _ in range(2):  # links and overlap depend on each other
        constants = fit_links(links, constants, catalog)
        data = FitRows(language, catalog, load_stacks(), centred(constants, catalog))
        steps = fit_steps(data, np.arange(len(data)), constants, catalog)
        constants = steps.constants
    constants = fit_vision(vision, np.arange(len(vision)), constants, catalog)
    return Calibration(constants=constants, offsets=steps.offsets)


def centred(constants: Constants, catalog: Catalog) -> Constants:
    """The same with the step's constants at their priors, by which open settings of rows are chosen."""
    centres, _ = priors(STEP_CONSTANTS, catalog)
    return replace(constants, **{name: math.exp(log) for name, log in zip(STEP_CONSTANTS, centres, strict=True)})


def with_unknown_code(constants: Constants, held: HeldOut) -> Constants:
    """The same with how much slower and faster than known code unknown code may be, from sources left out."""
    found = HeldOutIntervals(held).factors()
    return replace(constants, unknown_code_slower=found.slower, unknown_code_faster=found.faster)


def held_out_errors(
    catalog: Catalog, members: Sequence[Row], group_of: Callable[[Measurement], str]
) -> dict[str, list[float]]:
    """Log errors of the groups of rows of scaling, each predicted by constants fitted without the group."""
    errors = {}
    for key in sorted({group_of(row.measurement) for row in members}):
        kept = [row for row in members if group_of(row.measurement) != key]
        constants = fit_links(kept, start_constants(catalog), catalog)
        errors[key] = [row.log_error(constants) for row in members if group_of(row.measurement) == key]
    return errors


def summary(log_errors: Sequence[float] | Vector, half_width: float | None = None) -> str:
    """Count, median and 90th percentile of the absolute percentage error, the median bias, and the share inside."""
    middle, p90, bias = errors_of(log_errors)
    inside = "" if half_width is None else f"  inside {np.mean(np.abs(log_errors) <= half_width):4.0%}"
    return f"n {len(log_errors):3d}  median {middle:5.1f} %  p90 {p90:5.1f} %  bias {bias:+5.1f} %{inside}"


def write_constants(constants: Constants, path: Path) -> None:
    """Replace the values of the fitted constants in the assumptions file, leaving everything else as it stands."""
    text = path.read_text(encoding="utf-8")
    for name in (*FITTED, *UNKNOWN_CODE):
        pattern = rf"(- id: {re.escape(assumption_id(name))}\n    value: )\S+"
        text, count = re.subn(pattern, lambda found, n=name: found[1] + f"{getattr(constants, n):.4g}", text)  # type: ignore[misc]
        assert count == 1, name
    path.write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m planner.performance.calibrate", description=__doc__)
    parser.add_argument(
        "--write",
        action="store_true",
        help="write constants into data/assumptions.yaml and offsets into data/stacks.yaml",
    )
    parser.add_argument("--held-out", action="store_true", help="also predict each GPU, source and model unseen")
    options = parser.parse_args(arguments)
    catalog, evidence = load_catalog(), load_evidence()
    links, language = link_rows(catalog, evidence), language_rows(catalog, evidence)
    vision = VisionRows(vision_rows(catalog, evidence))
    found = calibrated(catalog, links, vision, language)
    held = HeldOut(catalog, language, centred(found.constants, catalog))
    constants = with_unknown_code(found.constants, held)
    present = constants_of(catalog.assumptions)
    for name in (*FITTED, *UNKNOWN_CODE):
        fitted, stored = getattr(constants, name), getattr(present, name)
        print(f"{assumption_id(name):45s} {fitted:10.4g}   in the file {stored:10.4g}")
    for stack, offset in found.offsets.by_stack.items():
        print(f"{stack:45s} {offset:+10.3f}   log of speed over the formulas, {found.offsets.rows[stack]} rows")
    print(f"\nvision, seen: {summary(vision.log_ratio(found.constants, np.arange(len(vision))))}")
    print(f"links, seen: {summary([row.log_error(found.constants) for row in links])}")
    if options.held_out:
        print_held_out(catalog, language, found.constants)
        print_intervals(held)
        _print_held_out(catalog, links)
        print_vision(catalog, vision)
    if options.write:
        write_constants(constants, DATA_FOLDER / "assumptions.yaml")
        write_stacks(found.offsets, STACKS_FILE)
        print(f"\nwritten to {DATA_FOLDER / 'assumptions.yaml'} and {STACKS_FILE.name}")


def _print_held_out(catalog: Catalog, links: Sequence[Row]) -> None:
    groupings: dict[str, Callable[[Measurement], str]] = {
        "GPU": lambda m: m.gpu,
        "source": lambda m: m.source,
        "model": lambda m: m.model.split("_")[0].rstrip("0123456789"),
    }
    half_width = constants_of(catalog.assumptions).half_width_new_gpu
    for label, group_of in groupings.items():
        mine = held_out_errors(catalog, links, group_of)
        together = [error for values in mine.values() for error in values]
        print(f"\nscaling, each {label} left out in turn: {summary(together, half_width)}")
        for key, values in mine.items():
            print(f"    {key:43s} {summary(values)}")


if __name__ == "__main__":
    main()
