"""Fits the terms of every published model: `python -m planner.performance.transfer.fit --write`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml
from scipy.optimize import least_squares

from planner.catalog.load import load_catalog
from planner.catalog.query import find_accelerator
from planner.catalog.records import Catalog
from planner.performance.constants import Constants, constants_of
from planner.performance.scaling import link_of
from planner.performance.transfer.cards import Card, card_of
from planner.performance.transfer.models import TRANSFER_FILE
from planner.performance.transfer.published import PublishedRow, published_rows
from planner.performance.transfer.speed import ELEMENT_BYTES, alone, several, units_of_sample
from planner.performance.transfer.terms import TERMS, Samples, Terms, fit_terms, log_time, robust, samples_of

FEWEST_ROWS = 3
_USUAL_M_PARAMETERS = 50.0
_SPREAD_UNKNOWN, _SPREAD_KNOWN = 1.5, 0.3  # logs of the parameters exchanged, not printed and printed
_ROW_SPREAD = 0.1
_COVERED = 0.8
_ROWS_OF_THE_USUAL = 5  # for which the errors of all other models count
HEAD = """# How fast models run that were measured on some cards, as terms of the card. Written by
# `python -m planner.performance.transfer.fit --write` from measurements/dl_throughput.csv.
# Terms are logs of seconds a sample at 100 TFLOP/s, 1,000 GB/s and 20 TFLOP/s of fp32, of a step, and fixed; stacks are
# logs of how much slower a source's software is. Half widths are of logs: of new cards from fits that hadn't seen the
# card, of known cards and of several GPUs from rows of the fit itself.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The usable rows of a model in one size of input, with the card of each."""

    model: str
    input: str
    rows: tuple[PublishedRow, ...]
    cards: tuple[Card, ...]

    @property
    def usual_batch(self) -> float:
        """Batch taken where a row doesn't say. [-]"""
        return float(median([row.batch for row in self.rows if row.batch] or [1]))

    def units(self, row: PublishedRow) -> float:
        """What one GPU works off in a step of a row. [units]"""
        return (row.batch or self.usual_batch) * units_of_sample(row.unit, row.input)

    def samples(self, keep: Sequence[int]) -> Samples:
        """Some of the rows as arrays."""
        rows = [self.rows[at] for at in keep]
        return samples_of(
            [self.cards[at] for at in keep],
            names=[row.gpu for row in rows],
            element_bytes=[ELEMENT_BYTES[row.precision] for row in rows],
            batches=[row.batch or self.usual_batch for row in rows],
            sources=[row.stack for row in rows],
            speeds=[row.speed for row in rows],
            known_sources=tuple(sorted({row.stack for row in self.rows})),
        )

    def alone(self) -> list[int]:
        """Indices of the rows on one GPU."""
        return [at for at, row in enumerate(self.rows) if row.gpus == 1]


def groups(catalog: Catalog, constants: Constants) -> list[Group]:
    """Published rows by model and input, but for cards whose rates the catalog lacks."""
    found: dict[tuple[str, str], list[tuple[PublishedRow, Card]]] = {}
    for row in published_rows():
        card = card_of(catalog, row.gpu, row.precision, constants)
        if card is not None and not row.channels_last:
            found.setdefault((row.model, row.input), []).append((row, card))
    built = [
        Group(model=model, input=size, rows=tuple(row for row, _ in rows), cards=tuple(card for _, card in rows))
        for (model, size), rows in sorted(found.items())
    ]
    return [group for group in built if len(group.alone()) >= FEWEST_ROWS]


def fit_exchange(group: Group, catalog: Catalog, constants: Constants) -> float:
    """Millions of parameters whose gradients a step exchanges, from runs that were measured alone and on several GPUs.

    Where the parameters are printed these are the prior, else a middling model.
    """
    speeds: dict[tuple[object, ...], list[float]] = {}
    for row in group.rows:
        if row.gpus == 1:
            speeds.setdefault((row.stack, row.gpu, row.precision, row.batch), []).append(row.speed)
    printed = [row.parameters for row in group.rows if row.parameters]
    start = np.log(median(printed) / 1e6 if printed else _USUAL_M_PARAMETERS)
    spread = _SPREAD_KNOWN if printed else _SPREAD_UNKNOWN
    pairs = []
    for row in group.rows:
        single = speeds.get((row.stack, row.gpu, row.precision, row.batch))
        if row.gpus > 1 and single:
            link = link_of(find_accelerator(catalog, row.gpu), row.gpus, row.gpus_per_node, None, constants)
            pairs.append((row, median(single), group.units(row), link))
    if not pairs:
        return float(np.exp(start))

    def residuals(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        exchanged = float(np.exp(values[0]))
        errors = np.array(
            [
                np.log(several(single, units, exchanged, row.precision, link, constants) / row.speed) / _ROW_SPREAD
                for row, single, units, link in pairs
            ]
        )
        return np.append(robust(errors), (values[0] - start) / spread)

    return float(np.exp(least_squares(residuals, [start]).x[0]))


def held_out_errors(found: Sequence[Group]) -> dict[str, list[tuple[Group, int, float]]]:
    """Log errors (predicted over measured) of rows on one GPU, by GPU, each predicted without any row of that GPU."""
    errors: dict[str, list[tuple[Group, int, float]]] = {}
    for group in found:
        singles = group.alone()
        for gpu in sorted({group.rows[at].gpu for at in singles}):
            kept = [at for at in singles if group.rows[at].gpu != gpu]
            left = [at for at in singles if group.rows[at].gpu == gpu]
            if len(kept) < FEWEST_ROWS:
                continue
            misses = errors_of(fit_terms(group.samples(kept)), group.samples(left))
            errors.setdefault(gpu, []).extend((group, at, float(miss)) for at, miss in zip(left, misses, strict=True))
    return errors


def errors_of(terms: Terms, samples: Samples) -> npt.NDArray[np.float64]:
    """Log of predicted over measured."""
    offsets = np.array([offset for _, offset in terms.sources])
    return -log_time(np.array(terms.logs), offsets, samples) - samples.log_speed


def fit_all(catalog: Catalog, constants: Constants) -> dict[str, Any]:
    """All terms as they are written, with half widths that cover four of five errors."""
    found = groups(catalog, constants)
    held_out: dict[int, list[float]] = {}
    for rows in held_out_errors(found).values():
        for group, _, miss in rows:
            held_out.setdefault(id(group), []).append(abs(miss))
    fitted = [fit_terms(group.samples(group.alone())) for group in found]
    seen = [
        [abs(miss) for miss in errors_of(terms, group.samples(group.alone()))]
        for group, terms in zip(found, fitted, strict=True)
    ]
    all_seen = _covering([miss for misses in seen for miss in misses])
    all_new = _covering([miss for misses in held_out.values() for miss in misses])
    models: list[dict[str, Any]] = []
    several_gpus: list[float] = []
    for group, terms, misses in zip(found, fitted, seen, strict=True):
        exchanged = fit_exchange(group, catalog, constants)
        several_gpus += _errors_of_several(group, terms, exchanged, catalog, constants)
        models.append(
            {
                "id": f"{group.model} {group.input}".strip(),
                "model": group.model,
                "input": group.input,
                "unit": group.rows[0].unit,
                "terms": {name: round(value, 4) for name, value in zip(TERMS, terms.logs, strict=True)},
                "stacks": {name: round(value, 4) for name, value in terms.sources},
                "exchanged_m_parameters": float(f"{exchanged:.4g}"),
                "usual_batch": group.usual_batch,
                "half_width_known_card": _shrunk(misses, all_seen),
                "half_width_new_card": _shrunk(held_out.get(id(group), []), all_new),
                "cards": sorted({group.rows[at].gpu for at in group.alone()}),
            }
        )
    return {"schema_version": 1, "half_width_several_gpus": round(_covering(several_gpus), 4), "models": models}


def _covering(misses: Sequence[float]) -> float:
    return float(np.quantile(misses, _COVERED))


def _shrunk(misses: Sequence[float], usual: float) -> float:
    """What covers a model's errors, the nearer to what is usual the fewer there are."""
    if not misses:
        return round(usual, 4)
    share = len(misses) / (len(misses) + _ROWS_OF_THE_USUAL)
    return round(share * _covering(misses) + (1 - share) * usual, 4)


def _errors_of_several(
    group: Group, terms: Terms, exchanged: float, catalog: Catalog, constants: Constants
) -> list[float]:
    found = []
    for at, row in enumerate(group.rows):
        if row.gpus > 1:
            link = link_of(find_accelerator(catalog, row.gpu), row.gpus, row.gpus_per_node, None, constants)
            batch = row.batch or group.usual_batch
            single = alone(terms, group.cards[at], row.precision, batch, row.stack)
            speed = several(single, group.units(row), exchanged, row.precision, link, constants)
            found.append(float(abs(np.log(speed / row.speed))))
    return found


def main() -> None:
    """Fit, report what held-out cards give, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write data/transfer.yaml")
    options = parser.parse_args()
    catalog = load_catalog()
    constants = constants_of(catalog.assumptions)
    for gpu, rows in sorted(held_out_errors(groups(catalog, constants)).items()):
        misses = 100 * np.abs(np.expm1([miss for _, _, miss in rows]))
        print(f"{gpu:22} n {len(rows):4}  median {np.median(misses):5.1f} %  p90 {np.quantile(misses, 0.9):5.1f} %")
    document = fit_all(catalog, constants)
    print(f"half width of several GPUs {document['half_width_several_gpus']}")
    if options.write:
        TRANSFER_FILE.write_text(HEAD + yaml.safe_dump(document, sort_keys=False, width=120), encoding="utf-8")


if __name__ == "__main__":
    main()
