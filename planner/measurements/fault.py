"""What is wrong with a cell of a table, as a record: words are made of it where it is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why a cell can't be meant: its column, empty for the whole row, what was found there and what is expected."""

    field: str
    found: str
    expected: str

    def __str__(self) -> str:
        words = f"found {self.found}, expected {self.expected}"
        return f"{self.field}: {words}" if self.field else words


def in_words(faults: Iterable[Fault]) -> str:
    """Several faults of a row, as everywhere in the project."""
    return "; ".join(map(str, faults))
