"""Half-widths from errors: of the rows of a fit, and of rows and hosts that it hadn't seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from planner.catalog.query import find_accelerator
from planner.catalog.records import Catalog
from planner.performance.constants import Constants
from planner.performance.percent_errors import covering, shrunk
from planner.performance.transfer.fit_links import LinkFit, Pair
from planner.performance.transfer.fit_terms import LeftOut, groups_by, left_out
from planner.performance.transfer.likeness import Array, Codes
from planner.performance.transfer.links import Kind
from planner.performance.transfer.posterior import Posterior
from planner.performance.transfer.singles import Singles
from planner.performance.transfer.software import source_of_stack
from planner.performance.transfer.terms import TERMS
from planner.performance.transfer.widths import (
    ModelWidths,
    strange_factor,
    strangeness,
)

_ROWS_OF_THE_USUAL = 5  # for which the errors of all other models count


Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleErrors:
    """Log errors of rows of one GPU: fitted with them, without their GPU (NaN for none), without their source."""

    seen: Array
    new_gpu: Array  # over how strange the GPU is among the others
    new_stack: LeftOut
    strange: Array  # factor by which those of new GPUs were divided
    datacenter: Flags  # whether the row's GPU is sold for data centres


def single_errors(found: Singles, whole: Posterior, catalog: Catalog) -> SingleErrors:
    """Errors of rows seen and left out."""
    gpus = groups_by([row.gpu for row in found.rows])
    sources = groups_by([source_of_stack(row.stack) for row in found.rows])
    factor = strange_factor(strangeness_left_out(found, gpus))
    return SingleErrors(
        seen=whole.log_speed(found.measured) - found.measured.log_speed,
        new_gpu=left_out(found, whole, gpus, catalog).errors / factor,
        new_stack=left_out(found, whole, sources, catalog, with_spreads=True),
        strange=factor,
        datacenter=datacenter_rows(found, catalog),
    )


def datacenter_rows(found: Singles, catalog: Catalog) -> Flags:
    """Whether each row's GPU is sold for data centres."""
    return np.array([find_accelerator(catalog, row.gpu).segment == "datacenter" for row in found.rows])


def launch_shares(found: Singles, whole: Posterior) -> Array:
    """Share of each row's step that its batch shares."""
    parts = np.exp(whole.terms[found.measured.workload]) * found.measured.basis
    shares: Array = parts[:, TERMS.index("step")] / parts.sum(axis=1)
    return shares


def strangeness_left_out(found: Singles, groups: Mapping[str, Codes]) -> Array:
    """How unlike the cards of all other groups the card of each row is."""
    features = found.measured.places.features
    strange = np.zeros(len(found.rows))
    for rows in groups.values():
        others = np.setdiff1d(np.arange(len(found.rows)), rows)
        measured = np.unique(features[others], axis=0)
        of_card = {card: strangeness(np.array(card), measured) for card in {tuple(features[row]) for row in rows}}
        strange[rows] = [of_card[tuple(features[row])] for row in rows]
    return strange


def model_widths(
    found: Singles, errors: SingleErrors, constants: Constants, kept: Flags | None = None
) -> list[ModelWidths]:
    """Half-widths of each workload; `kept` tells which rows' errors count, all of them where it isn't given."""
    counts = np.ones(len(found.rows), dtype=bool) if kept is None else kept
    floor = constants.half_width_measured
    every = np.ones(len(found.rows), dtype=bool)
    kinds: Mapping[str, tuple[Array, Flags]] = {
        "seen": (errors.seen, every),
        "new_gpu": (errors.new_gpu, errors.datacenter),
        "new_desktop_gpu": (errors.new_gpu, ~errors.datacenter),
    }
    usual = {kind: covering(_sizes(values, counts & of_kind)) for kind, (values, of_kind) in kinds.items()}
    widths = []
    for at in range(len(found.workloads)):
        own = counts & (found.measured.workload == at)
        of_model = {
            kind: shrunk(_sizes(values, own & of_kind), usual[kind], _ROWS_OF_THE_USUAL)
            for kind, (values, of_kind) in kinds.items()
        }
        known = max(of_model.pop("seen"), floor)
        widths.append(ModelWidths(known=known, **{kind: max(width, known) for kind, width in of_model.items()}))
    return widths


def stack_factor(errors: SingleErrors, kept: Flags | None = None) -> float:
    """How many expected deviations cover four of five errors of rows in new software; `kept` as in `model_widths`.

    References
    ----------
    .. [1] A. Angelopoulos and S. Bates, "A Gentle Introduction to Conformal Prediction," 2021, sec. 2.2,
       arXiv:2107.07511: intervals as wide as a quantile of errors over their expected size.
    """
    new = errors.new_stack
    counts = ~np.isnan(new.errors) & (True if kept is None else kept)
    return covering(np.abs(new.errors[counts]) / new.spreads[counts])


def _sizes(errors: Array, counts: Flags) -> Array:
    sizes: Array = np.abs(errors[counts & ~np.isnan(errors)])
    return sizes


def host_errors(pairs: Sequence[Pair], links: LinkFit, constants: Constants) -> tuple[Array, Array]:
    """Log errors of runs on several GPUs, each host left out, and the share of their step that is exchange."""
    errors, shares = np.zeros(len(pairs)), np.zeros(len(pairs))
    for rows in groups_by([pair.host for pair in pairs]).values():
        others = np.setdiff1d(np.arange(len(pairs)), rows)
        fitted = links.fit(others)  # from the priors: a start from all rows would remember the host
        for at in rows:
            errors[at] = fitted.log_error(pairs[at], constants)
            shares[at] = 1 - pairs[at].compute_s / fitted.step_s(pairs[at], constants)
    return errors, shares


def exchange_widths(pairs: Sequence[Pair], errors: Array, shares: Array, constants: Constants) -> Mapping[str, float]:
    """By kind of link, what times the share of exchange covers four of five errors."""
    kinds = np.array([pair.kind for pair in pairs])
    scaled = np.abs(errors) / (constants.exchange_floor_share + shares)
    hosts = {kind: {pair.host for pair in pairs if pair.kind == kind} for kind in get_args(Kind)}
    return {kind: covering(scaled[kinds == kind], len(hosts[kind])) for kind in get_args(Kind)}
