"""Plans of known models on cards left out with all their rows, beside the measured speeds and the formulas.

python benchmarks/plans_on_unseen_cards.py
"""

from __future__ import annotations

import dataclasses
import math
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from planner.catalog.load import load_catalog  # noqa: E402
from planner.errors import InputError  # noqa: E402
from planner.measurements.rows import FLAG  # noqa: E402
from planner.performance.estimate import Setup, predict_unmeasured  # noqa: E402
from planner.performance.evidence import Measurement, load_evidence  # noqa: E402
from planner.performance.percent_errors import median_and_p90  # noqa: E402

SUITE = "lambda-benchmark"
OLD = ("lambda-benchmark-v0",)  # PyTorch of 2020


def main() -> None:
    """Print errors and coverage, on one GPU and on several, of new software and old."""
    catalog, evidence = load_catalog(), load_evidence()
    workloads = {name: workload for workload in catalog.workloads.values() for name in workload.evidence_models}
    without: dict[str, object] = {}
    found: dict[tuple[str, str], list[tuple[float, float, float]]] = {}

    def setup_of(row: Measurement) -> Setup:
        return Setup(
            workload=workloads[row.model],
            gpu=catalog.gpus[row.gpu],
            gpus=row.gpus,
            gpus_per_node=row.gpus_per_node,
            precision=row.precision,
            micro_batch=row.micro_batch,
            global_batch=row.global_batch,
        )

    for row in (*evidence.measurements, *evidence.for_transfer):
        known = row.model in workloads and row.gpu in catalog.gpus and row.micro_batch and FLAG not in row.notes
        if not known or not row.source.startswith(SUITE):
            continue
        left = without.setdefault(row.gpu, evidence.without_gpu(row.gpu))
        try:
            plan = predict_unmeasured(setup_of(row), catalog, left)  # type: ignore[arg-type]
        except InputError:
            continue
        if plan.basis != "transferred":
            continue
        nameless = dataclasses.replace(workloads[row.model], evidence_models=())
        formulas = predict_unmeasured(dataclasses.replace(setup_of(row), workload=nameless), catalog, evidence)
        inside = plan.throughput_low <= row.throughput <= plan.throughput_high
        key = ("2020" if row.source in OLD else "2022 to 2024", "one GPU" if row.gpus == 1 else "2 to 8 GPUs")
        errors = (math.log(one.throughput / row.throughput) for one in (plan, formulas))
        found.setdefault(key, []).append((*errors, float(inside)))
    print("software      GPUs          rows  transferred      bias  inside  formulas, which saw these cards")
    for (software, gpus), rows in sorted(found.items()):
        planned, formulas_errors, inside_all = (np.array(column) for column in zip(*rows, strict=True))
        bias = 100 * np.median(np.expm1(planned))
        print(
            f"{software:13s} {gpus:12s} {len(rows):5d}  {_errors(planned)}  {bias:+5.1f} %  {np.mean(inside_all):5.0%}"
            f"   {_errors(formulas_errors)}"
        )


def _errors(logs: np.ndarray) -> str:
    median, p90 = median_and_p90(logs)
    return f"{median:4.1f} / {p90:4.1f} %"


if __name__ == "__main__":
    main()
