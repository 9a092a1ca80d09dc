"""What was simulated of one plan: waits on its owned machines and a part of one course, kept with the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from planner.report.course import course_entry
from planner.report.waiting import machine_waiting_entry, simulated
from planner.strategy.evaluate import Result

Waits = Mapping[str, Mapping[str, Any]]
"""What was simulated for each type of machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    waits: Waits
    courses: Mapping[str, Mapping[str, Any]]


class Simulations:
    """Simulations of a plan's ways, each made once; the attempts themselves are forgotten."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._ways = {strategy.id: strategy for strategy in result.strategies}
        self._kept: dict[tuple[str, int], _Kept] = {}
        self._lock = Lock()

    def known(self, way: str, more: int = 0) -> bool:
        """Whether a way has been simulated, so that its waits are there at once."""
        return (way, more) in self._kept

    def waits(self, way: str, more: int = 0) -> Waits:
        """Waits of a way by type of machine, with some more machines of each."""
        return self._of(way, more).waits

    def courses(self, way: str) -> Mapping[str, Mapping[str, Any]]:
        """The typical month of one course by type of machine."""
        return self._of(way, 0).courses

    def _of(self, way: str, more: int) -> _Kept:
        with self._lock:  # two sessions that ask at once wait for one simulation
            if (way, more) not in self._kept:
                found = simulated(self._result, self._ways[way], more=more)
                self._kept[way, more] = _Kept(
                    waits={entry.machine: machine_waiting_entry(entry, self._result) for entry in found},
                    courses={entry.machine: course_entry(entry) for entry in found},
                )
            return self._kept[way, more]
