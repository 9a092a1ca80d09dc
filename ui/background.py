"""Work of seconds: done once, in a thread of its own, while pages show how far it is, and left when nobody waits."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import Generic, TypeVar

from planner.strategy.progress import Step, watched

POLL_S = 0.1
"""How often a page that waits looks, and can be left for what was typed meanwhile. [s]"""
HEAD_START_S = 0.15
"""What was drawn reaches the browser before the work slows it down. [s]"""
T = TypeVar("T")


class _LeftError(Exception):
    """Nobody waits any more."""


class Work(Generic[T]):
    """An answer that takes seconds, found at most once; its steps are those of `planner.strategy.progress`."""

    def __init__(self, find: Callable[[], T]) -> None:
        self._find = find
        self._lock = Lock()
        self._ended = Event()
        self._answer: tuple[T] | None = None
        self._fault: BaseException | None = None
        self._running = False
        self._waiting = 0
        self._step = Step(stage="begun", done=0, of=0)
        self._began_s = 0.0

    @property
    def answer(self) -> T | None:
        """What was found, None until then."""
        return None if self._answer is None else self._answer[0]

    @property
    def known(self) -> bool:
        """Whether the answer is there."""
        return self._answer is not None

    def set(self, answer: T) -> None:
        """The answer where it is there already."""
        self._answer = (answer,)

    def result(self, show: Callable[[Step, float], None] | None = None) -> T:
        """The answer; until it is there, `show` is told the step and the seconds so far, and may leave by raising."""
        with self._lock:
            self._waiting += 1
            if self._answer is None and not self._running:
                self._running, self._fault, self._began_s = True, None, time.monotonic()
                self._ended.clear()
                Thread(target=self._work, daemon=True, name="background work").start()
        try:
            while self._answer is None and not self._ended.wait(POLL_S):
                if show is not None:
                    show(self._step, time.monotonic() - self._began_s)
        finally:
            with self._lock:
                self._waiting -= 1
        if self._answer is None:
            assert self._fault is not None
            raise self._fault
        return self._answer[0]

    def _work(self) -> None:
        self._ended.wait(HEAD_START_S)
        try:
            with watched(self._watch):
                self._watch(self._step)
                found = self._find()
        except _LeftError:
            return
        except BaseException as fault:  # raised again where it is waited for
            with self._lock:
                self._fault, self._running = fault, False
            self._ended.set()
            return
        with self._lock:
            self._answer, self._running = (found,), False
        self._ended.set()

    def _watch(self, step: Step) -> None:
        with self._lock:
            self._step = step
            if self._waiting == 0:
                self._running = False
                raise _LeftError
