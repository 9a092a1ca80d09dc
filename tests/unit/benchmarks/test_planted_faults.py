"""Faults that are planted still have a place to be planted in."""

from __future__ import annotations

import pytest

from benchmarks.planted_faults import FAULTS, ROOT, WANTED, Fault


def test_there_are_ten_kinds() -> None:
    assert len(FAULTS) == WANTED + 1


@pytest.mark.parametrize("fault", [fault for faults in FAULTS.values() for fault in faults], ids=lambda f: f.wrong)
def test_each_place_stands_once_in_its_file(fault: Fault) -> None:
    assert (ROOT / fault.file).read_text(encoding="utf-8").count(fault.right) == 1
    assert fault.wrong != fault.right
