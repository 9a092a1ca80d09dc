"""Impossible plan -> the changes of the scenario that make it possible, tried out before they are offered."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.scenario.paths import get_value, with_overrides
from ui import formatting
from ui.formatting import escaped
from ui.i18n import t
from ui.limit_words import label_of
from ui.state import Kind

MOST = 2
"""Buttons under an impossible plan."""
_ROUNDS, _TRIES = 4, 12  # one change may only show the next problem; each try is a plan
_FILTERS = ("rental.offers", "rental.gpus", "rental.providers", "rental.regions", "rental.exclude")
_CHOICES = ("rental.offers", "rental.gpus")  # inputs of the page whose empty choice is the default
_UNSET = {"method": "full", "optimizer": None, "adapter_rank": None, "adapter_targets": None}  # by setting of a job

Row = Mapping[str, Any]
Report = Mapping[str, Any]
Overrides = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """Values by path, None for the default, with which the plan becomes possible, and the plan that follows."""

    overrides: Overrides
    report: Report
    document: Row

    def changes(self) -> list[str]:
        """The changes in words, without repetition."""
        return list(dict.fromkeys(_words(self.overrides)))

    def label(self) -> str:
        """What the button says; several changes are too long for one."""
        changes = self.changes()
        return t("remedy.several", count=len(changes)) if len(changes) > 1 else _capital(changes[0])

    def sentence(self, result: str) -> str:
        """What comes out, after the changes where the button does not name them."""
        changes = self.changes()
        if len(changes) == 1:
            return result
        listed = t("remedy.and").join([t("remedy.comma").join(changes[:-1]), changes[-1]])
        return t("remedy.changes", changes=_capital(listed), result=result)

    def typed(self) -> dict[str, tuple[Any, Kind]]:
        """The values as they would have been typed."""
        return {path: _typed(path, value) for path, value in self.overrides.items()}


def remedies(report: Report, document: Row, replan: Callable[[Row], Report | None]) -> list[Remedy]:
    """Up to two ways out of a plan in which no way works, the fewest changes first.

    Parameters
    ----------
    report : mapping
        Document of a plan without a recommendation.
    document : mapping
        Its scenario.
    replan : callable
        Report of a changed scenario, None where that is not a sound one.

    Returns
    -------
    list of Remedy
        Each was planned and works; empty where nothing of what is known helps.
    """
    found: list[Remedy] = []
    waiting: list[tuple[Overrides, Report]] = [({}, report)]
    seen: list[Overrides] = []
    for _ in range(_ROUNDS):
        following: list[tuple[Overrides, Report]] = []
        for before, impossible in waiting:
            for more in _candidates(impossible, with_overrides(document, before)):
                overrides = {**before, **more}
                if overrides in seen or any(_goes_as_far(overrides, other.overrides) for other in found):
                    continue
                if len(seen) == _TRIES:
                    return found
                seen.append(overrides)
                changed = with_overrides(document, overrides)
                planned = replan(changed)
                if planned is None:
                    continue
                if planned["recommended"]:
                    found.append(Remedy(overrides=overrides, report=planned, document=changed))
                    if len(found) == MOST:
                        return found
                else:
                    following.append((overrides, planned))
        waiting = following
    return found


def _goes_as_far(overrides: Overrides, enough: Overrides) -> bool:
    """Whether overrides do all that is known to be enough, limits raised as far or further included."""
    return all(
        path in overrides
        and (
            overrides[path] == value
            or (path.startswith("limits.") and overrides[path] is not None and overrides[path] >= value)
        )
        for path, value in enough.items()
    )


def _candidates(report: Report, document: Row) -> Iterator[Overrides]:
    """For every way, changes that solve its problems; ways with fewer, then with less to give way, first."""
    for way in sorted(report["strategies"], key=_effort):
        choices = [fixes(problem, document) for problem in way["problems"]]
        if not choices or not all(choices):
            continue
        yield _joined([options[0] for options in choices])
        if any(len(options) > 1 for options in choices):
            yield _joined([options[-1] for options in choices])


def _effort(way: Row) -> tuple[int, float, float]:
    params = [problem["params"] for problem in way["problems"]]
    hours = max((one.get("needs_h", 0.0) for one in params), default=0.0)
    return len(params), hours, max((_needed(one) or 0.0 for one in params), default=0.0)


def _needed(params: Row) -> float | None:
    """What a limit of the whole plan would have to be, None for another problem."""
    return next((params[name] for name in ("value_usd", "value", "needed_usd", "needed") if name in params), None)


def _joined(parts: Sequence[Overrides]) -> Overrides:
    joined: dict[str, Any] = {}
    for part in parts:
        for path, value in part.items():
            larger = path in joined and isinstance(value, int | float) and isinstance(joined[path], int | float)
            joined[path] = max(value, joined[path]) if larger else value
    return joined


def fixes(problem: Row, document: Row) -> list[Overrides]:
    """Values by path that take a problem of a way out of its way, the mildest first; empty where none is known."""
    code, params = problem["code"], problem["params"]
    job = f"jobs.{params.get('job', '')}"
    on_machine = str(params.get("resource", "")) in document.get("machines", {})
    match code:
        case "deadline_missed":
            options = [{f"{job}.deadline_h": rounded_up(params["needs_h"])}]
            return options if on_machine else options + _wider_rental(document)
        case "over_capacity":
            here = f"machines.{params['machine']}"
            staged = {f"{here}.purchases": None} if get_value(document, f"{here}.purchases") else {}
            return [{f"{here}.count": None, **staged}]
        case "does_not_fit":
            return _more_gpus(params, job, document, on_machine=on_machine)
        case "fits_nowhere":
            return [] if on_machine else _wider_rental(document)
        case "no_offers":
            return _wider_rental(document)
        case "too_many_gpus" | "too_many_gpus_to_estimate" | "batch_below_gpus":
            return [{f"{job}.gpus": None}] if get_value(document, f"{job}.gpus") is not None else []
        case "precision_not_supported":
            return [{f"{job}.precision": None}]
        case "not_applicable":
            setting = problem["field"].removeprefix(f"{job}.")
            return [{problem["field"]: _UNSET[setting]}] if setting in _UNSET else []
        case "in_house_only":
            return [{f"{job}.in_house": None}]
        case "region_not_allowed":
            return [{f"{job}.regions": None}]
        case "pinned_elsewhere":
            return [{f"{job}.only_on": None}]
        case "pinned_off":
            return [{f"{job}.not_on": None}]
        case "over_quota" | "quota_below_run" | "quota_zero":
            return [{problem["field"]: params["needed"]}]
        case code if code.startswith(("over_limit_", "limit_to_relax_")) and problem["field"].startswith("limits."):
            needed = _needed(params)
            return [] if needed is None else [{problem["field"]: rounded_up(needed)}]
        case _:
            return []


def _more_gpus(params: Row, job: str, document: Row, *, on_machine: bool) -> list[Overrides]:
    options: list[Overrides] = []
    needed = _power_of_two(params["min_gpus"])
    if get_value(document, f"{job}.gpus") is not None:
        options.append({f"{job}.gpus": None})
    if on_machine:
        options.append({f"machines.{params['resource']}.gpus": needed})
        return options
    most = get_value(document, f"{job}.max_gpus")
    if isinstance(most, int | float) and most < needed:
        options.append({f"{job}.max_gpus": needed})
    return options + _wider_rental(document)


def _wider_rental(document: Row) -> list[Overrides]:
    """Filters of rented offers cleared; where none is set, other markets; after those, old prices."""
    given = {path: None for path in _FILTERS if get_value(document, path)}
    if given:
        return [given]
    markets = get_value(document, "rental.markets") or ["cloud"]
    if "marketplace" not in markets:
        return [{"rental.markets": [*markets, "marketplace"]}]
    statuses = get_value(document, "rental.statuses") or ["current"]
    return [{"rental.statuses": [*statuses, "stale"]}] if "stale" not in statuses else []


def rounded_up(hours: float) -> float:
    """The next limit above a time that somebody would name: two significant digits, at least a minute's worth.

    >>> rounded_up(6.979), rounded_up(142.1), rounded_up(0.0333)
    (7.0, 150.0, 0.034)
    """
    step = 10.0 ** (math.floor(math.log10(hours)) - 1)
    return round(math.ceil(round(hours / step, 9)) * step, 12)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _power_of_two(count: float) -> int:
    return 2 ** max(0, math.ceil(math.log2(count)))


def _words(overrides: Overrides) -> Iterator[str]:
    for path, value in overrides.items():
        group, name, *key = path.split(".")
        match group, key[0] if key else name:
            case "jobs", "deadline_h":
                yield t("remedy.deadline", job=escaped(name), limit=formatting.duration(value))
            case "jobs", "gpus":
                yield t("remedy.gpus_auto", job=escaped(name))
            case "jobs", "max_gpus":
                yield t("remedy.max_gpus", job=escaped(name), count=value)
            case "jobs", "precision":
                yield t("remedy.precision", job=escaped(name))
            case "jobs", "regions":
                yield t("remedy.regions", job=escaped(name))
            case "jobs", "in_house":
                yield t("remedy.in_house", job=escaped(name))
            case "jobs", setting if setting in _UNSET:
                yield t(f"remedy.{setting}", job=escaped(name))
            case "jobs", "only_on" | "not_on":
                yield t("remedy.pins", job=escaped(name))
            case "limits", _:
                yield t("remedy.limit", limit=label_of(path), value=formatting.plain(value))
            case "rental", quota if name == "quota_gpus":
                yield t("remedy.quota", id=quota, count=value)
            case "machines", "count":
                yield t("remedy.count", machine=escaped(name))
            case "machines", "purchases":
                pass  # goes with the number, which is named
            case "machines", "gpus":
                yield t("remedy.machine_gpus", machine=escaped(name), count=value)
            case "rental", "markets":
                yield t("remedy.rental_markets")
            case "rental", "statuses":
                yield t("remedy.rental_old")
            case "rental", "gpus" if not {*_FILTERS} - {"rental.gpus"} & {*overrides}:
                yield t("remedy.rental_gpus")
            case _:
                yield t("remedy.rental_all")


def _typed(path: str, value: Any) -> tuple[Any, Kind]:
    if value is None:
        if path.endswith((".optimizer", ".adapter_targets")):
            return None, "choice"
        return ([], "choice_or_none") if path in _CHOICES else ("", "number")
    return (value, "choice") if isinstance(value, list | str) else (f"{value:.10g}", "number")
