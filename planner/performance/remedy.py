"""What makes a training run fit into memory, and what each change costs in time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import floor, log2
from typing import Literal

from planner.performance.constants import Constants
from planner.performance.memory.peak import memory_need
from planner.performance.memory.setup import MemorySetup

Kind = Literal[
    "micro_batch", "checkpointing", "sharding", "chunked_loss", "optimizer_8bit", "more_gpus", "lora", "qlora"
]
"""What is changed. Adapters train something else than the whole model, so they change the result."""

RESULT_CHANGING: frozenset[Kind] = frozenset({"lora", "qlora"})
MOST_REPLICAS = 4096
_RECOMPUTATIONS = ("none", "selective", "full")  # ever less memory
_SHARDINGS = ("replicated", "optimizer", "gradients", "sharded")  # ever less memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Changes that together make a run fit, none of them to spare, with the memory after and the price in time.

    Times are those of the same work: one optimizer step with the batch of the run as it was asked for.
    """

    kinds: tuple[Kind, ...]
    setup: MemorySetup
    gpus_factor: float  # GPUs over those of the run as asked for
    memory_bytes: float
    step_s: float
    added_s: float  # against the run as asked for, if it fitted
    changes_result: bool

    @property
    def gpu_s(self) -> float:
        """Time of a step in units of the GPUs asked for: what it costs. [s]"""
        return self.step_s * self.gpus_factor


def cheapest_change(
    setup: MemorySetup,
    capacity_bytes: float,
    step_time_of: Callable[[MemorySetup], float],
    constants: Constants,
    *,
    most_replicas: int = MOST_REPLICAS,
    round_batch: Callable[[float], float] = floor,
) -> list[Change]:
    """Changes that make a run fit into a GPU's memory, the cheapest first.

    Single changes where any is enough, else pairs, and so on; so also, apart, for changes that leave the result as it
    is and for adapters, which come last because they train something else. Within a kind the mildest step that fits
    is taken.

    Parameters
    ----------
    setup : MemorySetup
        The run; its `shards` are its replicas, which the state may be spread over.
    capacity_bytes : float
        Memory a program can use. [bytes]
    step_time_of : callable
        Seconds of an optimizer step of a changed setup, its batch over all GPUs being that of the run. [s]
    constants : Constants
        The estimator's constants.
    most_replicas : int
        Limit on more GPUs. [-]
    round_batch : callable
        Largest micro-batch that may be used of those up to a limit.

    Returns
    -------
    list of Change
        By GPU time of a step; empty where the run fits already, or nothing helps.
    """
    if _reserved_bytes(setup, constants) <= capacity_bytes:
        return []
    searched = _Search(most_replicas, capacity_bytes, round_batch, constants)
    keeping = searched.smallest(setup)
    adapters: list[tuple[tuple[Kind, ...], MemorySetup]] = []
    for kind, method in _adapter_steps(setup):
        whole = replace(method, sharding="replicated")  # as everybody trains adapters, where it fits
        if _reserved_bytes(whole, constants) <= capacity_bytes:
            adapters.append(((kind,), whole))
            continue
        if _reserved_bytes(method, constants) <= capacity_bytes:
            adapters.append(((kind,), method))
            continue
        more = searched.smallest(method)
        adapters += [((kind, *kinds), changed) for kinds, changed in more]
    before_s = step_time_of(setup)
    changes = []
    for kinds, changed in (*keeping, *adapters):
        step_s = step_time_of(changed)
        changes.append(
            Change(
                kinds=kinds,
                setup=changed,
                gpus_factor=changed.shards / setup.shards,
                memory_bytes=_reserved_bytes(changed, constants),
                step_s=step_s,
                added_s=step_s - before_s,
                changes_result=not RESULT_CHANGING.isdisjoint(kinds),
            )
        )
    return sorted(changes, key=lambda change: (change.changes_result, change.gpu_s, len(change.kinds), change.kinds))


def _reserved_bytes(setup: MemorySetup, constants: Constants) -> float:
    return float(memory_need(setup, constants).peak_bytes(setup.micro_batch, setup.shards))


Step = Mapping[str, object]  # settings and their new values


def _steps(setup: MemorySetup, most_replicas: int) -> Mapping[Kind, Sequence[Step]]:
    """Settings that each kind may change, the mildest first; the micro-batch is solved for instead."""
    found: dict[Kind, Sequence[Step]] = {}
    at = _RECOMPUTATIONS.index("selective" if setup.checkpointing == "selective-per-op" else setup.checkpointing)
    found["checkpointing"] = [{"checkpointing": name} for name in _RECOMPUTATIONS[at + 1 :]]
    if setup.shards > 1:
        shardings = _SHARDINGS[_SHARDINGS.index(setup.sharding) + 1 :]
        found["sharding"] = [{"sharding": name} for name in shardings]
    doublings = floor(log2(max(1, most_replicas / setup.shards)))
    found["more_gpus"] = [{"shards": setup.shards * 2**n, "sharding": "sharded"} for n in range(1, doublings + 1)]
    if setup.loss != "chunked" and not setup.spec.encoder:
        found["chunked_loss"] = [{"loss_kind": "chunked"}]
    if setup.method == "full" and setup.optimizer != "adamw-8bit":
        found["optimizer_8bit"] = [{"optimizer": "adamw-8bit"}]
    return found


def _adapter_steps(setup: MemorySetup) -> list[tuple[Kind, MemorySetup]]:
    found: list[tuple[Kind, MemorySetup]] = []
    if setup.method == "full":
        found.append(("lora", replace(setup, method="lora")))
    if setup.method != "qlora" and setup.element_bytes <= 2:
        found.append(("qlora", replace(setup, method="qlora", weight_bits=None)))
    return found


@dataclass(frozen=True, slots=True)
class _Search:
    """Looks for combinations of changes under the limits of one question."""

    most_replicas: int
    capacity_bytes: float
    round_batch: Callable[[float], float]
    constants: Constants

    def smallest(self, setup: MemorySetup) -> list[tuple[tuple[Kind, ...], MemorySetup]]:
        """Every combination of the fewest kinds that fits, with the mildest step of each first found to fit."""
        steps = _steps(setup, self.most_replicas)
        kinds: tuple[Kind, ...] = ("micro_batch", *steps)
        for count in range(1, len(kinds) + 1):
            found = []
            for chosen in combinations(kinds, count):
                changed = self._mildest(setup, chosen, steps)
                found += [] if changed is None else [(chosen, changed)]
            if found:
                return found
        return []

    def _mildest(
        self, setup: MemorySetup, chosen: tuple[Kind, ...], steps: Mapping[Kind, Sequence[Step]]
    ) -> MemorySetup | None:
        """The first of the steps of the chosen kinds that fits; a smaller micro-batch is the largest that fits."""
        for step in product(*(steps[kind] for kind in chosen if kind != "micro_batch")):
            merged: dict[str, object] = {name: value for part in step for name, value in part.items()}
            changed = replace(setup, **merged)  # type: ignore[arg-type]
            if "micro_batch" in chosen:
                room = memory_need(changed, self.constants).largest_micro_batch(self.capacity_bytes, changed.shards)
                if not 1 <= room < setup.micro_batch:
                    continue
                changed = replace(changed, micro_batch=float(self.round_batch(room)))
            if _reserved_bytes(changed, self.constants) <= self.capacity_bytes:
                return changed
        return None
