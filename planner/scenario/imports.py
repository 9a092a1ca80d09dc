"""Own offers from a CSV file: every row checked, compared with what is there, and nothing kept of a faulty file."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

from pydantic import ValidationError

from planner.catalog.query import find_gpu
from planner.catalog.records import Catalog, Offer, Status
from planner.cells import CellError, check_point, collect, number, positive, shown, whole
from planner.errors import InputError, Problem, UnknownIdError
from planner.messages import as_text
from planner.scenario.import_cells import MARKETS, OTHER_TIME, PRICES, price
from planner.scenario.import_lines import read_lines
from planner.scenario.rental import OfferInput
from planner.scenario.schema import MOST_OFFERS
from planner.scenario.values import PLANNED_TERMS, check_id
from planner.units import H_PER_MONTH
from planner.validation import faults_of, near
from planner.yaml_scalars import as_given

MAX_ROWS = MOST_OFFERS
_TERMS_SAID = f"{' or '.join(PLANNED_TERMS)}: reserved offers and capacity blocks are named under rental.commitments"
MAX_BYTES = 2_000_000

TEXTS = ("provider", "instance_type", "region", "gpu", "term", "market")
NUMBERS = ("billing_unit_s", "minimum_s", "startup_s", "network_gbit_per_s")
COLUMNS = ("id", *TEXTS, "gpu_count", *PRICES, "includes_tax", *NUMBERS)
GONE = ("status", "retired_on")
"""Columns of the catalog's own export that say whether an offer can still be had."""
IGNORED = ("gpu_label", "as_of", "estimate", "source", "note")
"""Columns of the catalog's own export that say nothing about a quote."""

State = Literal["new", "changed", "unchanged", "faulty"]
Quote = dict[str, Any]

_OTHER_NAMES = {"price_per_h": "price_usd_per_h", "price_per_gpu_h": "price_usd_per_gpu_h"}
_STATUSES = get_args(Status)
_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")
_MAY_BE_ZERO = ("minimum_s", "startup_s")
_SAME = 1e-3  # two prices of one row may differ by their rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRow:
    """One row of the file: what it would do to the scenario's offers, and what is wrong with it."""

    line: int
    id: str
    state: State
    quote: Quote
    before: Quote | None
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferImport:
    """What an import would change; `problems` are those of the whole file."""

    rows: tuple[ImportRow, ...]
    problems: tuple[Problem, ...]
    ignored: tuple[str, ...] = ()

    @property
    def ready(self) -> bool:
        """Whether it can be taken over: no fault anywhere, and something to change."""
        return not self.problems and self.count("faulty") == 0 and bool(self.quotes)

    @property
    def quotes(self) -> dict[str, Quote]:
        """New and changed offers by id, as a scenario writes them under `offers`."""
        return {row.id: row.quote for row in self.rows if row.state in ("new", "changed")}

    def count(self, state: State) -> int:
        """Rows in a state."""
        return sum(row.state == state for row in self.rows)


def read_offers(
    content: bytes,
    catalog: Catalog,
    own: Mapping[str, Mapping[str, Any]],
    *,
    file: str,
    today: dt.date | None = None,
) -> OfferImport:
    """Check a CSV file of offers against the catalog and the scenario's own offers.

    Parameters
    ----------
    content : bytes
        UTF-8, or UTF-16 with its mark, separated by commas, semicolons or tabs, with a line of column names; a line
        such as `sep=;` may stand before it.
    catalog : Catalog
        Where GPUs and known offers are.
    own : mapping
        The scenario's `offers` as written there.
    file : str
        Name for the problems.
    today : date, optional
        Decides whether an offer has been withdrawn; the real day if omitted.

    Returns
    -------
    OfferImport
        Every row with its state and problems; none where the file as a whole can't be read.
    """
    if len(content) > MAX_BYTES:
        return _refused(file, f"{len(content) / 1e6:,.1f} MB", f"at most {MAX_BYTES / 1e6:g} MB, {MAX_ROWS} rows")
    try:
        separator, lines = read_lines(content)
    except CellError as error:
        return _refused(file, error.found, error.expected)
    if not lines:
        return _refused(file, "nothing", f"a line of column names: {', '.join(COLUMNS)}")
    if len(lines) - 1 > MAX_ROWS:
        return _refused(file, f"{len(lines) - 1:,} rows", f"at most {MAX_ROWS}: keep the offers you could take")
    header = [_OTHER_NAMES.get(name, name) for name in (cell.strip().casefold() for cell in lines[0][1])]
    while header and not header[-1]:  # spreadsheets end every line with separators for columns that were emptied
        header.pop()
    problems = _header_problems(header, file)
    if not problems and len(lines) == 1:
        problems = [Problem(file=file, record="", field="", found="no row", expected="at least one offer")]
    if problems:
        return OfferImport(rows=(), problems=tuple(problems))
    reader = _Reader(
        catalog=catalog,
        own=own,
        file=file,
        header=header,
        points_are_decimal=separator == ",",
        today=dt.date.today() if today is None else today,
        first_line={},
    )
    return OfferImport(
        rows=tuple(reader.row(line, cells) for line, cells in lines[1:]),
        problems=(),
        ignored=tuple(name for name in header if name in IGNORED),
    )


def _refused(file: str, found: str, expected: str) -> OfferImport:
    return OfferImport(rows=(), problems=(Problem(file=file, record="", field="", found=found, expected=expected),))


def _header_problems(header: list[str], file: str) -> list[Problem]:
    problems: list[Problem] = []
    strange: list[str] = []
    known = ", ".join(COLUMNS)

    def problem(found: str, expected: str) -> None:
        problems.append(Problem(file=file, record="", field="columns", found=found, expected=expected, line=1))

    for name in dict.fromkeys(header):
        if header.count(name) > 1:
            problem(f"the column '{name}' twice", "each column once")
        if name in (*COLUMNS, *GONE, *IGNORED):
            continue
        if name.startswith("price") and OTHER_TIME.search(name):
            problem(
                f"the column '{name}'", f"a price per hour ({' or '.join(PRICES)}); a month has {H_PER_MONTH:g} hours"
            )
            continue
        close = [*PRICES] if name.startswith("price") else near(name, COLUMNS) if name else []
        if close:
            problem(f"the column '{name}'", " or ".join(close))
        else:
            strange.append(f"'{name}'")
    if strange:
        problem(
            f"the columns {', '.join(strange)}" if len(strange) > 1 else f"the column {strange[0]}", f"only {known}"
        )
    missing = [] if "id" in header else ["id"]
    if not set(PRICES) & set(header):
        missing.append(" or ".join(PRICES))
    if missing:
        problem(
            f"no column {', no column '.join(missing)}", "an id and a price; own quotes also need gpu and gpu_count"
        )
    return problems


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    catalog: Catalog
    own: Mapping[str, Mapping[str, Any]]
    file: str
    header: list[str]
    points_are_decimal: bool  # the separator is a comma, so that no number has a decimal comma
    today: dt.date
    first_line: dict[str, int]  # of each id

    def row(self, line: int, cells: list[str]) -> ImportRow:
        texts = {name: _unquoted(cell) for name, cell in zip(self.header, cells, strict=False)}
        id = texts.get("id", "")
        faults: list[CellError] = []
        while len(cells) > len(self.header) and not cells[-1].strip():
            cells = cells[:-1]
        if len(cells) > len(self.header):
            expected = f"{len(self.header)}, as in the first line; is a decimal comma in a price?"
            faults.append(CellError("", f"{len(cells)} cells", expected))
        collect(faults, lambda: self._check_id(id, line))
        for name in () if self.points_are_decimal else (*PRICES, *NUMBERS, "gpu_count"):
            collect(faults, partial(check_point, name, texts.get(name, "")))
        known = self.catalog.offers.get(id)
        quote = self._known_quote(known, texts, faults) if known is not None else self._new_quote(texts, faults)
        faults += _schema_faults(quote, texts)
        before = dict(self.own[id]) if id in self.own else None
        state: State = "faulty" if faults else self._state(known, quote, before)
        if state in ("new", "changed"):
            faults += self._gone(texts, known)
        if not faults:
            return ImportRow(line=line, id=id, state=state, quote=quote, before=before, problems=())
        first = {fault.field: fault for fault in reversed(faults)}  # one of each cell
        problems = tuple(
            Problem(file=self.file, record=id, field=field, found=fault.found, expected=fault.expected, line=line)
            for field, fault in reversed(first.items())
        )
        return ImportRow(line=line, id=id, state="faulty", quote={}, before=before, problems=problems)

    def _gone(self, texts: Mapping[str, str], known: Offer | None) -> list[CellError]:
        """Faults of a new or changed offer that its own row calls withdrawn or old."""
        status, retired_on = texts.get("status", ""), texts.get("retired_on", "")
        faults = []
        if status and status.casefold() not in _STATUSES:
            faults.append(CellError("status", shown(status), as_text(_STATUSES)))
        elif status.casefold() == "retired":
            faults.append(CellError("status", shown(status), "an offer that can be had: leave out the row"))
        elif status.casefold() == "stale" and known is None:
            faults.append(
                CellError("status", shown(status), "a price that holds today: ask for it, and leave this empty")
            )
        if retired_on:
            try:
                over = dt.date.fromisoformat(retired_on) <= self.today
            except ValueError:
                faults.append(CellError("retired_on", shown(retired_on), "a date such as 2026-11-30"))
            else:
                if over:
                    expected = "an offer that can be had: leave out the row"
                    faults.append(CellError("retired_on", shown(retired_on), expected))
        return faults

    def _check_id(self, id: str, line: int) -> None:
        try:
            check_id(id)
        except ValueError as error:
            raise CellError("id", shown(id), str(error)) from None
        first = self.first_line.setdefault(id, line)
        if first != line:
            raise CellError("id", shown(id), f"an id of its own: line {first} has the same")

    def _state(self, known: Offer | None, quote: Quote, before: Quote | None) -> State:
        if before is not None:
            return "unchanged" if before == quote else "changed"
        if known is None:
            return "new"
        price = quote["price_usd_per_h"]
        same = isinstance(price, float | int) and math.isclose(price, known.price_usd_per_h.value, rel_tol=1e-9)
        return "unchanged" if same and len(quote) == 1 else "changed"

    def _known_quote(self, known: Offer, texts: Mapping[str, str], faults: list[CellError]) -> Quote:
        """Own values for an offer of the catalog: what the offer is can be repeated, not changed."""
        faults += [
            CellError(name, shown(texts[name]), _kept(str(getattr(known, name))))
            for name in ("provider", "instance_type", "region", "term", "market")
            if texts.get(name) and texts[name] != getattr(known, name)
        ]
        if texts.get("gpu") and known.gpu is not None:
            gpu = collect(faults, lambda: self._gpu(texts["gpu"]))
            if gpu is not None and gpu != known.gpu:
                faults.append(CellError("gpu", shown(texts["gpu"]), _kept(known.gpu)))
        if known.gpu is None:
            faults.append(
                CellError("id", shown(known.id), f"an offer whose GPU is known: this one's is {known.gpu_label}")
            )
        if known.term not in PLANNED_TERMS:
            faults.append(CellError("term", known.term, _TERMS_SAID))
        count = texts.get("gpu_count", "")
        if count and collect(faults, lambda: number("gpu_count", count)) not in (None, known.gpu_count):
            faults.append(CellError("gpu_count", shown(count), _kept(f"{known.gpu_count:g}")))
        return self._values(texts, known.gpu_count, faults, per_instance=True)

    def _new_quote(self, texts: Mapping[str, str], faults: list[CellError]) -> Quote:
        quote: Quote = {name: texts[name] for name in ("provider", "instance_type", "region") if texts.get(name)}
        quote["gpu"] = collect(faults, lambda: self._gpu(texts.get("gpu", "")))
        count = collect(faults, lambda: whole("gpu_count", texts.get("gpu_count", "")))
        quote["gpu_count"] = count
        term, market = texts.get("term", ""), texts.get("market", "")
        if term and term not in PLANNED_TERMS:
            faults.append(CellError("term", shown(term), _TERMS_SAID))
        elif term and term != "on_demand":
            quote["term"] = term
        if market and market not in MARKETS:
            faults.append(CellError("market", shown(market), " or ".join(MARKETS)))
        elif market == "marketplace":
            quote["market"] = market
        return quote | self._values(texts, count, faults, per_instance=False)

    def _values(
        self, texts: Mapping[str, str], gpu_count: float | None, faults: list[CellError], *, per_instance: bool
    ) -> Quote:
        quote: Quote = {}
        prices = {
            name: collect(faults, partial(price, name, texts[name], gpu_count, self.catalog))
            for name in PRICES
            if texts.get(name)
        }
        if not prices:
            faults.append(CellError(PRICES[0], "nothing", f"a price in one of {' or '.join(PRICES)}"))
        per_h, per_gpu_h = prices.get(PRICES[0]), prices.get(PRICES[1])
        if isinstance(per_h, float) and isinstance(per_gpu_h, float) and gpu_count:
            if not math.isclose(per_h, per_gpu_h * gpu_count, rel_tol=_SAME, abs_tol=_SAME):
                found = f"{texts[PRICES[0]]} for {gpu_count:g} GPUs and {texts[PRICES[1]]} for one"
                faults.append(
                    CellError(
                        PRICES[0], found, f"prices that agree ({as_given(per_gpu_h * gpu_count)}), or one of them"
                    )
                )
        elif per_h is not None and per_gpu_h is not None:
            faults.append(CellError(PRICES[0], "two prices", f"one of {' or '.join(PRICES)}"))
        name = PRICES[0] if per_h is not None else PRICES[1]
        amount = per_h if per_h is not None else per_gpu_h
        if per_instance and name == PRICES[1] and isinstance(amount, float) and gpu_count:
            name, amount = PRICES[0], amount * gpu_count
        quote[name] = amount
        tax = texts.get("includes_tax", "")
        if tax and tax.casefold() not in (*_TRUE, *_FALSE):
            faults.append(CellError("includes_tax", shown(tax), "true or false"))
        elif tax.casefold() in _TRUE:
            quote["includes_tax"] = True
        for name in NUMBERS:
            if texts.get(name):
                quote[name] = collect(faults, partial(positive, name, texts[name], zero=name in _MAY_BE_ZERO))
        return quote

    def _gpu(self, text: str) -> str:
        if not text:
            raise CellError("gpu", "nothing", "the id of a GPU")
        try:
            return find_gpu(self.catalog, text).id
        except UnknownIdError as error:
            close = error.params["near"]
            raise CellError(
                "gpu",
                shown(text),
                f"a GPU of the catalog, such as {' or '.join(close)}" if close else "a GPU of the catalog",
            ) from None
        except InputError as error:
            if error.code == "gpu_ambiguous":
                raise CellError("gpu", shown(text), " or ".join(error.params["could_be"])) from None
            raise CellError("gpu", shown(text), f"a GPU that is known well enough ({error.params['reason']})") from None


def _schema_faults(quote: Quote, texts: Mapping[str, str]) -> list[CellError]:
    """What a scenario would refuse: its limits are those of the file."""
    try:
        OfferInput.model_validate({name: value for name, value in quote.items() if value is not None})
    except ValidationError as error:
        faults = []
        for place, _, expected in faults_of(error, OfferInput):
            # A price of one GPU stands as that of the machine where the catalog says how many it has.
            name = str(place[0]) if place else ""
            name = PRICES[1] if name == PRICES[0] and not texts.get(name) else name
            faults.append(CellError(name, shown(texts.get(name, "")), expected))
        return faults
    return []


def _unquoted(cell: str) -> str:
    """A cell without the apostrophe that keeps spreadsheets from running it as a formula."""
    cell = cell.strip()
    return cell[1:] if cell[:1] == "'" and cell[1:2] in "=+-@" else cell


def _kept(value: str) -> str:
    return f"'{value}', as in the catalog: give a quote of your own another id"
