"""Machines that are switched on for some hours of each day: their own time against that of the wall clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.cost.course import Array
from planner.strategy.queueing.streams import H_PER_DAY, OFFICE_OPENS_H
from planner.units import H_PER_MONTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Powered:
    """Hours of each day, from the opening of the office on. Work rests while machines are off and then goes on."""

    h_per_month: float = H_PER_MONTH

    @property
    def h_per_day(self) -> float:
        """Hours that machines are on. [h/day]"""
        return H_PER_DAY * self.h_per_month / H_PER_MONTH

    @property
    def always(self) -> bool:
        """Whether machines are never off."""
        return self.h_per_month >= H_PER_MONTH

    def inside(self, wall_h: Array) -> Array:
        """Hours that machines have been on until a moment. [h]"""
        if self.always:
            return wall_h
        day, hour = np.divmod(wall_h - OFFICE_OPENS_H, H_PER_DAY)
        return np.asarray(day * self.h_per_day + np.minimum(hour, self.h_per_day))

    def starts(self, inside_h: Array) -> Array:
        """Moment at which something begins; at the end of a day that is the next morning. [h]"""
        if self.always:
            return inside_h
        day, hour = np.divmod(inside_h, self.h_per_day)
        return np.asarray(day * H_PER_DAY + OFFICE_OPENS_H + hour)

    def ends(self, inside_h: Array) -> Array:
        """Moment at which something ends; at the end of a day that is this evening. [h]"""
        if self.always:
            return inside_h
        day = np.ceil(inside_h / self.h_per_day) - 1
        return np.asarray(day * H_PER_DAY + OFFICE_OPENS_H + (inside_h - day * self.h_per_day))


ALWAYS: Final = Powered()
