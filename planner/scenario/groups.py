"""Groups of a scenario: people who share the machines and are charged for what their jobs cost."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from planner.scenario.values import Count, check_text


class GroupInput(BaseModel):
    """A group: how it is called, and how many people it has."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, BeforeValidator(check_text), Field(max_length=100)] | None = None
    people: Count | None = None
