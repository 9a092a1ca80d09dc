"""What decisions of a search add to a plan, as records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.cost.course import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineEffects:
    """A type of machine: none of it, or from `least` to `most` of them."""

    least: int
    most: int
    first: Array  # of the first `least`, [measures, times]
    each: Array  # of each beyond
    first_there: Array  # machines there in each month of the first `least`, [months]
    each_there: Array
    powered_h: float  # of one, a month


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitmentEffects:
    """Terms of an offer: what they cost once something runs there, and what they save on demand."""

    terms: Array  # [measures, times]; of those that run anyway nothing
    cover_h: Array  # by month
    saved: Array  # by hour covered


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """All effects; arrays of effects are [measures, times], months are columns 1 to the horizon."""

    discount: Array  # [times]
    base: Array  # what a plan has that does nothing
    pairs: tuple[int, ...]
    share: Array  # of all runs of a pair's job, [pairs, measures, times]
    rental: Array  # cash of sessions alone, [pairs, times]
    busy_h: Array  # machine-hours a month with `runs_per_month`, [pairs]
    node_h: Array  # billed, likewise
    sent_gb: Array  # likewise
    machines: tuple[MachineEffects, ...]
    site: Array  # of having any machine, while those of a type are there, [types, measures, times]
    providers: tuple[Array, ...]  # of renting there in all months
    upload: tuple[Array, ...]  # of renting there at all
    staff: Array  # of renting anywhere in all months
    egress_per_gb: tuple[Array, ...]
    hour_price: Mapping[int, Array]  # of offers with free hours
    commitments: Mapping[int, CommitmentEffects]
    running: Mapping[int, Array]  # paid by every plan for terms of offers, by time
