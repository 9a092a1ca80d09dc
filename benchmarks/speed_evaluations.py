"""How fast whole evaluations are, and how their time grows: 100,000 configurations on one core, beside llm-analysis.

    python benchmarks/speed_evaluations.py [--plot OUT.svg] [--llm-analysis-python PATH | --without-llm-analysis]

A whole evaluation is speed and memory of a training run on so many GPUs, and energy and money of a plan over 36 months
in which it runs on machines or is rented; configurations are columns of numbers. llm-analysis counts speed and memory
alone, one run at a time. Prints ratios of one run; status 1 where a limit is missed.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # before numpy is loaded
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks import other_estimator  # noqa: E402
from planner.catalog.load import load_catalog  # noqa: E402
from planner.catalog.records import Catalog  # noqa: E402
from planner.performance.constants import Constants, constants_of  # noqa: E402
from planner.performance.device import usable_bytes  # noqa: E402
from planner.performance.evidence import Evidence, load_evidence  # noqa: E402
from planner.performance.fit_steps import FitRows, language_rows  # noqa: E402
from planner.performance.rows.layout import Spread  # noqa: E402
from planner.performance.rows.memory import RowMemory  # noqa: E402
from planner.performance.rows.predict import CHUNK  # noqa: E402
from planner.performance.stacks import load_stacks  # noqa: E402
from planner.performance.step import step_times  # noqa: E402
from planner.scenario.load import check_document, read_document  # noqa: E402
from planner.scenario.paths import with_overrides  # noqa: E402
from planner.scenario.schema import Scenario  # noqa: E402
from planner.strategy.allocate import allocate, machine_counts  # noqa: E402
from planner.strategy.kernel import Choice, kernel  # noqa: E402
from planner.strategy.parameters import Theta  # noqa: E402
from planner.strategy.problem import PlanProblem  # noqa: E402
from planner.strategy.ranges import sampled_theta  # noqa: E402
from planner.strategy.resolve import resolve  # noqa: E402

TODAY = dt.date(2026, 11, 30)
EVALUATIONS, MOST_S, LEAST_RATIO = 100_000, 2.0, 40.0
SAMPLES, WAYS = 4096, 5
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Configurations:
    """Training runs as columns: those that were measured, again and again, with other micro-batches and plans."""

    data: FitRows
    constants: Constants
    problem: PlanProblem
    choice: Choice
    theta: Theta  # a row for each configuration
    speed_at: int  # column that takes the predicted speed
    many: np.ndarray[Any, np.dtype[np.int64]]  # the measured row of each configuration
    batches: np.ndarray[Any, np.dtype[np.float64]]  # factor on its micro-batch

    @classmethod
    def of(cls, catalog: Catalog, evidence: Evidence, count: int) -> Configurations:
        """So many configurations."""
        constants = constants_of(catalog.assumptions)
        data = FitRows(language_rows(catalog, evidence), catalog, load_stacks(), constants)
        problem = lab(catalog, evidence, {})
        choice = allocate(problem, problem.theta(), "hybrid").choice
        assert choice is not None
        rng = np.random.default_rng(1)
        job = next(pair for at, pair in enumerate(problem.pairs) if choice.routing[0, at] and pair.machine is not None)
        return cls(
            data, constants, problem, choice, sampled_theta(problem, 1 << (count - 1).bit_length())[:count],
            job.throughput_at,
            np.resize(np.arange(len(data)), count), rng.choice([0.5, 1.0, 2.0, 4.0], count),
        )  # fmt: skip

    def evaluate(self) -> dict[str, float]:
        """All of it once, part by part. [s]"""
        taken = dict.fromkeys(("speed", "memory", "energy and money"), 0.0)
        capacity, state, fixed, each, shards = self._memory(taken)
        for start in range(0, len(self.many), CHUNK):
            rows, batch = self.many[start : start + CHUNK], self.batches[start : start + CHUNK]
            begun = time.process_time()
            inputs = self.data.inputs.take(rows)
            inputs = replace(inputs, micro_batch=inputs.micro_batch * batch)
            work = np.exp(self.data.log_work[rows]) * batch
            speed = work / step_times(inputs, self.constants).total_s
            middle = time.process_time()
            peak = state[rows] / shards[rows] + fixed[rows] + each[rows] * inputs.micro_batch
            fits = peak <= capacity[rows]
            last = time.process_time()
            theta = self.theta[start : start + CHUNK]
            theta[:, self.speed_at] = speed * self._scale
            count = machine_counts(self.problem, theta, self.choice.routing, keep_fixed=True)
            found = kernel(self.problem, theta, replace(self.choice, machine_count=count))
            assert np.isfinite(found.present_value_usd).all()
            assert len(found.kwh) == len(fits)
            end = time.process_time()
            for part, seconds in zip(taken, (middle - begun, last - middle, end - last), strict=True):
                taken[part] += seconds
        return taken

    @property
    def _scale(self) -> float:
        """Makes the speeds of large models those of the plan's job, so that its machines stay few."""
        return float(self.problem.theta()[0, self.speed_at] / np.exp(np.median(self.data.log_measured)))

    def _memory(self, taken: dict[str, float]) -> tuple[np.ndarray[Any, np.dtype[np.float64]], ...]:
        """Capacity of each measured row's GPU, and its memory as a line in the micro-batch."""
        begun = time.process_time()
        columns = []
        for run in self.data.runs:
            plan, _ = run.plans[0]
            spread = Spread(
                tensor=plan.tensor, pipeline=plan.pipeline, context=plan.context, expert=plan.expert,
                chunks=plan.chunks, sharding=plan.sharding, shards=plan.shards or 1,
            )  # fmt: skip
            need = RowMemory(run.subject, self.constants).need(spread, plan.checkpointing)
            capacity = usable_bytes(run.subject.gpu, self.constants)
            columns.append((capacity, need.state_bytes, need.fixed_bytes, need.per_sample_bytes, float(spread.shards)))
        taken["memory"] += time.process_time() - begun
        return tuple(np.array(columns).T)


def lab(catalog: Catalog, evidence: Evidence, changes: dict[str, Any]) -> PlanProblem:
    """The hybrid lab with some inputs changed."""
    document = read_document((ROOT / "examples" / "hybrid-lab.yaml").read_bytes(), file="hybrid-lab")
    return resolve(check_document(with_overrides(document, changes)), catalog, evidence, today=TODAY)


def shortest_s(work: Callable[[], object]) -> float:
    """The shortest of some rounds, after one to get warm: what else runs on the machine only ever adds. [s]"""
    work()
    durations = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        durations.append(time.process_time() - start)
    return min(durations)


def growth(catalog: Catalog, evidence: Evidence) -> dict[str, list[tuple[int, float]]]:
    """Time of evaluations by samples, months, jobs and options. [s]"""
    found: dict[str, list[tuple[int, float]]] = {"samples": [], "months": [], "jobs": [], "options": []}
    problem = lab(catalog, evidence, {})
    for samples in (512, 1024, 2048, 4096, 8192, 16384):
        found["samples"].append((samples, kernel_s(problem, samples)))
    for months in (6, 12, 24, 48, 84):
        found["months"].append((months, kernel_s(lab(catalog, evidence, {"horizon_months": months}), SAMPLES)))
    base = read_document((ROOT / "examples" / "hybrid-lab.yaml").read_bytes(), file="hybrid-lab")
    for jobs in (2, 4, 8, 16):
        many = {f"{id}{at}": job for at in range(jobs // 2) for id, job in base["jobs"].items()}
        scenario = check_document({**base, "jobs": many})
        found["jobs"].append((jobs, kernel_s(resolve(scenario, catalog, evidence, today=TODAY), SAMPLES)))
    every = sorted(
        offer.id
        for offer in catalog.offers.values()
        if offer.term == "on_demand" and offer.gpu is not None and offer.status(TODAY) == "current"
        and offer.gpu_count == int(offer.gpu_count)
    )  # fmt: skip
    for options in (8, 16, 32, 64, 128):
        scenario = check_document(with_overrides(base, {"rental.offers": every[:options], "rental.gpus": None}))

        def plan(scenario: Scenario = scenario) -> None:
            problem = resolve(scenario, catalog, evidence, today=TODAY)
            allocate(problem, problem.theta(), "cloud")

        found["options"].append((options, shortest_s(plan)))
    return found


def kernel_s(problem: PlanProblem, samples: int) -> float:
    """Time of a mix under so many samples. [s]"""
    choice = allocate(problem, problem.theta(), "hybrid").choice
    assert choice is not None
    theta = sampled_theta(problem, samples)
    return shortest_s(lambda: kernel(problem, theta, choice))


def slope(points: Sequence[tuple[int, float]]) -> float:
    """Exponent of the growth between the first and the last point: 1 is linear."""
    (first, start), (last, end) = points[0], points[-1]
    return float(np.log(end / start) / np.log(last / first))


def plot(found: dict[str, list[tuple[int, float]]]) -> str:
    """Time over size, both by their logarithm and over the first, as SVG; the dashed line is linear growth."""
    size, edge = 480, 50
    most = max(np.log10(points[-1][0] / points[0][0]) for points in found.values())

    def at(x: float, y: float) -> str:
        scale = (size - 2 * edge) / most
        return f"{edge + x * scale:.1f},{size - edge - y * scale:.1f}"

    colours = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
    lines = [f'<polyline points="{at(0, 0)} {at(most, most)}" fill="none" stroke="#999" stroke-dasharray="6 4"/>']
    for number, (name, points) in enumerate(found.items()):
        places = " ".join(at(np.log10(x / points[0][0]), np.log10(y / points[0][1])) for x, y in points)
        colour, place = colours[number], 20 + 16 * number
        label = f"{name}, {points[0][0]:,} to {points[-1][0]:,}: exponent {slope(points):.2f}"
        lines.append(f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines.append(f'<text x="{edge}" y="{place}" fill="{colour}">{label}</text>')
    lines.append(
        f'<text x="{edge}" y="{size - 15}">size over the first, time over the first (logarithms); dashed: linear</text>'
    )
    style = 'font-family="sans-serif" font-size="13"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" {style}>' + "".join(lines) + "</svg>\n"
    )


def of_llm_analysis(data: FitRows, python: Path | None) -> float | None:
    """Time of one evaluation by llm-analysis; None, said on standard error, where it can't be had. [us]"""
    try:
        return float(other_estimator.predictions(data, python or other_estimator.python_of_environment())["us"])
    except other_estimator.Unavailable as error:
        print(f"llm-analysis is left out: {error}", file=sys.stderr)
        return None


def main() -> int:
    """Print times and ratios; the status says whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, metavar="OUT.svg", help="save how the time grows")
    parser.add_argument("--llm-analysis-python", type=Path, metavar="PATH", help="interpreter that has llm-analysis")
    parser.add_argument("--without-llm-analysis", action="store_true", help="leave it out; nothing is installed")
    options = parser.parse_args()
    catalog, evidence = load_catalog(today=TODAY), load_evidence()
    configurations = Configurations.of(catalog, evidence, EVALUATIONS)
    parts = min((configurations.evaluate() for _ in range(ROUNDS)), key=lambda found: sum(found.values()))
    total = sum(parts.values())
    print(f"{EVALUATIONS:,} evaluations of {len(configurations.data):,} shapes, limit {MOST_S:g} s")
    for part, seconds in {**parts, "all": total}.items():
        print(f"  {part:18s} {seconds:7.3f} s  {1e6 * seconds / EVALUATIONS:7.2f} us each")
    missed = total > MOST_S
    other = None if options.without_llm_analysis else of_llm_analysis(configurations.data, options.llm_analysis_python)
    if other is not None:
        ratio = other / (1e6 * total / EVALUATIONS)
        missed |= ratio < LEAST_RATIO
        print(
            f"  llm-analysis       {other:.0f} us each without money: {ratio:.0f} times as long, limit {LEAST_RATIO:g}"
        )
    samples = sum(kernel_s(configurations.problem, SAMPLES) for _ in range(WAYS))
    missed |= samples > MOST_S
    print(f"{SAMPLES:,} samples of {WAYS} strategies {samples:.3f} s, limit {MOST_S:g} s")
    found = growth(catalog, evidence)
    print("growth of the time, exponent 1 being linear")
    for name, points in found.items():
        shown = ", ".join(f"{size:,}: {1e3 * seconds:.1f} ms" for size, seconds in points)
        missed |= slope(points) > 1.1
        print(f"  {name:8s} {slope(points):5.2f}  {shown}")
    if options.plot is not None:
        options.plot.write_text(plot(found), encoding="utf-8")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
