"""Machines that are there already as they are after the start of a plan: kept, sold, or with new cards."""

from __future__ import annotations

from planner.scenario.machines import MachineInput


def entry_after_start(entry: MachineInput) -> MachineInput:
    """A type without what is sold at the start, or with the new cards; one that is kept as it is.

    `cheapest` is taken as `keep` here: what it comes to is found by planning all of its options.
    """
    owned = entry.owned
    if owned is None:
        return entry
    if owned.sold:
        count = None if entry.count is None else entry.count - owned.count
        return entry.model_copy(update={"owned": None, "count": count})
    new = owned.upgrade
    if not owned.upgraded or new is None:
        return entry
    return entry.model_copy(
        update={"gpu": new.gpu, "gpu_price_usd": new.gpu_price_usd, "load_w": new.load_w, "idle_w": new.idle_w}
    )
