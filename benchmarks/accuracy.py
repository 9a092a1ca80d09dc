"""How far estimates of language models are off, and how fast they are, beside baselines and llm-analysis.

    python benchmarks/accuracy.py [--json] [--llm-analysis-python PATH | --without-llm-analysis]

All on the same rows. Every group is left out whole: the constants are refitted, and the baselines given their numbers,
without it; then it is predicted. Takes a few minutes. docs/accuracy.md says what each baseline is.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import accuracy_tables, baselines, other_estimator  # noqa: E402
from benchmarks.evaluation_speed import microseconds  # noqa: E402
from planner.catalog.load import load_catalog  # noqa: E402
from planner.catalog.records import Catalog  # noqa: E402
from planner.performance.calibrate_memory import GROUPINGS, held_out_errors  # noqa: E402
from planner.performance.constants import Constants, constants_of  # noqa: E402
from planner.performance.evidence import load_evidence  # noqa: E402
from planner.performance.fit_steps import (  # noqa: E402
    FITTED,
    FitRows,
    Indices,
    fit_steps,
    language_rows,
    predicted_log_ratio,
    priors,
)
from planner.performance.held_out import FOUNDRY, SOURCES, HeldOut, Split, after_three  # noqa: E402
from planner.performance.memory_rows import load_memory_rows  # noqa: E402
from planner.performance.percent_errors import errors_of  # noqa: E402
from planner.performance.rows.layout import Spread  # noqa: E402
from planner.performance.rows.memory import RowMemory  # noqa: E402
from planner.performance.rows.predict import Run  # noqa: E402
from planner.performance.step_inputs import Vector  # noqa: E402

ESTIMATOR = "this estimator"
LLM_ANALYSIS = "llm-analysis"
FIXED = "40 % MFU"
KNOWING: dict[str, Callable[[Sequence[baselines.Facts], Sequence[baselines.Facts], Vector], Vector]] = {
    "MFU per GPU": baselines.mfu_by_gpu,
    "MFU per class": baselines.mfu_by_class,
    "TFLOPS ratio": baselines.peak_ratio,
    "bandwidth ratio": baselines.bandwidth_ratio,
}
"""Baselines that are given the measured rows that weren't left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Rows of one group. Errors in percent of the measured value."""

    n: int
    median_ape: float
    p90_ape: float
    bias: float

    @classmethod
    def of(cls, log_ratios: Vector) -> Score | None:
        """Of logs of predicted over measured; those that aren't numbers were refused."""
        known = log_ratios[~np.isnan(log_ratios)]
        if not len(known):
            return None
        median, p90, bias = errors_of(known)
        return cls(n=len(known), median_ape=median, p90_ape=p90, bias=bias)


class Comparison:
    """The rows, and what every method makes of them when some are left out."""

    def __init__(self, catalog: Catalog, other: dict[str, Any] | None, held: HeldOut) -> None:
        self.catalog = catalog
        self.held = held
        self.data = held.data
        self.facts = [baselines.facts_of(run, str(self.data.stack[at])) for at, run in enumerate(self.data.runs)]
        self.other = None
        if other is not None:
            speeds = np.array([math.nan if speed is None else speed for speed in other["tokens_per_s"]])
            self.other = np.log(speeds) - self.data.log_measured

    def errors(self, split: Split) -> dict[str, dict[str, Vector]]:
        """Logs of predicted over measured of each group's scored rows, by method."""
        return {name: self._errors_of(rows, split) for name, rows in split.groups.items()}

    def _errors_of(self, rows: Indices, split: Split) -> dict[str, Vector]:
        given_rows = np.setdiff1d(np.arange(len(self.data)), rows)
        scored = rows if split.scored is None else np.intersect1d(rows, split.scored)
        fit = fit_steps(self.data, given_rows, self.held.start, self.catalog)
        asked, given = [self.facts[row] for row in scored], [self.facts[row] for row in given_rows]
        measured, known = self.data.log_measured[scored], self.data.log_measured[given_rows]
        found = {ESTIMATOR: predicted_log_ratio(self.data, scored, fit), FIXED: baselines.usual_mfu(asked) - measured}
        found |= {name: baseline(asked, given, known) - measured for name, baseline in KNOWING.items()}
        if self.other is not None:
            found[LLM_ANALYSIS] = self.other[scored]
        return found


def unfitted(catalog: Catalog) -> Constants:
    """The constants with those of the step at their priors: open layouts of rows are not chosen by a fit to them."""
    centres, _ = priors(FITTED, catalog)
    logs = zip(FITTED, centres, strict=True)
    return replace(constants_of(catalog.assumptions), **{name: math.exp(log) for name, log in logs})


def predicted_to_fit(runs: Sequence[Run], constants: Constants) -> int:
    """Runs whose memory is predicted to suffice, with the batch and recomputation they ran with."""

    def fits(run: Run) -> bool:
        plan, _ = run.plans[0]
        spread = Spread(
            tensor=plan.tensor,
            pipeline=plan.pipeline,
            context=plan.context,
            expert=plan.expert,
            chunks=plan.chunks,
            sharding=plan.sharding,
            shards=plan.shards or 1,
        )
        return RowMemory(run.subject, constants).fits(spread, plan.micro_batch, plan.checkpointing)

    return sum(fits(run) for run in runs)


def split_document(errors: dict[str, dict[str, Vector]]) -> dict[str, Any]:
    """Scores of a split by method, of all its rows and of each group."""
    methods = list(next(iter(errors.values())))
    together = {method: np.concatenate([group[method] for group in errors.values()]) for method in methods}
    return {
        "all": {method: Score.of(values) for method, values in together.items()},
        "groups": {name: {m: Score.of(values) for m, values in group.items()} for name, group in errors.items()},
    }


def of_llm_analysis(data: FitRows, python: Path | None) -> dict[str, Any] | None:
    """What llm-analysis makes of the rows; None, said on standard error, where it can't be had."""
    try:
        return other_estimator.predictions(data, python or other_estimator.python_of_environment())
    except other_estimator.Unavailable as error:
        print(f"llm-analysis is left out: {error}", file=sys.stderr)
        return None


def compare(*, with_llm_analysis: bool, python: Path | None) -> dict[str, Any]:
    """Everything that is printed; `python` has llm-analysis, by default that of an environment made for it."""
    catalog = load_catalog()
    constants = constants_of(catalog.assumptions)
    language = language_rows(catalog, load_evidence())
    held = HeldOut(catalog, language, unfitted(catalog))
    other = of_llm_analysis(held.data, python) if with_llm_analysis else None
    comparison = Comparison(catalog, other, held)
    document: dict[str, Any] = {"rows": len(language), "splits": {}}
    for label, split in held.splits().items():
        print(f"{label}: {len(split.groups)} fits", file=sys.stderr)
        errors = comparison.errors(split)
        document["splits"][label] = split_document(errors)
        if label == SOURCES:
            scores = document["splits"][label]["groups"].values()
            document["mean_of_source_medians"] = {
                method: statistics.fmean(group[method].median_ape for group in scores if group[method])
                for method in document["splits"][label]["all"]
            }
            warm = {
                name: after_three(held.data.log_measured[split.groups[name]], errors[name][ESTIMATOR])
                for name in errors
            }
            document["after_three_rows"] = {
                name: {"cold": Score.of(both[0]), "after": Score.of(both[1])} for name, both in warm.items() if both
            }
    memory = load_memory_rows()
    document["memory"] = {
        f"each {name} left out": Score.of(np.array(list(held_out_errors(memory, catalog.assumptions, group).values())))
        for name, group in GROUPINGS.items()
    }
    foundry = [held.data.runs[row] for row in held.foundry]
    document["fits"] = {"source": FOUNDRY, "n": len(foundry), "fit": predicted_to_fit(foundry, constants)}
    document["microseconds"] = microseconds(held.data, comparison.facts, language, catalog, constants)
    if other is not None:
        document["microseconds"][LLM_ANALYSIS] = other["us"]
        document["llm_analysis_refused"] = other["refused"]
    document["targets"] = accuracy_tables.verdicts(document, ESTIMATOR)
    return document


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    parser.add_argument("--llm-analysis-python", type=Path, metavar="PATH", help="interpreter that has llm-analysis")
    parser.add_argument("--without-llm-analysis", action="store_true", help="leave it out; nothing is installed")
    options = parser.parse_args()
    document = compare(with_llm_analysis=not options.without_llm_analysis, python=options.llm_analysis_python)
    print(json.dumps(accuracy_tables.plain(document), indent=1) if options.json else accuracy_tables.text(document))


if __name__ == "__main__":
    main()
