"""A printed claim, what a rule finds out about it, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Verdict = Literal["holds", "conditional", "does_not_hold", "undecidable"]
Topic = Literal["specs", "performance", "memory", "money", "software"]
VERDICTS: tuple[Verdict, ...] = ("holds", "conditional", "does_not_hold", "undecidable")

PRINTED_DIGITS = 4  # of a data sheet: 1.555, 2.039
COMPUTED_DIGITS = 3
MOST_SHARE = 0.05  # a round printed number, such as "1 TB/s", is not meant wider than this


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence that is printed somewhere, with the number in it and the rule that tests it.

    `printed` is in `unit`; `tolerance` is a fraction of it and replaces the rule of printed digits; `about` widens that
    rule to a whole unit of the last digit. `figures` and `params` are what the rule looks at.
    """

    id: str
    topic: Topic
    claim: str
    rule: str
    printed: float | None
    unit: str
    about: bool
    tolerance: float | None
    definition: str
    figures: tuple[str, ...]
    params: Mapping[str, Any]
    sources: tuple[str, ...]

    @property
    def margin(self) -> float:
        """How far a figure may lie from the printed one and still be what is printed, in `unit`."""
        if self.printed is None:
            return 0.0
        if self.tolerance is not None:
            return abs(self.printed) * self.tolerance
        return min(last_digit(self.printed) * (1.0 if self.about else 0.5), abs(self.printed) * MOST_SHARE)

    def agrees(self, value: float, *, at_least: bool = False) -> bool:
        """Whether a figure is what is printed, or with `at_least` no less."""
        assert self.printed is not None
        slack = self.margin + 1e-9 * max(1.0, abs(self.printed))
        return value >= self.printed - slack if at_least else abs(value - self.printed) <= slack


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One figure that a claim is compared with: a variant of a card, a definition, a region."""

    label: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a rule found: verdict, the sentence's code with its parameters, and our figure in the claim's unit.

    `sources` are those beyond the sources of the figures that were read; `values` are what was compared; `digits` the
    significant digits with which the sentence and everybody else show them, see `shown`.
    """

    verdict: Verdict
    code: str
    params: Mapping[str, Any]
    our_value: float | None = None
    our_low: float | None = None
    our_high: float | None = None
    values: tuple[Value, ...] = ()
    sources: tuple[str, ...] = field(default=())
    digits: int = PRINTED_DIGITS


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """A claim with its verdict, and the ids of the figures and sources the verdict rests on."""

    claim: Claim
    finding: Finding
    figures: tuple[str, ...]
    sources: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict."""
        return self.finding.verdict


def last_digit(value: float) -> float:
    """Size of one unit of the last printed digit: 0.01 for 3.35, 1 for 6912.

    Examples
    --------
    >>> last_digit(3.35), last_digit(82.6), last_digit(300)
    (0.01, 0.1, 1.0)
    """
    text = repr(float(value))
    decimals = text.partition(".")[2].rstrip("0")
    return math.pow(10.0, -len(decimals)) if "e" not in text else 1.0


def shown(value: float, unit: str | None, digits: int = PRINTED_DIGITS) -> float:
    """One of our figures as it is shown, in the sentence and beside it: shares in whole per cent.

    Examples
    --------
    >>> shown(55.77, "%", 3), shown(-0.33, "%", 3), shown(7.3836, "times", 3), shown(1.555, "TB/s")
    (56.0, 0.0, 7.38, 1.555)
    """
    if unit == "%":
        return round(value) + 0.0  # never "-0 %"
    return value if value == round(value) else significant(value, digits)


def significant(value: float, digits: int = 3) -> float:
    """A computed number as it is shown: no more digits than it has meaning.

    Examples
    --------
    >>> significant(12.6121), significant(2968.7), significant(0.0)
    (12.6, 2970.0, 0.0)
    """
    return float(f"{value:.{digits}g}")
