"""Claims document -> what the Claims page says: title, figures, filters and files, without Streamlit."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from planner.advise.claims.records import shown
from planner.messages import render
from ui import formatting
from ui.formatting import EN_DASH, NBSP
from ui.i18n import t

Row = Mapping[str, Any]

VERDICTS = ("holds", "conditional", "does_not_hold", "undecidable")
"""Verdicts in the order of the bar and the filter."""

TOPICS = ("specs", "performance", "memory", "money", "software")

_LISTED = ("does_not_hold", "conditional", "undecidable", "holds")
_EXACT_DIGITS = 6  # as printed
_MOST_SIDE_BY_SIDE = 3
_VERSIONS = MappingProxyType(
    {
        "claim_driver_by_compatibility": ("driver", "matching"),
        "claim_driver_right": ("driver", "matching"),
        "claim_driver_some": ("driver", "matching"),
        "claim_driver_too_low": ("driver", "compatible"),
        "claim_library_suits": ("cudnn", "cudnn"),
        "claim_library_too_old": ("cudnn", "first"),
    }
)  # parameters with the printed version and with the one that is right
_CSV = ("id", "topic", "verdict", "claim", "explanation", "unit", "printed_value", "our_value", "our_low", "our_high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Values of one definition of a claim's figure."""

    label: str
    values: tuple[float, ...]

    @property
    def low(self) -> float:
        """The smallest."""
        return min(self.values)

    @property
    def high(self) -> float:
        """The largest."""
        return max(self.values)


def verdict_word(verdict: str) -> str:
    """What the engine calls a verdict."""
    return render(f"verdict_{verdict}")


def title(document: Row) -> str:
    """The counts as one sentence."""
    counts = document["counts"]
    return t("claims.title", count=len(document["claims"]), **{verdict: counts[verdict] for verdict in VERDICTS})


def about(document: Row) -> str:
    """What the title leaves out, and what a verdict is."""
    count = document["counts"]["undecidable"]
    key = "none" if count == 0 else "one" if count == 1 else "many"
    word = formatting.number_word(count)
    return t(f"claims.undecided.{key}", count=word[:1].upper() + word[1:])


def listed(claims: Iterable[Row]) -> list[Row]:
    """Claims in the order of the page: first what a reader would get wrong."""
    return sorted(claims, key=lambda row: _LISTED.index(row["verdict"]))


def matching(document: Row, *, verdicts: Collection[str] = (), topic: str | None = None, search: str = "") -> list[Row]:
    """Claims that pass the filters; an empty filter lets all pass. Every word of the search has to occur."""
    words = search.casefold().split()
    return [
        row
        for row in listed(document["claims"])
        if (not verdicts or row["verdict"] in verdicts)
        and (topic is None or row["topic"] == topic)
        and (not words or all(word in _searched(row, document) for word in words))
    ]


def _searched(row: Row, document: Row) -> str:
    labels = [value["label"] for value in row["values"]]
    titles = [document["sources"][id]["title"] for id in row["sources"]]
    return " ".join([row["claim"], row["explanation"], row["id"].replace("-", " "), *labels, *titles]).casefold()


def printed(row: Row) -> str:
    """The number that is printed, in its unit."""
    if row["printed_value"] is None:
        return _version(row, 0) or t("claims.no_number")
    return amount(row["printed_value"], row["unit"])


def ours(row: Row) -> str:
    """Our number or range in the same unit; several side by side where the claim compares two."""
    unit, low, high = row["unit"], row["our_low"], row["our_high"]
    if row["our_value"] is not None:
        if row["our_value"] == 0 and row["explanation_code"] == "claim_no_nvlink":
            return t("word.none")
        return amount(row["our_value"], unit, row["digits"])
    if row["verdict"] == "undecidable":  # the range is what would be possible, not what is known
        return formatting.unknown()
    if low is not None and high is not None:
        return amount_range(low, high, unit, row["digits"])
    values = [value["value"] for value in row["values"]]
    if unit and 0 < len(values) <= _MOST_SIDE_BY_SIDE and None not in values:
        return _in_unit(f"{NBSP}/{NBSP}".join(_number(value, unit, row["digits"]) for value in values), unit)
    return _version(row, 1) or t("claims.in_words")


def _version(row: Row, side: int) -> str:
    """The version that a claim about software prints, or the one that was found; empty where there is none."""
    names = _VERSIONS.get(row["explanation_code"])
    value = row["params"].get(names[side]) if names else None
    return str(value) if value else ""


def amount(value: float | None, unit: str | None, digits: int | None = None) -> str:
    """A number in the unit of a claim: "6,912 cores", "$21.96 an hour"; with no `digits` as it is printed."""
    if value is None or not math.isfinite(value):
        return formatting.unknown()
    if unit == "USD/h":
        return t("claims.per_hour", price=formatting.price(value) if value else "$0")
    return _in_unit(_number(value, unit, digits), unit)


def amount_range(low: float, high: float, unit: str | None, digits: int) -> str:
    """A range in one unit: "56–81 %"."""
    if unit == "USD/h":
        return t("claims.per_hour", price=f"{formatting.price(low)}{EN_DASH}{formatting.price(high)}")
    first, last = _number(low, unit, digits), _number(high, unit, digits)
    if low < 0:
        return _in_unit(t("claims.to", low=first, high=last), unit)
    return _in_unit(f"{first}{EN_DASH}{last}" if first != last else first, unit)


def _number(value: float, unit: str | None, digits: int | None) -> str:
    """Rounded as in the claim's sentence; a printed number not at all."""
    return formatting.trimmed(value if digits is None else shown(value, unit, digits), _EXACT_DIGITS)


def _in_unit(number: str, unit: str | None) -> str:
    if not unit:
        return number
    if unit.startswith("("):  # a version rather than a quantity
        return t("claims.generation", number=number)
    return f"{number}{NBSP}{unit}"


def groups(row: Row) -> list[Group]:
    """Values of a claim by definition, where it was tested under several definitions with several values each."""
    found: dict[str, list[float]] = {}
    for value in row["values"]:
        label, colon, _ = value["label"].partition(": ")
        if colon and value["value"] is not None:
            found.setdefault(label, []).append(value["value"])
    several = len(found) > 1 and all(len(values) > 1 for values in found.values())
    return [Group(label=label, values=tuple(values)) for label, values in found.items()] if several else []


def figure_rows(row: Row, document: Row) -> list[dict[str, str]]:
    """The figures of the data that a verdict rests on, with value, date and sources."""
    rows = []
    for id in row["figures"]:
        figure = document["figures"][id]
        value = figure["value"]
        rows.append(
            {
                t("column.figure"): id,
                t("column.amount"): formatting.trimmed(value) if isinstance(value, int | float) else _text(value),
                t("column.estimate"): t("word.yes" if figure["estimate"] else "word.no"),
                t("column.as_of"): formatting.date(figure["as_of"]),
                t("column.sources"): "; ".join(document["sources"][source]["title"] for source in figure["sources"])
                or t("word.not_stated"),
            }
        )
    return rows


def value_rows(row: Row) -> list[dict[str, str]]:
    """Every value that was compared with the printed one."""
    return [
        {t("claims.value_of"): value["label"], t("column.amount"): amount(value["value"], row["unit"], row["digits"])}
        for value in row["values"]
    ]


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_text(item) for item in value)
    return formatting.unknown() if value is None else str(value)


def claims_csv(claims: Sequence[Row]) -> str:
    """The claims as CSV: an empty cell is a number that isn't known or doesn't apply."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*_CSV, "figures", "sources"])
    for row in claims:
        cells = ["" if row[name] is None else row[name] for name in _CSV]
        writer.writerow([*cells, " ".join(row["figures"]), " ".join(row["sources"])])
    return out.getvalue()


def claims_json(document: Row) -> str:
    """The document as the command line writes it."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
