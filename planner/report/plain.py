"""Plain data, as JSON can hold it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """Plain data: mappings and sequences copied, numbers that JSON can't hold as None."""
    kind = type(value)  # exact types first: a plan has tens of thousands of values
    if kind is float:
        return value if math.isfinite(value) else None
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if kind is dict or isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return plain(float(value)) if isinstance(value, float) else value
