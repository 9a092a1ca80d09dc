"""Fits the constants of vision models to measured rows on one GPU, and predicts families that were left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from planner.catalog.records import Catalog, VisionSpec
from planner.measurements.rows import SampleRow
from planner.measurements.table import read_table
from planner.performance.constants import Constants, constants_of
from planner.performance.device import device_of
from planner.performance.evidence import MEASUREMENTS_FOLDER, SAMPLE_FILE, Evidence, Measurement
from planner.performance.fit_constants import fit_constants
from planner.performance.fit_steps import KEPT_OUT_GPU, KEPT_OUT_SOURCES, Indices
from planner.performance.robust import group_weights
from planner.performance.step_inputs import Vector
from planner.performance.transfer.published import CHANNELS_LAST
from planner.performance.vision import VisionWork, launch_s, sample_s, update_s, work_of
from planner.performance.vision_names import family, named_spec

NOISE = 0.12  # log error that counts as one unit of misfit
SIXTEEN_BIT = ("fp16", "bf16")
WORK = tuple(field.name for field in fields(VisionWork))

VISION = (
    "vision_efficiency",
    "vision_bytes_factor",
    "vision_cycles",
    "vision_patch_share",
    "vision_plain_share",
    "vision_launch_ms",
    "vision_parameter_bytes",
)
LAYOUT = ("vision_channels_last_share",)


@dataclass(frozen=True, slots=True, kw_only=True)
class VisionRow:
    """A measured run of a vision model on one GPU."""

    id: str
    source: str
    gpu: str
    model: str
    batch: float
    images_per_s: float
    spec: VisionSpec
    work: VisionWork

    @property
    def channels_last(self) -> bool:
        """Whether images lay in memory with their channels last."""
        return bool(self.work.channels_last)


class VisionRows:
    """Rows with their work as columns."""

    def __init__(self, rows: Sequence[VisionRow]) -> None:
        self.rows = tuple(rows)
        self.families = [family(row.model) for row in rows]
        self.log_measured: Vector = np.log([row.images_per_s for row in rows])
        self.batch: Vector = np.array([row.batch for row in rows], dtype=np.float64)
        self.work: dict[str, Vector] = {
            name: np.array([getattr(row.work, name) for row in rows], dtype=np.float64) for name in WORK
        }

    def __len__(self) -> int:
        return len(self.rows)

    def log_ratio(self, constants: Constants, rows: Indices) -> Vector:
        """Log of the formulas' speed over the measured one."""
        work = VisionWork(**{name: column[rows] for name, column in self.work.items()})
        arithmetic, activations = sample_s(work, constants)
        step = self.batch[rows] * (arithmetic + activations) + launch_s(constants) + update_s(work, constants)
        return np.asarray(np.log(self.batch[rows] / step) - self.log_measured[rows], dtype=np.float64)

    def group(self, row: int) -> tuple[str, str, str]:
        """Source, GPU and family of a row."""
        return self.rows[row].source, self.rows[row].gpu, self.families[row]


def vision_rows(catalog: Catalog, evidence: Evidence) -> list[VisionRow]:
    """Vision models on one GPU in 16 bit, but for the card and the sources kept out; in both layouts of images."""
    workloads = {model: workload for workload in catalog.workloads.values() for model in workload.evidence_models}
    found = []
    for m in evidence.measurements:
        workload = workloads.get(m.model)
        known = None if workload is None else workload.vision
        if not _usable(m, catalog) or (workload is not None and known is None):
            continue
        spec = named_spec(m.model, m.gmacs, m.activations_m) if m.gmacs else known
        if spec is not None:
            device = device_of(catalog.gpus[m.gpu], m.precision, constants_of(catalog.assumptions))
            found.append(
                VisionRow(
                    id=m.id,
                    source=m.source,
                    gpu=m.gpu,
                    model=m.model,
                    batch=m.micro_batch,
                    images_per_s=m.throughput,
                    spec=spec,
                    work=work_of(spec, m.parameters, device),
                )
            )
    return found + _channels_last_rows(catalog)


def _usable(m: Measurement, catalog: Catalog) -> bool:
    return (
        m.unit == "samples_per_s"
        and m.gpus == 1
        and m.use != "compare"
        and m.precision in SIXTEEN_BIT
        and m.gpu in catalog.gpus
        and m.gpu != KEPT_OUT_GPU
        and m.source not in KEPT_OUT_SOURCES
    )


def _channels_last_rows(catalog: Catalog) -> list[VisionRow]:
    """The survey's runs with channels last, which answer no plan."""
    table = read_table((MEASUREMENTS_FOLDER / SAMPLE_FILE).read_bytes(), file=SAMPLE_FILE)
    found = []
    for row in table.rows:
        if not isinstance(row, SampleRow) or CHANNELS_LAST not in (row.notes or "") or row.gpu == KEPT_OUT_GPU:
            continue
        assert row.source and row.gpu and row.model and row.n_params and row.batch_per_gpu and row.throughput
        assert row.fwd_gmacs_per_sample and row.activations_m_per_sample
        spec = named_spec(row.model, row.fwd_gmacs_per_sample, row.activations_m_per_sample)
        device = device_of(catalog.gpus[row.gpu], "fp16", constants_of(catalog.assumptions))
        found.append(
            VisionRow(
                id=row.id,
                source=row.source,
                gpu=row.gpu,
                model=row.model,
                batch=row.batch_per_gpu,
                images_per_s=row.throughput,
                spec=spec,
                work=work_of(spec, row.n_params, device, channels_last=True),
            )
        )
    return found


def fit_vision(rows: VisionRows, keep: Indices, start: Constants, catalog: Catalog) -> Constants:
    """Constants of vision models from some rows: first what both layouts share, from the usual one."""
    constants = start
    for names, last in ((VISION, 0.0), (LAYOUT, 1.0)):
        members = keep[rows.work["channels_last"][keep] == last]
        weights = group_weights([rows.group(row) for row in members])

        def log_ratio(constants: Constants, members: Indices = members) -> Vector:
            return rows.log_ratio(constants, members)

        constants = fit_constants(names, log_ratio, weights, NOISE, constants, catalog)
    return constants


def left_out_errors(rows: VisionRows, groups: Sequence[str], start: Constants, catalog: Catalog) -> Vector:
    """Log of predicted over measured of each row, by constants fitted to the rows of all other groups."""
    errors = np.zeros(len(rows))
    names = np.array(groups)
    for name in sorted(set(groups)):
        constants = fit_vision(rows, np.flatnonzero(names != name), start, catalog)
        members = np.flatnonzero(names == name)
        errors[members] = rows.log_ratio(constants, members)
    return errors
