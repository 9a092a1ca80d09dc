"""Refits the estimator's fitted constants to the shipped measurements: `python -m planner.performance.calibrate`.

Deterministic: every fit starts at the centre of the priors, which are the ranges low to high of the assumptions, read
as 80 % of a log-normal. No RTX 4090 row is looked at, so that its predictions stay a test of a card never seen.
"""

from __future__ import annotations

import argparse
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from planner.catalog.load import DATA_FOLDER, load_catalog
from planner.catalog.records import Catalog, TransformerSpec, VisionSpec, Workload
from planner.performance.constants import Constants, assumption_id, constants_of
from planner.performance.device import device_of
from planner.performance.evidence import Evidence, Measurement, load_evidence
from planner.performance.fitting import element_bytes_of
from planner.performance.scaling import data_parallel_step_s, link_of
from planner.performance.throughput import StepPlan, transformer_step
from planner.performance.vision import vision_step

KEPT_OUT_GPU = "rtx-4090"
KEPT_OUT_SOURCES = frozenset({"lambda-benchmark-v0"})  # PyTorch 1.4-1.10: no stack of today, but fine for links
GPUS_PER_NODE = 8
# Models of timm that are made of plain transformer blocks, attention and a two-layer MLP, by the start of their names.
PATCH_MODELS = ("beit", "cait", "crossvit", "deit", "pit_", "swin", "vit_")
NOISE = 0.08  # log error that counts as one unit of misfit
EIGHTY_PERCENT = 1.2816  # standard deviations from the middle to either end of an 80 % range

TRANSFORMER = (
    "gemm_efficiency",
    "gemm_bytes_factor",
    "attention_efficiency",
    "unfused_attention_share",
    "unfused_score_passes",
    "elementwise_factor_fused",
    "elementwise_factor_unfused",
    "kernel_gap_us",
    "nvlink_share_fsdp",
    "overlap_exposed",
    "node_jitter_per_doubling",
    "optimizer_factor",
)
LAUNCH = ("kernel_launch_us",)
VISION = (
    "vision_efficiency",
    "vision_intensity_half",
    "vision_bytes_factor",
    "vision_vector_flop",
    "vision_norm",
    "vision_launch_ms",
    "vision_parameter_bytes",
)
PATCHES = ("vision_patch_share",)
LINKS = (
    "nvlink_share_ddp",
    "pcie_gb_per_s_professional",
    "pcie_gb_per_s_geforce",
    "geforce_contention",
    "sync_share_per_doubling",
)
FITTED = (*TRANSFORMER, *LAUNCH, *VISION, *PATCHES, *LINKS)

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
        """Source, GPU and model; the many models of one survey count as one."""
        m = self.measurement
        return m.source, m.gpu, "" if m.source == "timm-benchmark" else m.model


def fit_rows(catalog: Catalog, evidence: Evidence) -> dict[str, list[Row]]:
    """Rows of each stage of the fit, in 16 bit (links in any precision), but for those of the GPU kept out."""
    workloads = {model: workload for workload in catalog.workloads.values() for model in workload.evidence_models}
    rows: dict[str, list[Row]] = {"transformer": [], "launch": [], "vision": [], "links": []}
    known = [m for m in evidence.measurements if m.gpu in catalog.gpus and m.gpu != KEPT_OUT_GPU and m.use != "compare"]
    singles = _single_gpu_speeds(known)
    for m in known:
        sixteen_bit = m.precision in ("fp16", "bf16")
        workload = workloads.get(m.model)
        one_gpu_sample = m.unit == "samples_per_s" and m.gpus == 1 and m.source not in KEPT_OUT_SOURCES
        if m.unit == "samples_per_s" and m.gpus > 1 and _configuration(m) in singles and workload is not None:
            rows["links"].append(_link_row(m, singles[_configuration(m)], workload, catalog))
        elif not sixteen_bit:
            continue
        elif m.source == "languini-benchmark":
            rows["launch"].append(transformer_row(m, None, catalog))
        elif m.unit == "tokens_per_s" or (one_gpu_sample and workload is not None and workload.transformer):
            rows["transformer"].append(transformer_row(m, workload, catalog))
        elif one_gpu_sample and (m.gmacs or (workload is not None and workload.vision)):
            rows["vision"].append(vision_row(m, workload, catalog))
    return rows


def _configuration(m: Measurement) -> tuple[str, str, str, str, int]:
    return m.source, m.gpu, m.model, m.precision, m.micro_batch


def _single_gpu_speeds(measurements: Sequence[Measurement]) -> dict[tuple[str, str, str, str, int], float]:
    speeds: dict[tuple[str, str, str, str, int], list[float]] = {}
    for m in measurements:
        if m.gpus == 1:
            speeds.setdefault(_configuration(m), []).append(m.throughput)
    return {key: median(values) for key, values in speeds.items()}


def transformer_row(m: Measurement, workload: Workload | None, catalog: Catalog) -> Row:
    """A transformer's row; its shape is in the row, or else that of the workload."""
    assert m.seq_len is not None
    if m.layers:
        spec = TransformerSpec(
            layers=m.layers,
            d_model=m.d_model,
            heads=m.heads,
            kv_heads=m.heads,
            d_ff=m.d_ff,
            gated_mlp=False,
            vocab=m.vocab,
            seq_len=m.seq_len,
            encoder=False,
            tied_embeddings=True,
        )
    else:
        assert workload is not None and workload.transformer is not None
        spec = workload.transformer
    # Languini's GPT has no flash attention, casts fp32 weights in every step and moves as much as eager code.
    fused = not spec.encoder and m.source != "languini-benchmark"
    plan = StepPlan(
        seq_len=m.seq_len,
        micro_batch=m.micro_batch,
        micro_steps=m.micro_steps,
        checkpointing=m.checkpointing,
        sharding="sharded" if m.sharded and m.gpus > 1 else "replicated",
        fused_attention=fused,
        fused_elementwise=fused,
    )
    units = m.global_batch * (m.seq_len if m.unit == "tokens_per_s" else 1)

    def predict(constants: Constants) -> float:
        gpu = catalog.gpus[m.gpu]
        device = device_of(gpu, m.precision, constants)
        link = link_of(gpu, m.gpus, GPUS_PER_NODE, m.network_gbit_per_s, constants)
        return units / transformer_step(spec, m.parameters, plan, device, link, constants).total_s

    return Row(measurement=m, predict=predict)


def vision_row(m: Measurement, workload: Workload | None, catalog: Catalog) -> Row:
    """A vision model's row on one GPU."""
    if m.gmacs:
        patches = m.model.startswith(PATCH_MODELS)
        spec = VisionSpec(gmacs=m.gmacs, activations_m=m.activations_m, input="", patches=patches)
    else:
        assert workload is not None and workload.vision is not None
        spec = workload.vision

    def predict(constants: Constants) -> float:
        gpu = catalog.gpus[m.gpu]
        device = device_of(gpu, m.precision, constants)
        link = link_of(gpu, 1, GPUS_PER_NODE, None, constants)
        return m.micro_batch / vision_step(spec, m.parameters, m.micro_batch, 1.0, device, link, constants).total_s

    return Row(measurement=m, predict=predict)


def _link_row(m: Measurement, single_gpu_speed: float, workload: Workload, catalog: Catalog) -> Row:
    """A data-parallel row: from the measured speed of one GPU, only the scaling is predicted."""

    gradient_bytes = element_bytes_of(m.precision) * workload.parameters.value

    def predict(constants: Constants) -> float:
        link = link_of(catalog.gpus[m.gpu], m.gpus, GPUS_PER_NODE, None, constants)
        alone_s = m.micro_batch / single_gpu_speed
        return m.global_batch / data_parallel_step_s(alone_s, gradient_bytes, link, constants)

    return Row(measurement=m, predict=predict)


def _priors(names: Sequence[str], catalog: Catalog) -> tuple[Vector, Vector]:
    centres, deviations = [], []
    for name in names:
        figure = catalog.assume(assumption_id(name))
        assert figure.low is not None and figure.high is not None
        low, high = math.log(figure.low), math.log(figure.high)
        centres.append((low + high) / 2)
        deviations.append((high - low) / 2 / EIGHTY_PERCENT)
    return np.array(centres), np.array(deviations)


def fit(rows: Sequence[Row], names: Sequence[str], start: Constants, catalog: Catalog) -> Constants:
    """Constants that minimise a soft-L1 loss of the log errors, with Gaussian priors on logs.

    A group of rows (one source, GPU and model) weighs as the square root of their number: they repeat each other.
    """
    centres, deviations = _priors(names, catalog)
    sizes = Counter(row.group for row in rows)
    weights = np.array([sizes[row.group] ** -0.25 for row in rows])  # squared and summed: the root of the group's size

    def constants_at(logs: Vector) -> Constants:
        return replace(start, **{name: math.exp(log) for name, log in zip(names, logs, strict=True)})

    def residuals(logs: Vector) -> Vector:
        constants = constants_at(logs)
        misfit = np.array([row.log_error(constants) for row in rows]) / NOISE
        softened = np.sign(misfit) * np.sqrt(2 * (np.sqrt(1 + misfit**2) - 1))
        return np.concatenate([weights * softened, (logs - centres) / deviations])

    solution = least_squares(residuals, centres, xtol=1e-8, ftol=1e-8)
    return constants_at(np.asarray(solution.x, dtype=np.float64))


def calibrated(catalog: Catalog, rows: Mapping[str, Sequence[Row]]) -> Constants:
    """All fitted constants from rows alone; their present values do not matter."""
    centres, _ = _priors(FITTED, catalog)
    constants = replace(
        constants_of(catalog.assumptions),
        **{name: math.exp(log) for name, log in zip(FITTED, centres, strict=True)},
    )
    for _ in range(2):  # links and overlap depend on each other
        constants = fit(rows["links"], LINKS, constants, catalog)
        constants = fit(rows["transformer"], TRANSFORMER, constants, catalog)
    constants = fit(rows["launch"], LAUNCH, constants, catalog)
    # First what all vision models share, then the one number in which transformers differ.
    constants = fit(rows["vision"], VISION, replace(constants, vision_patch_share=1.0), catalog)
    patches = [row for row in rows["vision"] if row.measurement.model.startswith(PATCH_MODELS)]
    return fit(patches, PATCHES, constants, catalog)


def held_out_errors(
    catalog: Catalog, rows: Mapping[str, Sequence[Row]], group_of: Callable[[Measurement], str]
) -> dict[tuple[str, str], list[tuple[Measurement, float]]]:
    """Log errors of each stage's groups, each predicted by constants fitted without the group."""
    errors: dict[tuple[str, str], list[tuple[Measurement, float]]] = {}
    for key in sorted({group_of(row.measurement) for stage in rows.values() for row in stage}):
        kept = {stage: [r for r in members if group_of(r.measurement) != key] for stage, members in rows.items()}
        constants = calibrated(catalog, kept)
        for stage, members in rows.items():
            left_out = [row for row in members if group_of(row.measurement) == key]
            if left_out:
                errors[stage, key] = [(row.measurement, row.log_error(constants)) for row in left_out]
    return errors


def summary(log_errors: Sequence[float], half_width: float | None = None) -> str:
    """Count, median and 90th percentile of the absolute percentage error, the median bias, and the share inside."""
    errors = np.expm1(np.array(log_errors))
    inside = "" if half_width is None else f"  inside {np.mean(np.abs(log_errors) <= half_width):4.0%}"
    return (
        f"n {len(errors):3d}  median {100 * np.median(np.abs(errors)):5.1f} %  "
        f"p90 {100 * np.quantile(np.abs(errors), 0.9):5.1f} %  bias {100 * np.median(errors):+5.1f} %{inside}"
    )


def write_constants(constants: Constants, path: Path) -> None:
    """Replace the values of the fitted constants in the assumptions file, leaving everything else as it stands."""
    text = path.read_text(encoding="utf-8")
    for name in FITTED:
        pattern = rf"(- id: {re.escape(assumption_id(name))}\n    value: )\S+"
        text, count = re.subn(pattern, lambda found, n=name: found[1] + f"{getattr(constants, n):.4g}", text)  # type: ignore[misc]
        assert count == 1, name
    path.write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m planner.performance.calibrate", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the constants into data/assumptions.yaml")
    parser.add_argument("--held-out", action="store_true", help="also predict each GPU, source and model unseen")
    options = parser.parse_args(arguments)
    catalog = load_catalog()
    rows = fit_rows(catalog, load_evidence())
    constants = calibrated(catalog, rows)
    present = constants_of(catalog.assumptions)
    for name in FITTED:
        print(
            f"{assumption_id(name):45s} {getattr(constants, name):10.4g}   in the file {getattr(present, name):10.4g}"
        )
    for stage, members in rows.items():
        print(f"\n{stage}, seen: {summary([row.log_error(constants) for row in members])}")
        for key in sorted({(row.measurement.source, row.measurement.gpu) for row in members}):
            own = [row for row in members if (row.measurement.source, row.measurement.gpu) == key]
            print(f"  {' '.join(key):45s} {summary([row.log_error(constants) for row in own])}")
    if options.held_out:
        _print_held_out(catalog, rows)
    if options.write:
        write_constants(constants, DATA_FOLDER / "assumptions.yaml")
        print(f"\nwritten to {DATA_FOLDER / 'assumptions.yaml'}")


def _print_held_out(catalog: Catalog, rows: Mapping[str, Sequence[Row]]) -> None:
    groupings: dict[str, Callable[[Measurement], str]] = {
        "GPU": lambda m: m.gpu,
        "source": lambda m: m.source,
        "model": lambda m: m.model.split("_")[0].rstrip("0123456789"),
    }
    constants = constants_of(catalog.assumptions)
    half_widths = {
        "transformer": constants.half_width_new_gpu,
        "launch": math.hypot(constants.half_width_new_gpu, constants.half_width_regime),
        "vision": constants.half_width_vision,
        "links": constants.half_width_new_gpu,
    }
    for label, group_of in groupings.items():
        errors = held_out_errors(catalog, rows, group_of)
        print(f"\neach {label} left out in turn")
        for stage in rows:
            mine = {key: values for (of, key), values in errors.items() if of == stage}
            together = [error for values in mine.values() for _, error in values]
            print(f"  {stage:45s} {summary(together, half_widths[stage])}")
            for key, values in mine.items():
                if len(mine) < 25:
                    print(f"    {key:43s} {summary([error for _, error in values])}")


if __name__ == "__main__":
    main()
