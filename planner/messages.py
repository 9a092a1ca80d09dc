"""English sentences of the engine's codes, read from `messages.yaml` and filled with parameters."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from planner.strict_yaml import parse, shorten
from planner.yaml_scalars import as_given

MESSAGES_PATH = Path(__file__).with_name("messages.yaml")

# {x:%} is in percent, {x:usd} money, {x:usd_given} money with the digits its user gave it,
# {x:usd_price} the price of a small unit, {x:=} with all its digits.
_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)(?::(%|usd|usd_given|usd_price|=))?\}")
_OPTIONAL = re.compile(r"\[\[(.*?)\]\]")  # left out where a parameter within has no value
_LONGEST_TEXT = 200
_MONEY_DIGITS = 3  # of amounts that rest on estimates
_PRICE_DIGITS = 4  # of prices of an hour or a kWh
_GIVEN_DIGITS = 12  # hides what converting there and back leaves


@dataclass(frozen=True, slots=True, kw_only=True)
class Tender:
    """The currency in which sentences speak of money; parameters stay in USD."""

    code: str
    usd_per_unit: float

    def words(self, amount_usd: float, digits: int) -> str:
        """An amount with that many significant digits: "1,340 EUR"."""
        amount = float(f"{amount_usd / self.usd_per_unit:.{digits}g}")
        whole = abs(amount) >= 10 ** (digits - 1) or amount == int(amount)
        return f"{amount:,.0f} {self.code}" if whole else f"{amount:,.{_decimals(amount, digits)}f} {self.code}"


def _decimals(amount: float, digits: int) -> int:
    """Decimals that show a number's significant digits and no idle zeros."""
    text = f"{abs(amount):.{max(0, digits - 1 - math.floor(math.log10(abs(amount))))}f}".rstrip("0")
    return len(text.partition(".")[2])


def render(code: str, tender: Tender | None = None, /, **params: Any) -> str:
    """Sentence of a code; with a tender its money is said in that currency.

    A message has to appear even where a sentence or a parameter is missing, so that a report of one fault never hides
    behind another: then the code and its parameters are shown as they are.
    """
    try:
        return fill(code, params, tender)
    except (KeyError, ValueError):
        shown = ", ".join(f"{name}: {as_text(value)}" for name, value in params.items() if not _is_empty(value))
        return f"{code} ({shown})" if shown else code


def fill(code: str, params: Mapping[str, Any], tender: Tender | None = None) -> str:
    """Sentence of a code, or an error naming what is missing.

    Raises
    ------
    KeyError
        No sentence for the code.
    ValueError
        A parameter that the sentence names isn't given.
    """
    sentences = _sentences()
    if code not in sentences:
        raise KeyError(f"no sentence for the code {code!r} in {MESSAGES_PATH.name}")
    return fill_template(sentences[code], params, name=code, tender=tender)


def fill_template(template: str, params: Mapping[str, Any], *, name: str = "", tender: Tender | None = None) -> str:
    """Put parameters into a sentence: `{name}` is a parameter, `[[...]]` is left out where one within it is empty.

    Raises
    ------
    ValueError
        A parameter that the sentence names isn't given.
    """
    if _is_empty(params.get("field")):
        template = template.removeprefix("{field}: ")

    def optional(match: re.Match[str]) -> str:
        names = _PLACEHOLDER.findall(match.group(1))
        return "" if any(_is_empty(params.get(name)) for name, _ in names) else match.group(1)

    def value(match: re.Match[str]) -> str:
        if match.group(1) not in params:
            raise ValueError(f"the sentence {name!r} needs the parameter {match.group(1)!r}, given: {sorted(params)}")
        return _as_unit(match.group(1), params[match.group(1)], match.group(2), tender)

    return _PLACEHOLDER.sub(value, _OPTIONAL.sub(optional, template))


def codes() -> set[str]:
    """All codes that have a sentence."""
    return set(_sentences())


def parameters(code: str) -> set[str]:
    """Names of the parameters in a code's sentence."""
    return {name for name, _ in _PLACEHOLDER.findall(_sentences()[code])}


def _as_unit(name: str, value: Any, unit: str | None, tender: Tender | None) -> str:
    """A parameter as its placeholder wants it: a share in percent, money in a currency, else in words.

    The parameter `value` is what a user gave: it keeps all its digits, so that it is found again. So does what it is
    held against, where the sentence writes `{limit:=}`.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return as_text(value)
    if unit == "=" or (unit is None and name == "value"):
        return as_given(value)
    if unit is None:
        return as_text(value)
    if unit == "%":
        return f"{100 * float(value):.0f}"
    if unit == "usd_price":
        return f"{_number_text(float(value))} USD" if tender is None else tender.words(float(value), _PRICE_DIGITS)
    if tender is None:
        return f"{float(value):,.0f} USD"
    return tender.words(float(value), _GIVEN_DIGITS if unit == "usd_given" else _MONEY_DIGITS)


def as_text(value: Any) -> str:
    """A parameter in words: lists as "a, b or c", numbers with four digits and thousands separated."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return shorten(value, _LONGEST_TEXT)
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return ", ".join(f"{as_text(key)}: {as_text(item)}" for key, item in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        items = [as_text(item) for item in (sorted(value, key=str) if isinstance(value, set | frozenset) else value)]
        return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} or {items[-1]}" if items else "none"
    if isinstance(value, Integral):
        return f"{int(value):,}"
    if isinstance(value, Real):
        return _number_text(float(value))
    return shorten(str(value), _LONGEST_TEXT)


def _number_text(value: float) -> str:
    if not math.isfinite(value):
        return str(value)
    if value == round(value) and abs(value) < 1e15:
        return f"{value:,.0f}"
    if not 1e-6 <= abs(value) < 1e15:
        return f"{value:.4g}"
    decimals = max(0, 3 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | list | tuple | set | frozenset | Mapping) and len(value) == 0)


@cache
def _sentences() -> dict[str, str]:
    try:
        content = MESSAGES_PATH.read_bytes()
    except OSError:
        return {}
    parsed = parse(content, file=MESSAGES_PATH.name)
    return {code: text for code, text in parsed.data.items() if isinstance(text, str)}
