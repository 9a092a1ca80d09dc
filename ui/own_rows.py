"""The user's own tables of measurements in this session: kept over pages and scenarios, used by the plan when asked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import streamlit as st

from planner.catalog.records import Catalog
from planner.catalog.source_ids import MEASUREMENTS
from planner.errors import Problem
from planner.performance.evidence import OWN, Evidence, load_evidence
from planner.performance.own_rows import with_own_tables

_TABLES = "own_tables"
_USED = "own_tables_used"
MARK = f"{MEASUREMENTS}{OWN}"
"""Begins the source of a speed that rests on own rows."""


def tables() -> Mapping[str, bytes]:
    """Content of each table by file name, in the order in which they were added."""
    found: Mapping[str, bytes] = st.session_state.get(_TABLES, {})
    return found


def put(file: str, content: bytes) -> None:
    """Keep a table; one of the same name is replaced, and is used as it was."""
    st.session_state[_TABLES] = {**tables(), file: content}


def remove(file: str) -> None:
    """Forget a table."""
    st.session_state[_TABLES] = {name: content for name, content in tables().items() if name != file}
    stop(file)


def used() -> tuple[str, ...]:
    """Names of the tables that the plan uses."""
    found: tuple[str, ...] = st.session_state.get(_USED, ())
    return found


def use(file: str) -> None:
    """Let the plan use a table."""
    st.session_state[_USED] = tuple(dict.fromkeys((*used(), file)))


def stop(file: str) -> None:
    """Plan without a table."""
    st.session_state[_USED] = tuple(name for name in used() if name != file)


def in_use() -> tuple[tuple[str, bytes], ...]:
    """The tables that the plan uses, with their content."""
    return tuple((file, tables()[file]) for file in used())


def stamp(files: tuple[tuple[str, bytes], ...]) -> tuple[tuple[str, str], ...]:
    """What tells these tables from others."""
    return tuple((file, hashlib.sha256(content).hexdigest()) for file, content in files)


def evidence_with(
    files: tuple[tuple[str, bytes], ...], catalog: Catalog
) -> tuple[Evidence, tuple[tuple[Problem, ...], ...]]:
    """The shipped evidence with tables before it, and what is wrong with the rows of each.

    Raises
    ------
    TableError
        One of them is no table of speeds.
    """
    return with_own_tables(load_evidence(), files, catalog=catalog)
