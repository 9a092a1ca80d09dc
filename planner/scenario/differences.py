"""Where two scenario documents differ: by path, with both values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_NOT_INPUTS = ("schema_version", "name", "note")


def differing_paths(one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[str, ...]:
    """Paths of the inputs in which two documents differ, in the order of the first.

    Lists are single inputs. What only one document gives counts; what merely says the same number otherwise, 1 and 1.0,
    doesn't.

    >>> differing_paths({"horizon_months": 36, "site": {"pue": 1.3}}, {"horizon_months": 36, "site": {"pue": 1.1}})
    ('site.pue',)
    """
    return tuple(_differing(one, other, ""))


def _differing(one: Mapping[str, Any], other: Mapping[str, Any], start: str) -> Iterator[str]:
    for key in dict.fromkeys([*one, *other]):
        if not start and key in _NOT_INPUTS:
            continue
        mine, its = one.get(key), other.get(key)
        if isinstance(mine, Mapping) or isinstance(its, Mapping):
            inner = (side if isinstance(side, Mapping) else {} for side in (mine, its))
            yield from _differing(next(inner), next(inner), f"{start}{key}.")
            if not all(isinstance(side, Mapping) or side is None for side in (mine, its)):
                yield f"{start}{key}"
        elif mine != its:
            yield f"{start}{key}"
