"""The network of a node from the words of a table, such as "8x ConnectX-7 IB NDR 400Gb/s" or "RoCE-1600Gbps/node"."""

from __future__ import annotations

import re

_COUNTED = re.compile(r"(\d+)\s*x\s*[^,;+]*?(\d+)\s*gb", re.IGNORECASE)
_OTHER_USE = re.compile(r"(?:storage|management)[^,;+]{0,12}$", re.IGNORECASE)
GIGABIT_ETHERNET_GBIT_PER_S = 100.0
"""What "Gig Ethernet" in a cluster's description is taken for: no cluster of today has one gigabit."""


def network_gbit_per_s(text: str | None) -> float | None:
    """Network of a whole node, the one for compute where several are named. [Gbit/s]

    Returns
    -------
    float or None
        None where the text gives no rate.
    """
    if not text:
        return None
    rates = [
        float(found[1]) * float(found[2])
        for found in _COUNTED.finditer(text)
        if not _OTHER_USE.search(text[max(0, found.start() - 24) : found.start()])
    ]
    if rates:
        return max(rates)
    whole = re.search(r"(\d+)\s*gbps", text, re.IGNORECASE)
    if whole and "node" in text.casefold():
        return float(whole[1])
    if "gig ethernet" in text.casefold():
        return GIGABIT_ETHERNET_GBIT_PER_S
    return None
