"""What libraries print by themselves doesn't get between the lines of a plan."""

from __future__ import annotations

import os

import pytest

from planner.strategy.optimise.quiet import silenced


def test_what_is_written_meanwhile_goes_silenced(capfd: pytest.CaptureFixture[str]) -> None:
    os.write(1, b"before\n")
    with silenced():
        os.write(1, b"by the solver\n")
        with silenced():
            os.write(1, b"by another\n")
        os.write(1, b"still\n")
    os.write(1, b"after\n")
    out, error = capfd.readouterr()
    assert out == "before\nafter\n"
    assert error == ""
