"""How far estimates of vision models are off on families that the fit didn't see, beside simple baselines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.catalog.records import Catalog
from planner.performance.constants import constants_of
from planner.performance.fit_steps import Indices
from planner.performance.fit_vision import VisionRows, left_out_errors
from planner.performance.percent_errors import errors_of
from planner.performance.step_inputs import Vector
from planner.performance.uncertainty import vision_half_width

SURVEY = "timm-benchmark"
WORST = 12  # families that are printed
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

    def kinds(self) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
        """Kind of each model: plain, patches or other."""
        specs = [self.rows.rows[row].spec for row in self.scored]
        return np.array(["plain" if spec.plain else "patches" if spec.patches else "other" for spec in specs])

    def worst(self, count: int) -> list[tuple[str, Vector]]:
        """The families whose models are off by most at the median, with their log errors."""
        families = np.array(self.rows.families)[self.scored]
        errors = {str(name): self.errors[families == name] for name in sorted(set(families))}
        return sorted(errors.items(), key=lambda item: -float(np.median(np.abs(np.expm1(item[1])))))[:count]

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
    constants = constants_of(catalog.assumptions)  # of these only those set by hand count
    errors = left_out_errors(rows, groups, constants, catalog)
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


def print_vision(catalog: Catalog, rows: VisionRows) -> None:
    """Print the tables of docs/accuracy.md."""
    print("\nvision, each left out in turn: median / 90th percentile in percent")
    for words, group_of in (("family", str), ("architecture", relatives)):
        for channels_last in (False, True):
            found = left_out(catalog, rows, group_of, channels_last=channels_last)
            layout = "channels last" if channels_last else "channels first"
            print(f"  {words}, {layout}: {_line(found.errors)}  inside {found.inside():4.0%}")
            for name, errors in found.baselines.items():
                print(f"    {name:43s} {_line(errors)}")
            for kind in ("plain", "patches", "other"):
                print(f"    {kind:43s} {_line(found.errors[found.kinds() == kind])}")
            for family, errors in found.worst(WORST):
                print(f"      {family:41s} {_line(errors)}")
    constants = constants_of(catalog.assumptions)
    elsewhere = np.flatnonzero([row.source != SURVEY for row in rows.rows])
    for words, groups in (("GPU", [row.gpu for row in rows.rows]), ("source", [row.source for row in rows.rows])):
        errors = left_out_errors(rows, groups, constants, catalog)[elsewhere]
        print(f"  {words}, ResNet-50 on other cards: {_line(errors)}")


def _line(log_errors: Vector) -> str:
    median, p90, bias = errors_of(log_errors)
    return f"n {len(log_errors):3d}  {median:5.1f} / {p90:5.1f}  bias {bias:+5.1f}"
