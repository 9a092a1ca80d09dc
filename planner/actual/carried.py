"""What a new plan takes over from the months that are past, and what it can't, with the scenario that comes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from planner.messages import render
from planner.strategy.problem import Issue

ENOUGH: Final = 10
"""Attempts on a resource, or runs of a job, from which what was observed takes the place of what was planned."""


@dataclass(slots=True, kw_only=True)
class Replan:
    """A scenario that begins with a later month of another, and what was carried over or couldn't be."""

    month: int
    document: dict[str, Any]
    demand: str = "planned"  # or measured
    carried: list[Issue] = field(default_factory=list)
    left: list[Issue] = field(default_factory=list)


def scenario_yaml(found: Replan) -> str:
    """The scenario as a file, with what was carried over and what couldn't be as its first lines."""
    said = [f"# {issue_text(issue)}\n" for issue in (*found.carried, *found.left)]
    return "".join(said) + yaml.safe_dump(found.document, sort_keys=False, allow_unicode=True, width=120)


def issue_text(issue: Issue) -> str:
    """An issue as one line of text."""
    return " ".join(render(issue.code, field=issue.field, **issue.params).split())


def say(found: list[Issue], code: str, field: str, **params: object) -> None:
    """Note an issue."""
    found.append(Issue(code=code, field=field, params=params))
