"""How far estimates of vision models are off on families that the fit didn't see, beside simple baselines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.catalog.records import Catalog
from planner.performance.calibrate import start_constants
from planner.performance.constants import constants_of
from planner.performance.fit_steps import Indices
from planner.performance.fit_vision import VisionRows, left_out_errors
from planner.performance.step_inputs import Vector
from planner.performance.uncertainty import vision_half_width

SURVEY = "timm-benchmark"
BASELINES = ("constant MFU", "activations", "nearest, MACs", "nearest, activations")
_RELATIVES: Mapping[str, str] = {
    "residual": "resnet resnext res2net resnest senet tresnet dpn regnet",
    "mobile": "efficientnet fbnetc ghostnet hardcorenas lcnet mixnet mnasnet mobilenet mobilevit rexnet tinynet",
    "vision transformer": "vit cait crossvit pit tnt volo xcit",
    "transformer in windows": "swin nest",
}
"""Families by the architecture that they vary; all others stand alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisionHeldOut:
    """Log errors of the survey's rows, each without its family: of the estimator and of baselines."""

    rows: VisionRows
    scored: Indices
    errors: Vector
    half_widths: Vector
    baselines: Mapping[str, Vector]

    def inside(self) -> float:
        """Share of rows inside the 80 % interval. [-]"""
        return float(np.mean(np.abs(self.errors) <= self.half_widths))


def relatives(family: str) -> str:
    """A wider group of a family."""
    return next((name for name, members in _RELATIVES.items() if family in members.split()), family)


def left_out(
    catalog: Catalog,
    rows: VisionRows,
    group_of: Callable[[str], str] = str,
    *,
    channels_last: bool = False,
    with_baselines: bool = True,
) -> VisionHeldOut:
    """Predict the survey's models in one layout, each by a fit that saw no row of its group on any card.

    Parameters
    ----------
    catalog : Catalog
        For priors and half-widths.
    rows : VisionRows
        All rows of the fit.
    group_of : function
        Group of a family: the family itself where not said.
    channels_last : bool
        Which of the two layouts is scored.
    with_baselines : bool
        Whether baselines are computed too.
    """
    groups = [group_of(family) for family in rows.families]
    errors = left_out_errors(rows, groups, start_constants(catalog), catalog)
    constants = constants_of(catalog.assumptions)
    scored = survey(rows, channels_last=channels_last)
    widths = [vision_half_width(row.spec, constants, channels_last=channels_last) for row in rows.rows]
    return VisionHeldOut(
        rows=rows,
        scored=scored,
        errors=errors[scored],
        half_widths=np.array(widths)[scored],
        baselines=baselines(rows, scored, groups) if with_baselines else {},
    )


def survey(rows: VisionRows, *, channels_last: bool) -> Indices:
    """Rows of the survey of many models on one card, in one layout."""
    of_survey = np.array([row.source == SURVEY for row in rows.rows])
    return np.flatnonzero(of_survey & (rows.work["channels_last"] == float(channels_last)))


def baselines(rows: VisionRows, scored: Indices, groups: Sequence[str]) -> dict[str, Vector]:
    """Log errors of what is easily computed from the same card's rows of other groups.

    The median share of the peak; the median time of an activation; the nearest model by MACs and activations, scaled
    by MACs, or by activations.
    """
    speed = rows.log_measured[scored]
    flop, elements = np.log(rows.work["flop"][scored]), np.log(rows.work["elements"][scored])
    mine = np.array(groups)[scored]
    found = {name: np.zeros(len(scored)) for name in BASELINES}
    for at in range(len(scored)):
        others = np.flatnonzero(mine != mine[at])
        nearest = others[np.argmin((flop[others] - flop[at]) ** 2 + (elements[others] - elements[at]) ** 2)]
        found["constant MFU"][at] = np.median(speed[others] + flop[others]) - flop[at]
        found["activations"][at] = np.median(speed[others] + elements[others]) - elements[at]
        found["nearest, MACs"][at] = speed[nearest] + flop[nearest] - flop[at]
        found["nearest, activations"][at] = speed[nearest] + elements[nearest] - elements[at]
    return {name: predicted - speed for name, predicted in found.items()}
