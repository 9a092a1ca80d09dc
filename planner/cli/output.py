"""What commands print, and the status they end with."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from planner.errors import InputError, Problem

EXIT_INVALID, EXIT_INTERRUPTED = 2, 130
_MOST_PROBLEMS = 50  # lines about rows of a file that are printed


def print_text(text: str) -> None:
    """Write to standard output; characters its encoding lacks are written as question marks.

    Raises
    ------
    InputError
        When it is closed or full.
    """
    if sys.stdout is None:
        raise InputError("cannot_write", field="", value="standard output", reason="it is closed")
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough; keep the interpreter from trying again when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise InputError(
            "cannot_write", field="", value="standard output", reason=error.strerror or "an error"
        ) from None


def json_text(document: Any) -> str:
    """A document as JSON that any terminal can show."""
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def first_problems(problems: Sequence[Problem]) -> list[object]:
    """Problems to print: of very many the first, and how many there are besides."""
    more = len(problems) - _MOST_PROBLEMS
    return [*problems[:_MOST_PROBLEMS], *([f"and {more:,} more such lines"] if more > 0 else [])]
