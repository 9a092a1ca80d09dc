"""What the groups of inputs are made of: a group, its subjects, and the words of what stands when a field is empty."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.catalog.records import Catalog, Figure
from ui import formatting
from ui.i18n import t
from ui.inputs import Input

Document = Mapping[str, Any]
_OF_MONEY = ("rental.credits.", "rental.price_change_per_year")
_GROUPS = {
    "jobs": "work",
    "groups": "work",
    "machines": "hardware",
    "rental": "hardware",
    "offers": "hardware",
    "site": "site",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Inputs that few need: made and drawn once they are asked for, because every redraw waits for them."""

    id: str
    make: Callable[[], Sequence[Input | None]]

    @property
    def inputs(self) -> Sequence[Input | None]:
        """Its inputs; None leaves a place empty."""
        return self.make()

    @property
    def title(self) -> str:
        """What it is about."""
        return t(f"more.{self.id}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One popover: `summary` stands on its button, `advanced` is folded with `more` to choose from below it.

    None leaves a place empty.
    """

    id: str
    icon: str
    summary: str
    main: Sequence[Input]
    advanced: Sequence[Input | None]
    more: Sequence[Subject] = ()

    @property
    def inputs(self) -> list[Input]:
        """All inputs of the group."""
        cells = [*self.main, *self.advanced, *(cell for subject in self.more for cell in subject.inputs)]
        return [cell for cell in cells if cell is not None]


def group_of(path: str) -> str:
    """The group whose inputs may set a path."""
    if path.startswith(_OF_MONEY):
        return "money"
    return _GROUPS.get(path.split(".")[0], "money")


def word(value: Any, digits: int = 6) -> str:
    """A number, text as it was typed, or that it is unknown."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return formatting.trimmed(value, digits)
    return formatting.escaped(str(value)) if value is not None else formatting.unknown()


def figure_text(figure: Figure | None) -> str:
    """A figure with its digits, empty where there is none."""
    if figure is None:
        return ""
    return f"{figure.value:.0f}" if figure.value.is_integer() else f"{figure.value:.10g}"  # not 1.5e+13 tokens


def assumed(catalog: Catalog, id: str, *, percent: bool = False) -> str:
    """What is assumed where a field is empty."""
    if id not in catalog.assumptions:
        return ""
    value = catalog.assume(id).value
    return t("field.default", value=f"{value * 100:.10g}" if percent else f"{value:.10g}")


def price_of(catalog: Catalog, item: str, condition: str) -> str:
    """The one price of a card or host that the catalog has, empty where it has none or several."""
    found = [price for price in catalog.hardware.values() if price.item == item and price.condition == condition]
    return figure_text(found[0].price_usd) if len(found) == 1 else ""


def with_empty(given: object, stem: str, most: int) -> list[str]:
    """Ids of what a scenario has, and of empty rows up to `most` of them."""
    ids = [str(id) for id in given] if isinstance(given, dict) else []
    spare = [f"{stem}-{number}" for number in range(1, most + 1)]
    wanted = [*ids, *[id for id in spare if id not in ids][: max(0, most - len(ids))]]
    own = [id for id in wanted if id not in spare]
    return [*own, *(id for id in spare if id in wanted)]  # a row stays in its place while it is filled in
