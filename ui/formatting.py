"""Numbers to text: the only place where the app rounds. Units follow a no-break space, minus is U+2212."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable
from dataclasses import dataclass

from planner.units import H_PER_DAY, H_PER_MONTH, S_PER_H, S_PER_MIN
from ui.i18n import t

NBSP = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"
EN_DASH = "\N{EN DASH}"
OLD_AFTER_MONTHS = 18

_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "CNY": "¥", "JPY": "JP¥", "INR": "₹", "KRW": "₩"}
_STEPS = ((1e9, "number.billion"), (1e6, "number.million"), (1e3, "number.thousand"), (1.0, ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Currency:
    """The currency the page shows; every amount that comes in is in USD."""

    code: str = "USD"
    usd_per_unit: float = 1.0

    @property
    def prefix(self) -> str:
        """Symbol or code that stands before an amount."""
        return _SYMBOLS.get(self.code, f"{self.code}{NBSP}")

    def of(self, amount_usd: float) -> float:
        """The amount in this currency."""
        return amount_usd / self.usd_per_unit


USD = Currency()


def unknown() -> str:
    """The word for a missing figure: never 0, a dash or None."""
    return t("number.unknown")


def plain(value: float | None, digits: int = 3) -> str:
    """A number with at least its whole part and `digits` significant digits, thousands separated."""
    if value is None or not math.isfinite(value):
        return unknown()
    text = f"{abs(value):,.0f}" if value == int(value) else _digits(abs(value), digits)
    return _signed(text, negative=value < 0)


def trimmed(value: float | None, digits: int = 6) -> str:
    """A number for tables with up to `digits` significant digits and no idle zeros: "0.07", "1,575.6"."""
    if value is None or not math.isfinite(value):
        return unknown()
    text = _digits(abs(value), digits)
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return _signed(text, negative=value < 0)


def rounded(value: float | None) -> str:
    """An amount of work with two significant digits, three of thousands: "23", "924", "20,600"."""
    if value is None or not math.isfinite(value):
        return unknown()
    return _whole_rounded(value)


def exact(value: float | None, decimals: int = 2) -> str:
    """A number for tables, with fixed decimals."""
    if value is None or not math.isfinite(value):
        return unknown()
    return _signed(f"{abs(value):,.{decimals}f}", negative=round(value, decimals) < 0)


def money(amount_usd: float | None, currency: Currency = USD, *, fine: bool = False) -> str:
    """A rounded amount: "$950", "$95 k", "$1.2 M"; `fine` where the next digit matters ("$18.6 k")."""
    if amount_usd is None or not math.isfinite(amount_usd):
        return unknown()
    value = currency.of(amount_usd)
    step, key = _step(abs(value), 3)
    digits = 3 if fine and step > 1 and abs(value) / step >= 9.95 else 2
    number = _digits(abs(value) / step, digits)
    unit = f"{NBSP}{t(key)}" if key else ""
    return _signed(f"{currency.prefix}{number}{unit}", negative=value < 0)


def money_range(low_usd: float | None, high_usd: float | None, currency: Currency = USD, digits: int = 2) -> str:
    """A range in one unit: "$83–109 k"."""
    if low_usd is None or high_usd is None:
        return unknown()
    low, high = currency.of(low_usd), currency.of(high_usd)
    step, key = _step(max(abs(low), abs(high)), digits)
    unit = f"{NBSP}{t(key)}" if key else ""
    first = _signed(f"{currency.prefix}{_digits(abs(low) / step, digits)}", negative=low < 0)
    last = _signed(_digits(abs(high) / step, digits), negative=high < 0)
    return f"{first}{EN_DASH}{last}{unit}"


def price(amount_usd: float | None, currency: Currency = USD, *, estimate: bool = False) -> str:
    """A price as it is paid: cents below 1,000 unless it has none, whole units above; an estimate with three digits."""
    if amount_usd is None or not math.isfinite(amount_usd):
        return unknown()
    value = currency.of(amount_usd)
    if estimate and abs(value) >= 10:
        rounded = _round(abs(value), 3)
        number = f"{rounded:,.0f}" if rounded == int(rounded) else _digits(rounded, 3)
        return _signed(f"{currency.prefix}{number}", negative=value < 0)
    whole = abs(value) >= 1000 or (abs(value) >= 100 and value == int(value))
    decimals = 0 if whole else 2 if abs(value) >= 0.1 else 3
    return _signed(f"{currency.prefix}{abs(value):,.{decimals}f}", negative=value < 0)


def duration(hours: float | None) -> str:
    """A time: "40 s", "41 min", "24 h", "3.4 days", "5.0 months"."""
    if hours is None or not math.isfinite(hours):
        return unknown()
    divisor, key = _time_unit(hours)
    value = hours / divisor
    if abs(value - round(value)) < 1e-9:
        return f"{round(value):,}{NBSP}{t(key)}"
    return _with_unit(value, key)


def duration_range(low_h: float | None, high_h: float | None) -> str:
    """A range of times in the unit of its longer end: "21–29 h", or one number where both ends are rounded to it."""
    if low_h is None or high_h is None:
        return unknown()
    divisor, key = _time_unit(high_h)
    low, high = _digits(low_h / divisor, 2), _digits(high_h / divisor, 2)
    return f"{high if low == high else f'{low}{EN_DASH}{high}'}{NBSP}{t(key)}"


def duration_within(low_h: float | None, high_h: float | None, limit_h: float) -> str:
    """A range of times and its limit, the unit said once where both have the same: "21–29, limit 48 h"."""
    span = duration_range(low_h, high_h)
    if high_h is not None and _time_unit(high_h) == _time_unit(limit_h):
        span = span.partition(NBSP)[0]
    return t("figure.limit", span=span, limit=duration(limit_h))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A unit that a whole column shares."""

    name: str
    base_units: float

    def of(self, value: float) -> str:
        """A value in this unit, two significant digits, three of thousands."""
        return _whole_rounded(value / self.base_units)


def energy_scale(highest_kwh: float) -> Scale:
    """The unit for energies of which this is the largest."""
    value = _round(highest_kwh, 2)
    unit, kwh = ("unit.kwh", 1.0) if value < 1e3 else ("unit.mwh", 1e3) if value < 1e6 else ("unit.gwh", 1e6)
    return Scale(name=t(unit), base_units=kwh)


def carbon_scale(highest_kg: float) -> Scale:
    """The unit for amounts of greenhouse gas of which this is the largest."""
    unit, kg = ("unit.kg_co2e", 1.0) if _round(highest_kg, 2) < 1e3 else ("unit.t_co2e", 1e3)
    return Scale(name=t(unit), base_units=kg)


def energy(kwh: float | None) -> str:
    """Electrical energy: "0.90 kWh", "48 MWh", "1.2 GWh"."""
    if kwh is None or not math.isfinite(kwh):
        return unknown()
    scale = energy_scale(kwh)
    return f"{scale.of(kwh)}{NBSP}{scale.name}"


def carbon(kg_co2e: float | None) -> str:
    """Greenhouse gas: "350 kg CO₂e", "18 t CO₂e"."""
    if kg_co2e is None or not math.isfinite(kg_co2e):
        return unknown()
    scale = carbon_scale(kg_co2e)
    return f"{scale.of(kg_co2e)}{NBSP}{scale.name}"


def memory(gb: float | None) -> str:
    """GPU memory: "24 GB", "1.5 GB"."""
    if gb is None:
        return unknown()
    return _with_unit(gb, "unit.gb", digits=3 if gb >= 100 else 2)


def memory_of(used_gb: float | None, whole_gb: float | None) -> str:
    """GPU memory of what there is: "24.3 of 25.6 GB", as exact as a tight fit needs."""
    if used_gb is None or whole_gb is None:
        return memory(used_gb)
    return t("number.of", part=plain(used_gb), whole=_with_unit(whole_gb, "unit.gb", digits=3))


def percent(share: float | None, digits: int = 2) -> str:
    """A share of 1 as per cent: "71 %"; all is said of all only."""
    if share is None or not math.isfinite(share):
        return unknown()
    value = share * 100.0
    if 99.5 <= abs(value) < 100.0 and digits <= 2:  # "100 % less" would be for nothing
        return t("number.nearly_all", sign=MINUS if value < 0 else "")
    whole = abs(value) >= 1.0 and digits <= 2
    number = f"{abs(value):,.0f}" if whole else _digits(abs(value), digits)
    if number.strip("0.") == "":
        return f"0{NBSP}%"
    return _signed(f"{number}{NBSP}%", negative=value < 0)


def exchange_rate(currency: Currency) -> str:
    """An exchange rate as it is quoted, above one: "7.185 CNY per USD"."""
    if currency.usd_per_unit >= 1:
        return t("figure.rate", amount=trimmed(currency.usd_per_unit, 4), code="USD", per=currency.code)
    return t("figure.rate", amount=trimmed(1 / currency.usd_per_unit, 4), code=currency.code, per="USD")


def share(part: float | None) -> str:
    """A share that isn't called nothing where it is something: "under 1 %", "71 %"."""
    return t("number.under_one") if part is not None and 0 < part < 0.01 else percent(part)


def rate(share: float | None) -> str:
    """A yearly or tax rate with the decimals it was given: "5 %", "2.5 %"."""
    if share is None or not math.isfinite(share):
        return unknown()
    return _signed(f"{abs(share) * 100:.6g}{NBSP}%", negative=share < 0)


def listed(words: Iterable[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    *first, last = dict.fromkeys(words) or [""]
    return t("title.and").join([", ".join(first), last]) if first else last


def number_word(value: float) -> str:
    """Whole numbers to twelve as words, others as digits."""
    if value == int(value) and 1 <= value <= 12:
        return t(f"number_word.{int(value)}")
    return plain(value)


def date(as_of: str | None) -> str:
    """A date as exact as it is known: "30 Nov 2026", "May 2026", "2026"."""
    if not as_of:
        return unknown()
    parts = [int(part) for part in as_of.split("-")]
    if len(parts) == 1:
        return str(parts[0])
    month = t(f"month.{parts[1]}")
    return f"{month}{NBSP}{parts[0]}" if len(parts) == 2 else f"{parts[2]}{NBSP}{month}{NBSP}{parts[0]}"


def age_months(as_of: str | None, today: dt.date) -> int | None:
    """Whole months since a figure held, a coarse date counting from its first day; None where it has no date."""
    if not as_of:
        return None
    parts = [int(part) for part in as_of.split("-")] + [1, 1]
    return (today.year - parts[0]) * 12 + today.month - parts[1] - (today.day < parts[2])


def age(as_of: str | None, today: dt.date) -> str:
    """Words of the age badge: "20 months old" from 18 months on, "no date", else empty."""
    months = age_months(as_of, today)
    if months is None:
        return t("age.undated")
    return t("age.old", months=months) if months >= OLD_AFTER_MONTHS else ""


def escaped(text: str) -> str:
    """Text safe in Markdown, where two dollar signs would start a formula and a tilde or star a style."""
    for character in ("\\", "$", "*", "_", "~", "[", "]", "`", "<"):
        text = text.replace(character, f"\\{character}")
    return text


def dollars(text: str) -> str:
    """Own sentences in Markdown: only the dollar signs need escaping."""
    return text.replace("$", r"\$")


def _with_unit(value: float, key: str, digits: int = 2) -> str:
    return f"{_signed(_digits(abs(value), digits), negative=value < 0)}{NBSP}{t(key)}"


def _whole_rounded(value: float) -> str:
    return _signed(_digits(_round(abs(value), 3), 2), negative=value < 0)


def _time_unit(hours: float) -> tuple[float, str]:
    if _round(hours * S_PER_H, 2) < S_PER_MIN:
        return 1 / S_PER_H, "unit.s"
    if _round(hours * S_PER_MIN, 2) < S_PER_MIN:
        return 1 / S_PER_MIN, "unit.min"
    if hours <= 3 * H_PER_DAY:
        return 1.0, "unit.h"
    if hours <= 2 * H_PER_MONTH:
        return H_PER_DAY, "unit.days"
    return H_PER_MONTH, "unit.months"


def _step(value: float, digits: int) -> tuple[float, str]:
    rounded = _round(value, max(digits, 3))
    return next(((step, key) for step, key in _STEPS if rounded >= step), (1.0, ""))


def _digits(value: float, digits: int) -> str:
    """At least the whole part and `digits` significant digits of a number that is not negative."""
    if value == 0:
        return "0"
    rounded = _round(value, digits) if value < 10**digits else round(value)
    whole_digits = math.floor(math.log10(rounded)) + 1 if rounded > 0 else 1
    return f"{rounded:,.{max(0, digits - whole_digits)}f}"


def _round(value: float, digits: int) -> float:
    if value <= 0:
        return value
    return round(value, digits - 1 - math.floor(math.log10(value)))


def _signed(text: str, *, negative: bool) -> str:
    return f"{MINUS}{text}" if negative else text
