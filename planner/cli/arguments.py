"""Types of the command line's arguments, and options that several commands share."""

from __future__ import annotations

import argparse
import datetime as dt
import math
import re
from pathlib import Path
from typing import Any, TypeAlias

from planner.scenario.money import parse_money
from planner.scenario.values import LARGEST, SMALLEST
from planner.strict_yaml import parse, shorten

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # what add_subparsers returns
_MOST = 1_000_000_000
_WHOLE = re.compile(r"[+]?[0-9]{1,40}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def path_of(text: str) -> Path:
    """A file or folder.

    Raises
    ------
    argparse.ArgumentTypeError
        Anything else.
    """
    if not text.strip() or "\0" in text:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected the name of a file or folder")
    return Path(text)


def date_of(text: str) -> dt.date:
    """A day, as YYYY-MM-DD.

    Raises
    ------
    argparse.ArgumentTypeError
        Anything else.
    """
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a date such as 2026-11-30") from None


def count_of(text: str) -> int:
    """A whole number from 1.

    Raises
    ------
    argparse.ArgumentTypeError
        Anything else.
    """
    value = int(text) if _WHOLE.fullmatch(text.strip()) else 0
    if not 1 <= value <= _MOST:
        raise argparse.ArgumentTypeError(f"found {shorten(text, 60)!r}, expected a whole number from 1 to {_MOST:,}")
    return value


def positive_of(text: str) -> float:
    """A number greater than 0.

    Raises
    ------
    argparse.ArgumentTypeError
        Anything else.
    """
    value = float(text) if _NUMBER.fullmatch(text.strip()) else math.nan
    if not SMALLEST <= value <= LARGEST:
        raise argparse.ArgumentTypeError(
            f"found {shorten(text, 60)!r}, expected a number greater than 0, from {SMALLEST:g} to {LARGEST:g}"
        )
    return value


def share_of(text: str) -> float:
    """A number from 0 to 1.

    Raises
    ------
    argparse.ArgumentTypeError
        Anything else.
    """
    value = float(text) if _NUMBER.fullmatch(text.strip()) else math.nan
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"found {shorten(text, 60)!r}, expected a number from 0 to 1")
    return value


def override_of(text: str) -> tuple[str, Any]:
    """A path of a scenario and the value that it gets.

    Raises
    ------
    argparse.ArgumentTypeError
        Anything else.
    """
    path, equals, value = text.partition("=")
    if not (path and equals and value):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected PATH=VALUE, e.g. jobs.daily.runs_per_month=300")
    parsed = parse(f"value: {value}\n", file="--set")
    if parsed.problems:
        problem = parsed.problems[0]
        raise argparse.ArgumentTypeError(f"found {problem.found} for {path}, expected {problem.expected}")
    return path, parsed.data["value"]


def budget_of(text: str) -> float | str:
    """Money that isn't negative, as a number in USD or as text with a currency.

    Raises
    ------
    argparse.ArgumentTypeError
        Anything else.
    """
    try:
        money = parse_money(float(text) if _NUMBER.fullmatch(text.strip()) else text.strip())
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"found {shorten(text, 60)!r}, expected {error}") from error
    if money.amount < 0:
        raise argparse.ArgumentTypeError(f"found {shorten(text, 60)!r}, expected an amount of at least 0")
    return money.amount if money.currency == "USD" else f"{money.amount!r} {money.currency}"


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """The option for inputs other than the file's."""
    parser.add_argument(
        "--set",
        type=override_of,
        action="append",
        metavar="PATH=VALUE",
        help="change an input by its path; may be repeated",
    )


def add_measurements(parser: argparse.ArgumentParser) -> None:
    """The option for tables of own speeds."""
    parser.add_argument(
        "--measurements",
        type=path_of,
        action="append",
        metavar="FILE.csv",
        help="own measured speeds, which come before all others; may be repeated",
    )
