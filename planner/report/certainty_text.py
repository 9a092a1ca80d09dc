"""How sure a plan is, what moves it most and what would turn it, as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.messages import render
from planner.report.certainty import nearest_flips
from planner.report.text_table import cell_text, table, whole_text
from planner.strategy.movers import RENTAL_LEVEL, SPEED_LEVEL

_MOST = 5
_MOSTLY = 0.9  # of futures; a way that works in fewer is said to
_REASONS = ("capacity", "quotas", "deadlines", "limits")
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
        lines += [_fails_line(way) for way in ways if way["works_probability"] < _MOSTLY]
        if anew := document["uncertainty"]["redecided"]:
            lines.append(_anew_line(anew))
    if bars := document["sensitivity"][:_MOST]:
        over = next((bar["runner_up"] for bar in bars if bar["runner_up"] is not None), None)
        head = ["moves it most", "planned", "low", "high", "present value at low", "at high", "then, of the named"]
        if over is not None:
            head[6:6] = [f"over {render(f'strategy_{over}')}: low", "high"]
        lines += ["", *table(head, [_bar_row(bar, rate, code) for bar in bars])]
        if any(bar["assumed"] for bar in bars):
            lines.append(render("sensitivity_assumed"))
    if document["recommended"] is not None:
        compared = document["flips"]["compared"]
        searched = document.get("optimal", {}).get("found", False)  # then the named ways aren't all there are
        if compared is not None and (searched or document["recommended"] != compared):
            lines += ["", render("flips_of_named", way=render(f"strategy_{compared}"))]
        turns = [_flip_line(flip, rate, code) for flip in nearest_flips(document, _MOST)]
        none = render("flips_none", least=document["flips"]["least_factor"], most=document["flips"]["most_factor"])
        lines += ["", *(turns or [none]), *map(_horizon_line, document["flips"]["horizon"] or ())]
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


def _fails_line(way: Mapping[str, Any]) -> str:
    """That a way works in few futures, and what keeps it from working, the most frequent first."""
    shares = {name: way[f"fails_for_{name}_probability"] for name in _REASONS}
    reasons = sorted((name for name in _REASONS if shares[name] > 0), key=lambda name: -shares[name])
    return render(
        "certainty_fails",
        way=render(f"strategy_{way['id']}"),
        works=_of_100(way["works_probability"]),
        reasons=", ".join(render(f"certainty_fails_{name}", futures=_of_100(shares[name])) for name in reasons),
    )


def _anew_line(anew: Mapping[str, Any]) -> str:
    if anew["perfect_information_usd"] is None:
        return render("redecide_never", way=render(f"strategy_{anew['decided']}"), samples=anew["samples"])
    likeliest = max(anew["chosen"], key=lambda way: float(way["probability"]))
    return render(
        "redecide_worth",
        way=render(f"strategy_{anew['decided']}"),
        samples=anew["samples"],
        worth_usd=anew["perfect_information_usd"],
        mean_usd=anew["decided_mean_usd"],
        likeliest=render(f"strategy_{likeliest['id']}"),
        futures=_of_100(likeliest["probability"]),
    )


def _horizon_line(flip: Mapping[str, Any]) -> str:
    becomes = flip["becomes"]
    direction = "shorter" if flip["months"] < flip["before"] else "longer"
    return render(
        f"flip_horizon_{direction}{'_none' if becomes is None else ''}",
        months=flip["months"],
        becomes="" if becomes is None else render(f"strategy_{becomes}"),
    )


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
        *(
            whole_text(bar[f"difference_{end}_usd"] / rate)
            for end in ("low", "high")
            if bar[f"difference_{end}_usd"] is not None
        ),
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
