"""What the solver prints by itself isn't shown: standard output belongs to plans.

HiGHS 1.12 writes a line of its own on standard output when it maps a solution back, whatever it is told to say.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_OUT = 1
_lock = Lock()
_inside = 0
_kept: int | None = None


@contextmanager
def silenced() -> Iterator[None]:
    """While it lasts, nothing is written to the standard output of the process; Python's own buffers stay as they are.

    Sessions that solve at once share it: the last one out puts standard output back.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _inside, _kept
    with _lock:
        _inside += 1
        if _inside == 1:
            _flush()
            try:
                _kept = os.dup(_OUT)
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, _OUT)
                os.close(nowhere)
            except OSError:  # it is closed: there is nothing to keep clean
                _kept = None


def _leave() -> None:
    global _inside, _kept
    with _lock:
        _inside -= 1
        if _inside == 0 and _kept is not None:
            _flush()
            os.dup2(_kept, _OUT)
            os.close(_kept)
            _kept = None


def _flush() -> None:
    """Write out what C libraries hold back, where it goes now."""
    try:
        (ctypes.CDLL(None) if os.name != "nt" else ctypes.cdll.msvcrt).fflush(None)  # type: ignore[attr-defined, unused-ignore]
    except (AttributeError, OSError, TypeError):
        return
