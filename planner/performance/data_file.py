"""Reading of what ships beside the catalog: a file of data with its version, and all that is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from planner.errors import CatalogError, Problem
from planner.strict_yaml import Parsed, describe, parse

SCHEMA_VERSION = 1
_Record = TypeVar("_Record")


def read_content(path: Path) -> bytes:
    """Content of a file, read again when it has changed; raises CatalogError where there is none."""
    try:
        state = path.stat()
        return _content(path, state.st_mtime_ns, state.st_size, state.st_ino)
    except OSError as error:
        raise CatalogError(
            "catalog_invalid", [file_problem(path.name, error.strerror or "an error", "a file")]
        ) from None


@lru_cache(maxsize=16)
def _content(path: Path, *_state: int) -> bytes:
    return path.read_bytes()


def file_problem(file: str, found: str, expected: str, *, record: str = "") -> Problem:
    """A problem of a file or of one of its records."""
    return Problem(file=file, record=record, field="", found=found, expected=expected)


def parse_versioned(content: bytes, *, file: str) -> tuple[Parsed, list[Problem]]:
    """A file's data, and what is wrong with it as YAML or with its version."""
    parsed = parse(content, file=file)
    problems = list(parsed.problems)
    version = parsed.data.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        problems.append(parsed.problem(("schema_version",), describe(version), str(SCHEMA_VERSION)))
    return parsed, problems


def as_written(content: bytes, *, file: str, record: Callable[[Mapping[str, Any]], _Record]) -> _Record:
    """What a fit wrote, as a record.

    Parameters
    ----------
    content : bytes
        Of the file.
    file : str
        Its name, for problems.
    record : callable
        Makes the record from the file's data; it may raise on data that the fit doesn't write.

    Raises
    ------
    CatalogError
        The file isn't as the fit writes it.
    """
    parsed, problems = parse_versioned(content, file=file)
    if problems:
        raise CatalogError("catalog_invalid", problems)
    try:
        return record(parsed.data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CatalogError(
            "catalog_invalid", [file_problem(file, f"an entry that can't be read ({error})", "what the fit writes")]
        ) from None
