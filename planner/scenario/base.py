"""Base of all parts of a scenario."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from planner.scenario.money import money_aliases
from planner.validation import FieldError


class Model(BaseModel):
    """Base of all parts: unknown keys are errors, and money fields also accept text under their stem."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    @model_validator(mode="before")
    @classmethod
    def _money_under_its_stem(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        data = dict(data)
        for name in cls.model_fields:
            if "_usd" not in name:
                continue
            for alias in money_aliases(name):
                if alias not in data or alias in cls.model_fields:
                    continue
                if name in data:
                    raise FieldError(alias, expected=f"'{name}' or '{alias}', not both")
                data[name] = data.pop(alias)
        return data
