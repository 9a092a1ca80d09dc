"""Tables of hours and of invoices: every row checked, rows of the same cell summed, nothing kept of a faulty file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from planner.actual.known import Known
from planner.actual.table import Table, Texts
from planner.cells import CellError, check_commas, collect, positive, shown

HOURS_COLUMNS: Final = (
    "month", "job", "resource", "runs", "attempts", "gpu_hours", "node_hours", "kwh", "note",
)  # fmt: skip
INVOICE_COLUMNS: Final = ("month", "resource", "line", "amount_usd", "amount", "currency", "quantity", "note")
_MOST: Final = 1e12
_SAME: Final = 1e-3
_AMOUNT = re.compile(r"(?a)([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?:\s*([A-Z]{3}))?")
_CODE = re.compile(r"[A-Z]{3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours:
    """What a job did on a resource in a month. Hours are those in which GPUs were held; unknown figures are None."""

    month: int
    job: str
    resource: str
    runs: float
    attempts: float | None
    gpu_hours: float
    kwh: float | None
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoiced:
    """What was paid in a month for a resource: for one kind of line, or for all of them."""

    month: int
    resource: str
    kind: str  # empty: all lines of the resource
    amount_usd: float
    quantity: float | None
    line: int


def read_hours(content: bytes, known: Known, *, file: str) -> tuple[Hours, ...]:
    """Check a CSV file of hours and sum the rows of each month, job and resource.

    Parameters
    ----------
    content : bytes
        UTF-8, or UTF-16 with its mark, separated by commas, semicolons or tabs.
    known : Known
        What rows may name.
    file : str
        Name for the problems.

    Returns
    -------
    tuple of Hours
        A figure that one of several rows lacks is unknown.

    Raises
    ------
    TableError
        With every fault: nothing of the file is kept.
    """
    table = Table(file=file, columns=HOURS_COLUMNS, required=(("month",), ("job",), ("resource",), ("runs",),
                                                               ("gpu_hours", "node_hours")))  # fmt: skip
    rows = table.read(content, lambda texts, line, faults: _hours(texts, line, known, faults))
    cells: dict[tuple[int, str, str], Hours] = {}
    for row in rows:
        key = (row.month, row.job, row.resource)
        before = cells.get(key)
        if before is not None:
            row = Hours(
                month=row.month, job=row.job, resource=row.resource, line=before.line,
                runs=before.runs + row.runs, attempts=_both(before.attempts, row.attempts),
                gpu_hours=before.gpu_hours + row.gpu_hours, kwh=_both(before.kwh, row.kwh),
            )  # fmt: skip
        cells[key] = row
    return tuple(sorted(cells.values(), key=lambda row: (row.month, row.job, row.resource)))


def read_invoice(content: bytes, known: Known, *, file: str) -> tuple[Invoiced, ...]:
    """Check a CSV file of an invoice and sum the rows of each month, resource and line.

    Parameters
    ----------
    content : bytes
        As for `read_hours`.
    known : Known
        What rows may name, and the rates of currencies.
    file : str
        Name for the problems.

    Raises
    ------
    TableError
        With every fault: nothing of the file is kept.
    """
    table = Table(file=file, columns=INVOICE_COLUMNS, required=(("month",), ("resource",), ("amount_usd", "amount")))
    rows = table.read(content, lambda texts, line, faults: _invoiced(texts, line, known, faults))
    cells: dict[tuple[int, str, str], Invoiced] = {}
    for row in rows:
        key = (row.month, row.resource, row.kind)
        before = cells.get(key)
        if before is not None:
            row = Invoiced(
                month=row.month, resource=row.resource, kind=row.kind, line=before.line,
                amount_usd=before.amount_usd + row.amount_usd, quantity=_both(before.quantity, row.quantity),
            )  # fmt: skip
        cells[key] = row
    return tuple(sorted(cells.values(), key=lambda row: (row.month, row.resource, row.kind)))


def _both(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second


def _hours(texts: Texts, line: int, known: Known, faults: list[CellError]) -> Hours | None:
    month = collect(faults, lambda: known.month("month", texts.get("month", "")))
    job = collect(faults, lambda: known.job("job", texts.get("job", "")))
    place = collect(faults, lambda: known.place("resource", texts.get("resource", "")))
    runs = collect(faults, lambda: _amount_of("runs", texts.get("runs", "")))
    attempts = _optional("attempts", texts, faults)
    kwh = _optional("kwh", texts, faults)
    gpu_hours = None if place is None else collect(faults, lambda: _gpu_hours(texts, known.gpus(place)))
    if attempts is not None and runs is not None and attempts < runs:
        faults.append(
            CellError("attempts", shown(texts["attempts"]), f"at least the {texts['runs']} runs that succeeded")
        )
    if not faults and runs and not gpu_hours:
        faults.append(CellError("gpu_hours", "0", f"the hours of {texts['runs']} runs"))
    if faults or month is None or job is None or place is None or runs is None or gpu_hours is None:
        return None
    return Hours(
        month=month, job=job, resource=place, runs=runs, attempts=attempts, gpu_hours=gpu_hours, kwh=kwh, line=line
    )


def _gpu_hours(texts: Texts, gpus: int) -> float:
    """GPU-hours of a row, given so or as hours of whole machines; both have to agree."""
    by_gpu, by_node = texts.get("gpu_hours", ""), texts.get("node_hours", "")
    if not by_gpu and not by_node:
        raise CellError("gpu_hours", "nothing", "hours in gpu_hours or node_hours")
    if not by_node:
        return _amount_of("gpu_hours", by_gpu)
    hours = _amount_of("node_hours", by_node) * gpus
    if by_gpu and abs(_amount_of("gpu_hours", by_gpu) - hours) > _SAME * max(hours, 1.0):
        found = f"{by_gpu} beside {by_node} node-hours of {gpus} GPUs"
        raise CellError("gpu_hours", found, f"figures that agree ({hours:g}), or one of them")
    return hours


def _invoiced(texts: Texts, line: int, known: Known, faults: list[CellError]) -> Invoiced | None:
    month = collect(faults, lambda: known.month("month", texts.get("month", "")))
    resource = collect(faults, lambda: known.resource("resource", texts.get("resource", "")))
    kind = collect(faults, lambda: known.kind("line", texts.get("line", "")))
    amount = collect(faults, lambda: _money(texts, known))
    quantity = _optional("quantity", texts, faults)
    if faults or month is None or resource is None or kind is None or amount is None:
        return None
    return Invoiced(month=month, resource=resource, kind=kind, amount_usd=amount, quantity=quantity, line=line)


def _money(texts: Texts, known: Known) -> float:
    """Amount of a row in USD. Credits are negative."""
    in_usd, amount, currency = texts.get("amount_usd", ""), texts.get("amount", ""), texts.get("currency", "")
    if in_usd and amount:
        raise CellError("amount", "two amounts", "one of amount_usd or amount")
    if not in_usd and not amount:
        raise CellError("amount_usd", "nothing", "an amount; 0 where nothing was to pay")
    field, text = ("amount_usd", in_usd) if in_usd else ("amount", amount)
    if text.startswith(("$", "€", "£", "¥")):
        raise CellError(
            field, shown(text), f"a number without a sign, such as {text[1:].strip() or '120.50'}, and its currency"
        )
    match = _AMOUNT.fullmatch(text)
    if match is None:
        check_commas(field, text)
        raise CellError(field, shown(text), "an amount such as 120.50, or with its currency: 120.50 EUR")
    code = match[2]
    if currency and not _CODE.fullmatch(currency):
        raise CellError("currency", shown(currency), "a code of three capital letters, such as EUR")
    if code and currency and code != currency:
        raise CellError(field, f"{shown(text)} beside {currency}", "one currency")
    code = code or currency or ("USD" if in_usd else None)
    if code is None:
        raise CellError(
            "amount", shown(text), "an amount with its currency, such as 120.50 EUR, or the column amount_usd"
        )
    if in_usd and code != "USD":
        raise CellError(field, f"{shown(text)} in {code}", f"USD, or the column amount for {code}")
    if code not in known.rates:
        raise CellError(field, shown(code), f"a currency with a rate: {', '.join(known.rates)}")
    value = float(match[1])
    if abs(value) > _MOST:
        raise CellError(field, shown(text), f"an amount below {_MOST:g}")
    return value * known.rates[code]


def _amount_of(field: str, text: str) -> float:
    if not text:
        raise CellError(field, "nothing", "a number of 0 or more; leave out the row where it isn't known")
    value = positive(field, text, zero=True)
    if value > _MOST:
        raise CellError(field, shown(text), f"a number below {_MOST:g}")
    return value


def _optional(field: str, texts: Texts, faults: list[CellError]) -> float | None:
    text = texts.get(field, "")
    return collect(faults, lambda: _amount_of(field, text)) if text else None
