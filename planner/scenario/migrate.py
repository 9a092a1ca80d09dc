"""Versions of the scenario file: older ones are converted, unknown ones refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.errors import Problem, ScenarioError
from planner.scenario.schema import SCHEMA_VERSION
from planner.strict_yaml import describe


def migrate(document: Mapping[str, Any], *, file: str) -> dict[str, Any]:
    """The document in the current version; version 1 is the first, so there is nothing to convert yet.

    Raises
    ------
    ScenarioError
        When the version is missing, not a whole number, or newer than this planner.
    """
    version = document.get("schema_version")
    if isinstance(version, bool) or version != SCHEMA_VERSION:
        problem = Problem(
            file=file,
            record="",
            field="schema_version",
            found=describe(version),
            expected=f"{SCHEMA_VERSION} (the newest this planner reads)",
        )
        raise ScenarioError("scenario_invalid", [problem])
    return dict(document)
