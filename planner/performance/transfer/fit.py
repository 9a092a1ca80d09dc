"""Fits what is known of all published models: `python -m planner.performance.transfer.fit --write`."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import yaml

from planner.catalog.load import load_catalog
from planner.catalog.query import find_accelerator
from planner.catalog.records import Catalog
from planner.performance.constants import Constants, constants_of
from planner.performance.data_file import SCHEMA_VERSION
from planner.performance.transfer.calibrated import exchange_widths, model_widths, stack_factor
from planner.performance.transfer.fit_links import FittedLinks
from planner.performance.transfer.fit_terms import term_deviations
from planner.performance.transfer.fitted import Fitted, fit_everything
from planner.performance.transfer.held_out import print_held_out
from planner.performance.transfer.models import TRANSFER_FILE
from planner.performance.transfer.posterior import Posterior
from planner.performance.transfer.singles import Singles
from planner.performance.transfer.software import in_suite, release_of
from planner.performance.transfer.terms import TERMS
from planner.performance.transfer.widths import ModelWidths

HEAD = """# How fast models run that were measured on some cards. Written by
# `python -m planner.performance.transfer.fit --write` from measurements/dl_throughput.csv; see docs/estimator.md.
# Terms are logs of seconds a unit at 100 TFLOP/s, 1,000 GB/s and 20 TFLOP/s of fp32, of a step, and fixed. Runs are
# GPU, precision, software, what the run weighs in the residual of runs like it, and its batches. Half-widths are of
# logs: `known` from rows of the fit, the others from fits that hadn't seen the GPU; `stack_factor` times the expected
# deviation those in new software, from fits that hadn't seen the source. Cards are logs of rates and sizes;
# `term_deviations` are of the logs of terms before any row was seen.
# `table` tells the rows that were fitted from others: where a plan's evidence has others, all this is fitted anew.
"""


def document_of(fitted: Fitted, catalog: Catalog, constants: Constants) -> dict[str, Any]:
    """All that is written: terms, weights of runs, links, and half-widths that cover four of five errors."""
    widths, factor = model_widths(fitted.found, fitted.errors, constants), stack_factor(fitted.errors)
    by_kind = exchange_widths(fitted.pairs, fitted.host_errors, fitted.exchange_shares, constants)
    return written(fitted.found, fitted.whole, fitted.links, widths, factor, by_kind, catalog)


def written(
    found: Singles,
    whole: Posterior,
    together: FittedLinks,
    widths: Sequence[ModelWidths],
    factor: float,
    by_kind: Mapping[str, float],
    catalog: Catalog,
) -> dict[str, Any]:
    """A fit as it is written, for the workloads that it has rows of."""
    return {
        "schema_version": SCHEMA_VERSION,
        "table": found.table.digest,
        "newest_stack": max((row.stack for row in found.rows if in_suite(row.stack)), key=release_of),
        "links": {name: _digits(value) for name, value in asdict(together.rates).items()},
        "exchange_widths": {kind: _digits(value) for kind, value in by_kind.items()},
        "stack_factor": _digits(factor),
        "term_deviations": [_digits(value) for value in term_deviations(catalog).tolist()],
        "vendors": sorted({find_accelerator(catalog, row.gpu).vendor for row in found.rows}),
        "cards": _cards(found),
        "models": [
            {
                "id": workload.id,
                "model": workload.model,
                "input": workload.input,
                "unit": workload.unit,
                "terms": {name: round(float(log), 4) for name, log in zip(TERMS, whole.terms[at], strict=True)},
                "exchanged_m_parameters": _digits(together.exchanged_m_parameters[at]),
                "waits": round(float(together.waits[at]), 4) + 0.0,  # no -0.0
                "usual_batch": workload.usual_batch,
                "half_widths": {name: round(value, 4) for name, value in asdict(widths[at]).items()},
                "runs": _runs(found, whole, at),
            }
            for at, workload in enumerate(found.workloads)
            if (found.measured.workload == at).any()
        ],
    }


def _digits(value: float) -> float:
    return float(f"{value:.4g}")


def _cards(found: Singles) -> dict[str, dict[str, list[float]]]:
    """Features of each card by precision."""
    cards: dict[str, dict[str, list[float]]] = {}
    for row, features in zip(found.rows, found.measured.places.features, strict=True):
        cards.setdefault(row.gpu, {})[row.precision] = [round(float(value), 4) for value in features]
    return {gpu: dict(sorted(cards[gpu].items())) for gpu in sorted(cards)}


def _runs(found: Singles, whole: Posterior, at: int) -> list[list[object]]:
    """Weights of a workload's rows, summed over batches, which don't count for likeness, and these batches."""
    weights: dict[tuple[str, str, str], float] = defaultdict(float)
    batches: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row, weight, of in zip(found.rows, whole.weights, found.measured.workload, strict=True):
        if of == at:
            key = (row.gpu, row.precision, row.stack)
            weights[key] += float(weight)
            batches[key].append(row.batch or found.workloads[at].usual_batch)
    return [[*key, round(weights[key], 2), *sorted(batches[key])] for key in sorted(weights)]


def main() -> None:
    """Fit, report errors of groups left out where asked, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", action="store_true", help="print errors of cards and hosts left out")
    parser.add_argument("--write", action="store_true", help="write data/transfer.yaml")
    options = parser.parse_args()
    catalog = load_catalog()
    constants = constants_of(catalog.assumptions)
    fitted = fit_everything(catalog, constants)
    if options.held_out:
        print_held_out(fitted, catalog, constants)
    if options.write:
        document = document_of(fitted, catalog, constants)
        text = yaml.safe_dump(document, sort_keys=False, width=120, default_flow_style=None)
        TRANSFER_FILE.write_text(HEAD + text, encoding="utf-8")


if __name__ == "__main__":
    main()
