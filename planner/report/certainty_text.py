"""How sure a plan is, what moves it most and what would turn it, as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.messages import render
from planner.report.certainty import nearest_flips
from planner.report.text_table import cell_text, table, whole_text
from planner.strategy.movers import RENTAL_LEVEL, SPEED_LEVEL

_MOST = 5
_LEVELS = {RENTAL_LEVEL: "input_rental_level", SPEED_LEVEL: "input_speed_level"}


def certainty_lines(document: Mapping[str, Any]) -> list[str]:
    """Blocks of lines, each after an empty one; nothing for a document without these parts."""
    if "uncertainty" not in document:
        return []
    rate, code = document["currency"]["usd_per_unit"], document["currency"]["code"]
    lines: list[str] = []
    if ways := [way for way in document["uncertainty"]["strategies"] if way["same_as"] is None]:
        head = ["way", "cheapest in", "works in", "present value: p10", "median", "p90", "kWh: p10", "p90"]
        lines += ["", *table(head, [_way_row(way, document, rate) for way in ways])]
        lines.append(render("certainty_explained", samples=document["uncertainty"]["samples"]))
    if bars := document["sensitivity"][:_MOST]:
        head = ["moves it most", "planned", "low", "high", "present value at low", "at high", "then recommended"]
        lines += ["", *table(head, [_bar_row(bar, rate, code) for bar in bars])]
        if any(bar["assumed"] for bar in bars):
            lines.append(render("sensitivity_assumed"))
    if document["recommended"] is not None:
        turns = [_flip_line(flip, rate, code) for flip in nearest_flips(document, _MOST)]
        none = render("flips_none", least=document["flips"]["least_factor"], most=document["flips"]["most_factor"])
        lines += ["", *(turns or [none])]
    return lines


def _way_row(way: Mapping[str, Any], document: Mapping[str, Any], rate: float) -> list[str]:
    same = [one["id"] for one in document["uncertainty"]["strategies"] if one["same_as"] == way["id"]]
    return [
        ", ".join(render(f"strategy_{id}") for id in [way["id"], *same]),
        _of_100(way["cheapest_probability"]),
        _of_100(way["works_probability"]),
        *(whole_text(way[f"present_value_usd_{at}"] / rate) for at in ("p10", "p50", "p90")),
        *(whole_text(way[f"energy_kwh_{at}"]) for at in ("p10", "p90")),
    ]


def _of_100(share: float) -> str:
    """Futures of 100; never all or none where one sample says otherwise."""
    if 0 < share < 0.005:
        return "under 1 of 100"
    if 0.995 <= share < 1:
        return "over 99 of 100"
    return f"{100 * share:.0f} of 100"


def _bar_row(bar: Mapping[str, Any], rate: float, code: str) -> list[str]:
    then = [bar["recommended_low"], bar["recommended_high"]]
    names = [render("strategy_none") if id is None else render(f"strategy_{id}") for id in then]
    return [
        f"{_name(bar)}{'*' if bar['assumed'] else ''}",
        _value(bar, "value", rate, code),
        *(cell_text(_amount(bar, end, rate)) for end in ("low", "high")),
        *(whole_text(bar[f"present_value_{end}_usd"] / rate) for end in ("low", "high")),
        names[0] if names[0] == names[1] else " / ".join(names),
    ]


def _flip_line(flip: Mapping[str, Any], rate: float, code: str) -> str:
    becomes = flip["becomes"]
    level = "level_" if flip["input"] in _LEVELS else ""
    return render(
        f"flip_{level}{flip['direction']}{'_none' if becomes is None else ''}",
        input=_name(flip),
        at=_value(flip, "at", rate, code),
        value=_value(flip, "value", rate, code),
        becomes="" if becomes is None else render(f"strategy_{becomes}"),
    )


def _name(entry: Mapping[str, Any]) -> str:
    """A path as `--set` takes it, or what a level is called."""
    level = _LEVELS.get(entry["input"])
    return str(entry["input"]) if level is None else render(level)


def _amount(entry: Mapping[str, Any], key: str, rate: float) -> float:
    value = float(entry[key])
    return value / rate if entry["unit"].startswith("USD") else value


def _value(entry: Mapping[str, Any], key: str, rate: float, code: str) -> str:
    unit = "" if entry["unit"] == "-" else f" {entry['unit']}"
    return f"{cell_text(_amount(entry, key, rate))}{unit.replace('USD', code)}"
