"""What keeping, selling or upgrading machines that are there already comes to, as rows and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.strategy.evaluate import Result


def owned_option_entries(result: Result) -> list[dict[str, Any]]:
    """One entry for each option that was planned; totals are those of its best way. Empty where none was asked for."""
    entries = []
    for option in result.owned_options:
        best = option.best
        entries.append(
            {
                "machines": [{"id": id, "at_start": at_start} for id, at_start in option.machines.items()],
                "chosen": option.chosen,
                "recommended": None if best is None else best.id,
                "tco_usd": None if best is None else best.tco_usd,
                "present_value_usd": None if best is None else best.present_value_usd,
                "strategies": [
                    {
                        "id": way.id,
                        "feasible": way.feasible,
                        "tco_usd": way.tco_usd,
                        "present_value_usd": way.present_value_usd,
                    }
                    for way in option.ways
                ],
            }
        )
    return entries


def option_name(option: Mapping[str, Any]) -> str:
    """Types of machines with what becomes of them, such as `keep workstation`."""
    return ", ".join(f"{machine['at_start']} {machine['id']}" for machine in option["machines"])
