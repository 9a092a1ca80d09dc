"""Shared machines of one type and what runs on them: which GPUs are free, and when some will be."""

from __future__ import annotations

from collections.abc import Iterable

Running = tuple[float, int, int, int, tuple[int, ...]]
"""End, order of start, stream, run, and the machines it occupies."""


class Machines:
    """Free GPUs by machine. An attempt takes as many GPUs on each of its machines, the fullest that still fit."""

    def __init__(self, count: int, gpus: int) -> None:
        self.gpus = gpus
        self.free = [gpus] * count
        self._with_free: list[set[int]] = [set() for _ in range(gpus)] + [set(range(count))]

    def copy(self) -> Machines:
        """The same state, which changes by itself."""
        other = Machines(0, self.gpus)
        other.free = list(self.free)
        other._with_free = [set(with_free) for with_free in self._with_free]
        return other

    def place(self, gpus: int, machines: int) -> tuple[int, ...] | None:
        """Machines for an attempt, taken at once; None where they aren't free."""
        if machines == 1:
            fullest = next((with_free for with_free in self._with_free[gpus:] if with_free), None)
            if fullest is None:
                return None
            found: tuple[int, ...] = (min(fullest),)
        else:
            enough = [machine for with_free in self._with_free[gpus:] for machine in sorted(with_free)]
            if len(enough) < machines:
                return None
            found = tuple(enough[:machines])
        self.take(found, gpus)
        return found

    def take(self, machines: Iterable[int], gpus: int) -> None:
        """GPUs on these machines, which must have them free."""
        for machine in machines:
            self._set(machine, self.free[machine] - gpus)

    def release(self, machines: Iterable[int], gpus: int) -> None:
        """Give back what an attempt took."""
        for machine in machines:
            self._set(machine, self.free[machine] + gpus)

    def _set(self, machine: int, free: int) -> None:
        self._with_free[self.free[machine]].remove(machine)
        self._with_free[free].add(machine)
        self.free[machine] = free

    def next_fit_h(self, gpus: int, machines: int, running: list[Running], taken: list[int]) -> float:
        """When an attempt that doesn't fit now will, if nothing else starts before. [h]

        Parameters
        ----------
        gpus, machines : int
            What it takes.
        running : list
            A heap of what runs.
        taken : list of int
            GPUs on each machine, by stream.
        """
        free = list(self.free)
        fit = sum(count >= gpus for count in free)
        for end, _, stream, _, occupied in sorted(running):
            for machine in occupied:
                before = free[machine]
                free[machine] = before + taken[stream]
                fit += before < gpus <= free[machine]
            if fit >= machines:
                return end
        raise AssertionError("an attempt that never fits is refused before")
