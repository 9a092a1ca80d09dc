"""Short names for titles and labels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ui.i18n import t

_NOISE = re.compile(r"\b(NVIDIA|AMD|GeForce|Instinct|Tesla|SXM\d?|PCIe|OAM|NVL|\d+\s?GB)\b")


def short_gpu(name: str) -> str:
    """The name people say: "A100 SXM4 40GB" is an A100 in a title; tables keep the full name.

    >>> short_gpu("A100 SXM4 40GB"), short_gpu("GeForce RTX 4090")
    ('A100', 'RTX 4090')
    """
    return " ".join(_NOISE.sub("", name).split()) or name


def tariff_name(id: str) -> str:
    """Words for a class of electricity customers; one that has no words keeps its id."""
    return t(f"tariff.{id}") if id in ("commercial", "industrial", "residential") else id


def group_name(groups: Mapping[str, Any], id: str) -> str:
    """What a group of people is called; one without a name, or an unknown one, keeps its id.

    >>> group_name({"g1": {"name": "Vision"}, "g2": {}}, "g1"), group_name({"g2": {}}, "g2")
    ('Vision', 'g2')
    """
    entry = groups.get(id)
    return str((entry.get("name") if isinstance(entry, Mapping) else None) or id)
