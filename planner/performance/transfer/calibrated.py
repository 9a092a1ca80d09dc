"""Half-widths from errors: of the rows of a fit, and of rows and hosts that it hadn't seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from planner.catalog.records import Catalog
from planner.performance.constants import Constants
from planner.performance.transfer.fit_links import FittedLinks, LinkFit, Pair
from planner.performance.transfer.fit_terms import groups_by, left_out
from planner.performance.transfer.likeness import Array
from planner.performance.transfer.links import Kind
from planner.performance.transfer.posterior import Posterior
from planner.performance.transfer.singles import Singles
from planner.performance.transfer.software import source_of_stack
from planner.performance.transfer.widths import EXCHANGE_FLOOR, ModelWidths, covering, shrunk


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleErrors:
    """Log errors of rows of one GPU: fitted with them, without their GPU, without their source; NaN for none."""

    seen: Array
    new_gpu: Array
    new_stack: Array


def single_errors(found: Singles, whole: Posterior, catalog: Catalog) -> SingleErrors:
    """Errors of rows seen and left out."""
    gpus = groups_by([row.gpu for row in found.rows])
    sources = groups_by([source_of_stack(row.stack) for row in found.rows])
    return SingleErrors(
        seen=whole.log_speed(found.measured) - found.measured.log_speed,
        new_gpu=left_out(found, whole, gpus, catalog),
        new_stack=left_out(found, whole, sources, catalog),
    )


def model_widths(
    found: Singles, errors: SingleErrors, constants: Constants, kept: Array | None = None
) -> list[ModelWidths]:
    """Half-widths of each workload; `kept` tells which rows' errors count, all of them where it isn't given."""
    counts = np.ones(len(found.rows), dtype=bool) if kept is None else kept
    floor = constants.half_width_measured
    usual = {name: covering(_sizes(getattr(errors, name), counts)) for name in ("seen", "new_gpu", "new_stack")}
    widths = []
    for at in range(len(found.workloads)):
        own = counts & (found.measured.workload == at)
        of_model = {name: shrunk(_sizes(getattr(errors, name), own), usual[name]) for name in usual}
        known = max(of_model["seen"], floor)
        widths.append(
            ModelWidths(
                known=known, new_gpu=max(of_model["new_gpu"], known), new_stack=max(of_model["new_stack"], known)
            )
        )
    return widths


def _sizes(errors: Array, counts: Array) -> Array:
    sizes: Array = np.abs(errors[counts & ~np.isnan(errors)])
    return sizes


def host_errors(
    pairs: Sequence[Pair], links: LinkFit, together: FittedLinks, constants: Constants
) -> tuple[Array, Array]:
    """Log errors of runs on several GPUs, each host left out, and the share of their step that is exchange."""
    errors, shares = np.zeros(len(pairs)), np.zeros(len(pairs))
    for rows in groups_by([pair.host for pair in pairs]).values():
        others = np.setdiff1d(np.arange(len(pairs)), rows)
        fitted = links.fit(others, together.values)
        for at in rows:
            errors[at] = fitted.log_error(pairs[at], constants)
            shares[at] = 1 - pairs[at].compute_s / fitted.step_s(pairs[at], constants)
    return errors, shares


def exchange_widths(pairs: Sequence[Pair], errors: Array, shares: Array) -> Mapping[str, float]:
    """By kind of link, what times the share of exchange covers four of five errors."""
    kinds = np.array([pair.kind for pair in pairs])
    scaled = np.abs(errors) / (EXCHANGE_FLOOR + shares)
    return {kind: covering(scaled[kinds == kind]) for kind in get_args(Kind)}
