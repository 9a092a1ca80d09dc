"""Names in a scenario: each means one thing, and something that exists."""

from __future__ import annotations

from planner.catalog.records import Catalog
from planner.errors import InputError, UnknownIdError
from planner.scenario.schema import Scenario
from planner.strategy.problem import Group
from planner.validation import near

_RESERVED_NAMES = ("site", "cloud")  # resources of shared cost lines


def check_names(scenario: Scenario, catalog: Catalog) -> None:
    """No resource has the name of another: machines, own quotes, offers and GPUs are told apart by name alone.

    Raises
    ------
    InputError
        For a machine or own quote whose name is taken.
    """
    for id in scenario.machines:
        taken = "an offer" if id in catalog.offers else "a GPU" if id in catalog.gpus else None
        taken = "a part of every plan" if id in _RESERVED_NAMES else taken
        if taken is not None:
            raise InputError("name_taken", field=f"machines.{id}", value=id, taken=taken)
    for id in scenario.offers:
        taken = "a machine" if id in scenario.machines else "a GPU" if id in catalog.gpus else None
        taken = "a part of every plan" if id in _RESERVED_NAMES else taken
        if taken is not None:
            raise InputError("name_taken", field=f"offers.{id}", value=id, taken=taken)


def check_throughput_keys(scenario: Scenario, catalog: Catalog) -> None:
    """Every key of a job's own throughput names a machine, an offer or a GPU.

    Raises
    ------
    UnknownIdError
        For a key that names nothing.
    """
    known = [*scenario.machines, *scenario.offers, *catalog.offers, *catalog.gpus]
    for id, entry in scenario.jobs.items():
        for key in entry.throughput:
            if key not in known:
                close = near(key, known)
                raise UnknownIdError("machine, offer or GPU", key, close, field=f"jobs.{id}.throughput.{key}")


def resolve_groups(scenario: Scenario) -> tuple[Group, ...]:
    """The groups of a scenario, of which every job's is one.

    Raises
    ------
    UnknownIdError
        For a group that isn't there.
    """
    for id, entry in scenario.jobs.items():
        if entry.group is not None and entry.group not in scenario.groups:
            close = near(entry.group, scenario.groups) or list(scenario.groups)[:3]
            raise UnknownIdError("group", entry.group, close, field=f"jobs.{id}.group")
    return tuple(Group(id=id, name=entry.name or id, people=entry.people) for id, entry in scenario.groups.items())
