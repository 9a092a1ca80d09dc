"""How far transfer is off on cards, generations, software and hosts that its fit didn't see, beside baselines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from planner.catalog.query import find_accelerator
from planner.catalog.records import Catalog
from planner.performance.constants import Constants
from planner.performance.device import generation_of
from planner.performance.percent_errors import median_and_p90
from planner.performance.transfer.baselines import CARDS, HOSTS, log_efficiency
from planner.performance.transfer.calibrated import (
    SingleErrors,
    exchange_widths,
    launch_shares,
    model_widths,
    stack_factor,
    strangeness_left_out,
)
from planner.performance.transfer.fit_terms import groups_by, left_out
from planner.performance.transfer.fitted import Fitted
from planner.performance.transfer.likeness import Array, Codes
from planner.performance.transfer.posterior import Posterior
from planner.performance.transfer.singles import Singles
from planner.performance.transfer.software import in_suite, source_of_stack
from planner.performance.transfer.widths import exchange_width, single_width

CARDS_OF_SUITE: Final = "card, known models, Lambda"
CARDS_OF_ALL: Final = "card, known models, all sources"
CARDS_ALL_MODELS: Final = "card, all models"
GENERATIONS: Final = "generation, known models"
SOURCES: Final = "source, all models"
SOURCES_KNOWN: Final = "source, known models"
NEW: Final = "card or source, all models"
NEW_KNOWN: Final = "card or source, known models"
NVLINK: Final = "host, NVLink"
PCIE: Final = "host, professional PCIe"
GEFORCE: Final = "host, GeForce"
KNOWN: Final = frozenset(
    {"BERT-base-SQuAD-finetune", "BERT-large-SQuAD-finetune", "ResNet50-v1.5", "SSD300-ResNet50", "GNMT-v2"}
)
PERCENT = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One split: sizes of errors in percent, those of each baseline, and how well intervals hold."""

    split: str
    n: int
    median: float  # [%]
    p90: float  # [%]
    baselines: Mapping[str, tuple[float, float]]  # median and 90th percentile [%]
    coverage_80: float  # [-]
    median_half_width: float  # [%]
    by_group: Mapping[str, float]  # coverage of each group left out; none where they are of two kinds [-]

    @property
    def worst(self) -> str:
        """The group that is covered least, in words."""
        if not self.by_group:
            return ""
        group = min(self.by_group, key=lambda name: self.by_group[name])
        return f", least {self.by_group[group]:.0%} of {group}"


def print_held_out(fitted: Fitted, catalog: Catalog, constants: Constants) -> None:
    """A line for each split."""
    for score in scores(fitted, catalog, constants):
        others = "  ".join(f"{name} {median:.1f} / {p90:.0f}" for name, (median, p90) in score.baselines.items())
        held = f"coverage {score.coverage_80:.0%}, half-width {score.median_half_width:.1f} %{score.worst}"
        print(f"{score.split:32} n {score.n:4}  {score.median:.1f} / {score.p90:.1f}  {held}  {others}")


def scores(fitted: Fitted, catalog: Catalog, constants: Constants) -> list[Score]:
    """All splits. Terms, residuals, links and widths are found without what is predicted."""
    return [*_card_scores(fitted, catalog, constants), *_host_scores(fitted, constants)]


def _card_scores(fitted: Fitted, catalog: Catalog, constants: Constants) -> list[Score]:
    found, whole, errors = fitted.found, fitted.whole, fitted.errors
    known = np.array([row.model in KNOWN for row in found.rows])
    suite = np.array([in_suite(row.stack) for row in found.rows])
    cards = groups_by([row.gpu for row in found.rows])
    generations = groups_by([generation_of(find_accelerator(catalog, row.gpu)) for row in found.rows])
    sources = groups_by([source_of_stack(row.stack) for row in found.rows])
    on_cards = _card_widths(found, whole, errors, cards, constants)
    of_sources = _source_widths(found, whole, errors, sources, constants)
    every = np.ones(len(found.rows), dtype=bool)
    on_new = errors.new_gpu * errors.strange
    of_new = errors.new_stack.errors
    both = np.concatenate([on_new, of_new]), np.concatenate([on_cards, of_sources])
    guesses = {name: _guesses(found, cards, guess) for name, guess in CARDS.items()}
    of_generations = left_out(found, whole, generations, catalog).errors
    return [
        _score(CARDS_OF_SUITE, on_new, on_cards, guesses, known & suite, cards),
        _score(CARDS_OF_ALL, on_new, on_cards, guesses, known, cards),
        _score(CARDS_ALL_MODELS, on_new, on_cards, guesses, every, cards),
        _score(
            GENERATIONS, of_generations, _card_widths(found, whole, errors, generations, constants),
            {name: _guesses(found, generations, guess) for name, guess in CARDS.items()}, known & suite, generations,
        ),
        _score(SOURCES_KNOWN, of_new, of_sources, {}, known, sources),
        _score(SOURCES, of_new, of_sources, {}, every, sources),
        _score(NEW_KNOWN, *both, {}, np.concatenate([known, known])),
        _score(NEW, *both, {}, np.concatenate([every, every])),
    ]  # fmt: skip


def _guesses(found: Singles, groups: Mapping[str, Codes], guess: Callable[[Singles, Codes, Codes], Array]) -> Array:
    """Log errors of a baseline that is given all rows but those of the group."""
    errors = np.full(len(found.rows), np.nan)
    for rows in groups.values():
        others = np.setdiff1d(np.arange(len(found.rows)), rows)
        errors[rows] = guess(found, others, rows) - found.measured.log_speed[rows]
    return errors


def _card_widths(
    found: Singles, whole: Posterior, errors: SingleErrors, groups: Mapping[str, Codes], constants: Constants
) -> Array:
    """Half-widths of rows on cards left out, from the errors of other cards."""
    widths, launch = np.full(len(found.rows), np.nan), launch_shares(found, whole)
    strange = strangeness_left_out(found, groups)
    for rows in groups.values():
        others = np.ones(len(found.rows), dtype=bool)
        others[rows] = False
        by_model = model_widths(found, errors, constants, others)
        for row in rows:
            own = by_model[found.measured.workload[row]]
            widths[row] = single_width(
                own,
                new_gpu=True,
                new_stack=False,
                datacenter=bool(errors.datacenter[row]),
                strange=strange[row],
                of_stack=0.0,
                launch_share=launch[row],
                constants=constants,
            )
    return widths


def _source_widths(
    found: Singles, whole: Posterior, errors: SingleErrors, groups: Mapping[str, Codes], constants: Constants
) -> Array:
    widths, launch = np.full(len(found.rows), np.nan), launch_shares(found, whole)
    for rows in groups.values():
        others = np.ones(len(found.rows), dtype=bool)
        others[rows] = False
        by_model, factor = model_widths(found, errors, constants, others), stack_factor(errors, others)
        measured = {(row.model, row.gpu) for row, keep in zip(found.rows, others, strict=True) if keep}
        for row in rows:
            own = by_model[found.measured.workload[row]]
            new_gpu = (found.rows[row].model, found.rows[row].gpu) not in measured
            widths[row] = single_width(
                own,
                new_gpu=new_gpu,
                new_stack=True,
                datacenter=bool(errors.datacenter[row]),
                strange=0.0,
                of_stack=factor * errors.new_stack.spreads[row],
                launch_share=launch[row],
                constants=constants,
            )
    return widths


def _host_scores(fitted: Fitted, constants: Constants) -> list[Score]:
    pairs, errors, shares = fitted.pairs, fitted.host_errors, fitted.exchange_shares
    hosts = groups_by([pair.host for pair in pairs])
    measured = np.array([log_efficiency(pair) for pair in pairs])
    widths = np.zeros(len(pairs))
    guesses = {name: np.zeros(len(pairs)) for name in HOSTS}
    for rows in hosts.values():
        others = np.setdiff1d(np.arange(len(pairs)), rows)
        by_kind = exchange_widths([pairs[at] for at in others], errors[others], shares[others], constants)
        widths[rows] = [exchange_width(pairs[at].kind, shares[at], by_kind, constants) for at in rows]
        for name, guess in HOSTS.items():
            guesses[name][rows] = guess(pairs, others, rows) - measured[rows]
    kinds = np.array([pair.kind for pair in pairs])
    named = {NVLINK: "nvlink", PCIE: "pcie", GEFORCE: "geforce"}
    return [_score(split, errors, widths, guesses, kinds == kind, hosts) for split, kind in named.items()]


def _score(
    split: str,
    errors: Array,
    widths: Array,
    guesses: Mapping[str, Array],
    counts: Array,
    groups: Mapping[str, Codes] = MappingProxyType({}),
) -> Score:
    rows = counts & ~np.isnan(errors)
    median, p90 = median_and_p90(errors[rows])
    inside = np.abs(errors) <= widths
    of_groups = {name: members[rows[members]] for name, members in groups.items()}
    return Score(
        split=split,
        n=int(rows.sum()),
        median=median,
        p90=p90,
        baselines={name: median_and_p90(guess[rows & ~np.isnan(guess)]) for name, guess in guesses.items()},
        coverage_80=float(np.mean(inside[rows])),
        median_half_width=float(np.median(PERCENT * np.sinh(widths[rows]))),
        by_group={name: float(np.mean(inside[members])) for name, members in of_groups.items() if len(members)},
    )
