"""Ranges of a scenario's own: how far an input may fall from what is planned."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from planner.scenario.base import Model
from planner.scenario.values import check_number
from planner.validation import FieldError

Shape = Literal["normal", "lognormal", "triangular", "uniform"]
Bound = Annotated[float, BeforeValidator(check_number)]


class RangeInput(Model):
    """Two bounds, or a share either way of what is planned; `distribution` says what lies between and beyond.

    Of `normal` and `lognormal` eight of ten futures lie within, of `triangular` and `uniform` all.
    """

    low: Bound | None = None
    high: Bound | None = None
    share: Annotated[float, BeforeValidator(check_number), Field(ge=0, lt=1)] | None = None
    distribution: Shape = "normal"

    @model_validator(mode="after")
    def _one_form(self) -> RangeInput:
        if self.share is None and (self.low is None or self.high is None):
            raise FieldError("low", expected="'low' and 'high', or 'share' of the planned value")
        if self.share is not None and (self.low is not None or self.high is not None):
            raise FieldError("share", expected="'low' and 'high', or 'share', not both")
        if self.low is not None and self.high is not None and self.high < self.low:
            raise FieldError("high", expected=f"at least the low bound, {self.low:g}")
        return self

    def ends(self, value: float) -> tuple[float, float]:
        """Low and high around a planned value."""
        if self.share is not None:
            return value - self.share * abs(value), value + self.share * abs(value)
        assert self.low is not None and self.high is not None
        return self.low, self.high
