"""Results kept by the identity of what they were made from: records that never change, and are too large to hash."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

_Result = TypeVar("_Result")


class IdentityCache(Generic[_Result]):
    """The last results by the very objects they came from; these are kept too, so that no other gets their identity."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[int, ...], tuple[tuple[Any, ...], _Result]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, arguments: tuple[Any, ...], make: Callable[[], _Result]) -> _Result:
        """The result for these objects, made where it isn't known.

        Parameters
        ----------
        arguments : tuple
            All that the result depends on. None of it may ever be changed.
        make : callable
            Gives the result.
        """
        key = tuple(map(id, arguments))
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found[1]
        result = make()  # outside the lock: two who ask at once do the work twice rather than wait
        with self._lock:
            found = self._kept.setdefault(key, (arguments, result))
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return found[1]
