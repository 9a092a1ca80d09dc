"""How far predictions of language models are off on rows that the fit didn't see, by whole groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from planner.catalog.records import Catalog
from planner.measurements.rows import LanguageRow
from planner.performance.constants import Constants
from planner.performance.fit_steps import FitRows, Indices, fit_steps, left_out, predicted_log_ratio
from planner.performance.stacks import load_stacks
from planner.performance.step_inputs import Vector

FOUNDRY = "llm-foundry-benchmark"
BATCH_SWEEPS = "languini-benchmark"
UNSEEN_CARD = "rtx-3090"
ROWS_GIVEN = 3


def collection(source: str) -> str:
    """What counts as one source: the rounds of one benchmark together."""
    return source.split("-v")[0]


def errors_of(log_ratios: Vector) -> tuple[float, float, float]:
    """Median and 90th percentile of the absolute error and the median error, in percent of the measured speed."""
    errors = 100 * np.expm1(log_ratios)
    return float(np.median(np.abs(errors))), float(np.quantile(np.abs(errors), 0.9)), float(np.median(errors))


class HeldOut:
    """Rows of language models with the groups that are left out in turn."""

    def __init__(self, catalog: Catalog, language: Sequence[LanguageRow], start: Constants) -> None:
        self.catalog = catalog
        self.start = start
        self.data = FitRows(language, catalog, load_stacks(), start)
        self.collections = np.array([collection(source) for source in self.data.source])
        self.foundry = self._where(lambda row: self.data.source[row] == FOUNDRY)

    def _where(self, keep: Callable[[int], bool]) -> Indices:
        return np.array([row for row in range(len(self.data)) if keep(row)], dtype=np.int64)

    def _by(self, key: Callable[[int], str], rows: Indices) -> dict[str, Indices]:
        found: dict[str, list[int]] = {}
        for row in rows:
            found.setdefault(key(int(row)), []).append(int(row))
        return {name: np.array(found[name], dtype=np.int64) for name in sorted(found)}

    def foundry_groups(self) -> dict[str, Vector]:
        """Each GPU and model of llm-foundry left out in turn."""
        groups = self._by(lambda row: f"{self.data.gpu[row]} {self.data.model[row]}", self.foundry)
        return self._left_out(groups)

    def foundry_sizes(self) -> dict[str, Vector]:
        """Each model size of llm-foundry left out in turn."""
        return self._left_out(self._by(lambda row: str(self.data.model[row]), self.foundry))

    def foundry_gpus(self) -> dict[str, Vector]:
        """Each GPU of llm-foundry left out in turn with all its rows of any source; those of llm-foundry scored."""
        gpus = {str(self.data.gpu[row]) for row in self.foundry}
        groups = {gpu: self._where(lambda row, gpu=gpu: self.data.gpu[row] == gpu) for gpu in sorted(gpus)}  # type: ignore[misc]
        return self._left_out(groups, within=self.foundry)

    def sources(self) -> dict[str, Vector]:
        """Each collection of rows left out in turn: nothing is known of its stacks."""
        return self._left_out(self._by(lambda row: str(self.collections[row]), np.arange(len(self.data))))

    def card(self) -> dict[str, Vector]:
        """Batch sweeps on one card of which the fit saw nothing."""
        sweeps = self._where(lambda row: self.data.source[row] == BATCH_SWEEPS)
        group = self._where(lambda row: self.data.gpu[row] == UNSEEN_CARD)
        return self._left_out({UNSEEN_CARD: group}, within=sweeps)

    def after_three(self) -> dict[str, tuple[Vector, Vector]]:
        """Each collection with nothing known, and with three rows of it: errors of the others, before and after.

        The three are the first, the middle and the last of its rows in order of speed.
        """
        everything = np.arange(len(self.data))
        found = {}
        for name, rows in self._by(lambda row: str(self.collections[row]), everything).items():
            if len(rows) <= 2 * ROWS_GIVEN:
                continue
            ordered = rows[np.argsort(self.data.log_measured[rows])]
            given = ordered[np.linspace(0, len(ordered) - 1, ROWS_GIVEN).astype(int)]
            others = np.setdiff1d(rows, given)
            fit = fit_steps(self.data, np.setdiff1d(everything, rows), self.start, self.catalog)
            cold = predicted_log_ratio(self.data, others, fit)
            rest = predicted_log_ratio(self.data, given, fit)
            found[name] = (cold, cold - own_rows_offset(rest))
        return found

    def _left_out(self, groups: Mapping[str, Indices], within: Indices | None = None) -> dict[str, Vector]:
        return left_out(self.data, groups, self.start, self.catalog, within)


def own_rows_offset(log_ratios: Vector) -> float:
    """What a few rows of a stack say of all of it: 0 unless each is predicted clearly better with the others.

    Then their median, shrunk by how few they are and how far they lie apart: rows lie around the stack's offset with a
    spread of their own, the stacks around the formulas with `SPREAD`. [-]
    """
    alone = [float(abs(log_ratios[at])) for at in range(len(log_ratios))]
    with_others = [float(abs(log_ratios[at] - _shrunk(np.delete(log_ratios, at)))) for at in range(len(log_ratios))]
    if max(with_others) >= CLEARLY * max(alone) or sum(with_others) >= CLEARLY * sum(alone):
        return 0.0
    return _shrunk(log_ratios)


def _shrunk(log_ratios: Vector) -> float:
    middle = float(np.median(log_ratios))
    apart = float(np.mean((log_ratios - middle) ** 2)) + ROW_SPREAD**2
    return SPREAD**2 / (SPREAD**2 + apart / len(log_ratios)) * middle


CLEARLY = 0.8  # of the error without, that predictions with the other rows must stay below
SPREAD = 0.15  # of unseen stacks around the formulas, on the log
ROW_SPREAD = 0.08  # of rows of one stack around its offset


def print_held_out(catalog: Catalog, language: Sequence[LanguageRow], start: Constants) -> None:
    """Print the tables of docs/estimator.md."""
    held = HeldOut(catalog, language, start)
    splits = {
        "llm-foundry, groups of GPU and model": held.foundry_groups,
        "llm-foundry, each model size": held.foundry_sizes,
        "llm-foundry, each GPU": held.foundry_gpus,
        "batch sweeps, RTX 3090": held.card,
        "each source": held.sources,
    }
    for label, split in splits.items():
        found = split()
        together = np.concatenate(list(found.values()))
        print(f"\n{label} left out: {_line(together)}")
        if len(found) > 1:
            for name, log_ratios in found.items():
                print(f"  {name:45s} {_line(log_ratios)}")
    print("\neach source left out, then three rows of it given:")
    for name, (cold, warm) in held.after_three().items():
        print(f"  {name:35s} cold {_line(cold)}   after {_line(warm)}")


def _line(log_ratios: Vector) -> str:
    median, p90, bias = errors_of(log_ratios)
    return f"n {len(log_ratios):3d}  median {median:5.1f} %  p90 {p90:5.1f} %  bias {bias:+5.1f} %"
