"""Refits the constants of memory to the published peaks: `python -m planner.performance.calibrate_memory`.

Deterministic: the fit starts at the centre of the priors, which are the ranges low to high of the assumptions, read
as 80 % of a log-normal.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from planner.catalog.load import DATA_FOLDER, load_catalog
from planner.catalog.records import Assumption
from planner.performance.constants import Constants, assumption_id, constants_of
from planner.performance.fit_steps import EIGHTY_PERCENT
from planner.performance.memory.peak import peak_memory
from planner.performance.memory_rows import MemoryRow, load_memory_rows
from planner.performance.percent_errors import errors_of
from planner.performance.robust import group_weights, robust

FITTED = ("activation_factor_unfused", "logit_bytes_cached", "logit_bytes_chunked", "memory_overhead_share")
NOISE = 0.03  # log error that counts as one unit of misfit

Vector = npt.NDArray[np.float64]


def predicted_bytes(row: MemoryRow, constants: Constants) -> float:
    """The peak of a row as its tool would show it. [bytes]"""
    return peak_memory(row.setup, constants).shown_bytes(row.kind)


def log_error(row: MemoryRow, constants: Constants) -> float:
    """Log of predicted over measured."""
    return math.log(predicted_bytes(row, constants) / row.peak_bytes)


def fit_memory_constants(rows: Sequence[MemoryRow], assumptions: Mapping[str, Assumption]) -> Constants:
    """Constants that minimise a soft-L1 loss of the log errors, with Gaussian priors on logs.

    A group of rows weighs as the square root of their number: they repeat each other.
    """
    start = constants_of(assumptions)
    figures = [assumptions[assumption_id(name)].figure for name in FITTED]
    bounds = [(math.log(figure.low or 0.0), math.log(figure.high or 0.0)) for figure in figures]
    centres = np.array([(low + high) / 2 for low, high in bounds])
    deviations = np.array([(high - low) / 2 / EIGHTY_PERCENT for low, high in bounds])
    weights = group_weights([row.group for row in rows])

    def constants_at(logs: Vector) -> Constants:
        return replace(start, **{name: math.exp(log) for name, log in zip(FITTED, logs, strict=True)})

    def residuals(logs: Vector) -> Vector:
        constants = constants_at(logs)
        misfit = np.array([log_error(row, constants) for row in rows]) / NOISE
        return np.concatenate([weights * robust(misfit), (logs - centres) / deviations])

    solution = least_squares(residuals, centres, xtol=1e-8, ftol=1e-8)
    return constants_at(np.asarray(solution.x, dtype=np.float64))


def held_out_errors(
    rows: Sequence[MemoryRow], assumptions: Mapping[str, Assumption], group_of: Callable[[MemoryRow], Hashable]
) -> dict[str, float]:
    """Log error of each row by id, with constants fitted without its group."""
    errors = {}
    for key in dict.fromkeys(group_of(row) for row in rows):
        constants = fit_memory_constants([row for row in rows if group_of(row) != key], assumptions)
        errors.update({row.id: log_error(row, constants) for row in rows if group_of(row) == key})
    return errors


GROUPINGS: Mapping[str, Callable[[MemoryRow], Hashable]] = {
    "row": lambda row: row.id,
    "group": lambda row: row.group,
    "model": lambda row: row.model,
    "source": lambda row: row.source,
}


def summary(log_errors: Sequence[float]) -> str:
    """Count, median and 90th percentile of the absolute percentage error, and the median bias."""
    median, p90, bias = errors_of(log_errors)
    return f"n {len(log_errors):3d}  median {median:5.1f} %  p90 {p90:5.1f} %  bias {bias:+5.1f} %"


def write_constants(constants: Constants, path: Path) -> None:
    """Replace the values of the fitted constants in the assumptions file, leaving everything else as it stands."""
    text = path.read_text(encoding="utf-8")
    for name in FITTED:
        head, found, rest = text.partition(f"  - id: {assumption_id(name)}\n    value: ")
        assert found, name
        text = head + found + re.sub(r"\A\S+", f"{getattr(constants, name):.4g}", rest)
    path.write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m planner.performance.calibrate_memory", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the constants into data/assumptions.yaml")
    parser.add_argument("--held-out", action="store_true", help="also predict each row, group, model, source unseen")
    options = parser.parse_args(arguments)
    assumptions, rows = load_catalog().assumptions, load_memory_rows()
    constants, present = fit_memory_constants(rows, assumptions), constants_of(assumptions)
    for name in FITTED:
        print(
            f"{assumption_id(name):45s} {getattr(constants, name):10.4g}   in the file {getattr(present, name):10.4g}"
        )
    errors = {row.id: log_error(row, constants) for row in rows}
    print(f"\n{'seen':20s} {summary(list(errors.values()))}")
    for row in rows:
        print(f"  {row.id:10s} {row.peak_bytes / 1e9:6.2f} GB {100 * math.expm1(errors[row.id]):+6.1f} %  {row.group}")
    if options.held_out:
        for label, group_of in GROUPINGS.items():
            left_out = held_out_errors(rows, assumptions, group_of)
            print(f"{'each ' + label + ' out':20s} {summary(list(left_out.values()))}")
    if options.write:
        write_constants(constants, DATA_FOLDER / "assumptions.yaml")
        print(f"\nwritten to {DATA_FOLDER / 'assumptions.yaml'}")


if __name__ == "__main__":
    main()
