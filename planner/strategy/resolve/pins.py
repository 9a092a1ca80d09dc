"""Pins of jobs: the resources that a job may use or is kept off, checked against what the plan has."""

from __future__ import annotations

from collections.abc import Sequence

from planner.errors import InputError
from planner.scenario.jobs import JobInput
from planner.scenario.schema import Scenario
from planner.strategy.problem import Issue
from planner.strategy.resolve.places import Place
from planner.strategy.resolve.resources import ResourceNames


def pinned_out(id: str, entry: JobInput, place: Place, names: ResourceNames) -> list[Issue]:
    """Why the pins of a job keep it off a place, if they do."""
    if entry.only_on is not None and not _named(entry.only_on, place, names):
        params = {"job": id, "resource": place.id, "allowed": entry.only_on}
        return [Issue(code="pinned_elsewhere", field=f"jobs.{id}.only_on", params=params)]
    if _named(entry.not_on, place, names):
        return [Issue(code="pinned_off", field=f"jobs.{id}.not_on", params={"job": id, "resource": place.id})]
    return []


def check_pins(scenario: Scenario, places: Sequence[Place], names: ResourceNames) -> None:
    """That every pin means something, and that the pins of each job leave it somewhere to run.

    Raises
    ------
    UnknownIdError
        For a name that means nothing.
    InputError
        Pins that contradict each other, `in_house`, `local_share`, `terms` or `regions`, or that leave nothing.
    """
    for id, entry in scenario.jobs.items():
        where = f"jobs.{id}"
        for key, pins in (("only_on", entry.only_on or []), ("not_on", entry.not_on)):
            for name in pins:
                names.check(name, f"{where}.{key}", machines=True)
        for name in entry.not_on:
            if name in (entry.only_on or ()):
                raise InputError("pinned_in_and_out", field=f"{where}.not_on", value=name)
        if entry.only_on is not None or entry.not_on:
            key = "not_on" if entry.only_on is None else "only_on"
            left = [place for place in places if not pinned_out(id, entry, place, names)]
            _check_left(id, entry, f"{where}.{key}", left)


def _check_left(id: str, entry: JobInput, field: str, left: Sequence[Place]) -> None:
    """That the places which the pins leave are ones that the rest of the job's entry permits."""
    value = entry.not_on if field.endswith("not_on") else entry.only_on
    if not left:
        raise InputError("pins_leave_nothing", field=field, value=value, job=id)
    owned = [place for place in left if place.machine is not None]
    rented = [place for place in left if place.machine is None]
    if entry.in_house and not owned:
        raise InputError("pins_against", field=field, value=value, job=id, left="rented", against="in_house")
    share = None if entry.in_house else entry.local_share  # in_house counts before it
    if share is not None and ((share > 0 and not owned) or (share < 1 and not rented)):
        side = "owned" if owned else "rented"
        raise InputError("pins_against", field=field, value=value, job=id, left=side, against="local_share")
    if owned:
        return
    for key, permitted in (
        ("terms", [place for place in rented if entry.terms is None or place.term in entry.terms]),
        ("regions", [place for place in rented if not entry.regions or place.region in entry.regions]),
    ):
        if not permitted:
            raise InputError("pins_not_permitted", field=field, value=value, job=id, against=key)


def _named(pins: Sequence[str], place: Place, names: ResourceNames) -> bool:
    return any(names.covers(name, id=place.id, gpu=place.gpu.id, provider=place.provider) for name in pins)
