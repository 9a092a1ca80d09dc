"""Networks of nodes in the words of published tables: all that the shipped one has, and what gives no rate."""

from __future__ import annotations

import pytest

from planner.measurements.table import read_table
from planner.performance.evidence import LANGUAGE_FILE, MEASUREMENTS_FOLDER
from planner.performance.rows.network import network_gbit_per_s

PUBLISHED = {
    "Storage+Management: 1x NVIDIA BlueField 2 DPU 100Gb/s, Compute: 8x NVIDIA ConnectX-7 IB NDR 400Gb/s": 3200,
    "Storage: 2x ConnectX-7 IB NDR 400Gb/s, Compute: 8x ConnectX-7 IB NDR 400Gb/s, Management: 100Gb/s Et": 3200,
    "Compute: 8x NVIDIA Quantum-2 400Gb/s InfiniBand, Management: 2x100Gb/s Ethernet NIC": 3200,
    "HDR InfiniBand 8x200Gb/node (Selene)": 1600,
    "RoCE 4x100Gb/node": 400,
    "Omni-Path 4x100Gb/node": 400,
    "RoCE-1600Gbps/node": 1600,
    "BF3 200Gbps for NS and 2xBF3 400Gbps for EW": 800,
    "Gig Ethernet": 100,
    "Ethernet, Infiniband": None,
    "ROCE2; Data bandwidth for GPU-PCIe: 504 GB/s; PCIe-NIC: 500 GB/s": None,
}


def test_every_network_of_the_shipped_table_is_held_here() -> None:
    table = read_table((MEASUREMENTS_FOLDER / LANGUAGE_FILE).read_bytes(), file=LANGUAGE_FILE)
    assert {row.interconnect_inter for row in table.rows if row.interconnect_inter} == set(PUBLISHED)


@pytest.mark.parametrize(("text", "rate"), PUBLISHED.items())
def test_networks_in_words(text: str, rate: float | None) -> None:
    assert network_gbit_per_s(text) == rate


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        (None, None),
        ("", None),
        ("8 x 50 GB EFA", 400),  # a card of 50 is taken as written
        ("Storage: 8x CX7 400Gb/s", None),  # not for compute
        ("8x CX7 400Gb/s, 2x CX6 200Gb/s", 3200),  # the faster is for compute
        ("200Gbps", None),  # of a node, or of each GPU?
        ("200 Gbps per node", 200),
    ],
)
def test_networks_that_are_unclear(text: str | None, rate: float | None) -> None:
    assert network_gbit_per_s(text) == rate
