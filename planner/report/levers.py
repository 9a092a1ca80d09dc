"""The few inputs that a plan is usually turned at: what stands there, how far it may go, and the scenario with it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from planner.catalog.records import Catalog
from planner.report.variants import with_more_runs
from planner.scenario.money import money_aliases
from planner.scenario.paths import get_value, with_overrides
from planner.strategy.evaluate import Result

Kind = Literal["runs", "rental_prices", "card_price", "electricity"]
Suggestion = Literal["twice_the_runs", "cheaper_rental", "used_cards", "dearer_electricity"]
_REACH: Mapping[Kind, tuple[float, float]] = {
    "runs": (0.1, 3.0),
    "rental_prices": (0.3, 2.0),
    "card_price": (0.4, 1.6),
    "electricity": (0.3, 3.0),
}
"""How far a slider goes, of the value that stands there. Widest where the future is least known."""
_FACTORS: Mapping[Suggestion, tuple[Kind, float]] = {
    "twice_the_runs": ("runs", 2.0),
    "cheaper_rental": ("rental_prices", 0.7),
    "dearer_electricity": ("electricity", 2.0),
}
_USED = {"condition": "used", "age_months": 24}
_PRICE_OF_CARD = ("gpu_price_usd", *money_aliases("gpu_price_usd"))
_STEPS = 100  # about as many as a slider has pixels for


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Where a lever stands, and the ends and steps of its movement."""

    value: float
    low: float
    high: float
    step: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Lever:
    """An input of a scenario, or several that move together, with the values between which it may be set.

    `value` is in the unit of the kind: runs a month, share of the prices of today, USD, USD/kWh. `values` are those at
    the paths while the lever stands at `value`.
    """

    id: str
    kind: Kind
    subject: str  # id of the job or GPU, empty where it is about all
    value: float
    values: Mapping[str, float]

    def scale(self, unit: float = 1.0) -> Scale:
        """How far it may go, in round steps of what is shown for one `unit`, that meet the value which stands there."""
        value = self.value / unit
        least, most = (share * value for share in _REACH[self.kind])
        step = _round_step((most - least) / _STEPS)
        below = max(0, math.floor((value - least) / step))
        above = max(1, math.ceil((most - value) / step))
        low, high = (round(value + count * step, 12) for count in (-below, above))
        return Scale(value=value, low=low, high=high, step=step)


def levers(document: Mapping[str, Any], result: Result) -> tuple[Lever, ...]:
    """The inputs of a plan that may be moved: runs of each job, rental prices, prices of cards, electricity.

    Parameters
    ----------
    document : mapping
        The scenario.
    result : Result
        Its plan, for the values that the scenario leaves to the catalog.
    """
    return tuple(_levers(document, result))


def _levers(document: Mapping[str, Any], result: Result) -> Iterator[Lever]:
    problem, theta = result.problem, result.theta[0]
    for id in document["jobs"]:
        path = f"jobs.{id}.runs_per_month"
        runs = float(get_value(document, path))
        yield Lever(id=path, kind="runs", subject=id, value=runs, values={path: runs})
    if problem.offers:
        prices = {f"offers.{offer.id}.price_usd_per_h": float(theta[offer.price_at]) for offer in problem.offers}
        yield Lever(id="rental_prices", kind="rental_prices", subject="", value=1.0, values=prices)
    cards: dict[tuple[str, float], dict[str, float]] = {}
    for machine in problem.machines:
        price = float(theta[machine.gpu_price_at])
        if price > 0 and problem.parameters[machine.gpu_price_at].id == f"machines.{machine.id}.gpu_price_usd":
            cards.setdefault((machine.gpu, price), {})[f"machines.{machine.id}.gpu_price_usd"] = price
    for (gpu, price), paths in cards.items():
        yield Lever(id=next(iter(paths)), kind="card_price", subject=gpu, value=price, values=paths)
    price = float(theta[problem.site.electricity_at])
    if problem.machines and price > 0:
        path = "site.electricity_usd_per_kwh"
        yield Lever(id=path, kind="electricity", subject="", value=price, values={path: price})


def _round_step(about: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that isn't above `about`."""
    power = 10.0 ** math.floor(math.log10(about))
    return float(f"{max(digit for digit in (1, 2, 5) if digit * power <= about * (1 + 1e-9)) * power:.1g}")


def with_lever(document: Mapping[str, Any], lever: Lever, value: float) -> dict[str, Any]:
    """A copy of a document in which a lever stands at a value; what moves together keeps its proportions."""
    if value == lever.value:
        return dict(document)
    if lever.kind == "runs":
        return with_more_runs(document, (lever.subject,), value / lever.value)
    overrides: dict[str, float | None] = {}
    for path, planned in lever.values.items():
        overrides[path] = float(f"{planned * value / lever.value:.12g}")
        if lever.kind == "rental_prices":  # an offer has one price, by the hour of an instance or of a GPU
            per_gpu = path.replace("price_usd_per_h", "price_usd_per_gpu_h")
            start, _, name = per_gpu.rpartition(".")
            given = (get_value(document, f"{start}.{key}") for key in (name, *money_aliases(name)))
            if any(other is not None for other in given):
                overrides[per_gpu] = None
    return with_overrides(document, overrides)


def suggested(id: Suggestion, document: Mapping[str, Any], found: Sequence[Lever], catalog: Catalog) -> dict[str, Any]:
    """A copy of a document with what a suggestion is about: those of `suggestions` change something."""
    changed = dict(document)
    if id == "used_cards":
        kept = {
            name: {**{key: value for key, value in machine.items() if key not in _PRICE_OF_CARD}, **_USED}
            if _may_be_used(machine, catalog)
            else machine
            for name, machine in document["machines"].items()
        }
        return {**changed, "machines": kept}
    kind, factor = _FACTORS[id]
    for lever in found:
        if lever.kind == kind:
            changed = with_lever(changed, lever, factor * lever.value)
    return changed


def suggestions(document: Mapping[str, Any], found: Sequence[Lever], catalog: Catalog) -> tuple[Suggestion, ...]:
    """The usual questions that a scenario leaves open."""
    kinds = {lever.kind for lever in found}
    asked: list[Suggestion] = [id for id, (kind, _) in _FACTORS.items() if kind in kinds]
    if any(_may_be_used(machine, catalog) for machine in document.get("machines", {}).values()):
        asked.insert(2, "used_cards")
    return tuple(asked)


def _may_be_used(machine: Mapping[str, Any], catalog: Catalog) -> bool:
    """Whether new machines would be bought, with cards that the catalog has a price of used ones for."""
    priced = any(p.item == machine.get("gpu") and p.condition == "used" for p in catalog.hardware.values())
    return machine.get("condition", "new") == "new" and "owned" not in machine and priced
