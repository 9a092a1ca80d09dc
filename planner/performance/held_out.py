"""How far predictions of language models are off on rows that the fit didn't see, by whole groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.catalog.records import Catalog
from planner.measurements.rows import LanguageRow
from planner.performance.constants import Constants
from planner.performance.fit_steps import FitRows, Indices, left_out
from planner.performance.own_offset import own_rows_offset
from planner.performance.percent_errors import errors_of
from planner.performance.stacks import load_stacks
from planner.performance.step_inputs import Vector

FOUNDRY = "llm-foundry-benchmark"
BATCH_SWEEPS = "languini-benchmark"
UNSEEN_CARD = "rtx-3090"
ROWS_GIVEN = 3
OWN_ROWS_GIVEN = (3, 5, 10)
DRAWS = 60  # of rows that are given, on each GPU
FEWEST_OTHERS = 2

FOUNDRY_GROUPS = "llm-foundry, groups of GPU and model"
FOUNDRY_SIZES = "llm-foundry, each model size"
FOUNDRY_GPUS = "llm-foundry, each GPU"
CARD = "batch sweeps, RTX 3090"
SOURCES = "each source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Groups of rows that are left out in turn. Only those in `scored` count, all where it is None."""

    groups: Mapping[str, Indices]
    scored: Indices | None = None


def collection(source: str) -> str:
    """What counts as one source: the rounds of one benchmark together."""
    return source.split("-v")[0]


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

    def splits(self) -> dict[str, Split]:
        """Groups that are left out in turn, by what they are."""
        data, everything = self.data, np.arange(len(self.data))
        gpus = sorted({str(data.gpu[row]) for row in self.foundry})
        of_gpu = {gpu: self._where(lambda row, gpu=gpu: data.gpu[row] == gpu) for gpu in gpus}  # type: ignore[misc]
        card = self._where(lambda row: data.gpu[row] == UNSEEN_CARD)
        sweeps = self._where(lambda row: data.source[row] == BATCH_SWEEPS)
        return {
            FOUNDRY_GROUPS: Split(groups=self._by(lambda row: f"{data.gpu[row]} {data.model[row]}", self.foundry)),
            FOUNDRY_SIZES: Split(groups=self._by(lambda row: str(data.model[row]), self.foundry)),
            # with a card go its rows of any source
            FOUNDRY_GPUS: Split(groups=of_gpu, scored=self.foundry),
            CARD: Split(groups={UNSEEN_CARD: card}, scored=sweeps),
            # nothing is known of a source's stacks then
            SOURCES: Split(groups=self._by(lambda row: str(self.collections[row]), everything)),
        }

    def errors(self, split: Split) -> dict[str, Vector]:
        """Log of predicted over measured of each group's scored rows, by a fit that saw nothing of the group."""
        return left_out(self.data, split.groups, self.start, self.catalog, split.scored)


def after_three(log_measured: Vector, cold: Vector) -> tuple[Vector, Vector] | None:
    """Errors of a collection's rows with nothing known, and with three of its rows, which are left out of both.

    The three are the first, the middle and the last of its rows in order of speed. None where few would be left.
    """
    if len(cold) <= 2 * ROWS_GIVEN:
        return None
    ordered = np.argsort(log_measured)
    given = ordered[np.linspace(0, len(ordered) - 1, ROWS_GIVEN).astype(int)]
    others = np.setdiff1d(ordered, given)
    return cold[others], cold[others] - own_rows_offset(cold[given])


def other_models(held: HeldOut, found: Mapping[str, Vector], given: int) -> tuple[float, float, float, float]:
    """What rows of one stack on one GPU do for its other models there, as a user's own rows would.

    Parameters
    ----------
    held : HeldOut
        All rows.
    found : mapping
        Their log ratios by a fit that saw nothing of their source.
    given : int
        Rows that are given: whole models, in an order by chance, until they are so many.

    Returns
    -------
    float, float, float, float
        Mean error of other models without and with the rows [%], share of draws in which they move anything, and of
        these in which errors grow. [-]
    """
    rows_of = held.splits()[SOURCES].groups
    ratio = {int(row): float(one) for name, ones in found.items() for row, one in zip(rows_of[name], ones, strict=True)}
    cards: dict[tuple[str, str], list[int]] = {}
    for row in ratio:
        cards.setdefault((str(held.data.stack[row]), str(held.data.gpu[row])), []).append(row)
    chance = np.random.default_rng(given)
    cold, after, moved = [], [], []
    for rows in cards.values():
        models = list(dict.fromkeys(held.data.model[rows]))
        for _ in range(DRAWS):
            chance.shuffle(models)
            mixed = [row for model in models for row in chance.permutation(rows) if held.data.model[row] == model]
            own = mixed[:given]
            others = [row for row in mixed[given:] if held.data.model[row] not in held.data.model[own]]
            if len(others) < FEWEST_OTHERS:
                continue
            errors = np.array([ratio[row] for row in others])
            offset = own_rows_offset(np.array([ratio[row] for row in own]))
            cold.append(float(np.mean(np.abs(errors))))
            after.append(float(np.mean(np.abs(errors - offset))))
            moved.append(offset != 0)
    worse = [late > early for early, late, move in zip(cold, after, moved, strict=True) if move]
    return 100 * float(np.mean(cold)), 100 * float(np.mean(after)), float(np.mean(moved)), float(np.mean(worse))


def print_held_out(catalog: Catalog, language: Sequence[LanguageRow], start: Constants) -> None:
    """Print the tables of docs/estimator.md."""
    held = HeldOut(catalog, language, start)
    for label, split in held.splits().items():
        found = held.errors(split)
        together = np.concatenate(list(found.values()))
        print(f"\n{label} left out: {_line(together)}")
        if len(found) > 1:
            for name, log_ratios in found.items():
                print(f"  {name:45s} {_line(log_ratios)}")
        if label != SOURCES:
            continue
        print("\neach source left out, then three rows of it given:")
        for name, log_ratios in found.items():
            both = after_three(held.data.log_measured[split.groups[name]], log_ratios)
            if both is not None:
                print(f"  {name:35s} cold {_line(both[0])}   after {_line(both[1])}")
        print("\neach source left out, then rows of its models on one GPU given, mean error of others there:")
        for given in OWN_ROWS_GIVEN:
            cold, after, moved, worse = other_models(held, found, given)
            print(
                f"  {given:2d} rows  {cold:.1f} % -> {after:.1f} %  moved in {moved:.0%}, of these worse in {worse:.0%}"
            )


def _line(log_ratios: Vector) -> str:
    median, p90, bias = errors_of(log_ratios)
    return f"n {len(log_ratios):3d}  median {median:5.1f} %  p90 {p90:5.1f} %  bias {bias:+5.1f} %"
