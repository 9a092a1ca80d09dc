"""Long work says how far it is to whoever watches, who may end it there by raising an exception."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A stage of the work, how many of its parts are done, and of how many; 0 where that isn't known."""

    stage: str
    done: int
    of: int


Watcher = Callable[[Step], None]
_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Within it, work of this thread tells a watcher."""
    before = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(before)


def tell(stage: str, done: int, of: int = 0) -> None:
    """A part of the work begins: `done` are behind it."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(Step(stage=stage, done=done, of=of))
