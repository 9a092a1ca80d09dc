"""The error tree: every failure carries a code and parameters, so that a page can translate it and mark the field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class PlannerError(Exception):
    """Base of all errors the planner raises on purpose.

    `code` names the sentence in `planner/messages.yaml`, `params` fills it, `field` is the path of the input at fault
    (empty where there is none).
    """

    def __init__(self, code: str, *, field: str = "", **params: Any) -> None:
        self.code = code
        self.field = field
        self.params: dict[str, Any] = params
        super().__init__(code)

    def __str__(self) -> str:
        from planner.messages import render  # late: messages reads a file, and errors sits left of everything

        return render(self.code, **{"field": self.field, **self.params})


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One fault in a file: where it stands, what was found there and what would be right."""

    file: str
    record: str
    field: str
    found: str
    expected: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        subject = " ".join(part for part in (_short(self.record), _short(self.field)) if part)
        return ": ".join(part for part in (place, subject, f"found {self.found}, expected {self.expected}") if part)


_LONGEST_SUBJECT = 160
_MOST_SHOWN = 100


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SUBJECT else f"{text[:_LONGEST_SUBJECT]}..."


class _ListedError(PlannerError):
    """An error that reports every problem of a file at once."""

    def __init__(self, code: str, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(code, field=self.problems[0].field if self.problems else "", count=len(self.problems))

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems[:_MOST_SHOWN]]
        more = len(self.problems) - len(lines)
        return "\n".join([*lines, f"... and {more:,} more"] if more else lines)


class CatalogError(_ListedError):
    """A data file is wrong; lists all problems."""


class ScenarioError(_ListedError, ValueError):
    """A scenario file is wrong; lists all problems."""


class TableError(_ListedError):
    """A table of measurements can't be used; lists all problems."""


class UnknownIdError(PlannerError, KeyError):
    """No such GPU, offer, workload or site; `params["near"]` the nearest ids, `listed` the command that has all."""

    def __init__(self, kind: str, value: str, near: Sequence[str], *, field: str = "", listed: str = "") -> None:
        super().__init__("unknown_id", field=field, kind=kind, value=value, near=list(near), listed=listed)


class InputError(PlannerError, ValueError):
    """A value outside its range; `field` names it."""
