"""Fits links to runs that were measured on one card and on several of the same host."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

import numpy as np
from scipy.optimize import least_squares

from planner.catalog.query import find_accelerator
from planner.catalog.records import Catalog, Gpu, PartialGpu
from planner.performance.constants import Constants
from planner.performance.fit_steps import priors
from planner.performance.robust import robust, robust_slope
from planner.performance.scaling import Link, link_of
from planner.performance.transfer.likeness import Array, Codes
from planner.performance.transfer.links import Kind, LinkRates, exchange, kind_of, pcie_steps, units_of_sample
from planner.performance.transfer.published import PublishedRow
from planner.performance.transfer.singles import Singles
from planner.performance.transfer.terms import ELEMENT_BYTES
from planner.units import BYTES_PER_GB, MILLION

FITTED: Final = (
    "nvlink_share", "pcie_gb_per_s_professional", "pcie_gb_per_s_geforce", "pcie_generation_gain",
    "geforce_contention", "sync_share",
)  # fmt: skip
_USUAL_M_PARAMETERS = 50.0
_SPREAD_UNKNOWN, _SPREAD_KNOWN = 1.5, 0.3  # logs of the parameters exchanged, not printed and printed
_WAITS_SPREAD = 0.03  # share of the compute, each doubling
_ROW_SPREAD = 0.05
_ROWS_OF_A_VOICE = 3  # of a model on a host, which weigh as that many at most
_MOST_GPUS = 8
_MOST_EVALUATIONS = 40
_TOLERANCE = 1e-6
_STEP = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A run on several cards of one node beside the same run on one."""

    row: PublishedRow
    workload: int
    single: float  # speed of one card [units/s]
    units: float  # that one card works off in a step [-]
    gpu: Gpu | PartialGpu
    link: Link

    @property
    def compute_s(self) -> float:
        """Step of one card. [s]"""
        return self.units / self.single

    @property
    def kind(self) -> Kind:
        """How its cards are joined."""
        return kind_of(self.gpu)

    @property
    def host(self) -> str:
        """What is left out together: software, kind of host, GPU."""
        return f"{self.row.stack} {self.row.platform} {self.row.gpu}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedLinks:
    """Rates of links, and of each workload the parameters exchanged and how much longer it waits than usual."""

    rates: LinkRates
    exchanged_m_parameters: Array
    waits: Array
    values: Array  # as the search sees them

    def log_error(self, pair: Pair, constants: Constants) -> float:
        """Log of predicted over measured speed of a run, given the speed of one card."""
        return float(np.log(pair.link.gpus * pair.units / self.step_s(pair, constants) / pair.row.speed))

    def step_s(self, pair: Pair, constants: Constants) -> float:
        """Step of a run. [s]"""
        at = pair.workload
        more = exchange(
            pair.compute_s, self.exchanged_m_parameters[at], self.waits[at], pair.row.precision, pair.gpu, pair.link,
            self.rates, constants,
        )  # fmt: skip
        return pair.compute_s + more.communication_s + more.waiting_s


def pairs_of(found: Singles, catalog: Catalog, constants: Constants) -> list[Pair]:
    """Unflagged published runs on 2 to 8 cards of one node of which the same run on one is published too."""
    index = {(workload.model, workload.input): at for at, workload in enumerate(found.workloads)}
    rows = [row for row in found.table.rows if not row.flagged and (row.model, row.input) in index]
    alone: dict[tuple[object, ...], list[float]] = {}
    for row in rows:
        if row.gpus == 1:
            alone.setdefault(_same_run(row), []).append(row.speed)
    pairs = []
    for row in rows:
        if 1 < row.gpus <= min(_MOST_GPUS, row.gpus_per_node) and _same_run(row) in alone:
            at = index[(row.model, row.input)]
            gpu = find_accelerator(catalog, row.gpu)
            batch = row.batch or found.workloads[at].usual_batch
            pairs.append(
                Pair(
                    row=row,
                    workload=at,
                    single=median(alone[_same_run(row)]),
                    units=batch * units_of_sample(row.unit, row.input, constants.sentence_tokens),
                    gpu=gpu,
                    link=link_of(gpu, row.gpus, row.gpus_per_node, None, constants),
                )
            )
    return pairs


def _same_run(row: PublishedRow) -> tuple[object, ...]:
    return (row.model, row.input, row.stack, row.gpu, row.precision, row.batch)


def expected_parameters(found: Singles) -> tuple[Array, Array]:
    """Logs of the millions of parameters that each workload exchanges, printed or usual, and how sure they are."""
    printed: dict[str, list[float]] = {}
    for row in found.table.rows:
        if row.parameters:
            printed.setdefault(row.model, []).append(row.parameters / MILLION)
    known = [printed.get(workload.model) for workload in found.workloads]
    centres = np.log([median(values) if values else _USUAL_M_PARAMETERS for values in known])
    return centres, np.array([_SPREAD_KNOWN if values else _SPREAD_UNKNOWN for values in known])


class LinkFit:
    """The search for links over all pairs, as arrays; `fit` takes some of them."""

    def __init__(self, pairs: Sequence[Pair], found: Singles, catalog: Catalog, constants: Constants):
        self._count = len(found.workloads)
        self._constants = constants
        self._parameters, self._parameter_spreads = expected_parameters(found)
        self._centres, self._spreads = priors([f"sample_{name}" for name in FITTED], catalog)
        self._workload = np.array([pair.workload for pair in pairs], dtype=np.int64)
        self._compute = np.array([pair.compute_s for pair in pairs])
        self._bytes = np.array([ELEMENT_BYTES[pair.row.precision] for pair in pairs])
        self._gpus = np.array([float(pair.link.gpus) for pair in pairs])
        self._latency = np.array([pair.link.latency_s for pair in pairs])
        self._kind = np.array([pair.kind for pair in pairs])
        self._nvlink = np.array([pair.gpu.nvlink_gb_per_s.value if pair.gpu.nvlink_gb_per_s else 1.0 for pair in pairs])
        self._steps = np.array([pcie_steps(pair.gpu) for pair in pairs])
        self._log_speed = np.log([pair.row.speed for pair in pairs])
        self._work = np.log([pair.units * pair.link.gpus for pair in pairs])
        voices = Counter((pair.host, pair.row.model) for pair in pairs)
        sizes = np.array([voices[(pair.host, pair.row.model)] for pair in pairs])
        self._weights = np.minimum(np.sqrt(_ROWS_OF_A_VOICE / sizes), 1.0)

    def fit(self, rows: Codes, start: Array | None = None) -> FittedLinks:
        """Least squares on logs of speeds, outliers weighing less, with priors of all constants."""
        centres = np.concatenate([self._centres, self._parameters, np.zeros(self._count)])
        spreads = np.concatenate([self._spreads, self._parameter_spreads, np.full(self._count, _WAITS_SPREAD)])

        weights = self._weights[rows]

        def errors_of(values: Array) -> Array:
            logs: Array = self._work[rows] - np.log(self.step_s(values, rows)) - self._log_speed[rows]
            return logs / _ROW_SPREAD

        def residuals(values: Array) -> Array:
            joined: Array = np.concatenate([weights * robust(errors_of(values)), (values - centres) / spreads])
            return joined

        def slopes(values: Array) -> Array:
            errors = errors_of(values)
            moves = self._moves(errors_of, values, errors, rows) * (weights * robust_slope(errors))[:, None]
            joined: Array = np.vstack([moves, np.diag(1.0 / spreads)])
            return joined

        found = least_squares(
            residuals, centres if start is None else start, jac=slopes, max_nfev=_MOST_EVALUATIONS, xtol=_TOLERANCE,
            ftol=_TOLERANCE,
        ).x  # fmt: skip
        few = len(FITTED)
        return FittedLinks(
            rates=LinkRates(**dict(zip(FITTED, np.exp(found[:few]).tolist(), strict=True))),
            exchanged_m_parameters=np.exp(found[few : few + self._count]),
            waits=found[few + self._count :],
            values=found,
        )

    def _moves(self, errors_of: Callable[[Array], Array], values: Array, errors: Array, rows: Codes) -> Array:
        """How errors change with each value. Those of all workloads are moved at once, as a row has but its own."""
        few, count = len(FITTED), self._count
        moves = np.zeros((len(rows), len(values)))
        for at in range(few):
            moved = values.copy()
            moved[at] += _STEP
            moves[:, at] = (errors_of(moved) - errors) / _STEP
        for first in (few, few + count):
            moved = values.copy()
            moved[first : first + count] += _STEP
            moves[np.arange(len(rows)), first + self._workload[rows]] = (errors_of(moved) - errors) / _STEP
        return moves

    def step_s(self, values: Array, rows: Codes) -> Array:
        """The same as `links.exchange` for many runs inside a node."""
        rate = dict(zip(FITTED, np.exp(values[: len(FITTED)]), strict=True))
        workload, gpus, compute = self._workload[rows], self._gpus[rows], self._compute[rows]
        kind = self._kind[rows]
        steps, later = self._steps[rows], self._constants.pcie_generation_gain
        gain = np.where(steps < 0, rate["pcie_generation_gain"], later) ** steps
        supposed = np.where(steps < 0, self._constants.sample_pcie_generation_gain, later) ** steps
        through_host = rate["pcie_gb_per_s_geforce"] * supposed * (2 / gpus) ** rate["geforce_contention"]
        between_peers = rate["pcie_gb_per_s_professional"] * gain
        pcie = np.where(kind == "pcie", between_peers, through_host)
        carried = np.where(kind == "nvlink", rate["nvlink_share"] * self._nvlink[rows], pcie) * BYTES_PER_GB
        payload = np.exp(values[len(FITTED) :][workload]) * MILLION * self._bytes[rows]
        hops = 2 * (gpus - 1)
        transfer = hops / gpus * payload / carried + hops * self._latency[rows]
        hidden = np.minimum(compute, transfer)
        beside = np.maximum(compute, transfer) + self._constants.overlap_exposed * hidden
        busy = np.where(kind == "nvlink", beside, compute + transfer)
        waits = np.maximum(rate["sync_share"] + values[len(FITTED) + self._count :][workload], 0.0)
        total: Array = busy * (1 + waits * np.log2(gpus))
        return total
