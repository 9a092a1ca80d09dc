"""What the cards of the What-if page say: figures of a scenario beside the baseline, and the inputs that differ."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.report.levers import Lever
from planner.scenario.differences import differing_paths
from planner.scenario.paths import get_value
from ui import catalog_own, formatting
from ui.formatting import escaped
from ui.groups import groups
from ui.i18n import t
from ui.inputs import Choice, Field, Input
from ui.plans import Plan
from ui.view import Row, View, gap, way_name
from ui.whatif_state import Kept

MOST_INPUTS = 6
"""Rows of inputs on a card; how many more there are is said."""
NEAR = 0.005
"""Share of a total below which two are said to be about the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A compared scenario: its name, its plan, and the plan as words; None where it can't be planned any more."""

    kept: Kept
    plan: Plan | None
    view: View | None

    @property
    def way(self) -> Row | None:
        """The recommended way, None where none works."""
        return None if self.view is None else self.view.recommended


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row of all cards: a label and its value on each, as text."""

    label: str
    values: tuple[str, ...]
    says_was: bool = True

    def markdown(self, index: int) -> str:
        """The row on one card: equal to the baseline in grey, else bold with what it was."""
        value, was = self.values[index], self.values[0]
        if index == 0 or value == was:
            return f"{self.label}: :gray[{value}]"
        was = f" :gray[{t('whatif.was', value=was)}]" if self.says_was else ""
        return f"{self.label}: **{value}**{was}"


def lines(cards: Sequence[Card]) -> list[Line]:
    """The rows of the cards: inputs that differ first, then what comes out."""
    return [*input_lines(cards), *figure_lines(cards)]


def figure_lines(cards: Sequence[Card]) -> list[Line]:
    """Range, cash at the start, longest key run, energy and machines of each."""
    return [
        Line(label=t("whatif.row.likely"), values=tuple(_each(cards, _likely))),
        Line(label=t("figure.cash"), values=tuple(_each(cards, _cash))),
        Line(label=t(_run_label(cards)), values=tuple(_each(cards, _run))),
        Line(label=t("whatif.row.energy"), values=tuple(_each(cards, _energy))),
        Line(label=t("whatif.row.machines"), values=tuple(_each(cards, _machines)), says_was=False),
    ]


def _each(cards: Iterable[Card], words: Any) -> list[str]:
    return [
        t("whatif.no_way") if card.view is None or card.way is None else formatting.dollars(words(card.view, card.way))
        for card in cards
    ]


def _likely(view: View, way: Row) -> str:
    return formatting.money_range(way["tco_low_usd"], way["tco_high_usd"], view.currency)


def _cash(view: View, way: Row) -> str:
    return formatting.money(way["cash_at_start_usd"], view.currency, fine=True)


def _run(view: View, way: Row) -> str:
    return formatting.duration(view.longest_run(way)["time_to_train_h"])


def _run_label(cards: Sequence[Card]) -> str:
    known = [card.view.is_key(card.view.longest_run(card.way)) for card in cards if card.view and card.way]
    return "figure.key_run" if any(known) else "figure.long_run"


def _energy(view: View, way: Row) -> str:
    return formatting.energy(way["energy_kwh"])


def _machines(view: View, way: Row) -> str:
    return view.machines_words(way)


def input_lines(cards: Sequence[Card]) -> list[Line]:
    """The inputs in which any scenario differs from the baseline, those that move together as one."""
    baseline = cards[0].kept.document
    paths = list(dict.fromkeys(path for card in cards[1:] for path in differing_paths(baseline, card.kept.document)))
    if not paths:
        return []
    known = _fields(cards)
    found: dict[tuple[str, tuple[str, ...]], Line] = {}
    for path in paths:
        line = _rental(path, cards) or _condition(path, cards) or _line(path, known.get(path), cards)
        found.setdefault((_subject(path), line.values), line)
    kept = list(found.values())
    if len(kept) > MOST_INPUTS:
        more = t("whatif.row.more_count", count=len(kept) - MOST_INPUTS)
        kept = [*kept[:MOST_INPUTS], Line(label=t("whatif.row.more"), values=(more,) * len(cards))]
    return kept


def _fields(cards: Sequence[Card]) -> dict[str, Input]:
    """The fields of the Plan page by path, for their labels and defaults."""
    catalog = catalog_own.catalog()
    return {
        cell.path: cell
        for card in reversed(cards)
        for group in groups(dict(card.kept.document), catalog)
        for cell in group.inputs
    }


def _subject(path: str) -> str:
    """What rows are merged by when they say the same: the price of a card in two kinds of machines, say."""
    part, _, rest = path.partition(".")
    if path.endswith((".condition", ".age_months")):  # one row a machine tells both
        return f"{path.rpartition('.')[0]}.condition"
    return f"{part}.{rest.rpartition('.')[2]}" if part in ("machines", "offers") else path


def _line(path: str, cell: Input | None, cards: Sequence[Card]) -> Line:
    values = tuple(_input_words(get_value(card.kept.document, path), cell) for card in cards)
    return Line(label=escaped(_label(path, cell, cards[0])), values=values)


def _label(path: str, cell: Input | None, baseline: Card) -> str:
    """The field's label; the price of a card by the card, as several kinds of machines may hold it."""
    if path.startswith("machines.") and path.endswith(".gpu_price_usd") and baseline.view is not None:
        gpu = get_value(baseline.kept.document, path.replace("gpu_price_usd", "gpu"))
        if gpu:
            return t("whatif.lever.card_price", subject=baseline.view.gpu_name(str(gpu)), currency="USD")
    if cell is not None:
        return cell.label
    *names, last = path.replace("_", " ").split(".")
    return ", ".join([last, *reversed(names)])


def _input_words(value: Any, cell: Input | None) -> str:
    default = cell.default if isinstance(cell, Field) else ""
    if value is None:
        return escaped(default) if default else t("whatif.default")
    if isinstance(cell, Choice):
        return escaped(formatting.listed(map(cell.words, value)) if cell.many else cell.words(value))
    if isinstance(value, bool):
        return t("whatif.yes" if value else "whatif.no")
    if isinstance(value, int | float):
        percent = isinstance(cell, Field) and cell.kind == "percent"
        return formatting.rate(value) if percent else formatting.trimmed(value, 6)
    if isinstance(value, list | tuple):
        return escaped(formatting.listed(str(entry) for entry in value))
    return escaped(str(value))


def _condition(path: str, cards: Sequence[Card]) -> Line | None:
    """One row for whether machines are bought new or used, with their age."""
    part, _, rest = path.partition(".")
    machine, _, key = rest.partition(".")
    if part != "machines" or key not in ("condition", "age_months"):
        return None
    words = []
    for card in cards:
        entry = get_value(card.kept.document, f"machines.{machine}") or {}
        months = entry.get("age_months")
        if entry.get("condition", "new") == "new":
            words.append(t("whatif.row.new"))
        else:
            words.append(t("whatif.row.used_plain") if months is None else t("whatif.row.used", months=months))
    return Line(label=t("whatif.row.condition", machine=escaped(machine)), values=tuple(words))


def _rental(path: str, cards: Sequence[Card]) -> Line | None:
    """One row for the prices of all offers, where a scenario moves them together."""
    if not (path.startswith("offers.") and path.endswith(".price_usd_per_h")):
        return None
    levels = [_level(path, cards[0], card) for card in cards]
    if None in levels:
        return None
    words = [
        t("whatif.row.as_today")
        if level == 1
        else t("whatif.row.lower" if level < 1 else "whatif.row.higher", percent=formatting.percent(abs(1 - level)))
        for level in levels
        if level is not None
    ]
    return Line(label=t("whatif.row.rental"), values=tuple(words))


def _level(path: str, baseline: Card, card: Card) -> float | None:
    """Price of an offer against that of the baseline's plan; None where it isn't known."""
    given = get_value(card.kept.document, path)
    if given is None:
        return 1.0 if get_value(baseline.kept.document, path) is None else None
    if baseline.plan is None or not isinstance(given, int | float):
        return None
    price = baseline.plan.price_usd_per_h(path)
    return None if not price else round(given / price, 4)


def difference(card: Card, baseline: Card) -> str:
    """The total against the baseline's: sign, amount, and the share in words."""
    if card is baseline:
        return t("whatif.baseline")
    if card.view is None or card.way is None or baseline.view is None or baseline.way is None:
        return t("whatif.not_comparable")
    mine, its = card.way["tco_usd"], baseline.way["tco_usd"]
    if gap(mine, its) < NEAR:
        return t("whatif.same")
    amount = formatting.money(abs(mine - its), baseline.view.currency)
    share = formatting.percent(abs(mine / its - 1.0)) if its > 0 else formatting.unknown()
    return t("whatif.less" if mine < its else "whatif.more", amount=amount, percent=share)


def title(cards: Sequence[Card]) -> str:
    """How many scenarios there are, and whether they have the same answer."""
    kinds = [card.way["kind"] if card.way is not None else "none" for card in cards]
    if len(cards) == 1:
        return t("whatif.title.alone")
    count = formatting.number_word(len(cards))
    if len(set(kinds)) == 1:
        key = "whatif.title.none" if kinds[0] == "none" else "whatif.title.same"
        return t(key, count=count.capitalize(), way="" if kinds[0] == "none" else t(f"than_short.{kinds[0]}"))
    answers = formatting.number_word(len(set(kinds)))
    return t("whatif.title.differ", count=count.capitalize(), answers=answers)


def sentence(cards: Sequence[Card]) -> str:
    """Each scenario against the baseline, in one sentence."""
    baseline = cards[0]
    if len(cards) == 1:
        return t("whatif.sentence.alone")
    words = []
    for card in cards[1:]:
        name = f"**{escaped(card.kept.name)}**"
        if card.way is None:
            words.append(t("whatif.sentence.no_way", name=name))
            continue
        changed = baseline.way is not None and card.way["kind"] != baseline.way["kind"]
        key = "whatif.sentence.turned" if changed else "whatif.sentence.kept"
        words.append(t(key, name=name, difference=difference(card, baseline), way=way_name(card.way)))
    return " ".join(words)


def lever_label(lever: Lever, view: View) -> str:
    """What a slider is for, with its unit."""
    subject = view.gpu_name(lever.subject) if lever.kind == "card_price" else lever.subject
    return t(f"whatif.lever.{lever.kind}", subject=escaped(subject), currency=view.currency.code)


def lever_unit(lever: Lever, view: View) -> float:
    """What one of the numbers shown at a slider stands for in the unit of the lever."""
    if lever.kind == "rental_prices":
        return 0.01
    return 1.0 if lever.kind == "runs" else view.currency.usd_per_unit


def four_levers(found: Sequence[Lever], report: Mapping[str, Any]) -> list[Lever]:
    """Those to show: of each kind one, then others, jobs with the most GPU hours and cards in use first."""
    ways = [way for way in report["strategies"] if way["feasible"]] or report["strategies"]
    hours: dict[str, float] = {}
    for way in ways:
        for job in way["jobs"]:
            hours[job["id"]] = hours.get(job["id"], 0.0) + job["gpu_hours"]
    used = {machine["gpu"] for way in ways for machine in way["machines"]}
    ranked = sorted(
        found,
        key=lambda lever: (-hours.get(lever.subject, 0.0), lever.kind == "card_price" and lever.subject not in used),
    )
    firsts = [
        next(lever for lever in ranked if lever.kind == kind) for kind in dict.fromkeys(one.kind for one in ranked)
    ]
    chosen = [*firsts, *(lever for lever in ranked if lever not in firsts)][:4]
    return [lever for lever in found if lever in chosen]


def slider_format(lever: Lever, step: float) -> str:
    """How the value of a slider is written: as many decimals as its steps have."""
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"%.{decimals}f" + ("\N{NO-BREAK SPACE}%%" if lever.kind == "rental_prices" else "")


def tried_name(found: Sequence[Lever], moved: Mapping[str, float], baseline: Card) -> str:
    """A name for what is being tried, from what was moved."""
    assert baseline.view is not None
    words = []
    for lever in found:
        value = moved.get(lever.id, lever.value)
        if value != lever.value:
            unit = lever_unit(lever, baseline.view)
            shown = formatting.trimmed(value / unit, 3)
            subject = baseline.view.gpu_name(lever.subject) if lever.kind == "card_price" else lever.subject
            currency = baseline.view.currency.prefix
            words.append(t(f"whatif.tried.{lever.kind}", value=shown, subject=subject, currency=currency))
    return ", ".join(words[:2])


def tried_heading(baseline: Card, trial: Card, *, moved: bool) -> str:
    """What the sliders change, as a sentence."""
    if not moved or baseline.way is None or baseline.view is None:
        return t("whatif.try.unmoved")
    if trial.way is None or trial.view is None:
        return t("whatif.try.no_way")
    now, was = (formatting.money(card.way["tco_usd"], baseline.view.currency) for card in (trial, baseline) if card.way)
    turned = trial.way["kind"] != baseline.way["kind"]
    key = "whatif.try.turned" if turned else "whatif.try.stays"
    return t(key, way=t(f"the.{trial.way['kind']}"), total=now, was=was)


def tried_rows(baseline: Card, trial: Card) -> list[dict[str, str]]:
    """Every way with its total now and before, and what it is."""
    if baseline.view is None:
        return []
    rows = []
    for way in baseline.view.strategies:
        now = None
        if trial.view is not None:
            now = next((other for other in trial.view.strategies if other["id"] == way["id"]), None)
        name = way_name(way)
        if trial.view is not None and trial.way is not None and trial.way["id"] == way["id"]:
            name = f"**{name}**"
        rows.append(
            {
                t("whatif.try.way"): name,
                t("whatif.try.now"): _total(now, baseline.view),
                t("whatif.try.was"): _total(way, baseline.view),
                t("whatif.row.machines"): "" if now is None or trial.view is None else trial.view.machines_words(now),
            }
        )
    return rows


def _total(way: Row | None, view: View) -> str:
    if way is None or not way["feasible"]:
        return t("whatif.impossible")
    return formatting.dollars(formatting.money(way["tco_usd"], view.currency, fine=True))


def shown_page(text: str) -> str:
    """A Markdown page within a page: its headings one step smaller, its dollar signs no formulas."""
    return re.sub(r"(?m)^#", "###", formatting.dollars(text.replace(r"\$", "$")))
