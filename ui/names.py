"""Short names for titles and labels."""

from __future__ import annotations

import re

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
